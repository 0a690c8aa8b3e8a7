//! What the user's own git would read from the environment: where their settings are.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where the user's git settings and programs are. Read once, by whoever starts the run.
#[derive(Clone, Debug, Default)]
pub struct UserContext {
    /// `PATH`: where git is looked for.
    pub path: OsString,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// `GIT_CONFIG_GLOBAL`, `GIT_CONFIG_SYSTEM` and `GIT_CONFIG_NOSYSTEM`, which move or drop their settings.
    pub config_variables: Vec<(OsString, OsString)>,
}

impl UserContext {
    /// Takes what matters from an environment.
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> UserContext {
        let path = variable("PATH").filter(|path| !path.is_empty());
        UserContext {
            path: path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into()),
            home: variable("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
            config_home: variable("XDG_CONFIG_HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
            config_variables: ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"]
                .into_iter()
                .filter_map(|name| Some((name.into(), variable(name)?)))
                .collect(),
        }
    }

    /// Files outside the repository that the user's git reads by itself.
    pub(super) fn personal_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        if let Some(home) = &self.home {
            files.push(home.join(".gitconfig"));
        }
        if let Some(folder) = self.config_folder() {
            files.extend(["config", "ignore", "attributes"].map(|name| folder.join(name)));
        }
        files
    }

    /// `$XDG_CONFIG_HOME/git`, or where that is by default.
    pub(super) fn config_folder(&self) -> Option<PathBuf> {
        let config =
            self.config_home.clone().or_else(|| self.home.as_ref().map(|home| home.join(".config")))?;
        Some(config.join("git"))
    }
}
