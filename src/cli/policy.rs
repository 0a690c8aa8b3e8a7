//! `policy`: looks at policies.

use clap::{Args, Subcommand, ValueEnum};

use crate::gate::{Gate, GateSettings};
use crate::policy::{Policy, Rule};
use crate::verdict::Verdict;

use super::exit::Exit;
use super::failure::Failure;
use super::screen::{Screen, harmless, plural};
use super::setup::Setup;

/// Look at policies
#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    Check(PolicyCheckArgs),
    Show(PolicyShowArgs),
    Explain(PolicyExplainArgs),
}

/// Check that policies load, examples included
#[derive(Debug, Args)]
pub(super) struct PolicyCheckArgs {
    /// Policies: files or `builtin:NAME`; without any those of the settings
    #[arg(value_name = "P")]
    policies: Vec<String>,
}

/// Show the effective policy
#[derive(Debug, Args)]
pub(super) struct PolicyShowArgs {
    /// Policies: files or `builtin:NAME`; without any those of the settings
    #[arg(value_name = "P")]
    policies: Vec<String>,
    /// How the answer is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ShowFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    /// One rule a line
    Text,
    /// One self-contained policy that has the same digest
    Yaml,
    /// One document
    Json,
}

/// Explain one rule
#[derive(Debug, Args)]
pub(super) struct PolicyExplainArgs {
    /// Id of the rule, with its source in front where several have it: `git-push`, `guardrails:git-push`
    rule: String,
    /// Policies: files or `builtin:NAME`; without any those of the settings
    #[arg(long = "policy", value_name = "P")]
    policies: Vec<String>,
}

pub(super) fn policy(command: PolicyCommand, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::Check(args) => check(&args, setup, screen),
        PolicyCommand::Show(args) => show(&args, setup, screen),
        PolicyCommand::Explain(args) => explain(&args, setup, screen),
    }
}

/// A gate with a policy and nothing else: no protected paths of a run, no class gates.
pub(super) fn plain_gate(policy: Policy) -> Gate {
    Gate::new(policy, GateSettings::for_check())
}

fn check(args: &PolicyCheckArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
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

fn show(args: &PolicyShowArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let (policy, names) = setup.policy(&args.policies)?;
    for notice in policy.notices() {
        screen.warn(&format!("{}: {notice}", notice.place()));
    }
    match args.format {
        ShowFormat::Yaml => screen.answer(&policy.to_yaml())?,
        ShowFormat::Json => {
            let rules: Vec<serde_json::Value> =
                policy.rules().map(|(rule, is_disabled)| json(rule, is_disabled)).collect();
            let document = serde_json::json!({
                "v": 1,
                "sources": names,
                "digest": policy.digest(),
                "default": policy.default_verdict().0,
                "unreadable": policy.unreadable_verdict().0,
                "rules": rules,
            });
            screen.line(&serde_json::to_string_pretty(&document).unwrap_or_default())?;
        }
        ShowFormat::Text => {
            let width = policy.rules().map(|(rule, _)| rule.id().chars().count()).max().unwrap_or(0);
            for (rule, is_disabled) in policy.rules() {
                let mark = if is_disabled { "  disabled (guardrails.disable)" } else { "" };
                let matchers: Vec<String> =
                    rule.matchers().iter().map(|(key, value)| format!("{key} {value}")).collect();
                let text = format!(
                    "{}  {:<width$}  {}  {}{mark}",
                    screen.verdict(rule.verdict()),
                    harmless(rule.id()),
                    harmless(&matchers.join(", ")),
                    harmless(&rule.place().to_string()),
                );
                screen.line(&text)?;
            }
            let (default, place) = policy.default_verdict();
            screen.line(&format!(
                "{}  (default)  {}",
                screen.verdict(default),
                harmless(&place.to_string())
            ))?;
            let (unreadable, place) = policy.unreadable_verdict();
            screen.line(&format!(
                "{}  (unreadable)  {}",
                screen.verdict(unreadable),
                harmless(&place.to_string())
            ))?;
            screen.line(&format!("digest {}", policy.digest()))?;
        }
    }
    Ok(Exit::Fine)
}

fn json(rule: &Rule, is_disabled: bool) -> serde_json::Value {
    let matchers: serde_json::Map<String, serde_json::Value> =
        rule.matchers().into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    serde_json::json!({
        "id": rule.id(),
        "source": rule.place().to_string(),
        "verdict": rule.verdict(),
        "reason": rule.reason(),
        "hint": rule.hint(),
        "matchers": matchers,
        "scopes": rule.scopes(),
        "disabled": is_disabled,
    })
}

fn explain(args: &PolicyExplainArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
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
