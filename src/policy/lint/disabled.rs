//! Entries of `disable` that no rule has the name of.

use super::super::decode::Document;
use super::super::finding::{PolicyError, Text, nearest};
use super::super::load::{Policy, is_named};
use super::Linted;

pub(super) fn check(text: &Text, document: &Document, policy: &Policy) -> Vec<Linted> {
    let mut found = Vec::new();
    for entry in &document.disable {
        if policy.rules().any(|(rule, _)| is_named(rule, &entry.name)) {
            continue;
        }
        let near = nearest(&entry.name, policy.rules().map(|(rule, _)| rule.id()));
        let help = near.map_or_else(
            || "remove it, or include the policy whose rule it names".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("`{}` disables no rule", entry.name);
        let finding = PolicyError::labelled(text, &entry.span, message, "no rule has this name")
            .coded("disabled-unknown")
            .notice()
            .help(help);
        found.push(Linted { code: "disabled-unknown", rule: None, finding });
    }
    found
}
