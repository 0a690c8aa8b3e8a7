//! Submodules and links.

use crate::verdict::Vote;

use super::{Change, LINK_MODE, SUBMODULE_MODE, finding};

pub(super) fn submodules(changes: &[Change]) -> Vec<Vote> {
    changes
        .iter()
        .filter(|change| change.is_new(SUBMODULE_MODE))
        .map(|change| {
            let reason = "a repository inside the repository would become a submodule".to_owned();
            finding("submodule", reason, &change.path, "remove its git directory or the whole folder")
        })
        .collect()
}

pub(super) fn links(changes: &[Change]) -> Vec<Vote> {
    changes
        .iter()
        .filter(|change| change.new_mode == Some(LINK_MODE))
        .filter_map(|change| {
            let why = match &change.content {
                None => "a link whose target is not known",
                Some(target) => wrong_target(&change.path, &String::from_utf8_lossy(target))?,
            };
            Some(finding(
                "link",
                why.to_owned(),
                &change.path,
                "link to a path inside the repository, or copy the file",
            ))
        })
        .collect()
}

/// What is wrong with the target of a link at `path`, if anything.
fn wrong_target(path: &str, target: &str) -> Option<&'static str> {
    if target.is_empty() || target.contains('\0') {
        return Some("a link without a target");
    }
    if target.starts_with(['/', '\\', '~'])
        || target.get(1..3).is_some_and(|drive| matches!(drive, ":\\" | ":/"))
    {
        return Some("a link that leaves the repository");
    }
    let mut depth = path.split('/').count().saturating_sub(1);
    let (mut ups, mut has_gone_down, home) = (0, false, depth);
    for name in target.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => {
                ups += 1;
                // Above a folder that may itself be a link, anything can lie; so the steps up are counted too.
                if depth == 0 || has_gone_down && ups > home {
                    return Some("a link that leaves the repository");
                }
                depth -= 1;
            }
            name if super::names::is_git(name) => return Some("a link into git's own directory"),
            _ => {
                has_gone_down = true;
                depth += 1;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_inside() {
        for (path, target) in
            [("a", "b"), ("x/a", "../b"), ("x/y/a", "../../b/c"), ("a", "./b/"), ("x/a", "b/../c")]
        {
            assert_eq!(wrong_target(path, target), None, "{path} {target}");
        }
        for (path, target) in [
            ("a", ".."),
            ("a", "../b"),
            ("x/a", "../../b"),
            ("a", "/etc/passwd"),
            ("a", ""),
            ("a", "b/../../c"),
            ("a", "b/.."),
            ("a", ".git/config"),
            ("a", "C:\\x"),
            ("a", "..\\x"),
            ("a", "x/.GIT"),
        ] {
            assert!(wrong_target(path, target).is_some(), "{path} {target}");
        }
    }
}
