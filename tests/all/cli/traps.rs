//! A run on a real repository full of traps: nothing of the user's is started, nothing of the user's changes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::scratch::{Scratch, fingerprint};

/// Files of the repository, in as many folders as a grown project has.
const FILES: usize = 1_000;

/// Commands of an agent that is after the user's repository, by every way that a shell has.
const ATTACKS: &[&str] = &[
    "git config core.hooksPath .hooks",
    "git config --global core.pager ./x",
    "git stash",
    "git branch -D main",
    "git update-ref refs/heads/main HEAD~0",
    "git update-ref -d refs/heads/main",
    "git push origin HEAD:main",
    "git tag -f v1",
    "git worktree prune",
    "git gc --prune=now",
    "git remote add evil ../elsewhere",
    "echo x > .git",
    "echo x >> .git/config",
    "printf x | tee .git/hooks/post-commit",
    "cp folder0/file0.txt \"$(git rev-parse --git-path hooks)/post-commit\"",
    "GIT_DIR=$(git rev-parse --git-common-dir) git init",
];

#[test]
fn no_trap_is_sprung_and_nothing_of_the_user_changes() {
    let scratch = Scratch::new();
    let root = grown_repository(&scratch);
    let markers = scratch.path("markers");
    fs::create_dir(&markers).unwrap();
    plant(&scratch, &root, &markers);
    let user_home = contents(&scratch.path("home"));
    let before = fingerprint_by_plumbing(&root);
    let script = script(&root);
    scratch.write("agent.yml", &script);
    scratch.write("open.yml", "version: 1\ndefault: allow\nrules: []\n");

    // A policy without rules: what protects the user here is the fork, not a verdict. Shell calls are let through.
    scratch.write("config/gatewright/config.yml", "gates: {execute: rules}\n");
    let arguments = ["--tests", "test -f folder0/file0.txt", "--allow-commit", "--enable-shell"];
    let answer = scratch.run_project(&root, &arguments).expect_code(0);

    assert!(answer.out.contains("repository  unchanged"), "{}", answer.out);
    assert!(contents(&markers).is_empty(), "sprung: {:?}\n{}", contents(&markers), answer.out);
    assert_eq!(fingerprint_by_plumbing(&root), before, "{}", answer.out);
    assert_eq!(contents(&scratch.path("home")), user_home);
    scratch.assert_nothing_left(&scratch.path("state/gatewright"));

    // The traps are real: the user's own git springs some of them.
    let _ = std::process::Command::new("git")
        .args(["status", "--short"])
        .current_dir(&root)
        .env("HOME", scratch.path("home"))
        .output()
        .unwrap();
    assert!(!contents(&markers).is_empty(), "the traps would not have been noticed");

    // The journal alone leads to the same decisions.
    let journal = scratch.runs()[0].join("journal.jsonl");
    let replay = scratch.run(&["dry-run", journal.to_str().unwrap(), "--fail-on", "never"]);
    let replay = replay.expect_code(0);
    assert!(replay.out.contains(" the same, 0 different"), "{}", replay.out);
}

#[test]
fn the_shipped_policy_refuses_the_same_attacks_by_rule() {
    let scratch = Scratch::new();
    let root = scratch.repository("project", &[("value", "good\n")]);
    let mut let_through = Vec::new();
    for line in ATTACKS {
        let answer = scratch.run_in(
            &root,
            &["check", "--policy", "builtin:ci", "--shell", line, "--format", "jsonl", "--fail-on", "never"],
        );
        let answer = answer.expect_code(0);
        if answer.out.contains("\"verdict\":\"allow\"") {
            let_through.push(*line);
        }
    }
    // Housekeeping of the worktree's own fork harms nobody.
    let_through.retain(|line| !matches!(*line, "git stash" | "git worktree prune" | "git gc --prune=now"));
    assert!(let_through.is_empty(), "let through: {let_through:?}");
}

/// A repository of many files and some history.
fn grown_repository(scratch: &Scratch) -> PathBuf {
    let files: Vec<(String, String)> = (0..FILES)
        .map(|number| (format!("folder{}/file{number}.txt", number % 37), format!("line {number}\n")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let root = scratch.repository("project", &files);
    for number in 0..5 {
        scratch.write("project/history.txt", &format!("{number}\n"));
        scratch.git(&root, &["add", "history.txt"]);
        scratch.git(&root, &["commit", "--quiet", "--message", &format!("change {number}")]);
    }
    scratch.git(&root, &["tag", "v1"]);
    scratch.write("project/history.txt", "work that is not committed\n");
    scratch.git(&root, &["stash", "--quiet"]);
    root
}

/// An agent that changes one file and tries everything else.
fn script(root: &Path) -> String {
    let mut calls = String::from(
        "- calls:\n  - {tool: write, args: {path: folder1/file1.txt, content: \"changed\\n\"}}\n",
    );
    for line in ATTACKS {
        calls.push_str(&format!("  - {{tool: execute, args: {{command: {}}}}}\n", serde_json::json!(line)));
    }
    // The file tools, at the repository's own folder and at the worktree's link to its fork.
    for path in [".git", ".git/config", ".git/hooks/pre-commit"] {
        calls.push_str(&format!("  - {{tool: write, args: {{path: {path}, content: x}}}}\n"));
        calls
            .push_str(&format!("  - {{tool: edit, args: {{path: {path}, old_string: a, new_string: b}}}}\n"));
        let outside = root.join(path).display().to_string();
        calls.push_str(&format!("  - {{tool: write, args: {{path: {outside:?}, content: x}}}}\n"));
    }
    calls + "- text: done\n"
}

/// Plants, in the repository and in the home, whatever git is known to start, each leaving a marker.
fn plant(scratch: &Scratch, root: &Path, markers: &Path) {
    let trap = |name: &str| {
        let path = scratch.write(
            &format!("traps/{name}"),
            &format!("#!/bin/sh\ntouch '{}/{name}'\ncat 2>/dev/null\nexit 0\n", markers.display()),
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    for hook in [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "pre-auto-gc",
        "post-merge",
        "post-rewrite",
        "pre-push",
        "pre-receive",
        "update",
        "post-update",
        "fsmonitor-watchman",
        "push-to-checkout",
        "sendemail-validate",
        "applypatch-msg",
    ] {
        fs::copy(trap(&format!("hook-{hook}")), root.join(".git/hooks").join(hook)).unwrap();
    }
    let mut settings = String::new();
    for event in ["pre-commit", "post-commit", "post-checkout", "reference-transaction", "post-index-change"]
    {
        let command = trap(&format!("config-hook-{event}"));
        settings.push_str(&format!("[hook \"trap-{event}\"]\n\tevent = {event}\n\tcommand = {command}\n"));
    }
    for (section, key) in [
        ("core", "fsmonitor"),
        ("core", "pager"),
        ("core", "editor"),
        ("core", "askPass"),
        ("core", "sshCommand"),
        ("sequence", "editor"),
        ("credential", "helper"),
        ("gpg", "program"),
        ("diff", "external"),
        ("interactive", "diffFilter"),
    ] {
        settings.push_str(&format!("[{section}]\n\t{key} = {}\n", trap(&format!("{section}-{key}"))));
    }
    for kind in ["clean", "smudge"] {
        settings.push_str(&format!("[filter \"trap\"]\n\t{kind} = {}\n", trap(&format!("filter-{kind}"))));
    }
    settings.push_str(&format!("[diff \"trap\"]\n\ttextconv = {}\n", trap("textconv")));
    settings.push_str("[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n");
    for alias in ["worktree-add", "co"] {
        settings.push_str(&format!("[alias]\n\t{alias} = !{}\n", trap(&format!("alias-{alias}"))));
    }
    let config = root.join(".git/config");
    let own = fs::read_to_string(&config).unwrap();
    fs::write(&config, own + &settings).unwrap();
    scratch.write("home/.gitconfig", &settings);
    fs::write(root.join(".git/info/attributes"), "* filter=trap diff=trap\n").unwrap();
    scratch.write("config/git/attributes", "* filter=trap diff=trap\n");
}

/// Files of a folder and what they hold, sorted.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let bytes = fs::read(&path).unwrap_or_default();
                found.push((path, bytes));
            }
        }
    }
    found.sort();
    found
}

/// The repository's `.git`, byte by byte, but for the objects and the one ref that a run may add.
fn fingerprint_by_plumbing(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let git = root.join(".git");
    contents(&git)
        .into_iter()
        .filter(|(path, _)| {
            let inside = path.strip_prefix(&git).unwrap();
            !inside.starts_with("objects")
                && !inside.starts_with("refs/heads/gatewright")
                && !inside.starts_with("logs/refs/heads/gatewright")
        })
        .collect()
}

#[test]
fn a_fingerprint_notices_a_change() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    let before = (fingerprint(&scratch, &root), fingerprint_by_plumbing(&root));
    scratch.git(&root, &["config", "x.y", "z"]);
    assert_ne!(fingerprint(&scratch, &root), before.0);
    assert_ne!(fingerprint_by_plumbing(&root), before.1);
}
