//! What a run came to: folded from its journal, and the only thing that formats read.

mod fold;
mod json;
mod markdown;
mod text;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

use super::decision_line::VerdictWord;
use super::{
    Approval, Base, Change, Commit, Integrity, Layer, Notice, Patch, Status, Task, TestsResult, VoteLine,
};

pub use fold::Fold;
pub(crate) use fold::call_subject;

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Version of this shape.
    pub v: u32,
    /// The run's id.
    pub run: String,
    /// How it ended.
    pub status: Status,
    /// Exit code of the process.
    pub exit_code: u8,
    /// What that ending means, in a few words.
    pub meaning: String,
    /// Why it ended so, one line.
    pub reason: String,
    /// The agent's last words.
    pub reply: Option<String>,
    /// The version of gatewright that ran it.
    pub gatewright: String,
    /// Who worked.
    pub agent: String,
    /// What was asked for.
    pub task: Task,
    /// The user's repository.
    pub repository: String,
    /// The commit that the work started from.
    pub base: Base,
    /// Calls by what became of them.
    pub counts: Counts,
    /// Turns of the agent.
    pub turns: u32,
    /// Every call that did not go ahead.
    pub refused: Vec<Refused>,
    /// Asks and their answers.
    pub approvals: Vec<Approval>,
    /// The commit, if one was made.
    pub commit: Option<Commit>,
    /// The patch, if there is no commit.
    pub patch: Option<Patch>,
    /// Tests on the base.
    pub tests_on_base: Option<TestsLine>,
    /// Tests on a clean checkout of exactly the changed tree.
    pub tests_on_tree: Option<TestsLine>,
    /// Test runs that the agent asked for.
    pub tests_in_run: u32,
    /// The changed tree and what the outcome gate says about it.
    pub outcome: Option<VerdictOnTree>,
    /// The user's repository compared with what it was before.
    pub integrity: Option<Integrity>,
    /// What kept the agent in, and what did not.
    pub isolation: Isolation,
    /// The policy.
    pub policy: Option<PolicyFacts>,
    /// What hooks and the runner had to say.
    pub notices: Vec<Notice>,
    /// What could not be cleared away.
    pub leftovers: Vec<String>,
    /// When it began, RFC 3339 UTC.
    pub started: Option<String>,
    /// From the first line of the journal to the last, in milliseconds.
    pub duration_ms: u64,
    /// Time in tools, in milliseconds.
    pub tools_ms: u64,
    /// Time in tests, in milliseconds.
    pub tests_ms: u64,
    /// The journal that this is folded from.
    pub journal: JournalFacts,
}

/// Calls by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// All.
    pub calls: u64,
    /// Verdict allow.
    pub allow: u64,
    /// Verdict ask.
    pub ask: u64,
    /// Verdict deny.
    pub deny: u64,
    /// Allowed, ran and failed.
    pub errored: u64,
}

/// A call that did not go ahead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// Number of the call.
    pub call: u64,
    /// The tool as the agent wrote it.
    pub tool: String,
    /// The verdict: an ask that nobody answered, or a deny.
    #[schemars(with = "VerdictWord")]
    pub verdict: Verdict,
    /// Who refused.
    pub by: String,
    /// The rule.
    pub rule: Option<String>,
    /// Where it is written: `file:line`.
    pub source: Option<String>,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The part of the call that was refused, or the call itself.
    pub subject: String,
}

/// A run of the tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestsLine {
    /// The command.
    pub command: String,
    /// The tree.
    pub tree: String,
    /// What came out.
    pub result: TestsResult,
    /// Exit code.
    pub exit_code: Option<i32>,
    /// What the attestation names.
    pub digest: String,
    /// Milliseconds.
    pub duration_ms: u64,
    /// The last lines of output when they were not green.
    pub last_lines: Vec<String>,
}

/// The changed tree and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictOnTree {
    /// Tree id.
    pub tree: String,
    /// The verdict.
    #[schemars(with = "VerdictWord")]
    pub verdict: Verdict,
    /// What changed.
    pub changes: Vec<Change>,
    /// The votes.
    pub votes: Vec<VoteLine>,
}

/// Isolation in plain words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Isolation {
    /// Layers in force.
    pub in_force: Vec<Layer>,
    /// Layers that were not.
    pub not_in_force: Vec<Layer>,
}

/// The policy of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyFacts {
    /// sha256 of the effective policy.
    pub digest: String,
    /// Its sources.
    pub sources: Vec<String>,
    /// Number of rules.
    pub rules: usize,
    /// Changed files that policy or settings are read from.
    pub policy_files_changed: Vec<String>,
}

/// The journal behind a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalFacts {
    /// Its lines.
    pub lines: u64,
    /// sha256 of the last line.
    pub head: String,
    /// Whether the run came to its end.
    pub has_end: bool,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people, in a terminal.
    Text,
    /// For programs; versioned.
    Json,
    /// For a comment on a pull request.
    Markdown,
}

/// Writes a report; colour only in text, and only when asked for.
pub fn render(report: &Report, format: Format, has_colour: bool) -> String {
    match format {
        Format::Text => text::render(report, has_colour),
        Format::Json => json::render(report),
        Format::Markdown => markdown::render(report),
    }
}

/// `1 call`, `2 calls`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// Milliseconds for people: `340 ms`, `2.4 s`, `3 min 20 s`.
pub(crate) fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1_000),
    }
}

/// The first digits of an id.
pub(crate) fn short_id(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// The word for a test result.
pub(crate) fn tests_word(result: TestsResult) -> &'static str {
    match result {
        TestsResult::Green => "green",
        TestsResult::Red => "red",
        TestsResult::Missing => "missing",
        TestsResult::Killed => "killed",
        TestsResult::TimedOut => "timed out",
        TestsResult::Skipped => "skipped",
    }
}

/// The word for a verdict.
pub(crate) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}
