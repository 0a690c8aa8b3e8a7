//! What a dry run came to. Its size is bounded, however many calls there are.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use crate::call::Targets;
use crate::log::{LogPlace, Outcome, Recorded, RecordedOutcome, Tally};
use crate::record::{VoteLine, call_subject, mask_secrets, shortened};
use crate::verdict::{Decision, Origin, Verdict};

/// Samples that are kept of each kind.
const SAMPLES: usize = 3;

/// Differences that are kept with their place.
const DIFFERENCES: usize = 20;

/// Distinct refused commands that are counted; the rest goes together.
const COMMANDS: usize = 5_000;

/// Refused commands that are reported.
const TOP_COMMANDS: usize = 20;

/// Characters of a subject that are shown.
const SUBJECT_LENGTH: usize = 160;

/// What a dry run came to.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Summary {
    /// Version of this shape.
    pub v: Version,
    /// Logs that were read.
    pub logs: u64,
    /// Logs by format.
    pub formats: BTreeMap<String, u64>,
    /// Lines read.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Calls that an agent proposed.
    pub calls: u64,
    /// Calls that scripts inside these calls made.
    pub nested: u64,
    /// Calls judged, nested ones included.
    pub judged: u64,
    /// Verdict allow.
    pub allow: u64,
    /// Verdict ask.
    pub ask: u64,
    /// Verdict deny.
    pub deny: u64,
    /// Calls with a part that could not be read with certainty.
    pub unreadable: u64,
    /// Calls whose directory neither the log nor the user tells: rules about relative paths are in doubt.
    pub no_directory: u64,
    /// Calls that cannot be judged fully, by the reason.
    pub opaque: BTreeMap<String, u64>,
    /// Who voted against calls, most frequent first.
    pub rules: Vec<RuleCount>,
    /// What was refused most often.
    pub refused: Vec<CommandCount>,
    /// Verdicts compared with those that cases expect.
    pub expected: Option<Expected>,
    /// Decisions compared with those of our own journals.
    pub recorded_before: Option<RecordedBefore>,
    /// What the logs say became of calls, where that is more than that they ran.
    pub outcomes: Vec<OutcomeCount>,
    /// Records of calls that were there before.
    pub repeated: u64,
    /// Records of kinds that are not known.
    pub unknown: Vec<KindCount>,
    /// Lines and records that cannot be read.
    pub bad: u64,
    /// The first of these.
    pub problems: Vec<LogProblem>,
    /// Logs with lines but without a call.
    pub silent_logs: Vec<String>,
    #[serde(skip)]
    rules_by_name: HashMap<(String, Option<String>), RuleCount>,
    #[serde(skip)]
    commands: HashMap<String, CommandCount>,
    #[serde(skip)]
    tally: Tally,
}

/// The version of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Version(u32);

impl Default for Version {
    fn default() -> Self {
        Self(1)
    }
}

/// How often somebody voted against a call.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RuleCount {
    /// Who: `rule git-push`, `unreadable`.
    pub by: String,
    /// Where it is written: `file:line`.
    pub source: Option<String>,
    /// Calls it voted on.
    pub calls: u64,
    /// Calls it decided.
    pub decided: u64,
    /// Its votes to ask.
    pub ask: u64,
    /// Its votes to deny.
    pub deny: u64,
    /// Some of the calls.
    pub samples: Vec<Sample>,
}

/// A call as a sample, secrets masked.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sample {
    /// Where it stands: `file:line`.
    pub place: String,
    /// The tool as the agent wrote it.
    pub tool: String,
    /// The part that it is about.
    pub subject: String,
}

impl Sample {
    /// A sample of a call, about `subject` or about the call as a whole.
    pub(super) fn new(recorded: &Recorded, subject: Option<&str>) -> Self {
        let subject = match subject {
            Some(subject) => shortened(&mask_secrets(subject), SUBJECT_LENGTH),
            None => shortened(&mask_secrets(&raw_subject(recorded)), SUBJECT_LENGTH),
        };
        Self { place: recorded.place.to_string(), tool: recorded.call.tool.clone(), subject }
    }
}

/// What a call is about, cut short but not masked yet: masking costs more than most calls are worth.
fn raw_subject(recorded: &Recorded) -> String {
    // The margin keeps a secret at the cut from losing the words that give it away.
    let mut subject = call_subject(&recorded.call.args);
    if subject.len() > 8 * SUBJECT_LENGTH {
        let cut = (0..=8 * SUBJECT_LENGTH).rev().find(|at| subject.is_char_boundary(*at)).unwrap_or(0);
        subject.truncate(cut);
    }
    subject
}

/// A call that the log may still say something about.
pub(super) struct Recent {
    pub(super) id: String,
    pub(super) verdict: Verdict,
    place: LogPlace,
    tool: String,
    subject: String,
}

impl Recent {
    pub(super) fn new(id: &str, recorded: &Recorded, verdict: Verdict) -> Self {
        Self {
            id: id.to_owned(),
            verdict,
            place: recorded.place.clone(),
            tool: recorded.call.tool.clone(),
            subject: raw_subject(recorded),
        }
    }

    fn sample(&self) -> Sample {
        let subject = shortened(&mask_secrets(&self.subject), SUBJECT_LENGTH);
        Sample { place: self.place.to_string(), tool: self.tool.clone(), subject }
    }
}

/// How often something was refused.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CommandCount {
    /// The part of the call that was refused.
    pub subject: String,
    /// How often.
    pub count: u64,
    /// Who refused.
    pub by: String,
    /// Where it was seen first.
    pub first: String,
}

/// Verdicts compared with those that cases expect.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Expected {
    /// As expected.
    pub right: u64,
    /// Stricter than expected.
    pub stricter: u64,
    /// Looser than expected.
    pub looser: u64,
    /// The first that differ.
    pub differences: Vec<Difference>,
}

/// Decisions compared with those of our own journals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RecordedBefore {
    /// The same verdict by the same votes.
    pub same: u64,
    /// Others.
    pub different: u64,
    /// The first that differ.
    pub differences: Vec<Difference>,
}

/// A call whose verdict is not the one it should be compared with.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The call's id.
    pub id: Option<String>,
    /// The call.
    pub sample: Sample,
    /// The verdict it is compared with.
    pub before: String,
    /// The verdict now.
    pub now: String,
}

/// What the logs say became of calls.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OutcomeCount {
    /// What: `denied by the user`.
    pub outcome: String,
    /// How many calls.
    pub count: u64,
    /// How many of them the policy allows.
    pub allowed: u64,
    /// Some of the allowed ones.
    pub samples: Vec<Sample>,
}

/// Records of a kind that is not known.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KindCount {
    /// The kind.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// The first.
    pub first: String,
}

/// Something in a log that cannot be read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LogProblem {
    /// Where.
    pub place: String,
    /// What.
    pub what: String,
}

impl Summary {
    pub(super) fn call(&mut self, recorded: &Recorded, targets: &Targets, decision: &Decision) {
        self.judged += 1;
        match decision.verdict {
            Verdict::Allow => self.allow += 1,
            Verdict::Ask => self.ask += 1,
            Verdict::Deny => self.deny += 1,
        }
        let reading = targets.reading.iter().flat_map(|reading| &reading.unreadable);
        self.unreadable += u64::from(reading.chain(&targets.unreadable).next().is_some());
        if let Some(reason) = recorded.opaque {
            *self.opaque.entry(reason.to_owned()).or_default() += 1;
        }
        if let Some(expected) = recorded.expect {
            self.compare(recorded, expected, decision.verdict);
        }
        if decision.verdict > Verdict::Allow {
            self.refused(recorded, decision);
        }
    }

    fn refused(&mut self, recorded: &Recorded, decision: &Decision) {
        let mut counted: Vec<&Origin> = Vec::new();
        for (index, vote) in decision.votes.iter().enumerate() {
            if vote.verdict == Verdict::Allow {
                continue;
            }
            let is_deciding = decision.deciding == Some(index);
            // A rule that votes on several parts of a call counts once.
            if counted.contains(&&vote.origin) && !is_deciding {
                continue;
            }
            let line = VoteLine::new(vote);
            let count =
                self.rules_by_name.entry((line.by.clone(), line.source.clone())).or_insert_with(|| {
                    RuleCount {
                        by: line.by.clone(),
                        source: line.source.clone(),
                        calls: 0,
                        decided: 0,
                        ask: 0,
                        deny: 0,
                        samples: Vec::new(),
                    }
                });
            if !counted.contains(&&vote.origin) {
                counted.push(&vote.origin);
                count.calls += 1;
                match vote.verdict {
                    Verdict::Allow => {}
                    Verdict::Ask => count.ask += 1,
                    Verdict::Deny => count.deny += 1,
                }
                if count.samples.len() < SAMPLES {
                    let sample = Sample::new(recorded, vote.subject.as_deref());
                    if !count.samples.iter().any(|kept| kept.subject == sample.subject) {
                        count.samples.push(sample);
                    }
                }
            }
            if is_deciding {
                count.decided += 1;
                let sample = Sample::new(recorded, vote.subject.as_deref());
                self.command(sample, line.by);
            }
        }
    }

    fn command(&mut self, sample: Sample, by: String) {
        let is_full = self.commands.len() >= COMMANDS && !self.commands.contains_key(&sample.subject);
        let subject = if is_full { "(others)".to_owned() } else { sample.subject };
        let first = sample.place;
        self.commands
            .entry(subject.clone())
            .or_insert_with(|| CommandCount { subject, count: 0, by, first })
            .count += 1;
    }

    fn compare(&mut self, recorded: &Recorded, expected: Verdict, verdict: Verdict) {
        let counts = self.expected.get_or_insert_default();
        match verdict.cmp(&expected) {
            std::cmp::Ordering::Equal => {
                counts.right += 1;
                return;
            }
            std::cmp::Ordering::Greater => counts.stricter += 1,
            std::cmp::Ordering::Less => counts.looser += 1,
        }
        if counts.differences.len() < DIFFERENCES {
            counts.differences.push(difference(recorded, expected, verdict));
        }
    }

    pub(super) fn judged_again(&mut self, recorded: &Recorded, now: &Decision, is_same: bool) {
        let counts = self.recorded_before.get_or_insert_default();
        if is_same {
            counts.same += 1;
            return;
        }
        counts.different += 1;
        if counts.differences.len() < DIFFERENCES
            && let Some(before) = &recorded.judged_before
        {
            counts.differences.push(difference(recorded, before.decision.verdict, now.verdict));
        }
    }

    pub(super) fn outcome(&mut self, outcome: &RecordedOutcome, call: Option<&Recent>) {
        let name = match outcome.outcome {
            Outcome::Failed => "failed",
            Outcome::DeniedByUser => "denied by the user",
            Outcome::DeniedByPolicy => "denied by the agent's own policy",
            Outcome::DeniedOtherwise => "denied, nobody could be asked",
            Outcome::Aborted => "aborted",
        };
        let index = self.outcomes.iter().position(|count| count.outcome == name).unwrap_or_else(|| {
            let outcome = name.to_owned();
            self.outcomes.push(OutcomeCount { outcome, count: 0, allowed: 0, samples: Vec::new() });
            self.outcomes.len() - 1
        });
        let Some(count) = self.outcomes.get_mut(index) else { return };
        count.count += 1;
        if let Some(call) = call.filter(|call| call.verdict == Verdict::Allow) {
            count.allowed += 1;
            let is_refusal = match outcome.outcome {
                Outcome::DeniedByUser | Outcome::DeniedByPolicy | Outcome::DeniedOtherwise => true,
                Outcome::Failed | Outcome::Aborted => false,
            };
            if is_refusal && count.samples.len() < SAMPLES {
                count.samples.push(call.sample());
            }
        }
    }

    /// Takes in what was counted while a log was read, and sets the lists in order.
    pub(super) fn log(&mut self, file: &str, format: Option<&'static str>, tally: Tally) {
        self.logs += 1;
        *self.formats.entry(format.unwrap_or("empty").to_owned()).or_default() += 1;
        if tally.calls + tally.repeated == 0 && tally.lines > 0 && self.silent_logs.len() < DIFFERENCES {
            self.silent_logs.push(file.to_owned());
        }
        self.tally.add(tally);
        self.settle();
    }

    fn settle(&mut self) {
        let tally = &self.tally;
        self.lines = tally.lines;
        self.bytes = tally.bytes;
        self.calls = tally.calls;
        self.nested = tally.nested;
        self.repeated = tally.repeated;
        self.bad = tally.bad;
        self.unknown = tally
            .unknown
            .iter()
            .map(|(kind, counted)| KindCount {
                kind: kind.clone(),
                count: counted.count,
                first: counted.first.to_string(),
            })
            .collect();
        self.problems = tally
            .problems
            .iter()
            .map(|problem| LogProblem { place: problem.place.to_string(), what: problem.what.clone() })
            .collect();
        self.rules = self.rules_by_name.values().cloned().collect();
        self.rules.sort_by(|one, other| {
            other.calls.cmp(&one.calls).then_with(|| (&one.by, &one.source).cmp(&(&other.by, &other.source)))
        });
        self.refused = self.commands.values().cloned().collect();
        self.refused
            .sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.subject.cmp(&other.subject)));
        self.refused.truncate(TOP_COMMANDS);
    }

    /// The strictest verdict that was given.
    pub fn strictest(&self) -> Verdict {
        match (self.deny, self.ask) {
            (1.., _) => Verdict::Deny,
            (0, 1..) => Verdict::Ask,
            (0, 0) => Verdict::Allow,
        }
    }

    /// The summary as one JSON document.
    pub fn to_json(&self) -> String {
        // INVARIANT: a summary holds only texts, numbers and lists, which always have a JSON form.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The summary for people.
    pub fn to_text(&self, has_colour: bool) -> String {
        super::text::render(self, has_colour)
    }
}

fn difference(recorded: &Recorded, before: Verdict, now: Verdict) -> Difference {
    let word = |verdict: Verdict| match verdict {
        Verdict::Allow => "allow".to_owned(),
        Verdict::Ask => "ask".to_owned(),
        Verdict::Deny => "deny".to_owned(),
    };
    Difference {
        id: recorded.call.id.clone(),
        sample: Sample::new(recorded, None),
        before: word(before),
        now: word(now),
    }
}
