//! The folder of one run.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::StateError;

const ID_FILE: &str = "run-id";

/// Where one run keeps what stays, and where it works.
#[derive(Debug, Clone)]
pub struct RunFolder {
    id: String,
    path: PathBuf,
    work: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a new run.
    ///
    /// # Errors
    /// When it cannot be made, or holds something that is no run.
    pub(super) fn create(path: &Path, id: &str, work: Option<PathBuf>) -> Result<Self, StateError> {
        make_folder(path)?;
        // The canonical path: what lies beneath is compared with paths whose links were followed.
        let path = fs::canonicalize(path).map_err(StateError::io("open", path))?;
        let is_empty = fs::read_dir(&path).map_err(StateError::io("read", &path))?.next().is_none();
        if !is_empty {
            return Err(StateError::Foreign { path });
        }
        let work = work.unwrap_or_else(|| path.join("work"));
        let folder = Self { id: id.to_owned(), path, work };
        folder.write(ID_FILE, format!("{id}\n").as_bytes())?;
        Ok(folder)
    }

    /// The folder of a run that is there.
    pub fn at(path: &Path) -> Option<Self> {
        let path = fs::canonicalize(path).ok()?;
        let text = fs::read_to_string(path.join(ID_FILE)).ok()?;
        let id = text.trim();
        is_run_id(id).then(|| Self { id: id.to_owned(), work: path.join("work"), path: path.clone() })
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder, links followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder for fork, worktree and home, which goes at the end.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Writes a file whole: beside, then renamed, 0600.
    ///
    /// # Errors
    /// When that fails, on a full disk for example.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StateError> {
        let path = self.file(name);
        let beside = self.file(&format!(".{name}.new"));
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&beside)
            .map_err(StateError::io("create", &beside))?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(StateError::io("write", &beside))?;
        fs::rename(&beside, &path).map_err(StateError::io("write", &path))?;
        Ok(path)
    }
}

/// Whether this is the id of a run: what becomes a folder and a branch name.
pub fn is_run_id(text: &str) -> bool {
    (8..=64).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

pub(super) fn make_folder(path: &Path) -> Result<(), StateError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(StateError::io("create the folder", path))
}
