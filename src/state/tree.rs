//! The tree as a whole.

use std::fs;
use std::path::{Path, PathBuf};

use super::StateError;
use super::run_folder::{RunFolder, is_run_id, make_folder};

/// The state tree of one user.
#[derive(Debug, Clone)]
pub struct State {
    root: PathBuf,
}

impl State {
    /// Where the tree of a user with this environment is. Touches no disk.
    ///
    /// # Errors
    /// When neither `XDG_STATE_HOME` nor `HOME` is set to an absolute path.
    pub fn locate(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Result<Self, StateError> {
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base =
            absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        base.map(|base| Self { root: base.join("gatewright") }).ok_or(StateError::Nowhere)
    }

    /// The tree's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A tree in this folder.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Whether the tree is there, or can be made, and can be written.
    pub fn is_writable(&self) -> bool {
        self.make().is_ok() && rustix::fs::access(&self.root, rustix::fs::Access::WRITE_OK).is_ok()
    }

    /// Makes the folder of a new run in the tree.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new_run(&self, id: &str) -> Result<RunFolder, StateError> {
        self.make()?;
        // Links followed, since what lies beneath is compared with paths whose links were followed.
        let root = fs::canonicalize(&self.root).map_err(StateError::io("open", &self.root))?;
        RunFolder::create(&root.join("runs").join(id), id, Some(root.join("work").join(id)))
    }

    /// Makes the folder of a new run elsewhere; `Self::remember` makes it known to the tree, in which it works if
    /// there is one.
    ///
    /// # Errors
    /// When it cannot be made, or is not empty.
    pub fn new_run_at(path: &Path, id: &str, state: Option<&Self>) -> Result<RunFolder, StateError> {
        let work =
            state.and_then(|state| fs::canonicalize(&state.root).ok()).map(|root| root.join("work").join(id));
        RunFolder::create(path, id, work)
    }

    /// Lets the tree know of a run that lies elsewhere.
    ///
    /// # Errors
    /// When the tree cannot be written.
    pub fn remember(&self, folder: &RunFolder) -> Result<(), StateError> {
        self.make()?;
        let link = self.runs_folder().join(folder.id());
        std::os::unix::fs::symlink(folder.path(), &link).map_err(StateError::io("create the link", &link))
    }

    /// All runs, oldest first; links whose folder is gone are passed over.
    pub fn runs(&self) -> Vec<RunFolder> {
        let Ok(entries) = fs::read_dir(self.runs_folder()) else { return Vec::new() };
        let mut runs: Vec<RunFolder> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_str().is_some_and(is_run_id))
            .filter_map(|entry| RunFolder::at(&entry.path()))
            .collect();
        runs.sort_by(|a, b| a.id().cmp(b.id()));
        runs
    }

    /// The run that `name` means: a folder, an id, the beginning of one, or `last`.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find(&self, name: &str) -> Result<RunFolder, StateError> {
        let none = || StateError::NoRun { name: name.to_owned() };
        if let Some(folder) = Self::find_folder(name) {
            return Ok(folder);
        }
        let mut runs = self.runs();
        if name == "last" {
            return runs.pop().ok_or_else(none);
        }
        if name.is_empty() {
            return Err(none());
        }
        let mut fitting: Vec<RunFolder> = runs.into_iter().filter(|run| run.id().starts_with(name)).collect();
        if let Some(exact) = fitting.iter().position(|run| run.id() == name) {
            return Ok(fitting.swap_remove(exact));
        }
        if fitting.len() > 1 {
            let runs = fitting.iter().map(|run| run.id().to_owned()).collect();
            return Err(StateError::Ambiguous { name: name.to_owned(), runs });
        }
        fitting.pop().ok_or_else(none)
    }

    /// The run whose folder, or whose file, `name` is.
    pub fn find_folder(name: &str) -> Option<RunFolder> {
        let path = Path::new(name);
        let folder = if path.is_file() { path.parent()? } else { path };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        RunFolder::at(folder)
    }

    /// Whether the process of a run is still there: it holds the run's entry in the ledger.
    pub fn is_live(&self, id: &str) -> bool {
        let entry = self.root.join("ledger").join(format!("{id}.json"));
        entry.exists() && matches!(super::Lock::on_file(&entry, id), Err(StateError::Locked { .. }))
    }

    /// Takes links away whose folder is gone. Gives back how many there were.
    pub fn forget_missing(&self) -> usize {
        let Ok(entries) = fs::read_dir(self.runs_folder()) else { return 0 };
        entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()) && !entry.path().exists())
            .filter(|entry| fs::remove_file(entry.path()).is_ok())
            .count()
    }

    fn make(&self) -> Result<(), StateError> {
        make_folder(&self.runs_folder())
    }

    fn runs_folder(&self) -> PathBuf {
        self.root.join("runs")
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn tree() -> (tempfile::TempDir, State) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home").into_os_string();
        let state = State::locate(|name| (name == "HOME").then(|| home.clone())).unwrap();
        (folder, state)
    }

    #[test]
    fn runs_are_found_by_id_beginning_folder_and_last() {
        let (_keep, state) = tree();
        let first = state.new_run("20260101-aaaa").unwrap();
        state.new_run("20260102-bbbb").unwrap();
        assert_eq!(state.find("20260101").unwrap().id(), "20260101-aaaa");
        assert_eq!(state.find("last").unwrap().id(), "20260102-bbbb");
        assert_eq!(state.find(first.path().to_str().unwrap()).unwrap().id(), "20260101-aaaa");
        assert!(matches!(state.find("2026"), Err(StateError::Ambiguous { .. })));
        assert!(matches!(state.find("x"), Err(StateError::NoRun { .. })));
    }

    #[test]
    fn a_run_elsewhere_is_remembered_and_forgotten_with_its_folder() {
        let (keep, state) = tree();
        let out = keep.path().join("out");
        let run = State::new_run_at(&out, "20260101-aaaa", None).unwrap();
        state.remember(&run).unwrap();
        assert_eq!(state.runs().len(), 1);
        assert!(matches!(State::new_run_at(&out, "20260101-cccc", None), Err(StateError::Foreign { .. })));
        fs::remove_dir_all(&out).unwrap();
        assert_eq!((state.runs().len(), state.forget_missing()), (0, 1));
    }

    #[test]
    fn nobody_else_may_look() {
        let (_keep, state) = tree();
        let run = state.new_run("20260101-aaaa").unwrap();
        let file = run.write("report.json", b"{}").unwrap();
        assert_eq!(fs::metadata(run.path()).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn without_a_home_there_is_no_tree() {
        assert!(matches!(State::locate(|_| None), Err(StateError::Nowhere)));
    }
}
