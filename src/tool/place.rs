//! Paths beneath the root, opened so that no link and no race leads out.
//!
//! The gate judged the path; between judging and opening the worktree may have changed. Hence every file is opened
//! from the root's descriptor, beneath which the system resolves the rest.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::Refusal;

/// A path beneath a root, cleaned: no `..`, no `.`, relative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    relative: PathBuf,
}

impl Place {
    /// Reads a path as an agent gives it: relative to the root, or absolute and beneath it.
    pub(super) fn new(root: &Path, given: &str) -> Result<Self, Refusal> {
        if given.contains('\0') {
            return Err("the path holds a NUL".to_owned());
        }
        if given.starts_with('~') {
            return Err(format!("`{given}` lies outside the worktree"));
        }
        let path = Path::new(given);
        let relative = if path.is_absolute() {
            path.strip_prefix(root).map_err(|_| format!("`{given}` lies outside the worktree"))?
        } else {
            path
        };
        let mut clean = PathBuf::new();
        for component in relative.components() {
            match component {
                Component::Normal(name) => clean.push(name),
                Component::CurDir => {}
                Component::ParentDir => {
                    return Err(format!("`{given}` has `..` in it; name the path from the root"));
                }
                Component::RootDir | Component::Prefix(_) => {
                    return Err(format!("`{given}` lies outside the worktree"));
                }
            }
        }
        Ok(Self { relative: clean })
    }

    /// The path from the root; empty for the root itself.
    pub(super) fn relative(&self) -> &Path {
        &self.relative
    }

    /// Whether a component is `.git`, under any name that some file system takes for it.
    pub(super) fn is_in_git_folder(&self) -> bool {
        self.relative.components().any(|component| {
            let name: String = component
                .as_os_str()
                .to_string_lossy()
                .chars()
                .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'))
                .collect::<String>()
                .to_lowercase();
            let name = name.trim_end_matches(['.', ' ']);
            name == ".git" || name == "git~1"
        })
    }

    /// Opens it for reading.
    pub(super) fn open(&self, root: &Path) -> Result<File, Refusal> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        self.open_with(&open_root(root)?, flags).map(File::from).map_err(|error| self.refusal(error))
    }

    /// The file's content replaced by `bytes`; folders above it are made. Gives back whether it is new.
    pub(super) fn write(&self, root: &Path, bytes: &[u8]) -> Result<bool, Refusal> {
        let top = open_root(root)?;
        if self.relative.as_os_str().is_empty() {
            return Err("the path is the root itself".to_owned());
        }
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let (file, is_new) = match self.open_with(&top, flags) {
            Ok(file) => (File::from(file), false),
            Err(Errno::NOENT) => {
                self.make_parents(&top)?;
                let flags = flags | OFlags::CREATE | OFlags::EXCL;
                (File::from(self.open_with(&top, flags).map_err(|error| self.refusal(error))?), true)
            }
            Err(error) => return Err(self.refusal(error)),
        };
        let facts = file.metadata().map_err(|error| self.io(&error))?;
        if !facts.is_file() {
            return Err(format!("`{}` is no regular file", self.relative.display()));
        }
        // A second name may lie outside: writing here would write there.
        if std::os::unix::fs::MetadataExt::nlink(&facts) > 1 {
            return Err(format!("`{}` has further names (hard links)", self.relative.display()));
        }
        let mut file = file;
        file.set_len(0).and_then(|()| file.write_all(bytes)).map_err(|error| self.io(&error))?;
        Ok(is_new)
    }

    fn make_parents(&self, top: &OwnedFd) -> Result<(), Refusal> {
        let Some(parent) = self.relative.parent() else { return Ok(()) };
        let mut path = PathBuf::new();
        for component in parent.components() {
            let above = if path.as_os_str().is_empty() {
                top.try_clone().map_err(|error| self.io(&error))?
            } else {
                open_beneath(top, &path, OFlags::RDONLY | OFlags::DIRECTORY)
                    .map_err(|error| self.refusal(error))?
            };
            path.push(component);
            match rustix::fs::mkdirat(&above, component.as_os_str(), Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(self.refusal(error)),
            }
        }
        Ok(())
    }

    fn open_with(&self, top: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if self.relative.as_os_str().is_empty() { Path::new(".") } else { &self.relative };
        open_beneath(top, path, flags)
    }

    fn refusal(&self, error: Errno) -> Refusal {
        let path = self.relative.display();
        match error {
            Errno::NOENT => format!("`{path}` does not exist"),
            Errno::XDEV | Errno::LOOP => format!("`{path}` leads out of the worktree through a link"),
            Errno::ISDIR => format!("`{path}` is a folder"),
            Errno::NOTDIR => format!("a part of `{path}` is no folder"),
            Errno::ACCESS | Errno::PERM => format!("`{path}` may not be opened"),
            other => format!("`{path}` cannot be opened: {}", std::io::Error::from(other)),
        }
    }

    fn io(&self, error: &std::io::Error) -> Refusal {
        format!("`{}`: {error}", self.relative.display())
    }
}

fn open_root(root: &Path) -> Result<OwnedFd, Refusal> {
    rustix::fs::open(root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| format!("the worktree cannot be opened: {}", std::io::Error::from(error)))
}

/// Opens `path` so that nothing of it leads out of `top`.
#[cfg(target_os = "linux")]
fn open_beneath(top: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o644) } else { Mode::empty() };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(top, path, flags | OFlags::CLOEXEC, mode, resolve) {
        Err(Errno::NOSYS) => open_without_links(top, path, flags),
        done => done,
    }
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(top: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_without_links(top, path, flags)
}

/// Where the system cannot resolve beneath a folder: one component after the other, no link followed at all.
fn open_without_links(top: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o644) } else { Mode::empty() };
    let mut names: Vec<_> = path.components().map(Component::as_os_str).collect();
    let last = names.pop().unwrap_or(".".as_ref());
    let mut folder: Option<OwnedFd> = None;
    for name in names {
        let above = folder.as_ref().unwrap_or(top);
        let only = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        folder = Some(rustix::fs::openat(above, name, only, Mode::empty())?);
    }
    rustix::fs::openat(folder.as_ref().unwrap_or(top), last, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn root() -> (tempfile::TempDir, PathBuf) {
        let keep = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(keep.path()).unwrap();
        fs::create_dir(path.join("root")).unwrap();
        fs::write(path.join("secret"), "s").unwrap();
        let root = path.join("root");
        (keep, root)
    }

    #[test]
    fn paths_that_name_the_outside_are_refused() {
        let (_keep, root) = root();
        for given in ["../secret", "/etc/passwd", "a/../../secret", "~/x", "a\0b"] {
            assert!(Place::new(&root, given).is_err(), "{given:?}");
        }
        assert_eq!(
            Place::new(&root, root.join("a/b").to_str().unwrap()).unwrap().relative(),
            Path::new("a/b")
        );
    }

    #[test]
    fn links_that_lead_out_are_refused_when_they_are_opened() {
        let (_keep, root) = root();
        symlink("../secret", root.join("link")).unwrap();
        symlink("..", root.join("up")).unwrap();
        for given in ["link", "up/secret"] {
            let place = Place::new(&root, given).unwrap();
            assert!(place.open(&root).is_err(), "{given}");
            assert!(place.write(&root, b"x").is_err(), "{given}");
        }
        assert!(Place::new(&root, "up/new/file").unwrap().write(&root, b"x").is_err());
        assert_eq!(fs::read_to_string(root.join("../secret")).unwrap(), "s");
        assert!(!root.join("../new").exists());
    }

    #[test]
    fn links_inside_and_new_folders_work_and_hard_links_do_not() {
        let (_keep, root) = root();
        assert_eq!(Place::new(&root, "a/b/c").unwrap().write(&root, b"1"), Ok(true));
        symlink("b", root.join("a/link")).unwrap();
        assert_eq!(Place::new(&root, "a/link/c").unwrap().write(&root, b"2"), Ok(false));
        assert_eq!(fs::read_to_string(root.join("a/b/c")).unwrap(), "2");
        fs::hard_link(root.join("../secret"), root.join("hard")).unwrap();
        assert!(Place::new(&root, "hard").unwrap().write(&root, b"x").is_err());
        assert_eq!(fs::read_to_string(root.join("../secret")).unwrap(), "s");
    }

    #[test]
    fn the_git_folder_is_known_under_its_other_names() {
        for given in [".git", ".GIT/hooks/x", "a/.git./config", "git~1", ".g\u{200c}it"] {
            assert!(Place::new(Path::new("/r"), given).unwrap().is_in_git_folder(), "{given:?}");
        }
        for given in [".gitignore", "git", ".github/workflows/ci.yml"] {
            assert!(!Place::new(Path::new("/r"), given).unwrap().is_in_git_folder(), "{given:?}");
        }
    }
}
