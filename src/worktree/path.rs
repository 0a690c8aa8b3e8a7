//! A path inside a repository, as bytes.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path relative to the top of the repository, with `/` between components. Git allows any bytes but NUL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// The path of these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> RepoPath {
        RepoPath(bytes.into())
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As a path of the system, still relative.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The last component.
    pub fn name(&self) -> &[u8] {
        self.0.rsplit(|byte| *byte == b'/').next().unwrap_or(&self.0)
    }

    /// This path with one more component.
    pub(super) fn join(&self, name: &[u8]) -> RepoPath {
        let mut bytes = self.0.clone();
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        RepoPath(bytes)
    }

    /// Every directory above it, nearest last, without the top.
    pub(super) fn parents(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &self.0[..at])
    }
}

impl fmt::Display for RepoPath {
    /// With control characters, text direction marks and invalid bytes escaped.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                let hides = matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
                if character.is_control() || hides {
                    write!(out, "{}", character.escape_unicode())?;
                } else {
                    write!(out, "{character}")?;
                }
            }
            for byte in chunk.invalid() {
                write!(out, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{self}\"")
    }
}

/// Whether some file system would take this name for `.git`: any case, the short name of Windows, trailing dots
/// and blanks, and characters that HFS+ ignores.
pub(super) fn is_git_name(name: &[u8]) -> bool {
    let text = String::from_utf8_lossy(name);
    let bare: String = text
        .chars()
        .filter(|c| {
            !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
        })
        .collect::<String>()
        .to_lowercase();
    let bare = bare.split([':', '\\']).next().unwrap_or("").trim_end_matches(['.', ' ']);
    bare == ".git" || bare == "git~1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_system_takes_for_dot_git() {
        for name in
            [".git", ".GIT", ".Git.", "git~1", "GIT~1", ".git ", ".g\u{200c}it", ".git::$INDEX_ALLOCATION"]
        {
            assert!(is_git_name(name.as_bytes()), "{name:?}");
        }
        for name in [".gitignore", "git", ".github", "x.git", ".gitmodules"] {
            assert!(!is_git_name(name.as_bytes()), "{name:?}");
        }
    }

    #[test]
    fn shown_paths_are_harmless() {
        let path = RepoPath::new(b"a\n\x1b[2J\xff\xe2\x80\xaeb".to_vec());
        assert_eq!(path.to_string(), "a\\u{a}\\u{1b}[2J\\xff\\u{202e}b");
    }
}
