//! Rules that leave readers alone: no example that says what is meant, no hint at what to do instead.

use crate::verdict::Verdict;

use super::{Linted, Subject};

pub(super) fn check(subject: &Subject<'_>) -> Vec<Linted> {
    let rule = subject.rule;
    let mut found = Vec::new();
    if subject.is_seed {
        return found;
    }
    // An allow rule may be about a part of calls only, and then there is no call that it matches alone.
    let counts = |matches: bool| matches || rule.verdict == Verdict::Allow;
    if !rule.examples.iter().any(|example| counts(example.matches)) {
        let message = format!("rule `{}` has no example that it matches", rule.id);
        found.push(
            subject
                .finding("no-example", "id", message, "nothing shows that it works")
                .help("add `examples: {match: [..], pass: [..]}`; they are tried whenever the policy loads"),
        );
    }
    if rule.verdict == Verdict::Ask && rule.hint.is_none() {
        let message = format!("rule `{}` asks and gives no `hint`", rule.id);
        found.push(
            subject
                .finding("no-hint", "verdict", message, "the agent is told no other way")
                .help("say in `hint` what to do instead: with nobody there the call does not happen"),
        );
    }
    found
}
