//! `policy explain`: one rule, or one call and what every rule says about it.

use std::path::PathBuf;

use clap::Args;

use crate::call::{Targets, ToolCall};
use crate::cli::check::{call_of, context_of};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::screen::{Screen, harmless};
use crate::cli::setup::Setup;
use crate::gate::Ballot;
use crate::policy::{Policy, Rule};
use crate::run::DiskLinks;
use crate::verdict::Verdict;

/// Explain one rule, or how a call is judged
///
/// Of a call it shows what was read: every command that would start, its words, its directory and what it does; the
/// rules that speak, with the words they go by; what could not be read; and the rules that nearly spoke. Nothing is
/// executed.
#[derive(Debug, Args)]
pub(in crate::cli) struct PolicyExplainArgs {
    /// Id of a rule (`git-push`, or `guardrails:git-push` where several have it), a command line, or a call as JSON
    #[arg(value_name = "RULE|CALL", required_unless_present_any = ["shell", "call"])]
    what: Option<String>,
    /// A command line, as an agent's shell tool would get it
    #[arg(long, value_name = "LINE", allow_hyphen_values = true, conflicts_with = "what")]
    shell: Option<String>,
    /// A call as JSON: {"tool": "write", "args": {"path": "a.txt"}}
    #[arg(long, value_name = "JSON", conflicts_with_all = ["what", "shell"])]
    call: Option<String>,
    /// Policies: files or `builtin:NAME`; without any those of the settings
    #[arg(long = "policy", value_name = "P")]
    policies: Vec<String>,
    /// Directory the call starts in
    #[arg(long, value_name = "D")]
    cwd: Option<PathBuf>,
    /// Root of the repository; without it the git top level of the call's directory, or that directory
    #[arg(long, value_name = "D")]
    root: Option<PathBuf>,
}

pub(super) fn explain(args: &PolicyExplainArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let (policy, _) = setup.policy(&args.policies)?;
    let call = match (&args.what, &args.shell, &args.call) {
        (_, Some(line), _) => shell_call(line),
        (_, _, Some(text)) => call_of(text).map_err(|why| Failure::usage(format!("--call: {why}")))?,
        (what, None, None) => {
            let what = what.as_deref().unwrap_or_default();
            if let Some(rule) = policy.rule(what) {
                return explain_rule(rule, screen);
            }
            if what.trim_start().starts_with('{') && serde_json::from_str::<serde_json::Value>(what).is_ok() {
                call_of(what).map_err(|why| Failure::usage(format!("the call {why}")))?
            } else if what.contains(char::is_whitespace) {
                shell_call(what)
            } else {
                return Err(no_rule(&policy, what));
            }
        }
    };
    let context = context_of(&call, args.cwd.as_deref(), args.root.as_deref(), setup);
    let targets = Targets::resolve(&call, &context, &DiskLinks::default());
    let gate = super::plain_gate(policy);
    let judged = gate.judge(Ballot { call, targets, votes: Vec::new() });
    let explanation = gate.policy().map(|policy| policy.explain(&judged.targets, &judged.call.args));
    super::picture::draw(&judged, &explanation.unwrap_or_default(), screen)?;
    Ok(Exit::Fine)
}

fn shell_call(line: &str) -> ToolCall {
    ToolCall { id: None, tool: "execute".to_owned(), args: serde_json::json!({ "command": line }), cwd: None }
}

fn no_rule(policy: &Policy, name: &str) -> Failure {
    let ids: Vec<&str> = policy.rules().map(|(rule, _)| rule.id()).collect();
    let failure = Failure::usage(format!("no rule `{name}`"));
    match crate::config::nearest(name, ids) {
        Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
        None => failure.with_hint(
            "`gatewright policy show` lists the rules there are; a command of one word is given by --shell",
        ),
    }
}

fn explain_rule(rule: &Rule, screen: &mut Screen) -> Result<Exit, Failure> {
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
