//! What a run is asked to do, and how it may end early.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::civil::Date;

use crate::config::{Fault, Layer};
use crate::policy::PolicyErrors;
use crate::record::{RecordError, Report, Status};
use crate::sandbox::Cancel;
use crate::state::{State, StateError};
use crate::worktree::{UserContext, WorktreeError};

/// Everything a run starts from. Facts of the world are in it; the run itself asks for none.
#[derive(Debug)]
pub struct Request {
    /// Directory in or above which the repository is, and from which names of files start.
    pub directory: PathBuf,
    /// The environment of whoever starts the run.
    pub environment: BTreeMap<String, String>,
    /// Where their git settings are.
    pub user: UserContext,
    /// Folder of their settings.
    pub user_folder: Option<PathBuf>,
    /// Flags, environment and user settings.
    pub layers: Vec<Layer>,
    /// The task file, as named.
    pub task: Option<String>,
    /// What is to be done, instead of the task's prompt.
    pub prompt: Option<String>,
    /// Where journal and report go instead of the state tree.
    pub out: Option<PathBuf>,
    /// The state tree, if there is a place for one.
    pub state: Option<State>,
    /// The command that would permit a commit, exactly.
    pub permit: String,
    /// The day by which exceptions end.
    pub today: Date,
    /// Set when the run is interrupted.
    pub cancel: Cancel,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The report.
    pub report: Report,
    /// The run's folder.
    pub folder: PathBuf,
    /// What is worth showing besides the report.
    pub details: Details,
}

/// Located findings behind an ending.
#[derive(Debug, Default)]
pub enum Details {
    /// None.
    #[default]
    None,
    /// In settings, task or script.
    Faults(Vec<Fault>),
    /// In the policy.
    Policy(PolicyErrors),
}

/// Why there is not even a report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The folder of the run cannot be made.
    #[error(transparent)]
    State(#[from] StateError),
    /// The journal cannot be begun.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Journal and report would lie in what is being worked on.
    #[error("{} lies inside the repository {}", path.display(), root.display())]
    Inside {
        /// The folder.
        path: PathBuf,
        /// The repository's root.
        root: PathBuf,
    },
}

/// An early end.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) status: Status,
    pub(super) reason: String,
    pub(super) details: Details,
}

impl Stop {
    pub(super) fn new(status: Status, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), details: Details::None }
    }

    pub(super) fn usage(reason: impl Into<String>) -> Self {
        Self::new(Status::Usage, reason)
    }

    pub(super) fn faults(faults: Vec<Fault>) -> Self {
        let reason = match faults.as_slice() {
            [] => String::new(),
            [one] => one.to_string(),
            [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
        };
        Self { status: Status::Usage, reason, details: Details::Faults(faults) }
    }

    pub(super) fn canceled() -> Self {
        Self::new(Status::Canceled, "interrupted")
    }
}

impl From<WorktreeError> for Stop {
    fn from(error: WorktreeError) -> Self {
        let hint = error.next_step().map(|hint| format!("; {hint}")).unwrap_or_default();
        Self::new(Status::Repository, format!("{}{hint}", with_causes(&error)))
    }
}

impl From<RecordError> for Stop {
    fn from(error: RecordError) -> Self {
        Self::new(Status::Failed, with_causes(&error))
    }
}

impl From<StateError> for Stop {
    fn from(error: StateError) -> Self {
        let status =
            if matches!(error, StateError::Locked { .. }) { Status::Repository } else { Status::Failed };
        Self::new(status, format!("{}; {}", with_causes(&error), error.next_step()))
    }
}

/// An error and what caused it, on one line.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}
