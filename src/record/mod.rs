//! The journal of a run and the report that is folded from it.
//!
//! The journal (`journal.jsonl`) is the only record: one [`Event`] a line, each line with the hash of the one
//! before. A [`Report`] is a pure fold of its entries; every format reads the report and nothing else.

mod capped;
mod decision_line;
mod event;
mod journal;
mod mask;
mod report;
mod shown;
mod status;
mod verify;

pub use capped::CappedText;
pub use decision_line::{DecisionLine, PathLine, TargetsLine, VoteLine};
pub use event::{
    Answer, Approval, Base, CallStatus, Change, ChangeKind, Checkpoint, Cleanup, Commit, Difference, Event,
    GateEvent, Integrity, JudgedIn, Layer, Notice, Outcome, Patch, PolicyRecord, RunEnd, RunStart, Setting,
    Task, Tests, TestsResult, ToolCallStarted, ToolResult, Trailer, TurnEnd, TurnStart,
};
pub use journal::{
    CHAIN_START, ChainProblem, Entry, Journal, JournalRead, JournalReader, RecordError, VERSION,
    read_journal, verify_chain,
};
pub use mask::{mask_secrets, mask_value};
pub(crate) use report::call_subject;
pub use report::{
    Counts, Fold, Format, Isolation, JournalFacts, PolicyFacts, Refused, Report, TestsLine, VerdictOnTree,
    render,
};
pub(crate) use shown::{one_line, shortened};
pub use status::Status;
pub use verify::{CommitFacts, Facts, Finding, RunFiles, trailer, verify};

/// Name of the journal in a run's folder.
pub const JOURNAL_FILE: &str = "journal.jsonl";
/// Name of the copy of the effective policy in a run's folder.
pub const POLICY_FILE: &str = "policy.yml";
/// Name of the report in a run's folder.
pub const REPORT_FILE: &str = "report.json";
/// Name of the patch in a run's folder, for runs that may not commit.
pub const PATCH_FILE: &str = "change.patch";
