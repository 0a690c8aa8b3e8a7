//! Finding and killing what slipped out of its process group.
//!
//! A process can leave its group (`setsid`), its parent (a double fork) and its environment, but not all ties at
//! once: what lost its parent is handed to this process (a subreaper), what went elsewhere still carries the
//! marker variable or stands in the run's directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::SandboxError;
use super::environment::MARKER;

static SUBREAPER: AtomicBool = AtomicBool::new(false);
static OWN_CHILDREN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Makes this process the one that orphans below it are handed to. Call it once, early, in a process whose every
/// child is started by this room: whatever else becomes its child is taken for an escapee.
///
/// # Errors
/// When the system has no such thing (macOS).
pub fn become_subreaper() -> Result<(), SandboxError> {
    #[cfg(target_os = "linux")]
    let done = rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(Into::into);
    #[cfg(not(target_os = "linux"))]
    let done: std::io::Result<()> = Err(std::io::ErrorKind::Unsupported.into());
    done.map_err(|source| SandboxError::Setup { what: "become a subreaper", source })?;
    SUBREAPER.store(true, Ordering::SeqCst);
    Ok(())
}

pub(super) fn is_subreaper() -> bool {
    SUBREAPER.load(Ordering::SeqCst)
}

/// A child that [`super::Program`] started and will reap itself.
pub(super) struct OwnChild(i32);

impl OwnChild {
    pub(super) fn register(id: u32) -> OwnChild {
        let id = id as i32;
        OWN_CHILDREN.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(id);
        OwnChild(id)
    }
}

impl Drop for OwnChild {
    fn drop(&mut self) {
        OWN_CHILDREN.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(&self.0);
    }
}

/// What ties a process to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Caught {
    /// It carries the marker variable of the run.
    Marker,
    /// It was handed to this process when its parent ended.
    Adopted,
    /// Its directory lies in the run's directory.
    Directory,
    /// A process caught for another reason started it.
    Descendant,
}

/// Result of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Processes that were killed: id, name, reason.
    pub killed: Vec<(i32, String, Caught)>,
    /// Processes still there when patience ended: id and name.
    pub left: Vec<(i32, String)>,
    /// Processes in the run's directory that were spared because they have a terminal: somebody's shell.
    pub spared: Vec<(i32, String)>,
}

/// A search for the processes of one run.
#[derive(Clone, Debug)]
pub struct Sweep {
    marker: String,
    directories: Vec<PathBuf>,
    patience: Duration,
}

/// Looks without a find after which a sweep is content.
const QUIET_LOOKS: u32 = 3;

type Found = BTreeMap<i32, (Process, Caught)>;

#[derive(Clone, Debug)]
struct Process {
    parent: i32,
    start: u64,
    terminal: i32,
    is_zombie: bool,
    name: String,
}

impl Sweep {
    /// A search for processes marked with `run`.
    pub fn new(run: &str) -> Sweep {
        Sweep { marker: run.to_owned(), directories: Vec::new(), patience: Duration::from_secs(5) }
    }

    /// Also those whose directory is `directory` or lies beneath it.
    #[must_use]
    pub fn directory(mut self, directory: &Path) -> Sweep {
        self.directories.push(fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned()));
        self
    }

    /// How long to go on while new ones keep turning up.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Sweep {
        self.patience = patience;
        self
    }

    /// Kills and reaps until none is left or patience ends. Where there is no `/proc`, finds nothing.
    pub fn run(&self) -> Swept {
        let until = Instant::now() + self.patience;
        let mut swept = Swept::default();
        let mut seen = BTreeSet::new();
        let mut quiet = 0;
        loop {
            // Everything that is found is stopped first, until a look finds nothing new: what is stopped cannot
            // start another. A few looks only: it must also be killed while more keeps coming.
            let mut found = BTreeMap::new();
            for _ in 0..8 {
                let (now, spared) = self.look();
                swept.spared = spared;
                let known = found.len();
                found.extend(now);
                if found.len() == known {
                    break;
                }
            }
            for (id, (process, why)) in &found {
                if !process.is_zombie {
                    send(*id, process.start, Signal::KILL);
                    if seen.insert((*id, process.start)) {
                        swept.killed.push((*id, process.name.clone(), *why));
                    }
                }
                if process.parent == std::process::id() as i32
                    && let Some(pid) = Pid::from_raw(*id)
                {
                    let _ = waitpid(Some(pid), WaitOptions::NOHANG);
                }
            }
            // A chain in which each starts the next and ends can slip through one look, hardly through several.
            quiet = if found.is_empty() { quiet + 1 } else { 0 };
            if quiet == QUIET_LOOKS {
                return swept;
            }
            if Instant::now() > until {
                let still = self.look().0.into_iter().filter(|(_, (process, _))| !process.is_zombie);
                swept.left = still.map(|(id, (process, _))| (id, process.name)).collect();
                return swept;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The processes of the run, each stopped the moment it is seen, and those spared.
    fn look(&self) -> (Found, Vec<(i32, String)>) {
        let me = std::process::id() as i32;
        let own = OWN_CHILDREN.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let ancestors = ancestors_of(me);
        let mut all = BTreeMap::new();
        let mut found = Found::new();
        let mut spared = Vec::new();
        // The newest first, and each judged at once: what hops from process to process must not be gone by the
        // time its turn comes.
        for id in process_ids() {
            if ancestors.contains(&id) || own.contains(&id) {
                continue;
            }
            let Some(process) = read_process(id) else { continue };
            let why = if process.parent == me && is_subreaper() {
                Some(Caught::Adopted)
            } else if process.is_zombie {
                // Nothing of it is left but an entry that its own parent must collect.
                None
            } else if has_marker(id, &self.marker) {
                Some(Caught::Marker)
            } else if self.stands_inside(id) {
                if process.terminal != 0 {
                    spared.push((id, process.name.clone()));
                }
                (process.terminal == 0).then_some(Caught::Directory)
            } else {
                None
            };
            match why {
                Some(why) => {
                    if !process.is_zombie {
                        send(id, process.start, Signal::STOP);
                    }
                    found.insert(id, (process, why));
                }
                None => {
                    all.insert(id, process);
                }
            }
        }
        // What a caught process started is caught too, however clean it made itself.
        loop {
            let more: Vec<i32> = all
                .iter()
                .filter(|(_, process)| found.contains_key(&process.parent) && !process.is_zombie)
                .map(|(id, _)| *id)
                .collect();
            if more.is_empty() {
                break;
            }
            for id in more {
                if let Some(process) = all.remove(&id) {
                    send(id, process.start, Signal::STOP);
                    found.insert(id, (process, Caught::Descendant));
                }
            }
        }
        spared.retain(|(id, _)| !found.contains_key(id));
        (found, spared)
    }

    fn stands_inside(&self, id: i32) -> bool {
        if self.directories.is_empty() {
            return false;
        }
        let Ok(directory) = fs::read_link(format!("/proc/{id}/cwd")) else { return false };
        self.directories.iter().any(|ours| directory.starts_with(ours))
    }
}

/// Signals the process that had this id *and* this start, never a later one with the same id.
fn send(id: i32, start: u64, signal: Signal) {
    let Some(pid) = Pid::from_raw(id) else { return };
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        if let Ok(fd) = pidfd_open(pid, PidfdFlags::empty()) {
            // The descriptor pins whoever has the id now; the start says whether that is still the one we mean.
            if process_start(id) == Some(start) {
                let _ = pidfd_send_signal(&fd, signal);
            }
            return;
        }
    }
    if process_start(id) == Some(start) {
        let _ = kill_process(pid, signal);
    }
}

fn has_marker(id: i32, run: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{id}/environ")) else { return false };
    let wanted = format!("{MARKER}={run}");
    environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
}

/// When a process started, in the system's own ticks since boot; with the id it names one process.
/// `None` when there is no such process or no `/proc`.
pub fn process_start(id: i32) -> Option<u64> {
    read_process(id).map(|process| process.start)
}

/// Ids of all processes, the highest first.
fn process_ids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut ids: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| std::str::from_utf8(entry.file_name().as_bytes()).ok()?.parse().ok())
        .collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids
}

/// A process and everything above it: who asked for the sweep is never its victim.
fn ancestors_of(id: i32) -> BTreeSet<i32> {
    let mut ancestors = BTreeSet::from([id]);
    let mut up = id;
    while let Some(process) = read_process(up) {
        up = process.parent;
        if up <= 0 || !ancestors.insert(up) {
            break;
        }
    }
    ancestors
}

fn read_process(id: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{id}/stat")).ok()?;
    parse_stat(&stat)
}

/// Reads `/proc/<id>/stat`. The name may hold anything, blanks and brackets too, so it ends at the last bracket.
fn parse_stat(stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(stat.get(close + 2..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Process {
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        terminal: fields.get(4)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
        name,
    })
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_fields() {
        let stat = b"42 (a) b (c) S 7 42 42 34816 42 4194304 1 0 0 0 0 0 0 0 20 0 1 0 99887 1 2 3";
        let process = parse_stat(stat).expect("a process");
        assert_eq!((process.parent, process.start, process.terminal), (7, 99887, 34816));
        assert_eq!(process.name, "a) b (c");
    }

    #[test]
    fn this_process_has_a_start() {
        if Path::new("/proc/self/stat").exists() {
            assert!(process_start(std::process::id() as i32).is_some());
        }
    }
}
