//! The environment of a child: what is given, and nothing else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Name of the variable that marks every process of a run; its value is the run's id.
pub const MARKER: &str = "GATEWRIGHT_RUN";

/// A set of variables that starts empty: nothing of this process is inherited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// No variables at all.
    pub fn new() -> Environment {
        Environment::default()
    }

    /// What a command of the agent starts with: `PATH`, `HOME`, `LANG`, `TMPDIR` beneath `home`, and no more.
    ///
    /// `home` should be a directory that is thrown away with the run.
    pub fn for_agent(path: &OsStr, home: &Path, lang: &OsStr) -> Environment {
        let mut environment = Environment::new();
        environment.set("PATH", path);
        environment.set("HOME", home);
        environment.set("LANG", lang);
        environment.set("TMPDIR", home.join("tmp"));
        environment.set("XDG_CONFIG_HOME", home.join(".config"));
        environment.set("XDG_CACHE_HOME", home.join(".cache"));
        environment.set("XDG_DATA_HOME", home.join(".local/share"));
        environment.set("XDG_STATE_HOME", home.join(".local/state"));
        environment
    }

    /// Sets one variable, replacing what was there.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Environment {
        self.0.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Sets many variables.
    pub fn extend<N: AsRef<OsStr>, V: AsRef<OsStr>>(&mut self, all: impl IntoIterator<Item = (N, V)>) {
        for (name, value) in all {
            self.set(name, value);
        }
    }

    /// Takes one variable out.
    pub fn remove(&mut self, name: impl AsRef<OsStr>) {
        self.0.remove(name.as_ref());
    }

    /// The value of one variable.
    pub fn value(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All of it, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}
