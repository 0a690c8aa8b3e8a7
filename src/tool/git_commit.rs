//! `git_commit`: a proposal. The commit itself is built by the runner, from the tree that it judged and tested.

use std::path::Path;

use super::arguments::Arguments;
use super::place::Place;
use super::{Bench, Output, Refusal};

/// Most paths of one proposal.
const MAX_PATHS: usize = 50;
/// Longest message, in bytes.
const MAX_MESSAGE: usize = 16 * 1024;

/// What the agent proposes as the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The message.
    pub message: String,
    /// The paths it names, from the root.
    pub paths: Vec<String>,
}

pub(super) fn propose(arguments: &Arguments<'_>, bench: &Bench) -> Result<Output, Refusal> {
    let message = arguments.required_text(&["message"])?;
    if message.trim().is_empty() {
        return Err("the message is empty".to_owned());
    }
    if message.len() > MAX_MESSAGE {
        return Err(format!("the message is longer than {MAX_MESSAGE} bytes"));
    }
    let given = arguments.list("paths").ok_or("`paths` must be a list")?;
    if given.is_empty() || given.len() > MAX_PATHS {
        return Err(format!("`paths` must name 1 to {MAX_PATHS} paths, not {}", given.len()));
    }
    let mut paths = Vec::new();
    for path in given {
        let path = path.as_str().ok_or("`paths` must be a list of texts")?;
        paths.push(checked(&bench.root, path)?);
    }
    let noted = format!("proposed: {} for the commit that the runner makes at the end", plural(paths.len()));
    Ok(Output { proposal: Some(Proposal { message: message.to_owned(), paths }), ..Output::ok(noted) })
}

fn plural(count: usize) -> String {
    if count == 1 { "1 path".to_owned() } else { format!("{count} paths") }
}

fn checked(root: &Path, given: &str) -> Result<String, Refusal> {
    if given.starts_with(':') || given.contains(['*', '?', '[']) {
        return Err(format!("`{given}` is a pattern; name each path"));
    }
    if Path::new(given).is_absolute() {
        return Err(format!("`{given}` is absolute; name it from the root"));
    }
    let place = Place::new(root, given)?;
    if place.relative().as_os_str().is_empty() {
        return Err("the root itself cannot be proposed; name the paths that changed".to_owned());
    }
    if place.is_in_git_folder() {
        return Err(format!("`{given}` is git's own"));
    }
    let secret = secret_below(&root.join(place.relative()), 0);
    if let Some(name) = secret {
        return Err(format!("`{given}`: {name} looks like a secret"));
    }
    Ok(place.relative().to_string_lossy().into_owned())
}

fn secret_below(path: &Path, depth: usize) -> Option<String> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if is_secret_name(&name) {
        return Some(name);
    }
    if depth > 32 || !path.symlink_metadata().is_ok_and(|facts| facts.is_dir()) {
        return None;
    }
    let entries = std::fs::read_dir(path).ok()?;
    entries.filter_map(Result::ok).find_map(|entry| secret_below(&entry.path(), depth + 1))
}

fn is_secret_name(name: &str) -> bool {
    matches!(name, ".env" | ".env.local")
        || name.ends_with(".pem")
        || name.ends_with(".p12")
        || name.starts_with("id_rsa")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_names_plain_paths_below_the_root() {
        let keep = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(keep.path().join("keys")).unwrap();
        std::fs::write(keep.path().join("keys/a.pem"), "").unwrap();
        for given in
            ["", ".", "..", "/etc/x", ":(top)a", "*.rs", ".env", "a/id_rsa.pub", "keys", ".git/config"]
        {
            assert!(checked(keep.path(), given).is_err(), "{given:?}");
        }
        assert_eq!(checked(keep.path(), "./src/a.rs").unwrap(), "src/a.rs");
    }
}
