//! Folds journal entries into a report.

use crate::verdict::Verdict;

use super::super::decision_line::{by, rule, source};
use super::super::shown::shortened;
use super::super::{
    Answer, Approval, CallStatus, Commit, Entry, Event, GateEvent, Integrity, Notice, Outcome, Patch, RunEnd,
    RunStart, Status, Tests, TestsResult, VoteLine,
};
use super::{Counts, Isolation, JournalFacts, PolicyFacts, Refused, Report, TestsLine, VerdictOnTree};

/// Characters of a call that a report shows.
const SUBJECT_LENGTH: usize = 160;

/// Lines of output that a report keeps of tests that are not green.
const LAST_LINES: usize = 20;

/// A report in the making. Pure: the same entries give the same report.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    start: RunStart,
    end: Option<RunEnd>,
    started: Option<jiff::Timestamp>,
    last: Option<jiff::Timestamp>,
    counts: Counts,
    turns: u32,
    refused: Vec<Refused>,
    approvals: Vec<Approval>,
    commit: Option<Commit>,
    patch: Option<Patch>,
    tests_on_base: Option<TestsLine>,
    tests_on_tree: Option<TestsLine>,
    tests_in_run: u32,
    outcome: Option<Outcome>,
    integrity: Option<Integrity>,
    notices: Vec<Notice>,
    leftovers: Vec<String>,
    reply: Option<String>,
    tools_ms: u64,
    tests_ms: u64,
    lines: u64,
    head: String,
}

impl Fold {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next entry.
    pub fn push(&mut self, entry: &Entry) {
        self.started.get_or_insert(entry.time);
        self.last = Some(entry.time);
        self.lines = entry.seq;
        self.head.clone_from(&entry.digest);
        match &entry.event {
            Event::RunStart(start) => self.start = (**start).clone(),
            Event::TestsOnBase(tests) => {
                self.tests_ms += tests.duration_ms;
                self.tests_on_base = Some(tests_line(tests));
            }
            Event::TurnStart(turn) => self.turns = self.turns.max(turn.turn),
            Event::Gate(gate) => self.gate(gate),
            Event::ToolCallStarted(_) | Event::Checkpoint(_) => {}
            Event::Approval(approval) => self.approval(approval),
            Event::ToolResult(result) => {
                self.tools_ms += result.duration_ms;
                match result.status {
                    CallStatus::Failed | CallStatus::TimedOut => self.counts.errored += 1,
                    CallStatus::Ok | CallStatus::Blocked | CallStatus::Canceled => {}
                }
            }
            Event::HookNotice(notice) | Event::Notice(notice) | Event::CheckpointDiscarded(notice) => {
                self.notices.push(notice.clone());
            }
            Event::Outcome(outcome) => self.outcome = Some((**outcome).clone()),
            Event::Tests(tests) => {
                self.tests_ms += tests.duration_ms;
                if tests.clean_checkout {
                    self.tests_on_tree = Some(tests_line(tests));
                } else {
                    self.tests_in_run += 1;
                }
            }
            Event::Commit(commit) => self.commit = Some((**commit).clone()),
            Event::Patch(patch) => self.patch = Some((**patch).clone()),
            Event::Integrity(integrity) => self.integrity = Some(integrity.clone()),
            Event::Cleanup(cleanup) => self.leftovers.clone_from(&cleanup.leftovers),
            Event::TurnEnd(turn) => {
                if turn.reply.is_some() {
                    self.reply.clone_from(&turn.reply);
                }
            }
            Event::RunEnd(end) => self.end = Some(end.clone()),
        }
    }

    fn gate(&mut self, gate: &GateEvent) {
        self.counts.calls += 1;
        match gate.decision.verdict {
            Verdict::Allow => {
                self.counts.allow += 1;
                return;
            }
            Verdict::Ask => self.counts.ask += 1,
            Verdict::Deny => self.counts.deny += 1,
        }
        let call = gate.judged_call();
        let vote = gate.decision.deciding_vote();
        self.refused.push(Refused {
            call: gate.call,
            tool: call.tool.clone(),
            verdict: gate.decision.verdict,
            by: vote.map_or_else(|| "unknown".to_owned(), |vote| by(&vote.origin)),
            rule: vote.and_then(|vote| rule(&vote.origin)).map(str::to_owned),
            source: vote.and_then(|vote| source(&vote.origin)),
            reason: vote.map(|vote| vote.reason.clone()).unwrap_or_default(),
            hint: vote.and_then(|vote| vote.hint.clone()),
            subject: match vote.and_then(|vote| vote.subject.as_deref()) {
                Some(subject) => shortened(subject, SUBJECT_LENGTH),
                None => shortened(&call_subject(&call.args), SUBJECT_LENGTH),
            },
        });
    }

    fn approval(&mut self, approval: &Approval) {
        if approval.answer == Answer::Approved {
            self.refused.retain(|refused| refused.call != approval.call);
        }
        self.approvals.push(approval.clone());
    }

    /// The report of what was taken in so far.
    pub fn report(&self) -> Report {
        let start = self.start.clone();
        let status = self.end.as_ref().map_or(Status::Cut, |end| end.status);
        let (in_force, not_in_force) = start.isolation.into_iter().partition(|layer| layer.in_force);
        let policy_files_changed =
            self.outcome.as_ref().map(|outcome| outcome.policy_files_changed.clone()).unwrap_or_default();
        Report {
            v: 1,
            run: start.run,
            status,
            exit_code: self.end.as_ref().map_or_else(|| status.exit_code(), |end| end.exit_code),
            meaning: status.meaning().to_owned(),
            reason: self.end.as_ref().map(|end| end.reason.clone()).unwrap_or_default(),
            reply: self.end.as_ref().and_then(|end| end.reply.clone()).or_else(|| self.reply.clone()),
            gatewright: start.gatewright,
            agent: start.agent,
            task: start.task,
            repository: start.repository,
            base: start.base,
            counts: self.counts,
            turns: self.turns,
            refused: self.refused.clone(),
            approvals: self.approvals.clone(),
            commit: self.commit.clone(),
            patch: self.patch.clone(),
            tests_on_base: self.tests_on_base.clone(),
            tests_on_tree: self.tests_on_tree.clone(),
            tests_in_run: self.tests_in_run,
            outcome: self.outcome.as_ref().map(|outcome| VerdictOnTree {
                tree: outcome.tree.clone(),
                verdict: outcome.verdict,
                changes: outcome.changes.clone(),
                votes: outcome.votes.iter().map(VoteLine::new).collect(),
            }),
            integrity: self.integrity.clone(),
            isolation: Isolation { in_force, not_in_force },
            policy: start.policy.map(|policy| PolicyFacts {
                digest: policy.digest,
                sources: policy.sources,
                rules: policy.rules,
                policy_files_changed,
            }),
            notices: self.notices.clone(),
            leftovers: self.leftovers.clone(),
            started: self.started.map(|time| time.to_string()),
            duration_ms: match (self.started, self.last) {
                (Some(started), Some(last)) => {
                    u64::try_from(last.as_millisecond() - started.as_millisecond()).unwrap_or(0)
                }
                (None, _) | (_, None) => 0,
            },
            tools_ms: self.tools_ms,
            tests_ms: self.tests_ms,
            journal: JournalFacts { lines: self.lines, head: self.head.clone(), has_end: self.end.is_some() },
        }
    }
}

impl Report {
    /// The report of a run whose journal has these entries.
    pub fn fold<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut fold = Fold::new();
        entries.into_iter().for_each(|entry| fold.push(entry));
        fold.report()
    }
}

fn tests_line(tests: &Tests) -> TestsLine {
    let last_lines = match tests.result {
        TestsResult::Green | TestsResult::Skipped => Vec::new(),
        TestsResult::Red | TestsResult::Missing | TestsResult::Killed | TestsResult::TimedOut => {
            tests.output.last_lines(LAST_LINES).into_iter().map(str::to_owned).collect()
        }
    };
    TestsLine {
        command: tests.command.clone(),
        tree: tests.tree.clone(),
        result: tests.result,
        exit_code: tests.exit_code,
        digest: tests.digest.clone(),
        duration_ms: tests.duration_ms,
        last_lines,
    }
}

/// What a call is about, when no vote says it: its command, its path, or its arguments.
pub(crate) fn call_subject(args: &serde_json::Value) -> String {
    for key in ["command", "cmd", "file_path", "path", "url"] {
        if let Some(text) = args.get(key).and_then(|value| value.as_str()) {
            return text.to_owned();
        }
    }
    match args {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    }
}
