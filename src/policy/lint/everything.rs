//! Expressions that match every text, so that the key narrows nothing.

use crate::shell::Fit;

use super::super::expression::{Expression, Extent};
use super::{Linted, Subject};

/// Texts that have nothing in common.
const SAMPLES: &[&str] = &["", "q", "ls -la", "Zürich 7\n\tx", "\u{e000}\u{e001}"];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Linted> {
    let matcher = &subject.rule.matcher;
    let own = [("command", &matcher.command), ("text", &matcher.text)];
    own.into_iter()
        .filter_map(|(key, expression)| {
            let expression = expression.as_ref().filter(|expression| is_everything(expression))?;
            // The older form calls the text of the line `command`.
            let key = if subject.is_seed { "command" } else { key };
            let message = format!("`{key}` of rule `{}` matches everything", subject.rule.id);
            let label = format!("`{}` holds for every text", expression.text);
            Some(
                subject
                    .finding("matches-everything", key, message, &label)
                    .help("say what the rule is about, or leave the key out"),
            )
        })
        .collect()
}

pub(super) fn is_everything(expression: &Expression) -> bool {
    SAMPLES.iter().all(|sample| expression.fit(sample, Extent::Part) == Fit::Yes)
}
