//! Recorded calls through the gate: nothing is executed, nothing is stored.
//!
//! Logs are read as a stream; what stays in memory is the [`Summary`], whose size does not depend on theirs. This
//! room touches no disk: links and the roots of repositories are looked up by functions that it is given.

mod directory;
mod gate;
mod summary;
mod text;

use std::collections::{BTreeMap, VecDeque};
use std::io::BufRead;
use std::path::{Path, PathBuf};

use crate::call::{Context, Links, Targets, ToolCall};
use crate::log::{Item, LogError, LogReader, Recorded, RecordedOutcome, Seen};
use crate::policy::Memory;
use crate::record::DecisionLine;
use crate::verdict::{Decision, Origin, Verdict, Vote};

use directory::Directories;
use summary::Recent;

pub use directory::World;
pub use summary::{
    CommandCount, Difference, Expected, KindCount, LogProblem, OutcomeCount, RecordedBefore, RuleCount,
    Sample, Summary,
};

/// Calls that are kept until the log may say what became of them.
const RECENT: usize = 512;

/// What judges a call: the gate, or a stand-in in tests.
pub trait Judge {
    /// Judges a call; `outside_votes` are those that came from outside the gate when the call was made. `memory` is
    /// that of the session the call belongs to, and the call is noted in it.
    fn judge(
        &self,
        call: &ToolCall,
        context: &Context,
        links: &dyn Links,
        outside_votes: Vec<Vote>,
        memory: &mut Memory,
    ) -> (Targets, Decision);
}

/// A recorded call with its judgement.
#[derive(Debug)]
pub struct JudgedCall<'a> {
    /// The call as it was recorded.
    pub recorded: &'a Recorded,
    /// What it acts on.
    pub targets: &'a Targets,
    /// What the votes came to.
    pub decision: &'a Decision,
}

impl JudgedCall<'_> {
    /// The line that `dry-run` writes for it.
    pub fn line(&self) -> DecisionLine {
        let mut line = DecisionLine::new(&self.recorded.call, self.targets, self.decision);
        line.log = Some(self.recorded.place.to_string());
        line.expect = self.recorded.expect;
        line
    }
}

/// A dry run over any number of logs.
pub struct DryRun<'a> {
    judge: &'a dyn Judge,
    world: World<'a>,
    directories: Directories,
    summary: Summary,
    recent: VecDeque<Recent>,
    seen: Seen,
    /// What the calls of this log left behind: a log is one session.
    memory: Memory,
}

impl<'a> DryRun<'a> {
    /// Nothing was read yet.
    pub fn new(judge: &'a dyn Judge, world: World<'a>) -> Self {
        Self {
            judge,
            world,
            directories: Directories::default(),
            summary: Summary::default(),
            recent: VecDeque::new(),
            seen: Seen::new(),
            memory: Memory::default(),
        }
    }

    /// Judges the calls of one log, handing each to `each` in the order of the log.
    ///
    /// # Errors
    /// The log cannot be read or its format cannot be told; what was judged before stays in the summary. An error
    /// of `each` ends the log and comes back as `Ok(Err(..))`.
    pub fn log<R: BufRead, E>(
        &mut self,
        input: R,
        file: &str,
        format: Option<crate::log::Format>,
        mut each: impl FnMut(&JudgedCall<'_>) -> Result<(), E>,
    ) -> Result<Result<(), E>, LogError> {
        let mut reader = LogReader::open(input, file, format, std::mem::take(&mut self.seen))?;
        self.recent.clear();
        self.memory = Memory::default();
        let mut ending = Ok(Ok(()));
        for item in reader.by_ref() {
            match item {
                Ok(Item::Call(recorded)) => {
                    if let Err(error) = self.call(&recorded, &mut each) {
                        ending = Ok(Err(error));
                        break;
                    }
                }
                Ok(Item::Outcome(outcome)) => self.outcome(&outcome),
                Err(error) => {
                    ending = Err(error);
                    break;
                }
            }
        }
        let format = reader.format();
        let (tally, seen) = reader.finish();
        self.seen = seen;
        self.summary.log(file, format.map(crate::log::Format::name), tally);
        ending
    }

    fn call<E>(
        &mut self,
        recorded: &Recorded,
        each: &mut impl FnMut(&JudgedCall<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (targets, decision) = match &recorded.judged_before {
            Some(before) => {
                let context =
                    Context { root: before.root.clone(), cwd: before.cwd.clone(), home: before.home.clone() };
                let links = KnownLinks(&before.links);
                let votes = before.outside_votes.clone();
                let judged = self.judge.judge(&recorded.call, &context, &links, votes, &mut self.memory);
                self.summary.judged_again(recorded, &judged.1, is_same(&before.decision, &judged.1));
                judged
            }
            None => {
                let context = match self.directories.context(recorded.call.cwd.as_deref(), &self.world) {
                    Some(context) => context,
                    None => {
                        self.summary.no_directory += 1;
                        Directories::unknown(&self.world)
                    }
                };
                self.judge.judge(&recorded.call, &context, self.world.links, Vec::new(), &mut self.memory)
            }
        };
        self.summary.call(recorded, &targets, &decision);
        if let Some(id) = &recorded.call.id {
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(Recent::new(id, recorded, decision.verdict));
        }
        each(&JudgedCall { recorded, targets: &targets, decision: &decision })
    }

    fn outcome(&mut self, outcome: &RecordedOutcome) {
        let call = self.recent.iter().rev().find(|call| call.id == outcome.id);
        self.summary.outcome(outcome, call);
    }

    /// What was counted so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The counts.
    pub fn finish(self) -> Summary {
        self.summary
    }
}

/// Whether two decisions agree: the same verdict by the same votes. Texts are left out, as a journal masks secrets;
/// places are left out, as the copy of a policy has other lines than the files that it was made of.
fn is_same(before: &Decision, now: &Decision) -> bool {
    fn votes(decision: &Decision) -> Vec<(Verdict, String)> {
        decision.votes.iter().map(|vote| (vote.verdict, voter(&vote.origin))).collect()
    }
    fn voter(origin: &Origin) -> String {
        let last = |id: &str| id.rsplit(':').next().unwrap_or(id).to_owned();
        match origin {
            Origin::Rule { id, .. } => format!("rule {}", last(id)),
            Origin::Unreadable { rule, .. } => {
                format!("unreadable {}", rule.as_deref().map(last).unwrap_or_default())
            }
            Origin::Default { .. } => "default".to_owned(),
            other => format!("{other:?}"),
        }
    }
    before.verdict == now.verdict && votes(before) == votes(now)
}

/// Links as a journal recorded them.
struct KnownLinks<'a>(&'a BTreeMap<PathBuf, PathBuf>);

impl Links for KnownLinks<'_> {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.0.get(path).cloned()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
