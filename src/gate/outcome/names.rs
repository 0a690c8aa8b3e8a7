//! Names that git or another system would take for something else.

use std::collections::BTreeMap;

use crate::call::harmless;
use crate::verdict::Vote;

use super::{Change, ChangeKind, finding};

pub(super) fn votes(changes: &[Change]) -> Vec<Vote> {
    changes
        .iter()
        .filter(|change| change.kind != ChangeKind::Deleted)
        .filter_map(|change| {
            let reason = change.path.split('/').find_map(wrong_name)?;
            Some(finding("name", reason.to_owned(), &change.path, "choose another name"))
        })
        .collect()
}

fn wrong_name(name: &str) -> Option<&'static str> {
    if is_git(name) {
        return Some("some system takes a part of the path for git's own directory");
    }
    if matches!(name, "" | "." | "..") {
        return Some("a part of the path is empty or made of dots");
    }
    if name.contains('\u{fffd}') {
        return Some("a part of the path is no UTF-8");
    }
    if harmless(name) != name && !name.ends_with(' ') || name.chars().any(char::is_control) {
        return Some("a part of the path holds hidden characters");
    }
    None
}

/// Whether some file system takes `name` for `.git`: letters of either case, characters that HFS+ leaves out,
/// short names, streams and ending dots and blanks of NTFS.
pub(super) fn is_git(name: &str) -> bool {
    let folded: String = name.chars().filter(|c| !is_left_out(*c)).flat_map(char::to_lowercase).collect();
    // NTFS takes a backslash for a slash.
    folded.split('\\').any(|part| {
        let part = part.split(':').next().unwrap_or(part);
        let part = part.trim_end_matches(['.', ' ']);
        part == ".git" || part == "git~1"
    })
}

/// Characters that HFS+ does not compare.
fn is_left_out(c: char) -> bool {
    matches!(
        c,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{200b}' | '\u{ad}'
    )
}

/// New paths that differ from another path of the tree in case only.
pub(super) fn collisions(changes: &[Change], tree: &[String]) -> Vec<Vote> {
    let is_added = |change: &&Change| matches!(change.kind, ChangeKind::Added | ChangeKind::Type);
    if !changes.iter().any(|change| is_added(&change)) {
        return Vec::new();
    }
    let deleted: std::collections::BTreeSet<&str> = changes
        .iter()
        .filter(|change| change.kind == ChangeKind::Deleted)
        .map(|change| change.path.as_str())
        .collect();
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let standing = tree.iter().map(String::as_str).filter(|path| !deleted.contains(path));
    let kept = changes
        .iter()
        .filter(|change| change.kind == ChangeKind::Modified)
        .map(|change| change.path.as_str());
    for path in standing.chain(kept) {
        for prefix in prefixes(path) {
            seen.entry(prefix.to_lowercase()).or_insert(prefix);
        }
    }
    let mut votes = Vec::new();
    for change in changes.iter().filter(is_added) {
        for prefix in prefixes(&change.path) {
            let other = *seen.entry(prefix.to_lowercase()).or_insert(prefix);
            if other != prefix {
                let reason = format!("differs from {} in case only", harmless(other));
                votes.push(finding("case_collision", reason, &change.path, "use one spelling of the name"));
                break;
            }
        }
    }
    votes
}

fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).chain(std::iter::once(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_known_under_many_names() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".g\u{200c}it",
            "\u{feff}.git",
            "git~1",
            "GIT~1",
            ".git ",
            ".git.",
            ".git. .",
            ".git::$INDEX_ALLOCATION",
            ".git\\hooks",
            "x\\.git",
            ".gi\u{206f}t",
        ] {
            assert!(is_git(name), "{name:?}");
        }
        for name in [".gitignore", ".github", "git", ".gitmodules", "git~10", "x.git", ".git2"] {
            assert!(!is_git(name), "{name:?}");
        }
    }
}
