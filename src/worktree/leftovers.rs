//! The ledger of runs: what a run that was killed left behind is found by the next start.
//!
//! Each run writes what it is about to create into a file *before* it creates anything, and keeps that file
//! locked. A file that nobody holds a lock on belongs to a run that is gone.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::sandbox::{Sweep, Swept};

use super::{Removal, WorktreeError, remove_directory};

const LEDGER: &str = "ledger";
/// How often, and how far apart, the lock of a run that is gone is asked for.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(20);

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
            if !lock_unless_running(&handle) || !file.exists() {
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

/// Locks an entry whose run is gone. A child that the run was starting when it was killed holds a copy of the lock
/// until it has become its program, so a process that is gone is worth a moment's patience.
fn lock_unless_running(mut handle: &File) -> bool {
    use std::io::Seek;
    for _ in 0..TRIES {
        if flock(handle, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return handle.rewind().is_ok();
        }
        let record = handle.rewind().ok().and_then(|()| serde_json::from_reader::<_, Record>(handle).ok());
        let process = record.and_then(|record| Pid::from_raw(record.process));
        if process.is_none_or(|process| test_kill_process(process).is_ok()) {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    false
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// An entry of that process, with its lock held by somebody.
    fn entry(state: &Path, process: u32) -> File {
        let folder = state.join(LEDGER);
        fs::create_dir_all(&folder).unwrap();
        let record = Record {
            version: 1,
            run: "r".to_owned(),
            place: state.join("work/r"),
            repository: state.to_owned(),
            process: process.try_into().unwrap(),
            is_parked: false,
        };
        let file = folder.join("r.json");
        fs::write(&file, serde_json::to_vec(&record).unwrap()).unwrap();
        let holder = File::open(&file).unwrap();
        flock(&holder, FlockOperation::NonBlockingLockExclusive).unwrap();
        holder
    }

    #[test]
    fn a_copy_of_the_lock_that_outlives_its_run_is_waited_for() {
        let state = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let holder = entry(state.path(), child.id());
        let letting_go = std::thread::spawn(move || {
            std::thread::sleep(PAUSE * 5);
            drop(holder);
        });
        let found = Leftovers::find(state.path()).unwrap();
        letting_go.join().unwrap();
        assert_eq!(found.iter().map(Leftover::run).collect::<Vec<_>>(), ["r"]);
    }

    #[test]
    fn a_run_that_goes_on_is_left_alone() {
        let state = tempfile::tempdir().unwrap();
        let _holder = entry(state.path(), std::process::id());
        assert!(Leftovers::find(state.path()).unwrap().is_empty());
    }
}
