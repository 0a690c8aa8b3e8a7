//! The lock that keeps two runs from using one repository at once. It lies in the state tree, not in `.git`.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::WorktreeError;

/// Whether others may hold the lock too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Nobody else.
    Alone,
    /// Others of this mode, as in a batch on one repository.
    Shared,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Holder {
    run: String,
    process: i32,
}

/// A lock on a repository, held until dropped. The kernel lets go of it when the process ends, however it ends,
/// so a stale one cannot exist; the file that stays behind means nothing.
#[derive(Debug)]
pub struct RepositoryLock {
    file: File,
}

impl RepositoryLock {
    /// Takes the lock of the repository with this common git directory, without waiting.
    ///
    /// # Errors
    /// [`WorktreeError::Locked`] with the holder, or when the state tree cannot be written.
    pub fn take(
        state: &Path,
        common_dir: &Path,
        run: &str,
        mode: LockMode,
    ) -> Result<RepositoryLock, WorktreeError> {
        let folder = state.join("locks");
        fs::create_dir_all(&folder).map_err(WorktreeError::io("create", &folder))?;
        let digest = Sha256::digest(common_dir.as_os_str().as_bytes());
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!("{name}.lock"));
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(WorktreeError::io("open", &path))?;
        let operation = match mode {
            LockMode::Alone => FlockOperation::NonBlockingLockExclusive,
            LockMode::Shared => FlockOperation::NonBlockingLockShared,
        };
        match flock(&file, operation) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                let holder: Holder = serde_json::from_str(&text).unwrap_or_default();
                return Err(WorktreeError::Locked { run: holder.run, process: holder.process });
            }
            Err(error) => return Err(WorktreeError::io("lock", path)(error.into())),
        }
        let holder = Holder { run: run.to_owned(), process: std::process::id() as i32 };
        let text = serde_json::to_vec(&holder).unwrap_or_default();
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(&text));
        written.map_err(WorktreeError::io("write", path))?;
        Ok(RepositoryLock { file })
    }
}

impl Drop for RepositoryLock {
    fn drop(&mut self) {
        // Closing is not enough: a child between fork and exec has a copy of the file for a moment.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}
