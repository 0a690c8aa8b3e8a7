//! A page for people about each rule of an embedded policy, made from the rule itself.

use std::fmt::Write as _;

use jiff::civil::Date;

use crate::call::ToolCall;
use crate::verdict::Verdict;

use super::rule::{Rule, scope_word, verdict_word};
use super::{builtin, lint};

/// A page about one rule.
#[derive(Debug)]
pub struct RulePage {
    /// Id of the rule.
    pub id: String,
    /// What the rule says.
    pub verdict: Verdict,
    /// Why, as the rule says it.
    pub reason: String,
    /// The page, in Markdown.
    pub text: String,
}

/// Pages about the rules of the embedded policy of that name, in rule order; none for other names.
pub fn rule_pages(name: &str, today: Date) -> Vec<RulePage> {
    let part = builtin::source(name).and_then(|source| lint::part(&source, today));
    let rules = part.iter().flat_map(|(_, _, document)| &document.rules);
    rules
        .map(|rule| RulePage {
            id: rule.id.clone(),
            verdict: rule.verdict,
            reason: rule.reason.clone(),
            text: page(name, rule),
        })
        .collect()
}

fn page(policy: &str, rule: &Rule) -> String {
    let mut out = format!("# {}\n\n", rule.id);
    let meaning = match rule.verdict {
        Verdict::Allow => {
            "votes against a stricter default; the call goes ahead if all parts of it are allowed"
        }
        Verdict::Ask => "needs a person; with nobody there the call does not happen",
        Verdict::Deny => "the call does not happen",
    };
    let _ = writeln!(out, "**{}**: {meaning}.\n", verdict_word(rule.verdict));
    if !rule.reason.is_empty() {
        let _ = writeln!(out, "- Why: {}", plain(&rule.reason));
    }
    if let Some(hint) = &rule.hint {
        let _ = writeln!(out, "- Instead: {}", plain(hint));
    }
    let _ = writeln!(out, "- From: `builtin:{policy}` (`policies/{policy}.yml`)");
    if !rule.scopes.is_empty() {
        let words: Vec<&str> = rule.scopes.iter().map(|scope| scope_word(*scope)).collect();
        let _ = writeln!(out, "- An answer may hold for: {}", words.join(", "));
    }
    out.push_str("\n## Holds when\n\n");
    let matchers = rule.matchers();
    if matchers.len() > 1 {
        out.push_str("All of these, and for the same command:\n\n");
    }
    for (key, value) in &matchers {
        let _ = writeln!(out, "- {} {}", in_words(key), values(key, value));
    }
    let exceptions = rule.exceptions();
    if !exceptions.is_empty() {
        out.push_str("\n## Except\n\n");
        for exception in exceptions {
            let parts: Vec<String> = exception
                .matchers
                .iter()
                .map(|(key, value)| format!("{} {}", in_words(key), values(key, value)))
                .collect();
            let until = exception.until.map(|day| format!(", until {day}")).unwrap_or_default();
            let _ = writeln!(out, "- {}: {}{until}", parts.join(", and "), plain(exception.reason));
        }
    }
    for (title, matches) in [("Matches", true), ("Lets pass", false)] {
        let mut shown = rule.examples.iter().filter(|example| example.matches == matches).peekable();
        if shown.peek().is_none() {
            continue;
        }
        let _ = writeln!(out, "\n## {title}\n");
        for example in shown {
            let mut calls: Vec<String> = example.before.iter().map(call).collect();
            calls.push(call(&example.call));
            let _ = writeln!(out, "- {}", calls.join(", then "));
        }
    }
    let _ = writeln!(
        out,
        "\nTo do without it, write `disable: [\"{policy}:{}\"]`; to relax it for some calls, give a copy of it an\n`except`.",
        rule.id
    );
    out
}

/// What a key says of a call.
fn in_words(key: &str) -> &str {
    match key {
        "tool" => "the tool is",
        "run" => "a command that would start fits",
        "command" => "a command, written canonically, matches",
        "text" => "the text of the call matches",
        "path" => "a path is touched that fits",
        "access" => "which is touched by",
        "host" => "a host is contacted that fits",
        "args" => "an argument fits:",
        "after" => "an earlier call, or an earlier part of the line, fitted:",
        "when" => "the condition holds:",
        other => other,
    }
}

fn values(key: &str, value: &str) -> String {
    match key {
        // Joined by commas, which stand inside braces too.
        "tool" | "run" | "path" | "access" | "host" => {
            let parts: Vec<String> = outside_braces(value).iter().map(|part| code(part)).collect();
            match parts.as_slice() {
                [] => String::new(),
                [one] => one.clone(),
                [most @ .., last] => format!("{} or {last}", most.join(", ")),
            }
        }
        _ => code(value),
    }
}

fn outside_braces(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 && rest.peek() == Some(&' ') => {
                rest.next();
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
}

fn call(call: &ToolCall) -> String {
    match call.args.get("command").and_then(|line| line.as_str()) {
        Some(line) => code(line),
        None => format!("{} with {}", code(&call.tool), code(&call.args.to_string())),
    }
}

/// Text as code: the fence is longer than any row of backticks in it; line breaks are written out.
fn code(text: &str) -> String {
    let text = text.replace('\n', "\\n").replace('\t', "\\t");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// Text that Markdown takes as it is.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '_' | '<' | '>' | '[' | ']' | '|' | '#') {
            out.push('\\');
        }
        out.push(if c == '\n' { ' ' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn every_rule_has_a_page_with_its_examples() {
        for name in builtin::names() {
            let pages = rule_pages(name, date(2026, 12, 1));
            assert!(!pages.is_empty(), "{name}");
            for page in pages {
                assert!(page.text.starts_with(&format!("# {}\n", page.id)), "{}", page.id);
                assert!(page.text.contains("## Holds when\n\n"), "{}", page.id);
                let has_examples = page.text.contains("## Matches") || page.text.contains("## Lets pass");
                assert!(has_examples, "{} has no examples", page.id);
            }
        }
        assert!(rule_pages("unknown", date(2026, 12, 1)).is_empty());
    }

    #[test]
    fn code_keeps_what_markdown_would_take() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("echo `ls`"), "`` echo `ls` ``");
        assert_eq!(code("a\nb"), "`a\\nb`");
        assert_eq!(outside_braces("git {a, b}, rm"), ["git {a, b}", "rm"]);
        assert_eq!(plain("a_b <c>"), "a\\_b \\<c\\>");
    }
}
