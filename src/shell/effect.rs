//! What a command does to files and hosts, as far as its words tell.

use super::command::Directory;
use super::word::Word;

/// How a path is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Its content is read.
    Read,
    /// It is made or changed.
    Write,
    /// It is removed, or moved away.
    Delete,
}

/// One thing that a command does.
#[derive(Debug, Clone)]
pub struct Effect {
    /// Index into [`super::Reading::commands`].
    pub command: usize,
    /// What is done.
    pub kind: EffectKind,
    /// The path, host or URL, as the word says it.
    pub word: Word,
    /// Directory that a relative path starts from.
    pub directory: Directory,
    /// Whether a redirect does it, not an argument.
    pub redirect: bool,
}

/// Kinds of effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectKind {
    /// A path is touched.
    Path {
        /// How.
        access: Access,
        /// Whether everything below it is touched too (`rm -r`, `grep -r`, `cp -r`, `mv` of a folder).
        recursive: bool,
    },
    /// A link at `word` that points to this target is made; later effects of the line go through it.
    Link {
        /// Where it points to, as written (relative to the link's folder).
        target: Word,
    },
    /// A host or URL is contacted.
    Contact,
}
