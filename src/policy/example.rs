//! Examples are claims about a rule, and a policy that contradicts its own does not load.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use crate::call::{Context, NoLinks, Targets};

use super::after::Memory;
use super::finding::{PolicyError, Text};
use super::rule::{Example, Rule, access_word};
use super::sight::Sight;

/// Where examples are meant to happen: a repository at `/repo`, worked on from its root.
pub(super) fn context() -> Context {
    Context {
        root: PathBuf::from("/repo"),
        cwd: PathBuf::from("/repo"),
        home: Some(PathBuf::from("/home/dev")),
    }
}

/// Compares each example of a rule with what the rule really does.
pub(super) fn check(text: &Text, rule: &Rule, findings: &mut Vec<PolicyError>) {
    for example in &rule.examples {
        let targets = Targets::resolve(&example.call, &context(), &NoLinks);
        let mut memory = Memory::default();
        for call in &example.before {
            let targets = Targets::resolve(call, &context(), &NoLinks);
            memory.note_example(rule, &Sight::new(&targets, &call.args));
        }
        let sight = Sight::after(&targets, &example.call.args, &memory);
        findings.extend(contradiction(text, rule, example, &sight));
    }
    // What relaxes its own examples has not relaxed a call yet.
    for exception in &rule.exceptions {
        exception.has_relaxed.store(false, Ordering::Relaxed);
    }
}

fn contradiction(text: &Text, rule: &Rule, example: &Example, sight: &Sight<'_>) -> Option<PolicyError> {
    match (rule.speaks_about(sight), example.matches) {
        (Some(_), true) | (None, false) => None,
        (None, true) => {
            let message = format!("rule `{}` does not match its example", rule.id);
            let error = PolicyError::labelled(text, &example.span, message, "listed under `match`");
            Some(error.help(format!("read as {}; none of it fits {}", read_as(sight), looked_for(rule))))
        }
        (Some(subject), false) => {
            let message = format!("rule `{}` matches an example that it has to let pass", rule.id);
            let error = PolicyError::labelled(text, &example.span, message, "listed under `pass`");
            let what = subject.map_or_else(|| read_as(sight), |subject| format!("`{subject}`"));
            Some(error.help(format!("{what} fits {}", looked_for(rule))))
        }
    }
}

/// What a call came to, for people.
fn read_as(sight: &Sight<'_>) -> String {
    let mut parts: Vec<String> =
        (0..sight.commands().len()).map(|index| format!("`{}`", sight.canonical(index))).collect();
    parts.extend(sight.targets.paths.iter().map(|path| {
        let access = access_word(path.access);
        format!("{access} `{}`", path.shown)
    }));
    parts.extend(sight.targets.hosts.iter().map(|host| format!("contact `{}`", host.shown)));
    if parts.is_empty() { format!("`{}`", sight.shown_call()) } else { parts.join(", ") }
}

fn looked_for(rule: &Rule) -> String {
    let parts: Vec<String> =
        rule.matchers().into_iter().map(|(key, value)| format!("`{key}: {value}`")).collect();
    parts.join(" with ")
}
