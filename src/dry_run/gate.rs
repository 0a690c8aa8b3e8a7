//! The gate as a judge of recorded calls.

use crate::call::{Context, Links, Targets, ToolCall};
use crate::gate::{Ballot, Gate};
use crate::policy::Memory;
use crate::verdict::{Decision, Origin, Vote};

use super::Judge;

impl Judge for Gate {
    fn judge(
        &self,
        call: &ToolCall,
        context: &Context,
        links: &dyn Links,
        outside_votes: Vec<Vote>,
        memory: &mut Memory,
    ) -> (Targets, Decision) {
        let targets = Targets::resolve(call, context, links);
        // The vote of a class gate that the run had is the last one; all others stood before those of the rules.
        let (last, votes): (Vec<Vote>, Vec<Vote>) =
            outside_votes.into_iter().partition(|vote| matches!(vote.origin, Origin::Class { .. }));
        let judged = self.judge_after(Ballot { call: call.clone(), targets, votes }, memory);
        let decision = if last.is_empty() {
            judged.decision
        } else {
            let mut votes = judged.decision.votes;
            votes.extend(last);
            Decision::fold(votes)
        };
        self.remember(memory, call, &judged.targets, decision.verdict);
        (judged.targets, decision)
    }
}
