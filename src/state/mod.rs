//! The state tree on disk: `$XDG_STATE_HOME/gatewright/`.
//!
//! ```text
//! runs/<id>/            journal.jsonl, report.json, report.md, policy.yml, change.patch
//! work/<id>/            fork, worktree, home: gone at the end of the run
//! runs/<id>             for a run with --out: a link to that folder
//! ledger/<id>.json      what a run is about to make, locked while it goes on; gone afterwards
//! ```
//!
//! Folders are 0700, files 0600. The only room that writes this tree.

mod lock;
mod run_folder;
mod tree;

pub use lock::Lock;
pub use run_folder::{RunFolder, is_run_id};
pub use tree::State;

use std::path::PathBuf;

/// Why the state tree cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Neither `XDG_STATE_HOME` nor `HOME` says where it is.
    #[error("no place for the state of runs: neither XDG_STATE_HOME nor HOME is set")]
    Nowhere,
    /// It cannot be made or written.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was tried: `create the folder`.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A folder given for output holds something else.
    #[error("{} is not empty and holds no run of gatewright", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// A run is going on.
    #[error("{what} is in use by another run")]
    Locked {
        /// What is locked, for people.
        what: String,
    },
    /// No run of that name.
    #[error("no run `{name}`")]
    NoRun {
        /// As given.
        name: String,
    },
    /// The beginning of an id fits several runs.
    #[error("`{name}` fits several runs: {}", runs.join(", "))]
    Ambiguous {
        /// As given.
        name: String,
        /// The runs it fits.
        runs: Vec<String>,
    },
}

impl StateError {
    /// What the user can do about it.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Nowhere => "set XDG_STATE_HOME, or give a folder with --out",
            Self::Io { .. } => "check its owner and the space left, or give another folder with --out",
            Self::Foreign { .. } => "give an empty folder, or one that does not exist yet",
            Self::Locked { .. } => "wait for that run to end",
            Self::NoRun { .. } => "`gatewright runs list` shows the runs there are",
            Self::Ambiguous { .. } => "give more of the id",
        }
    }

    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }
}
