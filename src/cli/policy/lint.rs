//! `policy lint`: what a policy says that it cannot mean.

use std::io::BufRead;

use clap::{Args, ValueEnum};

use crate::call::ToolCall;
use crate::cli::check::call_of;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, located};
use crate::cli::screen::{Screen, plural};
use crate::cli::setup::{Setup, today};
use crate::policy;

/// Look for rules that cannot mean what they say
///
/// Finds rules that never match or change nothing, that contradict each other, are in the way of harmless work, or
/// leave readers without an example or a hint. Exits with 6 when there is a finding.
#[derive(Debug, Args)]
pub(in crate::cli) struct PolicyLintArgs {
    /// Policies: files or `builtin:NAME`; without any those of the settings
    #[arg(value_name = "P")]
    policies: Vec<String>,
    /// Calls that no rule should hold, one a line as for `check --calls`, instead of the list that comes along
    #[arg(long, value_name = "FILE")]
    harmless: Option<String>,
    /// How the answer is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: LintFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LintFormat {
    /// For people
    Text,
    /// One document
    Json,
}

pub(super) fn lint(args: &PolicyLintArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let harmless = match &args.harmless {
        Some(file) => calls(file, setup)?,
        None => Vec::new(),
    };
    let (names, found) = setup.with_sources(&args.policies, |sources, library| {
        let names: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
        Ok((names, policy::lint(sources, library, today(), &harmless)?))
    })?;
    match args.format {
        LintFormat::Json => {
            let findings: Vec<serde_json::Value> = found
                .iter()
                .map(|linted| {
                    serde_json::json!({
                        "code": linted.code,
                        "rule": linted.rule,
                        "source": linted.finding.place().to_string(),
                        "message": linted.finding.message(),
                        "help": linted.finding.hint(),
                    })
                })
                .collect();
            let document = serde_json::json!({ "v": 1, "sources": names, "findings": findings });
            screen.line(&serde_json::to_string_pretty(&document).unwrap_or_default())?;
        }
        LintFormat::Text => {
            let text = located(found.iter().map(|linted| &linted.finding), screen.has_colour());
            screen.answer(&text)?;
            let count = plural(found.len() as u64, "finding", "findings");
            screen.line(&format!("{}: {count}", names.join(", ")))?;
        }
    }
    Ok(if found.is_empty() { Exit::Fine } else { Exit::Verdicts })
}

/// The calls of a file, of which every line must be one: a list with holes would find too little.
fn calls(file: &str, setup: &Setup) -> Result<Vec<ToolCall>, Failure> {
    let mut calls = Vec::new();
    for (at, line) in setup.open(file)?.lines().enumerate() {
        let line = line.map_err(|error| Failure::usage(format!("cannot read {file}: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let call = call_of(&line).map_err(|why| Failure::usage(format!("{file}:{}: {why}", at + 1)))?;
        calls.push(call);
    }
    if calls.is_empty() {
        return Err(Failure::usage(format!("{file} has no calls"))
            .with_hint("a line is a call or a case, as for `gatewright check --calls`"));
    }
    Ok(calls)
}
