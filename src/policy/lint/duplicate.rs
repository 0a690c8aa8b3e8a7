//! The same thing said twice: rules with the same matchers and verdict, values given twice in one list.

use super::super::tree::Value;
use super::wider::is_same;
use super::{Linted, Room, Subject};

pub(super) fn check(subject: &Subject<'_>, room: &Room<'_>) -> Vec<Linted> {
    let mut found: Vec<Linted> = values(subject);
    let own = subject.rule;
    let earlier = room.subjects.iter().take_while(|other| !subject.is_same(other));
    let mut twins = earlier.filter(|other| other.rule.verdict == own.verdict && is_same(other.rule, own));
    if let Some(twin) = twins.next() {
        let message = format!("rule `{}` says what `{}` says", own.id, twin.rule.id);
        found.push(
            subject
                .finding("duplicate", "id", message, "said again")
                .also(subject, twin, "said here")
                .help("remove one of them; its reason and hint can go to the other"),
        );
    }
    found
}

fn values(subject: &Subject<'_>) -> Vec<Linted> {
    let mut found = Vec::new();
    for key in ["tool", "run", "path", "access", "host"] {
        let Some(Value::List(items)) = subject.entry(key).map(|entry| &entry.value.value) else { continue };
        let mut seen: Vec<&str> = Vec::new();
        for item in items {
            let Value::Scalar { text, .. } = &item.value else { continue };
            if seen.contains(&text.as_str()) {
                let message = format!("`{key}` of rule `{}` names `{text}` twice", subject.rule.id);
                found.push(
                    subject.at("duplicate", &item.span, message, "again").help("take one of them away"),
                );
            }
            seen.push(text);
        }
    }
    found
}
