//! The user's effective git settings, read once and never written.

use std::path::{Path, PathBuf};

use super::git::Git;
use super::{UserContext, WorktreeError, os_from};

/// One line of a config file, in the order git applies them.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) scope: String,
    pub(super) origin: Option<PathBuf>,
    /// Section and key in lower case, subsection as written.
    pub(super) key: String,
    /// `None` when the key stands alone, which means true.
    pub(super) value: Option<String>,
}

/// All settings that the user's own git would see in a repository, with includes followed.
#[derive(Clone, Debug, Default)]
pub(super) struct GitConfig {
    entries: Vec<Entry>,
}

impl GitConfig {
    /// Asks git, with the user's home instead of the empty one; listing settings runs nothing.
    pub(super) fn read(
        git: &Git,
        user: &UserContext,
        git_dir: &Path,
        root: &Path,
    ) -> Result<GitConfig, WorktreeError> {
        let mut call = git
            .call(root, "config")
            .variable("GIT_DIR", git_dir)
            .args(["--list", "-z", "--includes", "--show-scope", "--show-origin"])
            .without_variable("GIT_CONFIG_GLOBAL")
            .without_variable("GIT_CONFIG_NOSYSTEM");
        if let Some(home) = &user.home {
            call = call.variable("HOME", home);
        }
        call = match &user.config_home {
            Some(home) => call.variable("XDG_CONFIG_HOME", home),
            None => call.without_variable("XDG_CONFIG_HOME"),
        };
        for (name, value) in &user.config_variables {
            call = call.variable(name, value);
        }
        GitConfig::parse(&call.bytes()?, root)
    }

    fn parse(answer: &[u8], root: &Path) -> Result<GitConfig, WorktreeError> {
        let mut parts = answer.split(|byte| *byte == 0);
        let mut entries = Vec::new();
        while let Some(scope) = parts.next().filter(|scope| !scope.is_empty()) {
            let (Some(origin), Some(setting)) = (parts.next(), parts.next()) else {
                return Err(WorktreeError::Answer { what: "config".into() });
            };
            let (key, value) = match setting.iter().position(|byte| *byte == b'\n') {
                Some(at) => (&setting[..at], Some(String::from_utf8_lossy(&setting[at + 1..]).into_owned())),
                None => (setting, None),
            };
            entries.push(Entry {
                scope: String::from_utf8_lossy(scope).into_owned(),
                origin: origin.strip_prefix(b"file:").map(|path| root.join(os_from(path))),
                key: String::from_utf8_lossy(key).into_owned(),
                value,
            });
        }
        // What we pass ourselves by `-c` is not the user's.
        entries.retain(|entry| entry.scope != "command");
        Ok(GitConfig { entries })
    }

    /// The value that counts: the last one.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        let entry = self.entries.iter().rev().find(|entry| entry.key.eq_ignore_ascii_case(key))?;
        Some(entry.value.as_deref().unwrap_or("true"))
    }

    /// The middle part of every `section.<name>.key`, without repeats.
    pub(super) fn subsections(&self, section: &str) -> Vec<String> {
        let mut names = Vec::new();
        for entry in &self.entries {
            let Some(rest) = entry.key.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')) else {
                continue;
            };
            if let Some((name, _)) = rest.rsplit_once('.')
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
        }
        names
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts_and_our_own_are_left_out() {
        let answer =
            b"global\0file:/h/.gitconfig\0user.name\nA B\0local\0file:.git/config\0user.name\nC\nD\0\
            local\0file:.git/config\0core.bare\0command\0command line:\0gc.auto\n0\0";
        let config = GitConfig::parse(answer, Path::new("/r")).expect("settings");
        assert_eq!(config.value("user.name"), Some("C\nD"));
        assert_eq!(config.value("core.bare"), Some("true"));
        assert_eq!(config.value("gc.auto"), None);
        assert_eq!(config.entries()[1].origin.as_deref(), Some(Path::new("/r/.git/config")));
    }
}
