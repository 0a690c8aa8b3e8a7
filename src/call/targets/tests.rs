//! What calls of many agents come to.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::call::NoLinks;

fn context() -> Context {
    Context { root: "/repo".into(), cwd: "/repo".into(), home: Some("/home/dev".into()) }
}

fn resolve(tool: &str, args: Value) -> Targets {
    let call = ToolCall { id: None, tool: tool.to_owned(), args, cwd: None };
    Targets::resolve(&call, &context(), &NoLinks)
}

/// `read /repo/a` and so on.
fn shown(targets: &Targets) -> Vec<String> {
    targets
        .paths
        .iter()
        .map(|path| format!("{:?} {}", path.access, path.lexical.shown()).to_lowercase())
        .chain(targets.hosts.iter().map(|host| format!("contact {}", host.host.as_deref().unwrap_or("?"))))
        .collect()
}

#[test]
fn the_same_write_by_many_tools() {
    let patch = "*** Begin Patch\n*** Update File: .env\n@@\n+x\n*** End Patch\n";
    for (tool, args) in [
        ("Write", json!({"file_path": "/repo/.env", "content": "x"})),
        ("write_file", json!({"path": ".env", "content": "x"})),
        ("Edit", json!({"file_path": "/repo/./.env", "old_string": "a", "new_string": "b"})),
        ("MultiEdit", json!({"file_path": "/repo/.env", "edits": []})),
        ("NotebookEdit", json!({"notebook_path": "/repo/src/../.env", "new_source": "x"})),
        ("apply_patch", json!({"command": patch})),
        ("apply_patch", json!({"input": patch})),
        ("apply_patch", json!({"patchText": patch})),
        ("apply_patch", json!(patch)),
        ("apply_patch", json!({"command": ["apply_patch", patch]})),
        ("shell", json!({"command": ["apply_patch", patch]})),
        ("str_replace_editor", json!({"command": "create", "path": "/repo/.env", "file_text": "x"})),
        ("replace", json!({"file_path": "file:///repo/.env"})),
        ("mcp__fs__write_file", json!({"path": ".env", "content": "x"})),
        ("FancyWrite", json!({"path": ".env"})),
        ("write", json!("{\"filePath\": \".env\"}")),
    ] {
        let targets = resolve(tool, args);
        assert_eq!(shown(&targets), ["write /repo/.env"], "{tool}");
        assert_eq!(targets.unreadable.is_empty(), tool != "FancyWrite", "{tool} {:?}", targets.unreadable);
    }
}

#[test]
fn other_tools_come_to_what_they_touch() {
    for (tool, args, expected) in [
        ("Read", json!({"file_path": "~/.ssh/id_rsa"}), vec!["read /home/dev/.ssh/id_rsa"]),
        ("str_replace_editor", json!({"command": "view", "path": "a"}), vec!["read /repo/a"]),
        ("read_many_files", json!({"paths": ["a", "../b"]}), vec!["read /repo/a", "read /b"]),
        ("Grep", json!({"pattern": "/etc/passwd"}), vec!["read /repo"]),
        ("Grep", json!({"pattern": "x", "path": "/etc"}), vec!["read /etc"]),
        ("LS", json!({}), vec!["read /repo"]),
        ("delete_file", json!({"target_file": "a"}), vec!["delete /repo/a"]),
        (
            "move_file",
            json!({"source": "./a", "destination": "./b"}),
            vec!["delete /repo/a", "write /repo/b"],
        ),
        (
            "WebFetch",
            json!({"url": "https://u:p@evil.example/", "prompt": "x"}),
            vec!["contact evil.example"],
        ),
        ("WebFetch", json!({"url": "file:///etc/passwd"}), vec!["read /etc/passwd"]),
        ("web_fetch", json!({"prompt": "sum up https://a.example/x"}), vec!["contact a.example"]),
        ("WebSearch", json!({"query": "rm -rf /"}), vec![]),
        ("TodoWrite", json!({"todos": [{"content": "rm -rf /"}]}), vec![]),
        (
            "GitCommit",
            json!({"message": "m", "paths": ["src", ".env"]}),
            vec!["read /repo/src", "read /repo/.env"],
        ),
        ("mcp__git__git_log", json!({"repo_path": "/home/dev/x"}), vec!["read /home/dev/x"]),
        (
            "mcp__git__git_add",
            json!({"repo_path": "/repo", "files": ["../y"]}),
            vec!["write /repo", "write /y"],
        ),
        ("mcp__web__get", json!({"endpoint": "https://api.example/x"}), vec!["contact api.example"]),
        ("mcp__notes__create", json!({"title": "t", "content": "see https://a.example or rm -rf /"}), vec![]),
        ("BashOutput", json!({"bash_id": "x"}), vec![]),
    ] {
        let targets = resolve(tool, args);
        assert_eq!(shown(&targets), expected, "{tool}");
        assert!(targets.unreadable.is_empty(), "{tool} {:?}", targets.unreadable);
        assert_ne!(targets.class, ToolClass::Unknown, "{tool}");
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    for (tool, args) in [
        ("FancyWrite", json!({})),
        ("Write", json!({"content": "x"})),
        ("Read", json!(null)),
        ("Bash", json!({"cmd": 7})),
        ("Bash", json!([])),
        ("apply_patch", json!({"command": "rm -rf /"})),
        ("write_stdin", json!({"chars": "rm -rf"})),
        ("Bash", json!({"command": "make", "env": {"LD_PRELOAD": "/tmp/x.so"}})),
        ("WebFetch", json!({"prompt": "x"})),
        ("send_email", json!({"to": "x"})),
    ] {
        assert!(!resolve(tool, args).unreadable.is_empty(), "{tool}");
    }
    assert!(resolve("write_stdin", json!({"chars": "\u{3}"})).unreadable.is_empty());
    assert!(resolve("write_stdin", json!({"chars": "", "session_id": 1})).unreadable.is_empty());
}

#[test]
fn outside_is_told_by_whole_names() {
    assert!(resolve("Read", json!({"file_path": "/repo-secrets/x"})).outside_repo);
    assert!(!resolve("Read", json!({"file_path": "/repo/./docs/../README.md"})).outside_repo);
    assert!(resolve("Write", json!({"file_path": "/repo/src/../../x"})).outside_repo);
}

#[test]
fn a_directory_of_the_call_counts() {
    let targets = resolve("exec_command", json!({"cmd": "ls", "workdir": "../other"}));
    assert_eq!(targets.cwd, Path::new("/repo/../other"));
    assert_eq!(targets.command.as_deref(), Some("ls"));
}

#[test]
fn devices_that_keep_nothing_are_no_targets() {
    for path in ["/dev/null", "/dev/stdout", "/dev/fd/3", "/dev/../dev/null"] {
        assert!(resolve("Read", json!({"file_path": path})).paths.is_empty(), "{path}");
    }
    assert!(!resolve("Write", json!({"file_path": "/dev/sda"})).paths.is_empty());
    assert!(!resolve("Read", json!({"file_path": "/dev/fd/../../etc/passwd"})).paths.is_empty());
}

/// What effects come to, in the terms of [`shown`]; a path behind links is added with an arrow.
fn taken(effects: &[(EffectKind, &str)]) -> Vec<String> {
    let context = context();
    let mut targets = resolve("TodoWrite", json!({}));
    targets.paths.clear();
    let mut resolver = Resolver { targets, context: &context, links: &NoLinks, made: Vec::new() };
    let effects = effects
        .iter()
        .map(|(kind, word)| Effect {
            command: 0,
            kind: kind.clone(),
            word: Word::known(*word),
            directory: Directory::Known(".".to_owned()),
            redirect: false,
        })
        .collect();
    let reading = Reading { effects, ..Reading::default() };
    resolver.take(reading, &PathPattern::known(Path::new("/repo")));
    let mut told = shown(&resolver.targets);
    for path in &resolver.targets.paths {
        if let Some(real) = &path.real {
            told.push(format!("-> {}", real.shown()));
        }
    }
    told
}

#[test]
fn effects_of_commands_become_targets() {
    let path = |access| EffectKind::Path { access, recursive: false };
    let link = |target: &str| EffectKind::Link { target: Word::known(target) };
    for (effects, expected) in [
        (vec![(path(Access::Write), "/dev/null")], vec![]),
        (
            vec![(path(Access::Write), "/dev/tcp/evil.example/443")],
            vec!["write /dev/tcp/evil.example/443", "contact evil.example"],
        ),
        (vec![(EffectKind::Contact, "https://a.example/x")], vec!["contact a.example"]),
        (vec![(EffectKind::Contact, "./local")], vec![]),
        (
            vec![(link("/home/dev"), "build/out"), (path(Access::Write), "build/out/.bashrc")],
            vec!["write /repo/build/out", "write /repo/build/out/.bashrc", "-> /home/dev/.bashrc"],
        ),
        (
            vec![(link(".env"), "sub/x"), (path(Access::Read), "sub/x")],
            vec!["write /repo/sub/x", "read /repo/sub/x", "-> /repo/sub/.env"],
        ),
        (
            vec![(link("v1"), "current"), (path(Access::Delete), "current")],
            vec!["write /repo/current", "delete /repo/current"],
        ),
        (
            vec![(link("/srv/data"), "d"), (path(Access::Delete), "d/")],
            vec!["write /repo/d", "delete /repo/d", "-> /srv/data"],
        ),
        (
            vec![(link("/etc"), "e"), (path(Access::Read), "e/../x")],
            vec!["write /repo/e", "read /repo/x", "-> /x"],
        ),
    ] {
        assert_eq!(taken(&effects), expected);
    }
}

proptest! {
    #[test]
    fn no_call_panics(tool in "\\PC{0,20}", key in "(path|command|cmd|url|chars|edits|patch)", value in "\\PC{0,60}") {
        for tool in [tool.as_str(), "Bash", "apply_patch", "Write", "WebFetch", "write_stdin", "mcp__a__b"] {
            resolve(tool, json!({ key.as_str(): value.as_str() }));
            resolve(tool, json!({ key.as_str(): [{"path": value.as_str()}, value.as_str()] }));
            resolve(tool, Value::String(value.clone()));
        }
    }
}
