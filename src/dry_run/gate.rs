//! The gate as a judge of recorded calls.

use crate::call::{Context, Links, Targets, ToolCall};
use crate::gate::{Ballot, Gate};
use crate::verdict::{Decision, Origin, Vote};

use super::Judge;

impl Judge for Gate {
    fn judge(
        &self,
        call: &ToolCall,
        context: &Context,
        links: &dyn Links,
        outside_votes: Vec<Vote>,
    ) -> (Targets, Decision) {
        let targets = Targets::resolve(call, context, links);
        // The vote of a class gate that the run had is the last one; all others stood before those of the rules.
        let (last, votes): (Vec<Vote>, Vec<Vote>) =
            outside_votes.into_iter().partition(|vote| matches!(vote.origin, Origin::Class { .. }));
        let judged = Self::judge(self, Ballot { call: call.clone(), targets, votes });
        if last.is_empty() {
            return (judged.targets, judged.decision);
        }
        let mut votes = judged.decision.votes;
        votes.extend(last);
        (judged.targets, Decision::fold(votes))
    }
}
