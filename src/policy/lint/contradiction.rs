//! Allow rules that another rule overrules: allow votes against the default only, never against a rule.

use crate::call::{NoLinks, Targets};
use crate::verdict::Verdict;

use super::super::example;
use super::wider::is_wider;
use super::{Linted, Room, Subject};

pub(super) fn check(subject: &Subject<'_>, room: &Room<'_>) -> Option<Linted> {
    let own = subject.rule;
    if own.verdict != Verdict::Allow {
        return None;
    }
    let overrules = |other: &&Subject<'_>| other.rule.verdict > Verdict::Allow && is_wider(other.rule, own);
    if let Some(other) = room.subjects.iter().find(overrules) {
        let message =
            format!("rule `{}` allows what `{}` does not, and the stricter one wins", own.id, other.rule.id);
        return Some(
            subject
                .finding("contradiction", "verdict", message, "never has a say")
                .also(subject, other, "this one decides")
                .help(format!("write it as an exception (`except`) of `{}`", other.rule.id)),
        );
    }
    let examples = own.examples.iter().filter(|example| example.matches && example.before.is_empty());
    for example in examples {
        let targets = Targets::resolve(&example.call, &example::context(), &NoLinks);
        let votes = room.policy.votes(&targets, &example.call.args);
        let Some(vote) = votes.iter().find(|vote| vote.verdict > Verdict::Allow) else { continue };
        let message = format!("an example that rule `{}` allows is refused all the same", own.id);
        let by = match &vote.origin {
            crate::verdict::Origin::Rule { id, place, .. } => format!("rule `{id}` ({place})"),
            crate::verdict::Origin::Default { place } => format!("the default ({place})"),
            crate::verdict::Origin::Unreadable { place, .. } => {
                format!("what is said about calls that cannot be read ({place})")
            }
            _ => "another voter".to_owned(),
        };
        return Some(
            subject
                .at("contradiction", &example.span, message, "not allowed in the end")
                .help(format!("it is held by {by}: {}", vote.reason)),
        );
    }
    None
}
