//! Fork, changes, commit, transfer and the proof of innocence, with real git in a home of its own.

use std::fs;
use std::os::unix::ffi::OsStrExt;
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

/// Everything that git can be told to run, planted in the user's repository and home; each writes a marker.
fn plant_traps(world: &World, markers: &Path) {
    let trap = |name: &str| {
        let file = world.home.join("traps").join(name);
        executable(
            &file,
            &format!("#!/bin/sh\necho x >> {}/{name}\ncat 2>/dev/null\nexit 0\n", markers.display()),
        );
        file.display().to_string()
    };
    for hook in [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "post-merge",
        "post-index-change",
        "reference-transaction",
        "pre-auto-gc",
        "update",
        "pre-receive",
        "post-receive",
        "post-update",
        "post-rewrite",
        "pre-rebase",
        "pre-push",
        "fsmonitor-watchman",
        "push-to-checkout",
    ] {
        fs::copy(trap(&format!("hook-{hook}")), world.repo.join(".git/hooks").join(hook)).unwrap();
    }
    let mut settings = String::new();
    for (section, key) in [
        ("core", "fsmonitor"),
        ("core", "pager"),
        ("core", "editor"),
        ("core", "askPass"),
        ("core", "sshCommand"),
        ("core", "gitProxy"),
        ("sequence", "editor"),
        ("credential", "helper"),
        ("gpg", "program"),
        ("diff", "external"),
        ("interactive", "diffFilter"),
        ("core", "alternateRefsCommand"),
        ("uploadpack", "packObjectsHook"),
    ] {
        settings.push_str(&format!("[{section}]\n\t{key} = {}\n", trap(&format!("{section}-{key}"))));
    }
    for kind in ["clean", "smudge", "process"] {
        settings.push_str(&format!(
            "[filter \"trap\"]\n\t{kind} = {}\n\trequired = true\n",
            trap(&format!("filter-{kind}"))
        ));
    }
    settings.push_str(&format!("[diff \"trap\"]\n\ttextconv = {}\n\tcommand = {0}\n", trap("textconv")));
    settings.push_str(&format!("[merge \"trap\"]\n\tdriver = {}\n", trap("merge-driver")));
    for event in ["pre-commit", "post-checkout", "reference-transaction", "post-index-change", "post-commit"]
    {
        settings.push_str(&format!(
            "[hook \"mine-{event}\"]\n\tevent = {event}\n\tcommand = {}\n",
            trap(&format!("config-hook-{event}"))
        ));
    }
    for name in ["status", "diff", "worktree", "index-pack", "rev-parse", "config", "ls-files"] {
        settings.push_str(&format!("[alias]\n\t{name} = !{}\n", trap(&format!("alias-{name}"))));
    }
    settings.push_str("[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n[maintenance]\n\tauto = true\n[gc]\n\tauto = 1\n");
    settings.push_str(
        "[core]\n\tlogAllRefUpdates = always\n[worktree]\n\tuseRelativePaths = true\n[extensions]\n",
    );
    let mut config = fs::read_to_string(world.repo.join(".git/config")).unwrap();
    config.push_str(&settings);
    fs::write(world.repo.join(".git/config"), config).unwrap();
    write(&world.home.join(".gitconfig"), &settings);
    let attributes = "* filter=trap diff=trap merge=trap\n";
    write(&world.home.join(".config/git/attributes"), attributes);
    write(&world.repo.join(".git/info/attributes"), attributes);
    let template = world.home.join("template/hooks");
    for hook in ["post-checkout", "reference-transaction"] {
        fs::create_dir_all(&template).unwrap();
        fs::copy(trap(&format!("template-{hook}")), template.join(hook)).unwrap();
    }
    write(
        &world.home.join(".gitconfig"),
        &format!("{settings}[init]\n\ttemplateDir = {}\n", world.home.join("template").display()),
    );
}

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn no_trap_is_sprung() {
    let world = World::new();
    world.write(".gitattributes", "*.bin filter=trap diff=trap\n");
    world.write("data.bin", "\u{1}\u{2}data\n");
    world.commit("attributes");
    let markers = world.state.join("markers");
    fs::create_dir(&markers).unwrap();
    plant_traps(&world, &markers);

    let (repository, fork) = world.fork();
    let before = Snapshot::take(&repository).unwrap();
    repository.check_result_ref("r1").unwrap();
    write(&fork.work().join("src/main.rs"), "fn main() { println!(); }\n");
    write(&fork.work().join("data.bin"), "\u{1}new\n");
    let found = changes(&fork);
    assert_eq!(found.notices.len(), 1, "{:?}", found.notices);
    assert!(
        matches!(&found.notices[0], Notice::Unfiltered(path, filter) if path.as_bytes() == b"data.bin" && filter == "trap")
    );
    fork.checkout(found.tree, "check", &|_| false).unwrap();
    let patch = fork.patch(found.tree).unwrap();
    assert!(!patch.is_empty());
    let commit = fork.build_commit(&plan(&found)).unwrap();
    fork.transfer(commit, &result_ref("r1")).unwrap();
    repository.moved_since(fork.base()).unwrap();
    let after = Snapshot::take(&repository).unwrap();
    fork.remove().unwrap();
    assert_eq!(names_in(&markers), Vec::<String>::new());
    assert_eq!(before.compare(&after, &[(result_ref("r1"), commit)]), []);
    assert!(!world.repo.join(".git/logs/refs/heads/gatewright").exists());

    // The traps are real: the user's own git springs some of them.
    let _ = world.git_command(&world.repo).args(["checkout", "-q", "-b", "x"]).output();
    assert!(names_in(&markers).len() >= 2, "{:?}", names_in(&markers));
}

#[test]
fn a_fallback_by_git_springs_no_trap_either() {
    let world = World::new();
    // libgit2 does not know this extension, git does; the format must say so.
    let markers = world.state.join("markers");
    fs::create_dir(&markers).unwrap();
    plant_traps(&world, &markers);
    let mut config = fs::read_to_string(world.repo.join(".git/config")).unwrap();
    config = config.replace("repositoryformatversion = 0", "repositoryformatversion = 1");
    config.push_str("[extensions]\n\tpreciousObjects = true\n\tcompatObjectFormat = sha1\n");
    fs::write(world.repo.join(".git/config"), config).unwrap();
    let Ok(repository) = world.try_open(&world.repo) else { return };
    let base = repository.base(None).unwrap();
    let fork = Fork::create(&repository, &base, &world.state.join("run")).unwrap();
    write(&fork.work().join("x"), "x\n");
    let commit = fork.build_commit(&plan(&changes(&fork))).unwrap();
    fork.transfer(commit, &result_ref("r1")).unwrap();
    assert!(fork.transfer(commit, &result_ref("r1")).is_err());
    assert_eq!(names_in(&markers), Vec::<String>::new());
}

#[test]
fn a_snapshot_names_what_changed() {
    let world = World::new();
    world.write("loose.txt", "one\n");
    let repository = world.open();
    let before = Snapshot::take(&repository).unwrap();
    let check = |what: &str, expected: &str| {
        let now = Snapshot::take(&repository).unwrap();
        let list: Vec<String> = before.compare(&now, &[]).into_iter().map(|found| found.what).collect();
        assert!(list.iter().any(|found| found == expected), "{what}: {list:#?}");
    };
    let clean = |what: &str| {
        let now = Snapshot::take(&repository).unwrap();
        assert_eq!(before.compare(&now, &[]), [], "{what}");
    };
    clean("nothing happened");
    world.git(&["status"]);
    clean("a look");

    let config = fs::read(world.repo.join(".git/config")).unwrap();
    world.git(&["config", "core.hooksPath", "/tmp/x"]);
    check("hooks path", "the local setting core.hookspath is new");
    check("hooks path", "the settings file .git/config changed");
    fs::write(world.repo.join(".git/config"), &config).unwrap();
    clean("config put back");

    executable(&world.repo.join(".git/hooks/pre-push"), "#!/bin/sh\n");
    check("hook", "the hook .git/hooks/pre-push is new");
    fs::remove_file(world.repo.join(".git/hooks/pre-push")).unwrap();

    write(&world.home.join(".gitconfig"), "[alias]\n\tx = !x\n");
    check("home", "the settings file ~/.gitconfig is new");
    fs::remove_file(world.home.join(".gitconfig")).unwrap();

    for (line, expected) in [
        (&["branch", "other"][..], "the branch other is new"),
        (&["tag", "v1"], "the tag v1 is new"),
        (&["update-ref", "refs/notes/x", "HEAD"], "the ref refs/notes/x is new"),
        (&["update-ref", "refs/gatewright/x", "HEAD"], "the ref refs/gatewright/x is new"),
    ] {
        world.git(line);
        check("ref", expected);
    }
    world.write("more", "x");
    world.commit("second");
    check("commit", "the branch main changed");
    world.git(&["replace", "HEAD", "HEAD~1"]);
    let first = world.git(&["--no-replace-objects", "rev-parse", "HEAD"]);
    check("replace", &format!("the replacement of {first} is new"));
    world.git(&["replace", "-d", "HEAD"]);
    world.write("README.md", "dirty\n");
    check("file", "the file README.md changed");
    world.git(&["stash", "-q"]);
    check("stash", "the stash is new");
    world.git(&["worktree", "add", "-q", "--detach", world.state.join("other").to_str().unwrap()]);
    check("worktree", &format!("the worktree {} is new", world.state.join("other").display()));
    write(&world.repo.join(".git/info/exclude"), "*.secret\n");
    check("exclude", ".git/info/exclude changed");
    write(&world.repo.join(".git/objects/info/alternates"), "/tmp\n");
    check("alternates", ".git/objects/info/alternates is new");
    write(&world.repo.join(".git/config.lock"), "");
    check("lock", "the lock .git/config.lock is new");
    write(&world.repo.join(".git/worktrees/other/config.worktree"), "[core]\n");
    check("worktree config", ".git/worktrees/other/config.worktree is new");
}

#[test]
fn tricks_with_the_agents_git_hide_nothing() {
    let world = World::new();
    let (_, fork) = world.fork();
    let work = fork.work();
    world.git_in(&work, &["update-index", "--skip-worktree", "README.md"]);
    world.git_in(&work, &["update-index", "--assume-unchanged", "src/main.rs"]);
    write(&work.join("README.md"), "hidden\n");
    write(&work.join("src/main.rs"), "hidden\n");
    write(&fork.git_dir().join("info/exclude"), "*\n");
    write(&work.join("new"), "new\n");
    // Rules the agent wrote leave a file out, but say so; rules of the base cannot be lifted.
    write(&work.join(".gitignore"), "!a.log\nbuilt/\n");
    write(&work.join("a.log"), "noise\n");
    write(&work.join("built/x/y"), "built\n");
    world.git_in(&work, &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qam", "mine"]);
    let found = changes(&fork);
    let names: Vec<String> = found.list.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(names, [".gitignore", "README.md", "new", "src/main.rs"]);
    assert_eq!(found.ignored.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a.log"]);
    assert_eq!(found.newly_ignored.iter().map(ToString::to_string).collect::<Vec<_>>(), ["built/"]);
}

#[test]
fn odd_things_in_the_worktree_are_noticed() {
    let world = World::new();
    symlink("README.md", world.repo.join("link")).unwrap();
    world.commit("link");
    let (_, fork) = world.fork();
    let work = fork.work();
    world.git_in(&work, &["init", "-q", "inner"]);
    write(&work.join("inner/file"), "x\n");
    write(&work.join("sub/.GIT"), "gitdir: /tmp\n");
    assert!(Command::new("mkfifo").arg(work.join("pipe")).status().unwrap().success());
    std::os::unix::net::UnixListener::bind(work.join("socket")).unwrap();
    symlink("/etc/passwd", work.join("out")).unwrap();
    symlink("src/main.rs", work.join("in")).unwrap();
    fs::write(work.join("big"), vec![0; 5000]).unwrap();
    fs::remove_file(work.join("link")).unwrap();
    write(&work.join("link"), "now a file\n");
    fs::set_permissions(work.join("README.md"), fs::Permissions::from_mode(0o755)).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"odd\n\xff\"name");
    fs::write(work.join(odd), "x").unwrap();
    let limits = ChangeLimits { file_bytes: 4096, ..ChangeLimits::default() };
    let found = fork.changes(&limits).unwrap();
    let text: Vec<String> = found.notices.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        [
            "big is too large (5000 bytes)",
            "inner/.git would be a repository inside the repository",
            "out is a link that leaves the tree (/etc/passwd)",
            "pipe is a named pipe",
            "socket is a socket",
            "sub/.GIT would be a repository inside the repository",
        ]
    );
    assert_eq!(
        kinds(&found),
        [
            ("README.md".into(), ChangeKind::Mode),
            ("in".into(), ChangeKind::Added),
            ("inner/file".into(), ChangeKind::Added),
            ("link".into(), ChangeKind::Type),
            ("odd\\u{a}\\xff\"name".into(), ChangeKind::Added),
            ("out".into(), ChangeKind::Added),
        ]
    );
    // The tree itself is sound.
    let commit = fork.build_commit(&plan(&found)).unwrap();
    fork.transfer(commit, &result_ref("r1")).unwrap();
    world.git(&["fsck", "--strict"]);
    // The pointer to the fork is gone, and a link stands where a directory was.
    fs::remove_file(work.join(".git")).unwrap();
    fs::remove_dir_all(work.join("src")).unwrap();
    symlink("/etc", work.join("src")).unwrap();
    let found = fork.changes(&limits).unwrap();
    assert!(found.notices.contains(&Notice::Detached));
    assert!(kinds(&found).contains(&("src/main.rs".into(), ChangeKind::Deleted)));
    assert!(kinds(&found).contains(&("src".into(), ChangeKind::Added)));
}

#[test]
fn line_ends_are_kept_as_git_would() {
    let world = World::new();
    world.git(&["config", "core.autocrlf", "true"]);
    world.write(".gitattributes", "*.txt text\n*.id ident\n*.raw -text\n");
    world.write("a.txt", "one\ntwo\n");
    world.write("b.raw", "one\r\ntwo\r\n");
    world.write("c.id", "$Id$\n");
    world.commit("text");
    let (_, fork) = world.fork();
    let work = fork.work();
    assert!(fs::read_to_string(work.join("a.txt")).unwrap().contains("\r\n"));
    assert!(changes(&fork).is_empty(), "{:?}", kinds(&changes(&fork)));
    write(&work.join("a.txt"), "one\r\ntwo\r\nthree\r\n");
    write(&work.join("é \n.txt"), "x\r\n");
    let found = changes(&fork);
    assert_eq!(found.list.len(), 2);
    for change in &found.list {
        assert!(!fork.blob(change.after.unwrap().id).unwrap().contains(&b'\r'), "{change:?}");
    }
}

#[test]
fn the_fork_does_not_name_the_users_refs() {
    let world = World::new();
    world.git(&["branch", "secret-plan"]);
    world.git(&["tag", "v1"]);
    world.git(&["remote", "add", "origin", "https://token@example.org/x.git"]);
    let (repository, fork) = world.fork();
    let before = Snapshot::take(&repository).unwrap();
    let work = fork.work();
    assert_eq!(world.git_in(&work, &["for-each-ref", "--format=%(refname)"]), "refs/heads/base");
    assert_eq!(world.git_in(&work, &["remote"]), "");
    assert_eq!(world.git_in(&work, &["status", "--porcelain"]), "");
    // Whatever the agent does to its own git, the user's stays as it is.
    world.git_in(&work, &["config", "core.hooksPath", "/tmp/evil"]);
    world.git_in(&work, &["tag", "-f", "v1"]);
    world.git_in(&work, &["update-ref", "refs/heads/main", "HEAD"]);
    world.git_in(&work, &["gc", "-q", "--prune=now"]);
    world.git_in(&work, &["worktree", "prune"]);
    write(&work.join("README.md"), "x\n");
    world.git_in(&work, &["-c", "user.name=x", "-c", "user.email=x@x", "stash", "-q"]);
    let hooks = world.git_in(&work, &["rev-parse", "--git-path", "hooks"]);
    assert!(!Path::new(&hooks).starts_with(&world.repo), "{hooks}");
    let after = Snapshot::take(&repository).unwrap();
    assert_eq!(before.compare(&after, &[]), []);
}

#[test]
fn a_planted_setting_in_the_fork_is_never_run_by_us() {
    let world = World::new();
    let (_, fork) = world.fork();
    let marker = world.state.join("marker");
    let trap = world.state.join("trap");
    executable(&trap, &format!("#!/bin/sh\necho x >> {}\ncat\n", marker.display()));
    let trap = trap.display().to_string();
    for key in ["core.fsmonitor", "filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.external"] {
        world.git_in(&fork.work(), &["config", key, &trap]);
    }
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        executable(&fork.git_dir().join("hooks").join(hook), &format!("#!/bin/sh\nexec {trap}\n"));
    }
    write(&fork.work().join(".gitattributes"), "* filter=x diff=x\n");
    write(&fork.work().join("new"), "x\n");
    let found = changes(&fork);
    fork.patch(found.tree).unwrap();
    fork.checkout(found.tree, "check", &|_| false).unwrap();
    let commit = fork.build_commit(&plan(&found)).unwrap();
    fork.transfer(commit, &result_ref("r1")).unwrap();
    assert!(!marker.exists());
}

#[test]
fn what_is_tested_is_what_is_committed() {
    let world = World::new();
    world.write("tests/a.rs", "base\n");
    world.commit("tests");
    let (_, fork) = world.fork();
    let work = fork.work();
    write(&work.join("src/main.rs"), "fn main() { f() }\n");
    write(&work.join("tests/a.rs"), "weakened\n");
    write(&work.join("tests/b.rs"), "new\n");
    write(&work.join("target/stale"), "stale\n");
    let found = changes(&fork);
    let plain = fork.checkout(found.tree, "check-1", &|_| false).unwrap();
    assert_eq!(plain.tested, found.tree);
    assert!(!plain.directory.join("target").exists());
    assert_eq!(world.git_in(&plain.directory, &["write-tree"]), found.tree.to_string());
    assert_eq!(world.git_in(&plain.directory, &["diff", "--stat"]), "");
    let frozen =
        fork.checkout(found.tree, "check-2", &|path| path.as_bytes().starts_with(b"tests/")).unwrap();
    assert_ne!(frozen.tested, frozen.tree);
    assert_eq!(frozen.frozen.len(), 2);
    assert_eq!(fs::read_to_string(frozen.directory.join("tests/a.rs")).unwrap(), "base\n");
    assert!(!frozen.directory.join("tests/b.rs").exists());
    assert_eq!(fs::read_to_string(frozen.directory.join("src/main.rs")).unwrap(), "fn main() { f() }\n");
}

#[test]
fn a_patch_applies_with_every_kind_of_change() {
    let world = World::new();
    fs::write(world.repo.join("bin"), (0..=255).collect::<Vec<u8>>()).unwrap();
    world.commit("binary");
    let (_, fork) = world.fork();
    let work = fork.work();
    fs::write(work.join("bin"), (0..=255).rev().collect::<Vec<u8>>()).unwrap();
    fs::write(work.join("new.bin"), [0, 1, 0xff]).unwrap();
    write(&work.join("é x\t"), "no line end");
    symlink("bin", work.join("link")).unwrap();
    fs::remove_file(work.join("README.md")).unwrap();
    fs::set_permissions(work.join("src/main.rs"), fs::Permissions::from_mode(0o755)).unwrap();
    let found = changes(&fork);
    let file = world.state.join("x.patch");
    fs::write(&file, fork.patch(found.tree).unwrap()).unwrap();
    world.git(&["apply", "--index", file.to_str().unwrap()]);
    assert_eq!(world.git(&["write-tree"]), found.tree.to_string());
}

#[test]
fn an_unusable_repository_says_what_to_do() {
    let world = World::empty();
    let step = |result: Result<Repository, WorktreeError>| {
        let error = result.unwrap_err();
        assert!(error.next_step().is_some(), "{error}");
        error
    };
    assert!(matches!(step(world.try_open(&world.repo)), WorktreeError::NotARepository { .. }));
    world.git(&["init", "-q", "-b", "main"]);
    let error = world.open().base(None).unwrap_err();
    assert!(matches!(error, WorktreeError::NoCommit { .. }));
    world.git(&["config", "user.name", "A"]);
    world.git(&["config", "user.email", "a@b"]);
    world.write("a/b", "x\n");
    world.commit("one");
    assert!(matches!(world.open().base(Some("nope")), Err(WorktreeError::NoSuchBase { .. })));
    assert!(matches!(world.open().base(Some("--output=x")), Err(WorktreeError::NoSuchBase { .. })));
    assert_eq!(world.try_open(&world.repo.join("a")).unwrap().root(), world.repo);
    assert!(matches!(
        step(world.try_open(&world.repo.join(".git"))),
        WorktreeError::InsideGitDirectory { .. }
    ));
    let bare = world.state.join("bare.git");
    world.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    assert!(matches!(step(world.try_open(&bare)), WorktreeError::Bare { .. }));

    let nobody = UserContext { path: "/no/where".into(), ..world.user() };
    assert!(matches!(
        step(Repository::open(&world.repo, &nobody, &Cancel::new())),
        WorktreeError::GitMissing
    ));
    let old = world.state.join("old/git");
    executable(&old, "#!/bin/sh\necho git version 2.17.1\n");
    let user = UserContext { path: old.parent().unwrap().into(), ..world.user() };
    assert!(matches!(
        step(Repository::open(&world.repo, &user, &Cancel::new())),
        WorktreeError::GitTooOld { .. }
    ));

    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("a/b", "side\n");
    world.commit("side");
    world.git(&["checkout", "-q", "main"]);
    world.write("a/b", "main\n");
    world.commit("main");
    let _ = world.git_command(&world.repo).args(["merge", "side"]).output();
    assert!(matches!(
        step(world.try_open(&world.repo)),
        WorktreeError::Unfinished { operation: "a merge", .. }
    ));
    world.git(&["merge", "--abort"]);
    let _ = world.git_command(&world.repo).args(["rebase", "side"]).output();
    assert!(matches!(
        step(world.try_open(&world.repo)),
        WorktreeError::Unfinished { operation: "a rebase", .. }
    ));
    world.git(&["rebase", "--abort"]);

    world.git(&["branch", "gatewright"]);
    assert!(matches!(world.open().check_result_ref("r1"), Err(WorktreeError::NameTaken { .. })));
    write(&world.repo.join(".git/config"), "[core\nbroken");
    assert!(world.try_open(&world.repo).is_err());
}

#[test]
fn linked_worktrees_work_and_submodules_are_refused() {
    let world = World::new();
    let other = world.state.join("linked");
    world.git(&["worktree", "add", "-q", "-b", "feature", other.to_str().unwrap()]);
    let repository = world.try_open(&other).unwrap();
    assert_eq!((repository.root(), repository.common_dir()), (&*other, &*world.repo.join(".git")));
    assert_eq!(repository.branch().as_deref(), Some("feature"));
    let base = repository.base(None).unwrap();
    let before = Snapshot::take(&repository).unwrap();
    let fork = Fork::create(&repository, &base, &world.state.join("run")).unwrap();
    write(&fork.work().join("x"), "x\n");
    let commit = fork.build_commit(&plan(&changes(&fork))).unwrap();
    fork.transfer(commit, &result_ref("r1")).unwrap();
    let after = Snapshot::take(&repository).unwrap();
    assert_eq!(before.compare(&after, &[(result_ref("r1"), commit)]), []);

    let outer = World::new();
    let url = world.repo.to_str().unwrap();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    outer.commit("submodule");
    let error = outer.try_open(&outer.repo.join("sub")).unwrap_err();
    assert!(matches!(error, WorktreeError::Submodule { .. }), "{error}");
    // The submodule itself stays as it was in a result, and files inside it are noticed.
    let (_, fork) = outer.fork();
    assert!(changes(&fork).is_empty(), "{:?}", kinds(&changes(&fork)));
    write(&fork.work().join("sub/file"), "x\n");
    let found = changes(&fork);
    assert!(found.is_empty());
    assert_eq!(found.notices.len(), 1);
    let patch = fork.patch(found.tree).unwrap();
    assert!(patch.is_empty());
}

#[test]
fn a_shallow_clone_works() {
    let world = World::new();
    world.write("b", "x\n");
    world.commit("second");
    let shallow = world.state.join("shallow");
    let url = format!("file://{}", world.repo.display());
    world.git(&["clone", "-q", "--depth=1", &url, shallow.to_str().unwrap()]);
    let repository = world.try_open(&shallow).unwrap();
    let base = repository.base(None).unwrap();
    let fork = Fork::create(&repository, &base, &world.state.join("run")).unwrap();
    assert_eq!(world.git_in(&fork.work(), &["log", "--format=%s"]), "second");
    write(&fork.work().join("x"), "x\n");
    let commit = fork.build_commit(&plan(&changes(&fork))).unwrap();
    fork.transfer(commit, &result_ref("r1")).unwrap();
    world.git_in(&shallow, &["fsck"]);
}

#[test]
fn a_partial_clone_that_lacks_files_is_refused() {
    let world = World::new();
    world.git(&["config", "uploadpack.allowFilter", "true"]);
    let partial = world.state.join("partial");
    let url = format!("file://{}", world.repo.display());
    world.git(&["clone", "-q", "--filter=blob:none", "--no-checkout", &url, partial.to_str().unwrap()]);
    let error = world.try_open(&partial).unwrap().base(None).unwrap_err();
    assert!(matches!(error, WorktreeError::Unsupported { .. }), "{error}");
    assert!(error.next_step().is_some());
    world.git_in(&partial, &["checkout", "-q", "main"]);
    world.try_open(&partial).unwrap().base(None).unwrap();
}

#[test]
fn other_formats_are_refused_clearly() {
    for args in [&["init", "-q", "--object-format=sha256"][..], &["init", "-q", "--ref-format=reftable"]] {
        let world = World::empty();
        if !world.git_command(&world.repo).args(args).output().unwrap().status.success() {
            continue;
        }
        world.git(&["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x"]);
        let error = world.try_open(&world.repo).unwrap_err();
        assert!(matches!(error, WorktreeError::Unsupported { .. }), "{error}");
    }
}

#[test]
fn identity_is_the_users_or_ours() {
    let world = World::new();
    assert_eq!(world.open().identity().name, "Ada");
    world.git(&["config", "--unset", "user.name"]);
    assert_eq!(world.open().identity(), Identity::default());
    write(&world.home.join(".gitconfig"), "[user]\n\tname = Grace\n");
    assert_eq!(world.open().identity().name, "Grace");
}

#[test]
fn removal_leaves_what_lies_outside() {
    let world = World::empty();
    let canary = world.home.join("canary");
    write(&canary.join("keep"), "keep\n");
    let place = world.state.join("run");
    write(&place.join("work/a"), "a\n");
    for (name, target) in
        [("absolute", canary.to_str().unwrap()), ("relative", "../../../home/canary"), ("loop", "loop")]
    {
        symlink(target, place.join("work").join(name)).unwrap();
    }
    fs::hard_link(canary.join("keep"), place.join("work/hard")).unwrap();
    let locked = place.join("work/locked/inner");
    write(&locked.join("x"), "x\n");
    for directory in [&locked, locked.parent().unwrap()] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o000)).unwrap();
    }
    // Deeper than any stack or table of open files should be asked to go.
    let mut deep = rustix::fs::open(place.join("work"), rustix::fs::OFlags::PATH, 0.into()).unwrap();
    for _ in 0..500 {
        rustix::fs::mkdirat(&deep, "d", 0o755.into()).unwrap();
        deep = rustix::fs::openat(&deep, "d", rustix::fs::OFlags::PATH, 0.into()).unwrap();
    }
    drop(deep);
    let removal = remove_directory(&place).unwrap();
    assert!(removal.is_complete(), "{removal:?}");
    assert_eq!(names_in(&world.state), Vec::<String>::new());
    assert_eq!(fs::read_to_string(canary.join("keep")).unwrap(), "keep\n");

    // A place that is a link, or lies behind one, is not removed at all.
    symlink(&canary, world.state.join("link")).unwrap();
    assert!(remove_directory(&world.state.join("link")).is_err());
    write(&canary.join("run/x"), "x\n");
    assert!(remove_directory(&world.state.join("link/run")).is_err());
    assert!(canary.join("run/x").exists());
    assert!(remove_directory(&world.state.join("never-was")).unwrap().is_complete());
}

#[test]
fn removal_stops_at_a_mount() {
    let world = World::empty();
    let place = world.state.join("run");
    let mount = place.join("work/mount");
    fs::create_dir_all(&mount).unwrap();
    let canary = world.home.join("canary");
    write(&canary.join("keep"), "keep\n");
    let mounted = Command::new("mount").args(["--bind"]).arg(&canary).arg(&mount).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return;
    }
    let removal = remove_directory(&place).unwrap();
    let kept = canary.join("keep").exists();
    let moved = world.state.join("run.removing/work/mount");
    assert!(Command::new("umount").arg(&moved).status().unwrap().success());
    assert!(kept);
    assert_eq!(removal.left.len(), 1, "{removal:?}");
    assert!(remove_directory(&place).unwrap().is_complete());
    assert!(!world.state.join("run.removing").exists());
}

#[test]
fn a_second_run_on_the_repository_is_told_who_holds_it() {
    let world = World::new();
    let repository = world.open();
    let take = |run: &str, mode| RepositoryLock::take(&world.state, repository.common_dir(), run, mode);
    let first = take("one", LockMode::Alone).unwrap();
    let error = take("two", LockMode::Alone).unwrap_err();
    assert!(
        matches!(&error, WorktreeError::Locked { run, process } if run == "one" && *process == std::process::id() as i32)
    );
    assert!(take("two", LockMode::Shared).is_err());
    drop(first);
    let shared = (take("two", LockMode::Shared).unwrap(), take("three", LockMode::Shared).unwrap());
    assert!(take("four", LockMode::Alone).is_err());
    drop(shared);
    take("five", LockMode::Alone).unwrap();
    assert!(!world.repo.join(".git/gatewright.lock").exists());
}

#[test]
fn leftovers_are_found_once_their_run_is_gone() {
    let world = World::new();
    let repository = world.open();
    let base = repository.base(None).unwrap();
    let before = Snapshot::take(&repository).unwrap();
    let place = world.state.join("runs/r1");
    let claim = Claim::enter(&world.state, "r1", &place, repository.common_dir()).unwrap();
    let fork = Fork::create(&repository, &base, &place).unwrap();
    write(&fork.work().join("x"), "x\n");
    assert!(Leftovers::find(&world.state).unwrap().is_empty(), "a run that lives is no leftover");
    // What SIGKILL does: the lock is let go, nothing else happens.
    drop((claim, fork));
    let found = Leftovers::find(&world.state).unwrap();
    assert_eq!(found.iter().map(|left| left.run().to_owned()).collect::<Vec<_>>(), ["r1"]);
    assert!(Leftovers::find(&world.state).unwrap().is_empty(), "two starts do not clear one run");
    for left in found {
        assert!(left.clear().unwrap().removal.is_complete());
    }
    assert!(!place.exists());
    assert!(Leftovers::find(&world.state).unwrap().is_empty());

    Claim::enter(&world.state, "r2", &place, repository.common_dir()).unwrap().park().unwrap();
    assert!(Leftovers::find(&world.state).unwrap().is_empty(), "a parked run is no leftover");
    let claim = Claim::enter(&world.state, "r3", &place, repository.common_dir()).unwrap();
    claim.leave().unwrap();
    assert!(Leftovers::find(&world.state).unwrap().is_empty());
    let after = Snapshot::take(&repository).unwrap();
    assert_eq!(before.compare(&after, &[]), []);
}

#[test]
fn many_runs_on_one_repository_do_not_meet() {
    let world = World::new();
    let repository = world.open();
    let base = repository.base(None).unwrap();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (world, repository) = (&world, &repository);
            scope.spawn(move || {
                let run = format!("r{number}");
                let fork = Fork::create(repository, &base, &world.state.join(&run)).unwrap();
                write(&fork.work().join(format!("new-{number}")), "x\n");
                let commit = fork.build_commit(&plan(&changes(&fork))).unwrap();
                fork.transfer(commit, &result_ref(&run)).unwrap();
                assert!(fork.remove().unwrap().is_complete());
            });
        }
    });
    assert_eq!(world.git(&["for-each-ref", "--format=x", "refs/heads/gatewright"]).lines().count(), 6);
    world.git(&["fsck", "--strict"]);
}

#[test]
fn the_base_may_move_meanwhile() {
    let world = World::new();
    let (repository, fork) = world.fork();
    assert_eq!(repository.moved_since(fork.base()).unwrap(), Some(0));
    world.write("x", "x\n");
    world.commit("user's own");
    assert_eq!(repository.moved_since(fork.base()).unwrap(), Some(1));
    world.git(&["commit", "-q", "--amend", "-m", "other"]);
    world.git(&["checkout", "-q", "--orphan", "new"]);
    world.git(&["commit", "-q", "-m", "unrelated"]);
    assert_eq!(repository.moved_since(fork.base()).unwrap(), None);
}

#[test]
fn a_repository_of_another_owner_works() {
    let world = World::new();
    let owned = Command::new("chown").args(["-R", "12345:12345"]).arg(&world.repo).output().unwrap();
    if !owned.status.success() {
        // Only root can give files away.
        return;
    }
    let (repository, fork) = world.fork();
    let before = Snapshot::take(&repository).unwrap();
    write(&fork.work().join("x"), "x\n");
    let commit = fork.build_commit(&plan(&changes(&fork))).unwrap();
    fork.transfer(commit, &result_ref("r1")).unwrap();
    let after = Snapshot::take(&repository).unwrap();
    assert_eq!(before.compare(&after, &[(result_ref("r1"), commit)]), []);
    assert!(!world.home.join(".gitconfig").exists());
}
