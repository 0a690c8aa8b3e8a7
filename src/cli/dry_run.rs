//! `dry-run`: recorded logs through the gate; nothing is executed.

use clap::Args;

use super::exit::Exit;
use super::failure::Failure;
use super::screen::Screen;
use super::setup::Setup;

/// Judge recorded logs against a policy
#[derive(Debug, Args)]
pub(super) struct DryRunArgs {
    /// Logs: files, or `-` for stdin
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<String>,
}

pub(super) fn dry_run(args: &DryRunArgs, _setup: &Setup, _screen: &mut Screen) -> Result<Exit, Failure> {
    Err(Failure::new(Exit::Failed, format!("{} not yet", args.logs.len())))
}
