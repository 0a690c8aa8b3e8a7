//! What a journal line says.
//!
//! A variant is added for something new that happened; matches over [`Event`] have no catch-all, so the compiler
//! lists the places that must speak about it. Fields are only ever added, with a default.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::ToolCall;
use crate::verdict::{Decision, Scope, Verdict, Vote};

use super::{CappedText, Status, TargetsLine};

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run begins: task, base, policy, settings, isolation.
    RunStart(Box<RunStart>),
    /// The tests on the base, before the agent starts.
    TestsOnBase(Box<Tests>),
    /// A turn begins.
    TurnStart(TurnStart),
    /// A call was judged.
    Gate(Box<GateEvent>),
    /// An allowed call starts.
    ToolCallStarted(ToolCallStarted),
    /// An ask was answered, or nobody was there to answer it.
    Approval(Approval),
    /// A call is over, or was never started.
    ToolResult(Box<ToolResult>),
    /// A hook has something to say.
    HookNotice(Notice),
    /// The runner has something to say: load failures, exceptions past their date, limits.
    Notice(Notice),
    /// State from which the run can go on.
    Checkpoint(Checkpoint),
    /// A checkpoint that cannot be used any more.
    CheckpointDiscarded(Notice),
    /// The changed tree was judged.
    Outcome(Box<Outcome>),
    /// Tests in the run, or on the tree that is to be committed.
    Tests(Box<Tests>),
    /// The commit was made and its branch exists.
    Commit(Box<Commit>),
    /// The change is left as a patch.
    Patch(Box<Patch>),
    /// The user's repository was compared with what it was before.
    Integrity(Integrity),
    /// Worktree, fork, processes and locks were cleared away.
    Cleanup(Cleanup),
    /// A turn is over.
    TurnEnd(TurnEnd),
    /// The run is over.
    RunEnd(RunEnd),
}

impl Event {
    /// The word that stands under `type` in the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStart(_) => "run_start",
            Self::TestsOnBase(_) => "tests_on_base",
            Self::TurnStart(_) => "turn_start",
            Self::Gate(_) => "gate",
            Self::ToolCallStarted(_) => "tool_call_started",
            Self::Approval(_) => "approval",
            Self::ToolResult(_) => "tool_result",
            Self::HookNotice(_) => "hook_notice",
            Self::Notice(_) => "notice",
            Self::Checkpoint(_) => "checkpoint",
            Self::CheckpointDiscarded(_) => "checkpoint_discarded",
            Self::Outcome(_) => "outcome",
            Self::Tests(_) => "tests",
            Self::Commit(_) => "commit",
            Self::Patch(_) => "patch",
            Self::Integrity(_) => "integrity",
            Self::Cleanup(_) => "cleanup",
            Self::TurnEnd(_) => "turn_end",
            Self::RunEnd(_) => "run_end",
        }
    }
}

/// The run begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStart {
    /// The run's id.
    pub run: String,
    /// The version of gatewright that runs it.
    pub gatewright: String,
    /// What the agent is asked to do.
    #[serde(default)]
    pub task: Task,
    /// Who works: `script:demo.yml`, `claude`.
    #[serde(default)]
    pub agent: String,
    /// The user's repository.
    #[serde(default)]
    pub repository: String,
    /// The commit that the work starts from.
    #[serde(default)]
    pub base: Base,
    /// The policy that judges, if it loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyRecord>,
    /// Settings that matter, with where each value comes from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Setting>,
    /// Isolation, layer by layer, in force or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub isolation: Vec<Layer>,
    /// Where calls are judged.
    #[serde(default)]
    pub judged_in: JudgedIn,
    /// Whether the person who started the run permits a commit.
    #[serde(default)]
    pub may_commit: bool,
}

/// What the agent is asked to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Its name, or the file it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The text, kept short.
    #[serde(default)]
    pub prompt: String,
    /// sha256 of the whole text, hex.
    #[serde(default)]
    pub digest: String,
}

/// The commit that the work starts from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Base {
    /// As the user named it: `main`, `HEAD`.
    #[serde(default)]
    pub revision: String,
    /// Commit id.
    #[serde(default)]
    pub commit: String,
    /// Tree id.
    #[serde(default)]
    pub tree: String,
}

/// The policy that judges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// sha256 of the effective policy, hex.
    pub digest: String,
    /// sha256 of the bytes of its copy beside the journal, hex.
    #[serde(default)]
    pub copy_digest: String,
    /// The sources in the order given: `builtin:ci`, `<base>:.gatewright/policy.yml`.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Number of rules.
    #[serde(default)]
    pub rules: usize,
}

/// A setting and where its value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The value.
    pub value: serde_json::Value,
    /// Its origin: `flag`, `environment`, `user`, `repository`, `default`.
    pub origin: String,
}

/// One layer of isolation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    /// Its name: `clean environment`, `landlock`, `network namespace`.
    pub name: String,
    /// Whether it is in force.
    pub in_force: bool,
    /// Whether the run was to be refused without it.
    #[serde(default)]
    pub required: bool,
    /// In plain words: what it keeps from happening; why it is missing and what may happen therefore.
    #[serde(default)]
    pub note: String,
}

/// Where a call is judged: what relative paths, `~` and "outside" mean.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedIn {
    /// The repository's root; in a run, the worktree.
    #[serde(default)]
    pub root: String,
    /// The directory the call starts in.
    #[serde(default)]
    pub cwd: String,
    /// What `~` stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

/// A turn begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStart {
    /// Number, from 1.
    pub turn: u32,
}

/// A call was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateEvent {
    /// Number of the call in the run, from 1.
    pub call: u64,
    /// Number of the turn.
    #[serde(default)]
    pub turn: u32,
    /// The call as the agent gave it.
    pub given: ToolCall,
    /// The call as it was judged, where a hook replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<ToolCall>,
    /// sha256 of the judged call with its secrets, hex, so that calls can be compared; see [`GateEvent::digest_of`].
    #[serde(default)]
    pub digest: String,
    /// Where it was judged.
    pub judged_in: JudgedIn,
    /// Symlinks that were found while judging: lexical path to real path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// What it acts on.
    #[serde(default)]
    pub targets: TargetsLine,
    /// Votes that came from outside the gate (hooks, plugins, control); they are part of `decision.votes` too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside_votes: Vec<Vote>,
    /// What all votes came to.
    pub decision: Decision,
}

impl GateEvent {
    /// sha256 of tool, arguments and directory of a call, hex.
    pub fn digest_of(call: &ToolCall) -> String {
        let text = serde_json::json!({ "tool": call.tool, "args": call.args, "cwd": call.cwd }).to_string();
        super::journal::sha256_hex(text.as_bytes())
    }

    /// The call that was judged.
    pub fn judged_call(&self) -> &ToolCall {
        self.replaced_by.as_ref().unwrap_or(&self.given)
    }
}

/// An allowed call starts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallStarted {
    /// Number of the call.
    pub call: u64,
    /// Canonical name of the tool.
    pub tool: String,
}

/// How an ask was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Somebody said yes.
    Approved,
    /// Somebody said no.
    Declined,
    /// Nobody was there, which is a no.
    NobodyThere,
    /// The run waits.
    Staged,
}

/// An ask was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// Number of the call.
    pub call: u64,
    /// How.
    pub answer: Answer,
    /// How far the answer reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub scope: Option<Scope>,
    /// Who: `stored approval 3`, `settings`.
    #[serde(default)]
    pub by: String,
    /// Why, in the reviewer's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It did what it was to do.
    Ok,
    /// It ran and failed.
    Failed,
    /// The gate kept it from running.
    Blocked,
    /// It ran out of time.
    TimedOut,
    /// The run was canceled while it ran.
    Canceled,
}

/// A call is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Number of the call.
    pub call: u64,
    /// Canonical name of the tool.
    #[serde(default)]
    pub tool: String,
    /// Whether the agent is told that it went well.
    pub ok: bool,
    /// How it ended.
    pub status: CallStatus,
    /// Exit code of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What the agent is told when it did not go well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// sha256 of what the agent is given, hex.
    #[serde(default)]
    pub output_digest: String,
    /// What the agent is given, kept short.
    #[serde(default)]
    pub output: CappedText,
    /// Milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
}

/// Something to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// Who says it: a hook's name, `policy`, `settings`.
    #[serde(default)]
    pub from: String,
    /// One line.
    pub text: String,
}

/// State from which the run can go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Number of the turn.
    pub turn: u32,
    /// The state.
    #[serde(default)]
    pub state: serde_json::Value,
}

/// The changed tree was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Tree id.
    pub tree: String,
    /// What changed against the base.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// What the votes came to.
    pub verdict: Verdict,
    /// The votes.
    #[serde(default)]
    pub votes: Vec<Vote>,
    /// Changed files that policy or settings are read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_files_changed: Vec<String>,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Path from the root.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Size after the change, in bytes.
    #[serde(default)]
    pub bytes: u64,
}

/// Kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// New.
    Added,
    /// Other content.
    Modified,
    /// Gone.
    Deleted,
    /// File, link or gitlink became another of these, or the mode changed.
    TypeChanged,
}

/// A run of the tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tests {
    /// The command, for people.
    pub command: String,
    /// The tree they ran on.
    pub tree: String,
    /// What came out.
    pub result: TestsResult,
    /// Whether they ran on a clean checkout of exactly that tree.
    #[serde(default)]
    pub clean_checkout: bool,
    /// Exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// sha256 over command, tree, result and output, hex: what the commit's attestation names.
    #[serde(default)]
    pub digest: String,
    /// Output, kept short.
    #[serde(default)]
    pub output: CappedText,
    /// Milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
}

/// What the tests say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestsResult {
    /// Green.
    Green,
    /// Red.
    Red,
    /// There is no such command, or none is set.
    Missing,
    /// Killed by a signal.
    Killed,
    /// Out of time.
    TimedOut,
    /// Left out by request.
    Skipped,
}

/// A commit trailer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trailer {
    /// Key: `Gatewright-Run`.
    pub key: String,
    /// Value.
    pub value: String,
}

/// The commit was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Full name of its ref.
    pub branch: String,
    /// Commit id.
    pub id: String,
    /// Tree id.
    pub tree: String,
    /// Id of its one parent.
    #[serde(default)]
    pub parent: String,
    /// First line of its message.
    #[serde(default)]
    pub subject: String,
    /// Paths it changes.
    #[serde(default)]
    pub files: Vec<String>,
    /// Trailers in order.
    #[serde(default)]
    pub trailers: Vec<Trailer>,
    /// What it is trusted for: `tests green on tree …`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation: Option<String>,
}

/// The change is left as a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Patch {
    /// File name in the run's folder.
    pub file: String,
    /// sha256 of its bytes, hex.
    pub digest: String,
    /// Tree id that it leads to.
    #[serde(default)]
    pub tree: String,
    /// Paths it changes.
    #[serde(default)]
    pub files: Vec<String>,
    /// Why there is no commit.
    #[serde(default)]
    pub reason: String,
    /// The exact command that would permit one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<String>,
}

/// The user's repository was compared with what it was before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Integrity {
    /// What differs; nothing for a clean proof.
    #[serde(default)]
    pub differences: Vec<Difference>,
    /// What was compared, in plain words.
    #[serde(default)]
    pub compared: Vec<String>,
}

/// One difference of the user's repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What: `refs/heads/main`, `.git/config`.
    pub what: String,
    /// How it differs.
    pub how: String,
}

/// Worktree, fork, processes and locks were cleared away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleanup {
    /// What could not be cleared away.
    #[serde(default)]
    pub leftovers: Vec<String>,
    /// Processes that had to be ended.
    #[serde(default)]
    pub processes_ended: u32,
}

/// A turn is over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// Number.
    pub turn: u32,
    /// What the agent said, kept short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

/// The run is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// How.
    pub status: Status,
    /// Exit code of the process.
    pub exit_code: u8,
    /// Why, one line.
    #[serde(default)]
    pub reason: String,
    /// The agent's last words, kept short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    #[test]
    fn names_are_those_of_the_journal() {
        for event in super::super::journal::tests::samples() {
            let value = serde_json::to_value(&event).unwrap();
            assert_eq!(value["type"], event.name());
        }
    }
}
