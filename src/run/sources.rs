//! Policies by name: embedded, from a commit, or from disk outside of anything a run can write.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use jiff::civil::Date;

use crate::config::{Origin, Settings};
use crate::policy::{Library, Policy, PolicyErrors, Source};

/// Largest file that is read as a policy or a script, in bytes; the policy room names its own, lower limit.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Gives the content of a path in the base commit; `None` when it has no such file.
pub(super) type BaseFiles<'a> = &'a dyn Fn(&str) -> Result<Option<Vec<u8>>, String>;

/// Where names of files are looked up.
pub struct Places<'a> {
    /// Directory of the command line.
    pub cwd: &'a Path,
    /// Folder of the user's settings.
    pub user: Option<&'a Path>,
    /// The base commit, with its short name for people.
    pub base: Option<(&'a str, BaseFiles<'a>)>,
}

/// A file that cannot be had.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot read {name}: {why}")]
pub struct Unavailable {
    /// As written.
    pub name: String,
    /// Why not.
    pub why: String,
}

impl Places<'_> {
    /// The text of a file that a setting of this origin names, with the name under which it is told.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn read(&self, origin: Origin, name: &str) -> Result<(String, Vec<u8>), Unavailable> {
        let unavailable = |why: String| Unavailable { name: name.to_owned(), why };
        let folder = match origin {
            Origin::Task | Origin::Repository => {
                let Some((base, files)) = &self.base else {
                    return Err(unavailable("there is no base commit to read it from".to_owned()));
                };
                let path = clean_relative(name)
                    .ok_or_else(|| unavailable("it lies outside the repository".to_owned()))?;
                let bytes = files(&path).map_err(unavailable)?;
                let bytes = bytes.ok_or_else(|| unavailable(format!("commit {base} has no such file")))?;
                return Ok((format!("{base}:{path}"), bytes));
            }
            Origin::User => self.user.unwrap_or(self.cwd),
            Origin::Flag | Origin::Environment | Origin::Default => self.cwd,
        };
        let bytes = read_file(&folder.join(name)).map_err(unavailable)?;
        Ok((name.to_owned(), bytes))
    }
}

/// Reads a file of bounded size.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read;
    let file = std::fs::File::open(path).map_err(|error| plain(&error))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| plain(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it is larger than {MAX_BYTES} bytes"));
    }
    Ok(bytes)
}

/// A path with links followed as far as it exists.
pub(super) fn real_path(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (std::fs::canonicalize(ancestor), path.strip_prefix(ancestor)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}

fn clean_relative(name: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// What `include:` names: beside the policy that includes it, on disk or in the base commit.
struct Files<'a> {
    places: &'a Places<'a>,
    /// Origin and path of every source by display name.
    known: std::cell::RefCell<BTreeMap<String, (Origin, String)>>,
}

impl Library for Files<'_> {
    fn include(&self, name: &str, from: &str) -> Result<Source, String> {
        let (origin, path) =
            self.known.borrow().get(from).cloned().unwrap_or((Origin::Flag, from.to_owned()));
        let beside: PathBuf =
            Path::new(&path).parent().map_or_else(|| PathBuf::from(name), |parent| parent.join(name));
        let beside = beside.to_string_lossy().into_owned();
        let (shown, bytes) = self.places.read(origin, &beside).map_err(|error| error.why)?;
        self.known.borrow_mut().insert(shown.clone(), (origin, beside));
        Ok(Source { name: shown, bytes })
    }
}

/// Why policies cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SourcesError {
    /// A file is not there.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// No embedded policy of that name.
    #[error("no embedded policy `builtin:{name}`")]
    NoBuiltin {
        /// As given.
        name: String,
    },
    /// They do not load.
    #[error("the policy does not load")]
    Broken(PolicyErrors),
}

/// Loads the policies of these names as one.
///
/// # Errors
/// When one is not there or does not load.
pub fn load_policy(
    names: &[(Origin, String)],
    sections: &[(String, String)],
    places: &Places<'_>,
    today: Date,
) -> Result<(Policy, Vec<String>), SourcesError> {
    with_sources(names, sections, places, |sources, library| {
        let shown = sources.iter().map(|source| source.name.clone()).collect();
        Ok((Policy::load(sources, library, today)?, shown))
    })
}

/// Hands the texts of these names, and what gives the texts that they include, to `work`.
///
/// # Errors
/// When one is not there, or `work` finds that they do not load.
pub fn with_sources<T>(
    names: &[(Origin, String)],
    sections: &[(String, String)],
    places: &Places<'_>,
    work: impl FnOnce(&[Source], &dyn Library) -> Result<T, PolicyErrors>,
) -> Result<T, SourcesError> {
    let files = Files { places, known: std::cell::RefCell::default() };
    let mut sources = Vec::new();
    for (origin, name) in names {
        if let Some(builtin) = name.strip_prefix("builtin:") {
            let source = Policy::builtin(builtin)
                .ok_or_else(|| SourcesError::NoBuiltin { name: builtin.to_owned() })?;
            sources.push(source);
            continue;
        }
        let (shown, bytes) = places.read(*origin, name)?;
        files.known.borrow_mut().insert(shown.clone(), (*origin, name.clone()));
        sources.push(Source { name: shown, bytes });
    }
    for (name, text) in sections {
        sources.push(Source { name: name.clone(), bytes: text.clone().into_bytes() });
    }
    work(&sources, &files).map_err(SourcesError::Broken)
}

/// The policies that the settings name, each with who named it.
pub fn policy_names(settings: &Settings) -> Vec<(Origin, String)> {
    let origin = settings.get("policy").map_or(Origin::Default, |resolved| resolved.origin);
    settings.list("policy").iter().map(|name| (origin, name.clone())).collect()
}
