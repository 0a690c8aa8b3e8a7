//! Global arguments as meant: directory, environment, settings, policy.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config::{Layer, Origin, Settings};
use crate::policy::{Library, Policy, PolicyErrors, Source};
use crate::run::{Places, load_policy, policy_names, read_file, with_sources};

use super::Global;
use super::exit::Exit;
use super::failure::Failure;

/// Policies by name with who named them, and those that stand in settings.
type Names = (Vec<(Origin, String)>, Vec<(String, String)>);

/// What every command starts from.
#[derive(Debug)]
pub(super) struct Setup {
    /// Directory that names of files start from.
    pub cwd: PathBuf,
    /// The environment, as far as it is text.
    pub environment: BTreeMap<String, String>,
    /// The user's settings file, if one was named or is there.
    user_file: Option<PathBuf>,
}

impl Setup {
    pub(super) fn new(global: &Global) -> Result<Self, Failure> {
        let environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let workspace = ["GATEWRIGHT_WORKSPACE_DIR", "ASSISTANT_WORKSPACE_DIR"]
            .iter()
            .find_map(|name| environment.get(*name))
            .map(PathBuf::from);
        let here = std::env::current_dir()
            .map_err(|error| Failure::usage(format!("cannot tell the current directory: {error}")))?;
        let cwd = match global.directory.clone().or(workspace) {
            Some(directory) => here.join(directory),
            None => here.clone(),
        };
        let cwd = std::fs::canonicalize(&cwd).map_err(|error| {
            Failure::usage(format!("cannot use the directory {}: {error}", cwd.display()))
        })?;
        let user_file = match &global.config {
            Some(file) => Some(here.join(file)),
            None => usual_file(&environment).filter(|file| file.exists()),
        };
        Ok(Self { cwd, environment, user_file })
    }

    /// The home directory.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.environment.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
    }

    /// Folder of the user's settings.
    pub(super) fn user_folder(&self) -> Option<&Path> {
        self.user_file.as_deref().and_then(Path::parent)
    }

    /// The layers below the flags that do not depend on a repository.
    pub(super) fn layers(&self) -> Result<Vec<Layer>, Failure> {
        let mut layers = vec![Layer::from_environment(&self.environment).map_err(Failure::faults)?];
        if let Some(file) = &self.user_file {
            let shown = file.display().to_string();
            let bytes = read_file(file)
                .map_err(|why| Failure::usage(format!("cannot read the settings {shown}: {why}")))?;
            let text = String::from_utf8(bytes).map_err(|_| {
                Failure::usage(format!("cannot read the settings {shown}: they are no UTF-8"))
            })?;
            layers.push(Layer::from_file(Origin::User, &shown, &text).map_err(Failure::faults)?);
        }
        Ok(layers)
    }

    /// The policy of these flags, or else of the settings: for commands that run nothing.
    pub(super) fn policy(&self, flags: &[String]) -> Result<(Policy, Vec<String>), Failure> {
        let (names, sections) = self.policy_names(flags)?;
        let places = Places { cwd: &self.cwd, user: self.user_folder(), base: None };
        Ok(load_policy(&names, &sections, &places, today())?)
    }

    /// Hands the texts of that policy to `work`.
    pub(super) fn with_sources<T>(
        &self,
        flags: &[String],
        work: impl FnOnce(&[Source], &dyn Library) -> Result<T, PolicyErrors>,
    ) -> Result<T, Failure> {
        let (names, sections) = self.policy_names(flags)?;
        let places = Places { cwd: &self.cwd, user: self.user_folder(), base: None };
        Ok(with_sources(&names, &sections, &places, work)?)
    }

    fn policy_names(&self, flags: &[String]) -> Result<Names, Failure> {
        Ok(if flags.is_empty() {
            let settings = Settings::resolve(&self.layers()?);
            (policy_names(&settings), settings.policy_sections)
        } else {
            (flags.iter().map(|name| (Origin::Flag, name.clone())).collect(), Vec::new())
        })
    }

    /// The text of a file that an argument names, or of stdin for `-`.
    pub(super) fn open(&self, name: &str) -> Result<Box<dyn std::io::BufRead>, Failure> {
        if name == "-" {
            return Ok(Box::new(std::io::BufReader::new(std::io::stdin())));
        }
        let file = std::fs::File::open(self.cwd.join(name))
            .map_err(|error| Failure::new(Exit::Usage, format!("cannot read {name}: {error}")))?;
        Ok(Box::new(std::io::BufReader::with_capacity(256 * 1024, file)))
    }
}

fn usual_file(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let absolute = |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("gatewright/config.yml"))
}

/// The day by which end dates of exceptions are judged: that of UTC, so that it is the same everywhere.
pub(super) fn today() -> jiff::civil::Date {
    jiff::Timestamp::now().to_zoned_datetime(jiff::tz::TimeZone::UTC).date()
}
