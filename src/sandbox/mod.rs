//! Child processes: the only room that starts, watches and ends them, and the only one with `unsafe`.
//!
//! A [`Program`] says everything about one child before it starts: argv, directory, an environment that
//! inherits nothing, what it reads, how long it may take, how much of its output is kept. [`Program::run`]
//! waits for the end and always comes back, whoever still holds a pipe. What slipped out of a process group is
//! found again by [`Sweep`]. One file per mechanism; [`Isolation`] says which of them are in force here.

mod cancel;
mod capture;
mod environment;
mod isolation;
mod limits;
mod pipes;
mod program;
mod spawn;
mod sweep;

use std::ffi::OsString;
use std::path::PathBuf;

pub use cancel::{Cancel, cancel_on_signals};
pub use capture::{Captured, Keep};
pub use environment::{Environment, MARKER};
pub use isolation::{Isolation, Layer};
pub use limits::Limits;
pub use program::{Background, Clock, Ending, Finished, Program};
pub use sweep::{Caught, Sweep, Swept, become_subreaper, process_start};

/// Why a child could not be started or watched. A child that failed by itself is a [`Finished`], not an error.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// No file of that name where the child's `PATH` looks.
    #[error("program not found: {}", .program.to_string_lossy().escape_debug())]
    NotFound {
        /// What was asked for.
        program: OsString,
    },
    /// The directory the child should start in is missing or no directory.
    #[error("cannot start a program in {}: not a directory", .directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
    },
    /// The system refused to start it.
    #[error("cannot start {}", .program.to_string_lossy().escape_debug())]
    Start {
        /// What was asked for.
        program: OsString,
        /// What the system said.
        source: std::io::Error,
    },
    /// The child ran, but could not be watched.
    #[error("cannot watch {}", .program.to_string_lossy().escape_debug())]
    Watch {
        /// What was asked for.
        program: OsString,
        /// What the system said.
        source: std::io::Error,
    },
    /// A property of this process could not be set.
    #[error("cannot {what}")]
    Setup {
        /// What was tried, as "become ...".
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}
