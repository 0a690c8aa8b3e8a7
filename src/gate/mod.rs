//! The judgement: voters in their order, one decision, and what an agent is told.
//!
//! Pure and synchronous. Outside code is asked first and leaves its votes in a [`Ballot`]; links, homes and
//! directories are looked up before and handed in. [`Gate::judge`] is the only way to a [`Pass`], and nothing
//! is executed without one.

mod ask;
mod class;
pub mod gatekeeper;
pub mod outcome;
mod protected;
pub mod text;

pub use ask::{OnAsk, OnAskError};
pub use class::{ClassGate, ClassGates};
pub use protected::{Places, ProtectedPath};

use crate::call::{Targets, ToolCall};
use crate::policy::{Memory, Policy};
use crate::verdict::{Decision, Origin, Place, Verdict, Vote};

/// A call together with the votes of whoever was asked before: hooks, plugins, the gatekeeper.
#[derive(Debug)]
pub struct Ballot {
    /// The final call, as it would be executed.
    pub call: ToolCall,
    /// What it acts on. INVARIANT: resolved from this very call; a replaced call is resolved again.
    pub targets: Targets,
    /// Votes in the order they were given: hooks first, then plugins up to the first veto.
    pub votes: Vec<Vote>,
}

/// A judged call.
#[derive(Debug)]
pub struct Judged {
    /// The call.
    pub call: ToolCall,
    /// What it acts on.
    pub targets: Targets,
    /// All votes and what they come to.
    pub decision: Decision,
    /// The way to execute it, when it goes ahead.
    pub pass: Option<Pass>,
}

/// Proof that the gate let this call through, good for one execution.
///
/// Only [`Gate::judge`] makes one, and executing consumes it.
#[derive(Debug)]
pub struct Pass {
    call: ToolCall,
}

impl Pass {
    /// The call that may be executed.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The call that may be executed; the pass is used up.
    pub fn into_call(self) -> ToolCall {
        self.call
    }
}

/// What a gate is set to besides its policy.
#[derive(Debug, Clone)]
pub struct GateSettings {
    /// Tools whose every call needs a person.
    pub classes: ClassGates,
    /// Places that no call may change, whatever the rules say.
    pub protected: Vec<ProtectedPath>,
    /// `false` lets asks of hooks fall away; the policy leaves its rules out by itself. Denies, protected paths,
    /// vetoes and class gates stay.
    pub guardrails_enabled: bool,
}

impl GateSettings {
    /// For judging without executing: no class gate, nothing protected.
    pub fn for_check() -> Self {
        Self { classes: ClassGates::none(), protected: Vec::new(), guardrails_enabled: true }
    }

    /// For a run: shell calls need a person unless `classes` says otherwise.
    pub fn for_run(classes: ClassGates, protected: Vec<ProtectedPath>) -> Self {
        Self { classes, protected, guardrails_enabled: true }
    }
}

/// Judges calls.
#[derive(Debug)]
pub struct Gate {
    law: Law,
    settings: GateSettings,
}

#[derive(Debug)]
enum Law {
    Policy(Box<Policy>),
    Closed { why: String, place: Option<Place> },
}

impl Gate {
    /// A gate with a policy.
    pub fn new(policy: Policy, settings: GateSettings) -> Self {
        Self { law: Law::Policy(Box::new(policy)), settings }
    }

    /// A gate that denies every call, since its policy did not load: `why` names file and cause.
    pub fn closed(why: String, place: Option<Place>) -> Self {
        Self {
            law: Law::Closed { why, place },
            settings: GateSettings::for_run(ClassGates::default(), Vec::new()),
        }
    }

    /// The policy, unless the gate is closed.
    pub fn policy(&self) -> Option<&Policy> {
        match &self.law {
            Law::Policy(policy) => Some(policy),
            Law::Closed { .. } => None,
        }
    }

    /// What it is set to.
    pub fn settings(&self) -> &GateSettings {
        &self.settings
    }

    /// Judges one call with nothing before it. Every voter is heard, whatever those before said.
    pub fn judge(&self, ballot: Ballot) -> Judged {
        self.judge_after(ballot, &Memory::default())
    }

    /// Judges one call of a run, given what happened before; [`Self::remember`] notes it afterwards.
    pub fn judge_after(&self, ballot: Ballot, memory: &Memory) -> Judged {
        let Ballot { call, targets, votes } = ballot;
        let mut votes: Vec<Vote> = votes.into_iter().filter(|vote| self.counts(vote)).collect();
        if let Law::Closed { why, place } = &self.law {
            votes.push(closed_vote(why, place.as_ref()));
        }
        votes.extend(protected::votes(&self.settings.protected, &targets));
        if let Law::Policy(policy) = &self.law {
            votes.extend(policy.votes_after(&targets, &call.args, memory));
        }
        votes.extend(self.settings.classes.vote(&targets));
        let decision = Decision::fold(votes);
        let pass = (decision.verdict == Verdict::Allow).then(|| Pass { call: call.clone() });
        Judged { call, targets, decision, pass }
    }

    /// Notes what became of a call: later calls of the run are judged with it in mind. A call that was not let
    /// through did not happen, and only its number counts.
    pub fn remember(&self, memory: &mut Memory, call: &ToolCall, targets: &Targets, verdict: Verdict) {
        if let Law::Policy(policy) = &self.law {
            policy.remember(memory, targets, &call.args, verdict == Verdict::Allow);
        }
    }

    fn counts(&self, vote: &Vote) -> bool {
        let is_hook_ask = vote.verdict == Verdict::Ask && matches!(vote.origin, Origin::Hook { .. });
        self.settings.guardrails_enabled || !is_hook_ask
    }
}

fn closed_vote(why: &str, place: Option<&Place>) -> Vote {
    let reason = match place {
        Some(place) => format!("the policy does not load ({place}): {why}"),
        None => format!("the policy does not load: {why}"),
    };
    Vote {
        verdict: Verdict::Deny,
        reason,
        origin: Origin::Core { check: "policy".to_owned() },
        hint: None,
        scopes: Vec::new(),
        part: None,
        subject: None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
