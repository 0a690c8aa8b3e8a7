//! Rules whose keys can never hold together.

use regex_syntax::hir::literal::Extractor;

use crate::shell::Access;

use super::super::rule::{ToolPattern, access_word};
use super::{Linted, Subject};

/// Tools that touch files and contact nobody.
const FILE_TOOLS: &[&str] = &["read", "list", "search", "write", "edit", "delete", "move"];
/// Tools that only read files.
const READERS: &[&str] = &["read", "list", "search"];
/// Tools that touch no file of a call's own choice.
const PATHLESS: &[&str] = &["fetch_url", "web_search", "send_email", "todo", "think", "finish", "question"];

pub(super) fn check(subject: &Subject<'_>) -> Option<Linted> {
    other_tools(subject).or_else(|| other_program(subject))
}

/// Keys that the tools of the rule have nothing for.
fn other_tools(subject: &Subject<'_>) -> Option<Linted> {
    let rule = subject.rule;
    let among = |names: &[&str]| {
        !rule.tools.is_empty()
            && rule
                .tools
                .iter()
                .all(|tool| matches!(tool, ToolPattern::Name(name) if names.contains(&name.as_str())))
    };
    let matcher = &rule.matcher;
    let changes = !matcher.access.is_empty() && !matcher.access.contains(&Access::Read);
    let (key, why) = if !matcher.hosts.is_empty() && among(FILE_TOOLS) {
        ("host", "these tools contact no host".to_owned())
    } else if !matcher.paths.is_empty() && among(PATHLESS) {
        ("path", "these tools touch no path".to_owned())
    } else if changes && among(READERS) {
        let words: Vec<&str> = matcher.access.iter().map(|access| access_word(*access)).collect();
        ("access", format!("these tools never {}", words.join(" or ")))
    } else {
        return None;
    };
    let message = format!("rule `{}` can never match: {why}", rule.id);
    Some(
        subject
            .finding("never-matches", key, message, "never holds for the tools of this rule")
            .help("name other tools, or leave `tool` out: then all tools are looked at"),
    )
}

/// `run` and `command` that speak about different programs.
fn other_program(subject: &Subject<'_>) -> Option<Linted> {
    let matcher = &subject.rule.matcher;
    let expression = matcher.command.as_ref().filter(|_| !matcher.run.is_empty())?;
    let mut programs = Vec::new();
    for pattern in &matcher.run {
        programs.extend(pattern.programs()?);
    }
    let hir = regex_syntax::Parser::new().parse(&expression.text).ok()?;
    let found = Extractor::new().extract(&hir);
    let starts = found.literals()?;
    let may_be = |program: &String| {
        let line = format!("{program} ");
        starts.iter().any(|start| {
            line.as_bytes().starts_with(start.as_bytes()) || start.as_bytes().starts_with(line.as_bytes())
        })
    };
    // A pipeline begins with another program than the one `run` is about.
    let is_pipeline = expression.text.contains('|') || expression.text.contains("=>");
    if programs.is_empty() || is_pipeline || programs.iter().any(may_be) {
        return None;
    }
    let message = format!(
        "rule `{}` can never match: `run` is about {}, and no command of that begins as `command` says",
        subject.rule.id,
        programs.join(", ")
    );
    Some(
        subject
            .finding("never-matches", "command", message, "begins with another program")
            .help("all keys of a rule must hold for the same command: make two rules of it"),
    )
}
