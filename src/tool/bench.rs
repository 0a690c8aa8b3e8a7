//! Where tools work: the root they may not leave, the environment of their programs, their limits.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::{ReadLimits, StreamLimits};
use crate::sandbox::{Cancel, Environment};

/// Everything that tools share in one run.
#[derive(Debug, Clone)]
pub struct Bench {
    /// The worktree, links followed.
    pub root: PathBuf,
    /// The run's id, which marks every process.
    pub run: String,
    /// What programs find in their environment; nothing else is inherited.
    pub environment: Environment,
    /// Set when the run is interrupted.
    pub cancel: Cancel,
    /// When the run's time is over.
    pub deadline: std::time::Instant,
    /// Time for one command.
    pub shell_timeout: Duration,
    /// The operator's test command.
    pub tests: Option<String>,
    /// Time for one run of the tests.
    pub tests_timeout: Duration,
    /// Limits of `read`.
    pub read: ReadLimits,
    /// Limits of a program's output.
    pub streams: StreamLimits,
}

impl Bench {
    /// `wanted`, or less when the run ends before.
    pub fn at_most(&self, wanted: Duration) -> Duration {
        wanted
            .min(self.deadline.saturating_duration_since(std::time::Instant::now()))
            .max(Duration::from_millis(1))
    }
}
