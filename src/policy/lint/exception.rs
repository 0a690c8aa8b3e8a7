//! Exceptions that relax nothing: past their date, or needed by no example and by nothing of the work that was given.
//!
//! Without calls of one's own only dates are looked at: that a list which comes along needs no exception says nothing
//! about the work of others.

use std::sync::atomic::Ordering;

use crate::call::{NoLinks, Targets};

use super::super::after::NOTHING;
use super::super::example;
use super::super::rule::Exception;
use super::super::sight::Sight;
use super::super::tree::{Node, Value};
use super::{Linted, Room, Subject};

pub(super) fn check(subject: &Subject<'_>, room: &Room<'_>) -> Vec<Linted> {
    let rule = subject.rule;
    let has_live = rule.exceptions.iter().any(|exception| !exception.is_over);
    if has_live && room.has_own_work {
        let own = rule.examples.iter().map(|example| &example.call);
        for call in own.chain(room.harmless) {
            let targets = Targets::resolve(call, &example::context(), &NoLinks);
            // The exceptions note by themselves whether they relaxed anything.
            let _ = rule.witness(&Sight::after(&targets, &call.args, &NOTHING));
        }
    }
    let nodes = match subject.entry("except").map(|entry| &entry.value.value) {
        Some(Value::List(nodes)) => nodes.as_slice(),
        _ => &[],
    };
    rule.exceptions
        .iter()
        .zip(nodes)
        .filter_map(|(exception, node)| one(subject, room, exception, node))
        .collect()
}

fn one(subject: &Subject<'_>, room: &Room<'_>, exception: &Exception, node: &Node) -> Option<Linted> {
    let id = &subject.rule.id;
    if let Some(last) = exception.until.filter(|_| exception.is_over) {
        let message = format!("an exception of rule `{id}` ended on {last} and relaxes nothing any more");
        return Some(
            subject
                .at("exception-over", &node.span, message, "over")
                .help("remove it, or give it a later date"),
        );
    }
    if !room.has_own_work || exception.has_relaxed.load(Ordering::Relaxed) {
        return None;
    }
    let message = format!("none of the calls and no example of rule `{id}` needs this exception");
    Some(
        subject
            .at("exception-untried", &node.span, message, "relaxes none of them")
            .help("remove it, or add a call that it lets through to `examples.pass`"),
    )
}
