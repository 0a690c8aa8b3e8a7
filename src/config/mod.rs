//! Texts and an environment map in, [`Settings`] with the origin of each value out.
//!
//! Pure: finding and reading files is the work of whoever calls. A value comes from the first of: flag, task,
//! environment, user, repository, default.

mod docs;
mod document;
mod key;
mod layer;
mod settings;

pub use docs::table_for_docs;
pub use document::{Content, Document, Entry, Fault, Mark, Node, nearest};
pub use key::{KEYS, Key, Kind, Reach, find};
pub use layer::{Layer, Value};
pub use settings::{GateWord, Limits, ReadLimits, Resolved, Settings, StreamLimits};

/// Where a value comes from, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The command line.
    Flag,
    /// The task file.
    Task,
    /// An environment variable.
    Environment,
    /// The user's settings file.
    User,
    /// The repository's settings file, as of the base commit.
    Repository,
    /// Nobody set it.
    Default,
}

impl Origin {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Task => "task",
            Self::Environment => "environment",
            Self::User => "user",
            Self::Repository => "repository",
            Self::Default => "default",
        }
    }
}
