//! Locks that the system takes back when their holder dies.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::StateError;

/// A lock, held until it is dropped.
///
/// It lies on an open file, so that a killed process leaves no lock behind; children do not inherit it.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held, never read")] File);

impl Lock {
    /// Locks a folder that exists, leaving no file in it.
    ///
    /// # Errors
    /// When another process holds it, or it cannot be opened.
    pub fn on_folder(folder: &Path, what: &str) -> Result<Self, StateError> {
        let file = File::open(folder).map_err(StateError::io("open", folder))?;
        Self::take(file, folder, what)
    }

    /// Locks a file, which is made when it is missing.
    ///
    /// # Errors
    /// When another process holds it, or it cannot be made.
    pub fn on_file(path: &Path, what: &str) -> Result<Self, StateError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)
            .map_err(StateError::io("create", path))?;
        Self::take(file, path, what)
    }

    fn take(file: File, path: &Path, what: &str) -> Result<Self, StateError> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StateError::Locked { what: what.to_owned() }),
            Err(error) => Err(StateError::io("lock", path)(error.into())),
        }
    }
}
