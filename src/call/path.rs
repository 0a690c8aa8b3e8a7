//! Paths that a call touches, resolved without touching the file system.

use std::path::{Path, PathBuf};

use crate::shell::Access;

/// Symlinks of the world, gathered or looked up by the caller. Judging itself touches no disk.
pub trait Links {
    /// The resolved form of an absolute lexical path: all links followed; for a path that does not exist, its
    /// nearest existing parent followed and the rest appended. `None` when nothing is known about it.
    fn real(&self, path: &Path) -> Option<PathBuf>;
}

/// No link is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLinks;

impl Links for NoLinks {
    fn real(&self, _path: &Path) -> Option<PathBuf> {
        None
    }
}

/// An absolute path of which some parts may not be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    /// Text with the parts; the owner of this room decides the inside.
    pub(crate) pieces: Vec<crate::shell::Piece>,
}

/// One path that a call touches.
#[derive(Debug, Clone)]
pub struct PathTarget {
    /// As written.
    pub shown: String,
    /// How it is touched.
    pub access: Access,
    /// Whether everything below is touched too.
    pub recursive: bool,
    /// Absolute and lexically cleaned.
    pub lexical: PathPattern,
    /// With links followed, where that differs.
    pub real: Option<PathPattern>,
    /// Index of the command that touches it, for shell tools.
    pub command: Option<usize>,
    /// Whether a redirect touches it.
    pub redirect: bool,
}
