//! Path globs that name no place a call would touch.

use super::super::tree::Value;
use super::{Linted, Subject};

/// Folders that stand at the top of file systems.
const TOP: &[&str] = &[
    "bin",
    "boot",
    "cores",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "repo",
    "root",
    "run",
    "sbin",
    "snap",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
    "workspace",
    "workspaces",
    "github",
];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Linted> {
    let Some(entry) = subject.entry("path") else { return Vec::new() };
    let nodes = match &entry.value.value {
        Value::List(nodes) => nodes.as_slice(),
        _ => std::slice::from_ref(&entry.value),
    };
    let mut found = Vec::new();
    for node in nodes {
        let Value::Scalar { text, .. } = &node.value else { continue };
        let (why, help) = if let Some(rest) = text.strip_prefix('/') {
            let first = rest.split('/').next().unwrap_or_default();
            let is_open = first.is_empty() || first.contains(['*', '?', '[', '{']);
            if is_open || TOP.contains(&first) {
                continue;
            }
            let help = format!("write `{rest}` for a path of the repository");
            ("begins at the root of the file system, where nothing of this name is usual", help)
        } else if text.contains('\\') && !text.contains('/') {
            ("has no slash between its parts", format!("write `{}`", text.replace('\\', "/")))
        } else {
            continue;
        };
        let message = format!("`{text}` in rule `{}` {why}", subject.rule.id);
        found.push(subject.at("path-nowhere", &node.span, message, "names no place").help(help));
    }
    found
}
