//! Rules that change nothing, since a rule that is as strict holds wherever they do.

use crate::verdict::Verdict;

use super::wider::{is_same, is_wider};
use super::{Linted, Room, Subject};

pub(super) fn check(subject: &Subject<'_>, room: &Room<'_>) -> Option<Linted> {
    let own = subject.rule;
    let covers = |other: &&Subject<'_>| {
        let rule = other.rule;
        let is_as_strict = match own.verdict {
            Verdict::Allow => rule.verdict == Verdict::Allow,
            verdict => rule.verdict >= verdict,
        };
        !subject.is_same(other) && is_as_strict && is_wider(rule, own) && !is_same(rule, own)
    };
    let other = room.subjects.iter().find(covers)?;
    let name = &other.rule.id;
    let message = format!("rule `{}` changes nothing: `{name}` holds wherever it does", own.id);
    let linted = subject.finding("covered", "id", message, "covered").also(subject, other, "by this one");
    let help = match own.verdict == other.rule.verdict {
        true => format!("remove it, or give `{name}` an exception that leaves these calls to it"),
        false => format!("`{name}` is stricter; remove this one, or give `{name}` an exception"),
    };
    Some(linted.help(help))
}
