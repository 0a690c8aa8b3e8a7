//! Fork and worktree against a bare `git worktree add` of the same repository.
//!
//! Rounds alternate between the two, so that whatever else the machine does hits both; medians are compared. Set
//! `TMPDIR` to a file system in memory to leave the disk out.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use gatewright::sandbox::Cancel;
use gatewright::worktree::{
    ChangeLimits, CommitPlan, Fork, Identity, Repository, Snapshot, UserContext, result_ref,
};

fn git(directory: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["-c", "user.name=x", "-c", "user.email=x@localhost"]);
    assert!(command.args(args).status().unwrap().success(), "git {args:?}");
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

fn timed<T>(times: &mut Vec<Duration>, what: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let value = what();
    times.push(start.elapsed());
    value
}

fn main() {
    for files in [1_000, 10_000] {
        let top = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(top.path()).unwrap();
        let repo = top.join("repo");
        for file in 0..files {
            let path = repo.join(format!("d{}/e{}/f{file}.txt", file % 17, file % 50));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("file {file}\n").repeat(40)).unwrap();
        }
        git(&repo, &["init", "-q"]);
        git(&repo, &["add", "-A"]);
        git(&repo, &["commit", "-q", "-m", "x"]);
        let user = UserContext::from_environment(|name| (name == "PATH").then(|| std::env::var_os(name))?);
        let (mut bare, mut fork, mut open, mut snapshot) = (vec![], vec![], vec![], vec![]);
        let (mut changes, mut check, mut transfer, mut remove) = (vec![], vec![], vec![], vec![]);
        for round in 0..if files == 1_000 { 15 } else { 5 } {
            let plain = top.join(format!("plain-{round}"));
            let add: [OsString; 4] = ["worktree".into(), "add".into(), "-q".into(), "--detach".into()];
            let mut add_bare = || {
                timed(&mut bare, || {
                    let status = Command::new("git").current_dir(&repo).args(&add).arg(&plain).status();
                    assert!(status.unwrap().success());
                });
            };
            // Who goes first changes, since the first pays for what the disk still has to do.
            if round % 2 == 0 {
                add_bare();
            }
            let repository = timed(&mut open, || Repository::open(&repo, &user, &Cancel::new()).unwrap());
            let base = repository.base(None).unwrap();
            timed(&mut snapshot, || Snapshot::take(&repository).unwrap());
            let place = top.join(format!("run-{round}"));
            let run = timed(&mut fork, || Fork::create(&repository, &base, &place).unwrap());
            if round % 2 == 1 {
                add_bare();
            }
            fs::write(run.work().join("new"), format!("{round}")).unwrap();
            let found = timed(&mut changes, || run.changes(&ChangeLimits::default()).unwrap());
            timed(&mut check, || run.checkout(found.tree, "check", &|_| false).unwrap());
            timed(&mut transfer, || {
                let plan = CommitPlan {
                    tree: found.tree,
                    message: "x".into(),
                    trailers: Vec::new(),
                    author: Identity::default(),
                    committer: Identity::default(),
                    time: 0,
                };
                let commit = run.build_commit(&plan).unwrap();
                run.transfer(commit, &result_ref(&format!("r{round}"))).unwrap();
            });
            timed(&mut remove, || assert!(run.remove().unwrap().is_complete()));
            fs::remove_dir_all(&plain).unwrap();
            git(&repo, &["worktree", "prune"]);
        }
        let bare = median(bare);
        let fork = median(fork);
        println!(
            "{files} files: git worktree add {bare:.1} ms, fork and worktree {fork:.1} ms, ratio {:.2}",
            fork / bare
        );
        for (name, times) in [
            ("open", open),
            ("snapshot", snapshot),
            ("changes", changes),
            ("checkout", check),
            ("commit and transfer", transfer),
            ("removal", remove),
        ] {
            println!("  {name}: {:.1} ms", median(times));
        }
        fs::remove_dir_all(&top).unwrap();
    }
}
