//! Fork, changes, commit, transfer and the proof of innocence, with real git in a home of its own.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use gatewright::sandbox::Cancel;
use gatewright::worktree::{
    ChangeKind, ChangeLimits, Changes, Claim, CommitPlan, Fork, Identity, Leftovers, LockMode, Notice,
    Repository, RepositoryLock, Snapshot, UserContext, WorktreeError, remove_directory, result_ref,
};

/// A home, a repository and a place for runs, all thrown away at the end.
struct World {
    _top: tempfile::TempDir,
    home: PathBuf,
    repo: PathBuf,
    state: PathBuf,
}

impl World {
    fn empty() -> World {
        let top = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(top.path()).unwrap();
        let (home, repo, state) = (real.join("home"), real.join("repo"), real.join("state"));
        for directory in [&home, &repo, &state] {
            fs::create_dir(directory).unwrap();
        }
        World { _top: top, home, repo, state }
    }

    fn new() -> World {
        let world = World::empty();
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["config", "user.name", "Ada"]);
        world.git(&["config", "user.email", "ada@example.org"]);
        world.write("src/main.rs", "fn main() {}\n");
        world.write("README.md", "hello\n");
        world.write(".gitignore", "/target\n*.log\n");
        world.commit("first");
        world
    }

    fn git_command(&self, directory: &Path) -> Command {
        let mut command = Command::new("git");
        command.current_dir(directory).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &self.home);
        command
    }

    fn git_in(&self, directory: &Path, args: &[&str]) -> String {
        let output = self.git_command(directory).args(args).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {error}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.repo, args)
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.repo.join(path), text);
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn user(&self) -> UserContext {
        UserContext {
            path: std::env::var_os("PATH").unwrap(),
            home: Some(self.home.clone()),
            ..UserContext::default()
        }
    }

    fn try_open(&self, directory: &Path) -> Result<Repository, WorktreeError> {
        Repository::open(directory, &self.user(), &Cancel::new())
    }

    fn open(&self) -> Repository {
        self.try_open(&self.repo).unwrap()
    }

    fn fork(&self) -> (Repository, Fork) {
        let repository = self.open();
        let base = repository.base(None).unwrap();
        let fork = Fork::create(&repository, &base, &self.state.join("run")).unwrap();
        (repository, fork)
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn executable(path: &Path, text: &str) {
    write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn plan(changes: &Changes) -> CommitPlan {
    CommitPlan {
        tree: changes.tree,
        message: "Do the thing".into(),
        trailers: vec![("Gatewright-Run".into(), "r1".into())],
        author: Identity { name: "Ada".into(), email: "ada@example.org".into() },
        committer: Identity::default(),
        time: 1_800_000_000,
    }
}

fn kinds(changes: &Changes) -> Vec<(String, ChangeKind)> {
    changes.list.iter().map(|change| (change.path.to_string(), change.kind)).collect()
}

fn changes(fork: &Fork) -> Changes {
    fork.changes(&ChangeLimits::default()).unwrap()
}

#[test]
fn a_run_leaves_one_commit_and_nothing_else() {
    let world = World::new();
    let (repository, fork) = world.fork();
    let before = Snapshot::take(&repository).unwrap();
    assert!(changes(&fork).is_empty());

    write(&fork.work().join("src/lib.rs"), "pub fn f() {}\n");
    write(&fork.work().join("README.md"), "changed\n");
    fs::remove_file(fork.work().join("src/main.rs")).unwrap();
    write(&fork.work().join("target/debug/x"), "built\n");
    write(&fork.work().join("a.log"), "noise\n");
    let found = changes(&fork);
    assert_eq!(
        kinds(&found),
        [
            ("README.md".into(), ChangeKind::Modified),
            ("src/lib.rs".into(), ChangeKind::Added),
            ("src/main.rs".into(), ChangeKind::Deleted),
        ]
    );
    let ignored: Vec<String> = found.ignored.iter().map(ToString::to_string).collect();
    assert_eq!(ignored, ["a.log", "target/"]);
    assert!(found.notices.is_empty(), "{:?}", found.notices);

    let commit = fork.build_commit(&plan(&found)).unwrap();
    assert!(Snapshot::take(&repository).unwrap() == before);
    let reference = result_ref("r1");
    repository.check_result_ref("r1").unwrap();
    fork.transfer(commit, &reference).unwrap();
    assert!(matches!(fork.transfer(commit, &reference), Err(WorktreeError::NameTaken { .. })));
    assert!(matches!(repository.check_result_ref("r1"), Err(WorktreeError::NameTaken { .. })));
    let place = fork.place().to_owned();
    assert!(fork.remove().unwrap().is_complete());
    assert!(!place.exists());

    assert_eq!(world.git(&["rev-parse", &reference]), commit.to_string());
    assert_eq!(world.git(&["show", &format!("{reference}:README.md")]), "changed");
    assert_eq!(
        world.git(&["log", "-1", "--format=%an|%cn|%(trailers:key=Gatewright-Run)", &reference]),
        "Ada|gatewright|Gatewright-Run: r1"
    );
    world.git(&["fsck", "--strict", "--full"]);
    let after = Snapshot::take(&repository).unwrap();
    assert_eq!(before.compare(&after, &[(reference, commit)]), []);
    assert_eq!(before.compare(&after, &[]).len(), 1);
}
