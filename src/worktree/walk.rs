//! A walk over the worktree that follows no link and trusts no index.
//!
//! Every step goes from an open directory to one name in it, so that nothing that is swapped underneath can lead
//! out. Files are opened without following and without waiting, and read only if they are plain files.

use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};

use super::path::is_git_name;
use super::{RepoPath, WorktreeError};

/// A kind of file that a commit cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialKind {
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
}

/// What an entry of the worktree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File { is_executable: bool, bytes: u64 },
    Link,
    Special(SpecialKind),
}

/// Everything that was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Files, links and oddities, sorted by path.
    pub(super) entries: Vec<(RepoPath, Kind)>,
    /// Directories, whether or not something is in them.
    pub(super) directories: BTreeSet<RepoPath>,
    /// Entries below the top that git, here or elsewhere, takes for a git directory.
    pub(super) nested: Vec<RepoPath>,
    /// Directories that could not be read.
    pub(super) unreadable: Vec<RepoPath>,
    /// Whether the top has a `.git` of its own.
    pub(super) has_dot_git: bool,
}

/// Directories deeper than this are not entered: git itself refuses trees of such depth, and every step down
/// starts at the top.
const DEPTH: usize = 1000;

/// An open worktree.
pub(super) struct Top {
    directory: OwnedFd,
    root: std::path::PathBuf,
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
// Without waiting: opening a pipe that somebody swapped in would otherwise hang.
const PLAIN: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

impl Top {
    pub(super) fn open(root: &Path) -> Result<Top, WorktreeError> {
        let directory = rustix::fs::open(root, DIRECTORY, Mode::empty())
            .map_err(|error| WorktreeError::io("open", root)(error.into()))?;
        Ok(Top { directory, root: root.to_owned() })
    }

    /// Lists everything below the top, up to `limit` entries.
    pub(super) fn walk(&self, limit: u64) -> Result<Seen, WorktreeError> {
        let mut seen = Seen::default();
        let mut count = 0;
        // Paths, not open directories, wait their turn: a deep tree must not use up descriptors.
        let mut waiting = vec![RepoPath::default()];
        while let Some(path) = waiting.pop() {
            let depth = path.as_bytes().iter().filter(|byte| **byte == b'/').count();
            let Some(directory) = (depth < DEPTH).then(|| self.directory_at(&path).ok()).flatten() else {
                seen.unreadable.push(path);
                continue;
            };
            let names = match names_in(&directory) {
                Ok(names) => names,
                Err(_) => {
                    seen.unreadable.push(path);
                    continue;
                }
            };
            for name in names {
                count += 1;
                if count > limit {
                    return Err(WorktreeError::TooMuch { limit, what: "files" });
                }
                let here = path.join(&name);
                if is_git_name(&name) {
                    // The one at the top is the pointer to the fork, which we do not use.
                    if path.as_bytes().is_empty() && name == b".git" {
                        seen.has_dot_git = true;
                    } else {
                        seen.nested.push(here);
                    }
                    continue;
                }
                match kind_of(directory.as_fd(), &name) {
                    Some(Found::Directory) => {
                        seen.directories.insert(here.clone());
                        waiting.push(here);
                    }
                    Some(Found::Entry(kind)) => seen.entries.push((here, kind)),
                    None => {}
                }
            }
        }
        seen.entries.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(seen)
    }

    fn directory_at(&self, path: &RepoPath) -> std::io::Result<OwnedFd> {
        let mut directory = self.directory.try_clone()?;
        for name in path.as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            directory = openat(&directory, OsStr::from_bytes(name), DIRECTORY, Mode::empty())?;
        }
        // A clone shares its position in the listing; a directory opened anew does not.
        Ok(openat(&directory, ".", DIRECTORY, Mode::empty())?)
    }

    fn parent_of(&self, path: &RepoPath) -> std::io::Result<OwnedFd> {
        let bytes = path.as_bytes();
        let end = bytes.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        self.directory_at(&RepoPath::new(&bytes[..end]))
    }

    /// The bytes of a plain file, up to `limit`; `None` if it is no plain file (any more) or larger.
    pub(super) fn read(&self, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>, WorktreeError> {
        let failed = |error: std::io::Error| WorktreeError::io("read", self.root.join(path.as_path()))(error);
        let parent = self.parent_of(path).map_err(failed)?;
        let file = match openat(&parent, OsStr::from_bytes(path.name()), PLAIN, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::LOOP) => return Ok(None),
            Err(error) => return Err(failed(error.into())),
        };
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() || meta.len() > limit {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(meta.len() as usize + 1);
        file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
        Ok((bytes.len() as u64 <= limit).then_some(bytes))
    }

    /// The target of a link.
    pub(super) fn link(&self, path: &RepoPath) -> Result<Vec<u8>, WorktreeError> {
        let failed = |error: std::io::Error| WorktreeError::io("read", self.root.join(path.as_path()))(error);
        let parent = self.parent_of(path).map_err(failed)?;
        let target = readlinkat(&parent, OsStr::from_bytes(path.name()), Vec::new());
        Ok(target.map_err(|error| failed(error.into()))?.into_bytes())
    }
}

enum Found {
    Directory,
    Entry(Kind),
}

fn kind_of(directory: BorrowedFd<'_>, name: &[u8]) -> Option<Found> {
    let stat = statat(directory, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Found::Directory,
        FileType::RegularFile => Found::Entry(Kind::File {
            is_executable: stat.st_mode & 0o100 != 0,
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
        }),
        FileType::Symlink => Found::Entry(Kind::Link),
        FileType::Fifo => Found::Entry(Kind::Special(SpecialKind::Fifo)),
        FileType::Socket => Found::Entry(Kind::Special(SpecialKind::Socket)),
        _ => Found::Entry(Kind::Special(SpecialKind::Device)),
    })
}

/// The names in an open directory, sorted, without `.` and `..`.
pub(super) fn names_in(directory: &OwnedFd) -> std::io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name.to_bytes().to_owned());
        }
    }
    names.sort();
    Ok(names)
}
