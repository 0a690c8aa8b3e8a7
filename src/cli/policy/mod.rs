//! `policy`: looks at policies, one file per command.

mod check;
mod compare;
mod explain;
mod lint;
mod picture;
mod schema;
mod show;

use clap::Subcommand;

use crate::gate::{Gate, GateSettings};
use crate::policy::Policy;

use super::exit::Exit;
use super::failure::Failure;
use super::screen::Screen;
use super::setup::Setup;

/// Look at policies
#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    Check(check::PolicyCheckArgs),
    Show(show::PolicyShowArgs),
    Explain(explain::PolicyExplainArgs),
    Lint(lint::PolicyLintArgs),
    Compare(compare::PolicyCompareArgs),
    Schema(schema::PolicySchemaArgs),
}

pub(super) fn policy(command: PolicyCommand, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::Check(args) => check::check(&args, setup, screen),
        PolicyCommand::Show(args) => show::show(&args, setup, screen),
        PolicyCommand::Explain(args) => explain::explain(&args, setup, screen),
        PolicyCommand::Lint(args) => lint::lint(&args, setup, screen),
        PolicyCommand::Compare(args) => compare::compare(&args, setup, screen),
        PolicyCommand::Schema(args) => schema::schema(&args, screen),
    }
}

/// A gate with a policy and nothing else: no protected paths of a run, no class gates.
pub(super) fn plain_gate(policy: Policy) -> Gate {
    Gate::new(policy, GateSettings::for_check())
}
