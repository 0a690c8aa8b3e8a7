//! What the exit code means: one enum, one table in `docs/exit-codes.md`.

use std::fmt::Write as _;

use crate::record::Status;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well; a run that finds nothing to change included.
    Fine,
    /// The agent or the program failed.
    Failed,
    /// Usage or settings.
    Usage,
    /// A run waits for an approval.
    NeedsApproval,
    /// A run waits for an answer.
    NeedsAnswer,
    /// The policy does not load.
    PolicyBroken,
    /// There are verdicts at or above `--fail-on`, or findings of `policy lint`.
    Verdicts,
    /// The repository cannot be used, or is locked.
    Repository,
    /// The provider failed.
    Provider,
    /// A budget ran out.
    Budget,
    /// The tests are red on the changed tree.
    TestsRed,
    /// The tests were red before the run began.
    BaseRed,
    /// The tests gave no verdict.
    TestsNone,
    /// The user's repository changed, or isolation that was required is not in force.
    Integrity,
    /// The outcome gate refused the change.
    OutcomeRefused,
    /// Interrupted.
    Interrupted,
}

/// All of them, in the order of their codes.
const ALL: &[Exit] = &[
    Exit::Fine,
    Exit::Failed,
    Exit::Usage,
    Exit::NeedsApproval,
    Exit::NeedsAnswer,
    Exit::PolicyBroken,
    Exit::Verdicts,
    Exit::Repository,
    Exit::Provider,
    Exit::Budget,
    Exit::TestsRed,
    Exit::BaseRed,
    Exit::TestsNone,
    Exit::Integrity,
    Exit::OutcomeRefused,
    Exit::Interrupted,
];

impl Exit {
    /// The code.
    pub fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NeedsApproval => 3,
            Self::NeedsAnswer => 4,
            Self::PolicyBroken => 5,
            Self::Verdicts => 6,
            Self::Repository => 7,
            Self::Provider => 8,
            Self::Budget => 9,
            Self::TestsRed => 10,
            Self::BaseRed => 11,
            Self::TestsNone => 12,
            Self::Integrity => 13,
            Self::OutcomeRefused => 14,
            Self::Interrupted => 130,
        }
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Fine => "fine; a run that finds nothing to change included",
            Self::Failed => "the agent or the program failed",
            Self::Usage => "usage or settings",
            Self::NeedsApproval => "a run waits for an approval",
            Self::NeedsAnswer => "a run waits for an answer",
            Self::PolicyBroken => "the policy does not load; every gate is closed",
            Self::Verdicts => "verdicts at or above `--fail-on`, or findings of `policy lint`",
            Self::Repository => "the repository cannot be used, or is locked",
            Self::Provider => "the provider failed",
            Self::Budget => "a budget ran out",
            Self::TestsRed => "tests are red on the changed tree",
            Self::BaseRed => "tests were red before the run began",
            Self::TestsNone => "tests gave no verdict: missing, killed, timed out",
            Self::Integrity => "the user's repository changed, or required isolation is not in force",
            Self::OutcomeRefused => "the outcome gate refused the change",
            Self::Interrupted => "interrupted",
        }
    }

    /// The exit that a run's status has.
    pub fn of(status: Status) -> Self {
        ALL.iter().copied().find(|exit| exit.code() == status.exit_code()).unwrap_or(Self::Failed)
    }
}

/// The table of `docs/exit-codes.md`.
pub fn table_for_docs() -> String {
    let mut out = String::from("| code | means |\n|---|---|\n");
    for exit in ALL {
        let _ = writeln!(out, "| {} | {} |", exit.code(), exit.meaning());
    }
    out
}
