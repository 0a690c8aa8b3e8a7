//! Removal of a directory that strangers have written in: nothing outside it is ever touched.
//!
//! Every step goes from an open directory to one name in it, never through a link, never onto another mount.
//! The directory is moved aside first, so that a half-removed one is never taken for a whole one.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};

use super::WorktreeError;
use super::walk::names_in;

/// What a removal did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Files and directories removed.
    pub removed: u64,
    /// What is still there and why, at most a hundred entries.
    pub left: Vec<(PathBuf, String)>,
}

impl Removal {
    /// Whether nothing is left.
    pub fn is_complete(&self) -> bool {
        self.left.is_empty()
    }
}

/// Directories deeper than this are moved up before they are entered, so that neither the stack nor the number
/// of open files grows with what somebody nested.
const DEPTH: usize = 64;

/// Removes `directory` and what is in it. One that does not exist is no error.
///
/// # Errors
/// When the directory itself is a link, lies behind one, or its parent cannot be opened. What could not be
/// removed inside is in the result.
pub fn remove_directory(directory: &Path) -> Result<Removal, WorktreeError> {
    let failed = |source: rustix::io::Errno| WorktreeError::io("remove", directory)(source.into());
    let mut removal = Removal::default();
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Err(failed(rustix::io::Errno::INVAL));
    };
    if !matches!(fs::canonicalize(parent), Ok(real) if real == parent) {
        return match directory.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(removal),
            // A parent that is a link may have been swapped for one: never remove through it.
            _ => Err(failed(rustix::io::Errno::LOOP)),
        };
    }
    let parent =
        rustix::fs::open(parent, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(failed)?;
    let mut aside = name.to_owned();
    if !name.as_bytes().ends_with(b".removing") {
        aside.push(".removing");
        if statat(&parent, &aside, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            // Left by a removal that was killed.
            clear(&parent, &aside, directory, &mut removal);
        }
    }
    let stat = match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => return Ok(removal),
        other => other.map_err(failed)?,
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(failed(rustix::io::Errno::NOTDIR));
    }
    if aside.as_os_str() != name && renameat(&parent, name, &parent, &aside).is_err() {
        aside = name.to_owned();
    }
    clear(&parent, &aside, directory, &mut removal);
    Ok(removal)
}

fn clear(parent: &OwnedFd, name: &OsStr, shown: &Path, removal: &mut Removal) {
    let before = removal.left.len();
    match Cleaner::enter(parent, name) {
        Ok(top) => {
            let mut cleaner = Cleaner { top: &top, moved: 0, removal };
            cleaner.empty(top.as_fd(), shown, 0);
            // What was moved up from the deep is emptied in rounds until nothing more comes up.
            loop {
                let moved = cleaner.moved;
                cleaner.empty(top.as_fd(), shown, 0);
                if cleaner.moved == moved {
                    break;
                }
            }
            removal.left.dedup();
        }
        Err(error) => removal.left.push((shown.to_owned(), std::io::Error::from(error).to_string())),
    }
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) => removal.removed += 1,
        Err(error) if removal.left.len() == before => {
            removal.left.push((shown.to_owned(), std::io::Error::from(error).to_string()));
        }
        Err(_) => {}
    }
}

struct Cleaner<'a> {
    top: &'a OwnedFd,
    moved: u64,
    removal: &'a mut Removal,
}

impl Cleaner<'_> {
    /// Opens a directory below another one, but no link and nothing on another mount. One that may not be read
    /// or written is made so.
    fn enter(parent: impl AsFd, name: &OsStr) -> Result<OwnedFd, rustix::io::Errno> {
        const FLAGS: OFlags =
            OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
        let parent = parent.as_fd();
        refuse_mount(parent, name)?;
        let open = || openat(parent, name, FLAGS, Mode::empty());
        let directory = match open() {
            Err(rustix::io::Errno::ACCESS) => {
                make_writable(parent, name)?;
                open()?
            }
            other => other?,
        };
        // Write permission is asked for by trying: root needs none.
        let mode = rustix::fs::fstat(&directory)?.st_mode;
        if mode & 0o300 != 0o300 {
            let _ = rustix::fs::fchmod(&directory, Mode::from_raw_mode((mode & 0o7777) | 0o700));
        }
        Ok(directory)
    }

    fn empty(&mut self, directory: BorrowedFd<'_>, shown: &Path, depth: usize) {
        let names = match directory.try_clone_to_owned().and_then(|clone| {
            let own =
                openat(&clone, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
            names_in(&own)
        }) {
            Ok(names) => names,
            Err(error) => return self.leave(shown, &error),
        };
        for name in names {
            let name = OsStr::from_bytes(&name);
            let here = shown.join(name);
            match self.remove_one(directory, name, &here, depth) {
                Ok(()) => self.removal.removed += 1,
                Err(rustix::io::Errno::NOENT) => {}
                // Something below was left and is in the list already.
                Err(rustix::io::Errno::NOTEMPTY) => {}
                Err(error) => self.leave(&here, &error.into()),
            }
        }
    }

    fn remove_one(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &OsStr,
        here: &Path,
        depth: usize,
    ) -> Result<(), rustix::io::Errno> {
        let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return unlinkat(directory, name, AtFlags::empty());
        }
        if depth >= DEPTH {
            // Checked first: renaming a mount point fails, but one inside would come along.
            refuse_mount(directory, name)?;
            self.moved += 1;
            let up = format!(".deep-{}", self.moved);
            return renameat(directory, name, self.top, up.as_str());
        }
        // An empty one goes at once; that also is the cheapest way to learn that it is not empty.
        if unlinkat(directory, name, AtFlags::REMOVEDIR).is_ok() {
            return Ok(());
        }
        let inner = Cleaner::enter(directory, name)?;
        self.empty(inner.as_fd(), here, depth + 1);
        drop(inner);
        unlinkat(directory, name, AtFlags::REMOVEDIR)
    }

    fn leave(&mut self, path: &Path, error: &std::io::Error) {
        if self.removal.left.len() < 100 {
            let entry = (path.to_owned(), error.to_string());
            if !self.removal.left.contains(&entry) {
                self.removal.left.push(entry);
            }
        }
    }
}

/// Refuses a directory on which something is mounted, a bind mount of the same file system too.
fn refuse_mount(parent: BorrowedFd<'_>, name: &OsStr) -> Result<(), rustix::io::Errno> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
        match openat2(parent, name, flags, Mode::empty(), resolve) {
            Ok(_) => return Ok(()),
            // Not known to old kernels, not let through by some sandboxes.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    let above = rustix::fs::fstat(parent)?;
    let below = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if above.st_dev == below.st_dev { Ok(()) } else { Err(rustix::io::Errno::XDEV) }
}

/// Gives the owner all rights on a directory that could not be opened, without following a link.
fn make_writable(parent: BorrowedFd<'_>, name: &OsStr) -> Result<(), rustix::io::Errno> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        // A handle that needs no rights, then its name in /proc, which is no link that others can move.
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(parent, name, flags, Mode::empty())?;
        let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
        rustix::fs::chmod(path.as_str(), Mode::RWXU)
    }
    #[cfg(not(target_os = "linux"))]
    {
        rustix::fs::chmodat(parent, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
    }
}
