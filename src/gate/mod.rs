//! Stand-in until the room is built.
use crate::call::{Targets, ToolCall};
use crate::policy::Policy;
use crate::verdict::{Decision, Verdict, Vote};
/// Permission for one call.
#[derive(Debug)]
pub struct Pass {
    call: ToolCall,
}
impl Pass {
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }
}
/// What is judged.
#[derive(Debug)]
pub struct Ballot {
    /// The call.
    pub call: ToolCall,
    /// Its targets.
    pub targets: Targets,
    /// Votes from outside.
    pub votes: Vec<Vote>,
}
/// The judged call.
#[derive(Debug)]
pub struct Judged {
    /// The call.
    pub call: ToolCall,
    /// Its targets.
    pub targets: Targets,
    /// Its decision.
    pub decision: Decision,
    /// Its pass.
    pub pass: Option<Pass>,
}
/// The gate.
#[derive(Debug)]
pub struct Gate {
    policy: Option<Policy>,
}
impl Gate {
    /// A gate.
    pub fn new(policy: Policy) -> Self {
        Self { policy: Some(policy) }
    }
    /// Judges.
    pub fn judge(&self, ballot: Ballot) -> Judged {
        let mut votes = ballot.votes;
        if let Some(policy) = &self.policy {
            votes.extend(policy.votes(&ballot.targets, &ballot.call.args));
        }
        let decision = Decision::fold(votes);
        let pass = (decision.verdict == Verdict::Allow).then(|| Pass { call: ballot.call.clone() });
        Judged { call: ballot.call, targets: ballot.targets, decision, pass }
    }
}
