//! `dry-run`: recorded logs through the gate; nothing is executed.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::dry_run::{DryRun, World};
use crate::log::Format;
use crate::policy::Policy;
use crate::record::{JOURNAL_FILE, POLICY_FILE};
use crate::run::DiskLinks;

use super::check::{FailOn, git_top};
use super::exit::Exit;
use super::failure::{Failure, with_causes};
use super::policy::plain_gate;
use super::screen::{Screen, plural};
use super::setup::Setup;

/// Judge recorded logs against a policy
///
/// Reads Claude Code sessions, Codex rollouts, JSON lines and journals of gatewright, and judges every call in them.
/// Nothing is executed. The journal of a run is judged by that run's own policy unless another is given.
#[derive(Debug, Args)]
pub(super) struct DryRunArgs {
    /// Logs: files, or `-` for stdin
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<String>,
    /// A policy: a file or `builtin:NAME`; may be given more than once
    #[arg(long, value_name = "P")]
    policy: Vec<String>,
    /// Format of the logs, where it cannot be told from them: journal, codex-rollout, claude-code-session, json-lines
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,
    /// Root of the repository for all calls
    #[arg(long, value_name = "D")]
    root: Option<PathBuf>,
    /// Exit with 6 from this verdict on
    #[arg(long, value_name = "VERDICT", default_value = "never")]
    fail_on: FailOn,
    /// How the answer is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: DryRunFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DryRunFormat {
    /// For people
    Text,
    /// One document
    Json,
    /// One decision a line
    Jsonl,
}

pub(super) fn dry_run(args: &DryRunArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let format = match &args.from {
        None => None,
        Some(name) => Some(Format::named(name).ok_or_else(|| {
            let names: Vec<&str> = Format::names().collect();
            Failure::usage(format!("no log format `{name}`"))
                .with_hint(format!("there are {}", names.join(", ")))
        })?),
    };
    let names = match own_policy(args, setup) {
        Some(own) if args.policy.is_empty() => vec![own],
        Some(_) | None => args.policy.clone(),
    };
    let (policy, _) = setup.policy(&names)?;
    let judge = plain_gate(policy);
    let links = DiskLinks::default();
    let top_level = |folder: &Path| git_top(folder);
    let world = World {
        root: args.root.as_ref().map(|root| setup.cwd.join(root)),
        home: setup.home(),
        top_level: &top_level,
        links: &links,
    };
    let mut run = DryRun::new(&judge, world);
    let mut failed = 0_u64;
    for log in &args.logs {
        let input = setup.open(log)?;
        let done = run.log(input, log, format, |judged| match args.format {
            DryRunFormat::Jsonl => screen.line(&serde_json::to_string(&judged.line()).unwrap_or_default()),
            DryRunFormat::Text | DryRunFormat::Json => Ok(()),
        });
        match done {
            Ok(written) => written?,
            Err(error) => {
                failed += 1;
                screen.warn(&with_causes(&error));
            }
        }
    }
    let summary = run.finish();
    for notice in judge.policy().map(unused_exceptions).unwrap_or_default() {
        screen.warn(&notice);
    }
    match args.format {
        DryRunFormat::Text => screen.answer(&summary.to_text(screen.has_colour()))?,
        DryRunFormat::Json => screen.answer(&summary.to_json())?,
        DryRunFormat::Jsonl => {}
    }
    if failed > 0 {
        return Err(Failure::usage(format!("{} could not be read", plural(failed, "log", "logs"))));
    }
    Ok(if args.fail_on.reached_by(summary.strictest()) { Exit::Verdicts } else { Exit::Fine })
}

/// Exceptions of policies of one's own that relaxed nothing in these logs.
fn unused_exceptions(policy: &Policy) -> Vec<String> {
    let rules = policy.rules().filter(|(rule, is_disabled)| {
        !is_disabled && !rule.place().file.starts_with("builtin:") && policy.is_enabled()
    });
    rules
        .flat_map(|(rule, _)| {
            let unused = rule.exceptions().into_iter().filter(|one| !one.is_over && !one.has_relaxed);
            unused
                .map(|one| {
                    let matchers: Vec<String> =
                        one.matchers.iter().map(|(key, value)| format!("{key} {value}")).collect();
                    let matchers = matchers.join(", ");
                    format!(
                        "{}: an exception of `{}` relaxed nothing here: {matchers}",
                        rule.place(),
                        rule.id()
                    )
                })
                .collect::<Vec<String>>()
        })
        .collect()
}

/// The policy that lies beside the one journal that is given.
fn own_policy(args: &DryRunArgs, setup: &Setup) -> Option<String> {
    let [log] = args.logs.as_slice() else { return None };
    let path = setup.cwd.join(log);
    let policy = path.parent()?.join(POLICY_FILE);
    (path.file_name()? == JOURNAL_FILE && policy.is_file()).then(|| policy.to_string_lossy().into_owned())
}
