//! `policy explain`: one rule.

use clap::Args;

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::screen::{Screen, harmless};
use crate::cli::setup::Setup;
use crate::verdict::Verdict;

/// Explain one rule
#[derive(Debug, Args)]
pub(in crate::cli) struct PolicyExplainArgs {
    /// Id of the rule, with its source in front where several have it: `git-push`, `guardrails:git-push`
    rule: String,
    /// Policies: files or `builtin:NAME`; without any those of the settings
    #[arg(long = "policy", value_name = "P")]
    policies: Vec<String>,
}

pub(super) fn explain(args: &PolicyExplainArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let (policy, _) = setup.policy(&args.policies)?;
    let Some(rule) = policy.rule(&args.rule) else {
        let ids: Vec<&str> = policy.rules().map(|(rule, _)| rule.id()).collect();
        let failure = Failure::usage(format!("no rule `{}`", args.rule));
        return Err(match crate::config::nearest(&args.rule, ids) {
            Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
            None => failure.with_hint("`gatewright policy show` lists the rules there are"),
        });
    };
    let verdict = match rule.verdict() {
        Verdict::Allow => "allow: votes against a stricter default",
        Verdict::Ask => "ask: needs a person; with nobody there the call does not happen",
        Verdict::Deny => "deny: the call does not happen",
    };
    let mut field = |name: &str, value: &str| screen.line(&format!("{name:<9} {}", harmless(value)));
    field("rule", rule.id())?;
    field("source", &rule.place().to_string())?;
    field("verdict", verdict)?;
    field("reason", rule.reason())?;
    if let Some(hint) = rule.hint() {
        field("hint", hint)?;
    }
    for (key, value) in rule.matchers() {
        field(key, &value)?;
    }
    for exception in rule.exceptions() {
        let matchers: Vec<String> =
            exception.matchers.iter().map(|(key, value)| format!("{key} {value}")).collect();
        let until = exception.until.map(|date| format!(", until {date}")).unwrap_or_default();
        let over = if exception.is_over { " (over)" } else { "" };
        field("except", &format!("{} ({}{until}){over}", matchers.join(", "), exception.reason))?;
    }
    for (call, is_match) in rule.examples() {
        let shown = call.args.get("command").and_then(|line| line.as_str()).map(str::to_owned);
        let shown = shown.unwrap_or_else(|| format!("{} {}", call.tool, call.args));
        field(if is_match { "matches" } else { "passes" }, &shown)?;
    }
    Ok(Exit::Fine)
}
