//! The ledger of runs: what a run that was killed left behind is found by the next start.
//!
//! Each run writes what it is about to create into a file *before* it creates anything, and keeps that file
//! locked. A file that nobody holds a lock on belongs to a run that is gone.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::sandbox::{Sweep, Swept};

use super::{Removal, WorktreeError, remove_directory};

const LEDGER: &str = "ledger";

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    run: String,
    place: PathBuf,
    repository: PathBuf,
    process: i32,
    is_parked: bool,
}

/// A run's entry in the ledger, locked while this value lives.
#[derive(Debug)]
pub struct Claim {
    file: PathBuf,
    record: Record,
    handle: Held,
}

/// A locked file. Unlocked explicitly: a child between fork and exec has a copy of it for a moment.
#[derive(Debug)]
struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

impl Claim {
    /// Enters a run that will use `place` for its fork and worktree of `repository`.
    ///
    /// # Errors
    /// When the state tree cannot be written.
    pub fn enter(state: &Path, run: &str, place: &Path, repository: &Path) -> Result<Claim, WorktreeError> {
        let folder = state.join(LEDGER);
        fs::create_dir_all(&folder).map_err(WorktreeError::io("create", &folder))?;
        let record = Record {
            version: 1,
            run: run.to_owned(),
            place: without_links(place)?,
            repository: repository.to_owned(),
            process: std::process::id() as i32,
            is_parked: false,
        };
        let file = folder.join(format!("{run}.json"));
        // Locked under another name first: the entry must never be seen unlocked.
        let draft = folder.join(format!(".{run}.draft"));
        let handle = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&draft)
            .map_err(WorktreeError::io("create", &draft))?;
        flock(&handle, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| WorktreeError::io("lock", &draft)(error.into()))?;
        let mut claim = Claim { file: draft, record, handle: Held(handle) };
        claim.write()?;
        fs::rename(&claim.file, &file).map_err(WorktreeError::io("create", &file))?;
        claim.file = file;
        Ok(claim)
    }

    /// Where the run may create its files: the place that was given, without links.
    pub fn place(&self) -> &Path {
        &self.record.place
    }

    fn write(&mut self) -> Result<(), WorktreeError> {
        use std::io::Seek;
        let text = serde_json::to_vec(&self.record).unwrap_or_default();
        let handle = &mut self.handle.0;
        handle
            .set_len(0)
            .and_then(|()| handle.rewind())
            .and_then(|()| handle.write_all(&text))
            .and_then(|()| handle.sync_data())
            .map_err(WorktreeError::io("write", &self.file))
    }

    /// Keeps everything of the run for later: it is no leftover, whoever looks.
    ///
    /// # Errors
    /// When the entry cannot be written.
    pub fn park(mut self) -> Result<(), WorktreeError> {
        self.record.is_parked = true;
        self.write()
    }

    /// Takes the run out of the ledger; its place must have been removed.
    ///
    /// # Errors
    /// When the entry cannot be removed.
    pub fn leave(self) -> Result<(), WorktreeError> {
        fs::remove_file(&self.file).map_err(WorktreeError::io("remove", &self.file))
    }
}

/// The same place by a path without links, which removal insists on; what is above it is created.
fn without_links(place: &Path) -> Result<PathBuf, WorktreeError> {
    let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
        return Err(WorktreeError::io("create", place)(std::io::ErrorKind::InvalidInput.into()));
    };
    fs::create_dir_all(parent).map_err(WorktreeError::io("create", parent))?;
    Ok(fs::canonicalize(parent).map_err(WorktreeError::io("open", parent))?.join(name))
}

/// The ledger, seen by a later start.
#[derive(Debug)]
pub struct Leftovers;

impl Leftovers {
    /// Runs whose process is gone and that are not parked. Each is held locked until cleared or dropped, so that
    /// two starts do not clear one run. Entries that cannot be read are left alone.
    ///
    /// # Errors
    /// When the ledger cannot be listed.
    pub fn find(state: &Path) -> Result<Vec<Leftover>, WorktreeError> {
        let folder = state.join(LEDGER);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(WorktreeError::io("list", folder)(error)),
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let file = entry.path();
            let Ok(handle) = File::open(&file) else { continue };
            if flock(&handle, FlockOperation::NonBlockingLockExclusive).is_err() || !file.exists() {
                continue;
            }
            if entry.file_name().to_string_lossy().ends_with(".draft") {
                // Its run ended before it had created anything.
                let _ = fs::remove_file(&file);
                continue;
            }
            let Ok(record) = serde_json::from_reader::<_, Record>(&handle) else { continue };
            if !record.is_parked {
                found.push(Leftover { file, record, _handle: Held(handle) });
            }
        }
        found.sort_by(|one, other| one.record.run.cmp(&other.record.run));
        Ok(found)
    }
}

/// What a run that is gone left behind.
#[derive(Debug)]
pub struct Leftover {
    file: PathBuf,
    record: Record,
    _handle: Held,
}

/// What clearing one run did.
#[derive(Debug)]
pub struct Cleared {
    /// The run.
    pub run: String,
    /// Its processes.
    pub swept: Swept,
    /// Its files.
    pub removal: Removal,
}

impl Leftover {
    /// The run's id.
    pub fn run(&self) -> &str {
        &self.record.run
    }

    /// Where its fork and worktree are.
    pub fn place(&self) -> &Path {
        &self.record.place
    }

    /// The common git directory of the repository it worked for.
    pub fn repository(&self) -> &Path {
        &self.record.repository
    }

    /// Ends its processes and removes its files. The user's repository is not touched.
    ///
    /// # Errors
    /// When the place cannot be looked at. If something is left, the entry stays for the next time.
    pub fn clear(self) -> Result<Cleared, WorktreeError> {
        let swept = Sweep::new(&self.record.run).directory(&self.record.place).run();
        let removal = remove_directory(&self.record.place)?;
        if removal.is_complete() {
            fs::remove_file(&self.file).map_err(WorktreeError::io("remove", &self.file))?;
        }
        Ok(Cleared { run: self.record.run, swept, removal })
    }
}
