//! What a log yields.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::call::ToolCall;
use crate::verdict::{Decision, Verdict, Vote};

/// A place in a log.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogPlace {
    /// File name as people wrote it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u64,
}

impl std::fmt::Display for LogPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What a log yields, in its order.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A call that was proposed, whether it ran or not.
    Call(Box<Recorded>),
    /// What became of an earlier call, where the log says more than that it ran.
    Outcome(RecordedOutcome),
}

/// A recorded call.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Where it stands.
    pub place: LogPlace,
    /// The call; its `cwd` is the directory it was made in, if the log tells.
    pub call: ToolCall,
    /// The verdict that a case expects.
    pub expect: Option<Verdict>,
    /// The id of the call that made this one, for calls that a script in a call makes.
    pub within: Option<String>,
    /// Why the call cannot be judged fully, in plain words (`arguments are no JSON`).
    pub opaque: Option<&'static str>,
    /// The recorded result, for plain JSON lines that hold one.
    pub result: Option<serde_json::Value>,
    /// How it was judged before, in our own journals.
    pub judged_before: Option<Box<JudgedBefore>>,
}

impl Recorded {
    /// A call at a place, and nothing else known.
    pub fn new(place: LogPlace, call: ToolCall) -> Self {
        Self { place, call, expect: None, within: None, opaque: None, result: None, judged_before: None }
    }
}

/// How a call of one of our own runs was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedBefore {
    /// The repository's root.
    pub root: PathBuf,
    /// The directory the call started in.
    pub cwd: PathBuf,
    /// What `~` stood for.
    pub home: Option<PathBuf>,
    /// The links that were found then: lexical path to real path.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// Votes from outside the gate.
    pub outside_votes: Vec<Vote>,
    /// What all votes came to.
    pub decision: Decision,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedOutcome {
    /// The call's id.
    pub id: String,
    /// What.
    pub outcome: Outcome,
    /// Where it stands.
    pub place: LogPlace,
}

/// Endings of a call that logs tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It ran and failed, or failed before any effect.
    Failed,
    /// A person said no.
    DeniedByUser,
    /// A rule or a hook said no.
    DeniedByPolicy,
    /// Nobody could be asked.
    DeniedOtherwise,
    /// Interrupted.
    Aborted,
}
