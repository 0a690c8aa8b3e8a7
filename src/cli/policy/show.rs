//! `policy show`: the effective policy.

use clap::{Args, ValueEnum};

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::screen::{Screen, harmless};
use crate::cli::setup::Setup;
use crate::policy::Rule;

/// Show the effective policy
#[derive(Debug, Args)]
pub(in crate::cli) struct PolicyShowArgs {
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

pub(super) fn show(args: &PolicyShowArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
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
