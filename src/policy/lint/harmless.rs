//! Rules that are in the way of what agents do all day.

use crate::call::{NoLinks, Targets, ToolCall};
use crate::verdict::Verdict;

use super::super::example;
use super::super::sight::Sight;
use super::{Linted, Room, Subject};

/// Lines that no policy should hold, unless its rules are about them on purpose.
const LINES: &str = include_str!("harmless.txt");

/// The calls that are given, or the lines that come along.
pub(super) fn corpus(given: &[ToolCall]) -> Vec<ToolCall> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let lines = LINES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| ToolCall {
            id: None,
            tool: "execute".to_owned(),
            args: serde_json::json!({ "command": line }),
            cwd: None,
        })
        .collect()
}

pub(super) fn check(subject: &Subject<'_>, room: &Room<'_>) -> Option<Linted> {
    let rule = subject.rule;
    if rule.verdict == Verdict::Allow {
        return None;
    }
    let mut held = Vec::new();
    for call in room.harmless {
        let targets = Targets::resolve(call, &example::context(), &NoLinks);
        let sight = Sight::new(&targets, &call.args);
        if rule.speaks_about(&sight).is_some() {
            held.push(sight.shown_call());
        }
    }
    let first: String = held.first()?.chars().take(80).collect();
    let more = match held.len() {
        1 => String::new(),
        count => format!(", and {} more like it", count - 1),
    };
    let message = format!("rule `{}` holds harmless calls: `{first}`{more}", rule.id);
    let key = ["run", "command", "text", "path", "host", "args", "tool"];
    let key = key.into_iter().find(|key| subject.entry(key).is_some()).unwrap_or("id");
    Some(
        subject
            .finding("harmless", key, message, "fits them")
            .help("narrow it, or add an exception; if it is meant, `--harmless` takes a list of your own"),
    )
}
