//! How a run ended, and which exit code that is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The agent finished and its change stands.
    Ok,
    /// The agent finished and there is nothing to change.
    Unchanged,
    /// The agent finished and says that a person must look.
    Escalated,
    /// The agent or a program it needs failed.
    Failed,
    /// What was asked for cannot be run as asked: usage or settings.
    Usage,
    /// Waits for an approval.
    NeedsApproval,
    /// Waits for an answer.
    NeedsClarification,
    /// The policy does not load; nothing was started.
    PolicyBroken,
    /// The repository cannot be used, or another run holds it.
    Repository,
    /// The provider of the model failed.
    Provider,
    /// A budget ran out.
    Budget,
    /// The tests are red on the changed tree.
    TestsRed,
    /// The tests were red before the run began.
    BaseRed,
    /// The tests gave no verdict: missing, killed or timed out.
    TestsNone,
    /// The user's repository changed, or isolation that was required is not in force.
    Integrity,
    /// The outcome gate refused the change.
    OutcomeRefused,
    /// Interrupted by a signal.
    Canceled,
    /// The journal has no end: the runner itself was killed.
    Cut,
}

impl Status {
    /// The exit code of `gatewright run` for this ending.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Ok | Self::Unchanged => 0,
            Self::Escalated | Self::Failed | Self::Cut => 1,
            Self::Usage => 2,
            Self::NeedsApproval => 3,
            Self::NeedsClarification => 4,
            Self::PolicyBroken => 5,
            Self::Repository => 7,
            Self::Provider => 8,
            Self::Budget => 9,
            Self::TestsRed => 10,
            Self::BaseRed => 11,
            Self::TestsNone => 12,
            Self::Integrity => 13,
            Self::OutcomeRefused => 14,
            Self::Canceled => 130,
        }
    }

    /// What it means, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "finished",
            Self::Unchanged => "finished, nothing to change",
            Self::Escalated => "finished, but a person must look",
            Self::Failed => "the agent or a program it needs failed",
            Self::Usage => "usage or settings",
            Self::NeedsApproval => "waits for an approval",
            Self::NeedsClarification => "waits for an answer",
            Self::PolicyBroken => "the policy does not load",
            Self::Repository => "the repository cannot be used",
            Self::Provider => "the provider failed",
            Self::Budget => "a budget ran out",
            Self::TestsRed => "tests are red on the changed tree",
            Self::BaseRed => "tests were red before the run began",
            Self::TestsNone => "tests gave no verdict",
            Self::Integrity => "the repository changed, or required isolation is not in force",
            Self::OutcomeRefused => "the outcome gate refused the change",
            Self::Canceled => "interrupted",
            Self::Cut => "cut off: the runner was killed",
        }
    }

    /// The word that reports and journals use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unchanged => "unchanged",
            Self::Escalated => "escalated",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NeedsApproval => "needs_approval",
            Self::NeedsClarification => "needs_clarification",
            Self::PolicyBroken => "policy_broken",
            Self::Repository => "repository",
            Self::Provider => "provider",
            Self::Budget => "budget",
            Self::TestsRed => "tests_red",
            Self::BaseRed => "base_red",
            Self::TestsNone => "tests_none",
            Self::Integrity => "integrity",
            Self::OutcomeRefused => "outcome_refused",
            Self::Canceled => "canceled",
            Self::Cut => "cut",
        }
    }
}
