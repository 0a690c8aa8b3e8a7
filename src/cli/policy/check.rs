//! `policy check`: whether policies load.

use clap::Args;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::screen::{Screen, plural};
use crate::cli::setup::Setup;

/// Check that policies load, examples included
#[derive(Debug, Args)]
pub(in crate::cli) struct PolicyCheckArgs {
    /// Policies: files or `builtin:NAME`; without any those of the settings
    #[arg(value_name = "P")]
    policies: Vec<String>,
}

pub(super) fn check(args: &PolicyCheckArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let (policy, names) = setup.policy(&args.policies)?;
    for notice in policy.notices() {
        screen.warn(&format!("{}: {notice}", notice.place()));
    }
    let rules = policy.rules().count() as u64;
    let disabled = policy.rules().filter(|(_, is_disabled)| *is_disabled).count();
    let examples = policy.rules().map(|(rule, _)| rule.examples().count()).sum::<usize>() as u64;
    screen.line(&format!(
        "{}: {}, {disabled} disabled, {} hold, digest {}",
        names.join(", "),
        plural(rules, "rule", "rules"),
        plural(examples, "example", "examples"),
        policy.digest()
    ))?;
    Ok(Exit::Fine)
}
