//! One task in one worktree, from preparation to report.

mod engine;
mod links;
mod prepare;
mod recorder;
mod request;
mod result;
mod sources;
mod task;
mod tests;
mod work;

pub use engine::run;
pub use links::DiskLinks;
pub use recorder::Observer;
pub use request::{Details, Ended, Request, RunError};
pub(crate) use sources::read_file;
pub use sources::{Places, SourcesError, Unavailable, load_policy, policy_names};
pub use task::TaskFile;

use crate::gate::Gate;
use crate::verdict::{Decision, Vote};
use crate::worktree::{Changes, Fork};

use prepare::Prepared;
use request::Stop;

/// The gate of a run.
fn gate_of(prepared: &mut Prepared) -> Result<Gate, Stop> {
    let copy = prepared.policy.to_yaml();
    let source = crate::policy::Source { name: "policy.yml".into(), bytes: copy.into_bytes() };
    let policy = crate::policy::Policy::load(&[source], &crate::policy::NoLibrary, prepared.policy.today())
        .map_err(|errors| Stop::new(crate::record::Status::PolicyBroken, errors.to_string()))?;
    Ok(Gate::new(policy))
}

/// What the agent is told about a call that did not go ahead.
fn refusal_text(tool: &str, decision: &Decision) -> String {
    let reason = decision.deciding_vote().map(|vote| vote.reason.clone()).unwrap_or_default();
    format!("[{tool}] Error: denied by guardrail: {reason}.")
}

fn outcome_votes(_fork: &Fork, _changes: &Changes, _prepared: &Prepared) -> Result<Vec<Vote>, Stop> {
    Ok(Vec::new())
}
