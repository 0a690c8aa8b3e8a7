//! What a policy says that it cannot mean: findings about policies that load.
//!
//! One file per check. A check is given a [`Subject`] (one rule of the texts that are looked at) and the [`Room`] it
//! stands in, and answers with findings; none of them changes a verdict.

mod contradiction;
mod covered;
mod disabled;
mod duplicate;
mod everything;
mod exception;
mod harmless;
mod never;
mod place;
mod unexplained;
mod wider;
mod words;

use std::ops::Range;
use std::sync::Arc;

use jiff::civil::Date;

use crate::call::ToolCall;

use super::decode::{Decoder, Document};
use super::finding::{PolicyError, PolicyErrors, Text};
use super::load::{Policy, label};
use super::rule::Rule;
use super::tree::{self, Entry, Node, Value};
use super::{Library, Source};

/// One finding.
#[derive(Debug)]
pub struct Linted {
    /// Name of the check: `covered`, `harmless`.
    pub code: &'static str,
    /// The rule it is about, if it is about one.
    pub rule: Option<String>,
    /// What, where, and what to do.
    pub finding: PolicyError,
}

/// A rule of a text that is looked at.
#[derive(Debug, Clone, Copy)]
struct Subject<'a> {
    rule: &'a Rule,
    text: &'a Text,
    /// Its keys as they are written.
    entries: &'a [Entry],
    /// Whether it is written in the form that knows neither examples nor hints.
    is_seed: bool,
}

/// What stands beside a rule.
#[derive(Debug)]
struct Room<'a> {
    /// The whole policy, includes and all.
    policy: &'a Policy,
    /// Rules of all texts that are looked at, in order.
    subjects: &'a [Subject<'a>],
    /// Calls that no policy should be in the way of.
    harmless: &'a [ToolCall],
    /// Whether those are the work of the people whose policy it is, so that what none of them needs is not needed.
    has_own_work: bool,
}

impl<'a> Subject<'a> {
    /// The value of a key, or the rule's id.
    fn span(&self, key: &str) -> Range<usize> {
        self.entry(key).map_or_else(|| self.rule.id_span.clone(), |entry| entry.value.span.clone())
    }

    fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// A finding about the value of `key`.
    fn finding(&self, code: &'static str, key: &str, message: String, label: &str) -> Linted {
        self.at(code, &self.span(key), message, label)
    }

    fn at(&self, code: &'static str, span: &Range<usize>, message: String, label: &str) -> Linted {
        let finding = PolicyError::labelled(self.text, span, message, label).coded(code).notice();
        Linted { code, rule: Some(self.rule.id.clone()), finding }
    }

    fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.rule, other.rule)
    }
}

impl Linted {
    fn help(mut self, help: impl Into<String>) -> Self {
        self.finding = self.finding.help(help);
        self
    }

    /// Underlines a second part, if it stands in the same text.
    fn also(mut self, subject: &Subject<'_>, other: &Subject<'_>, label: &str) -> Self {
        if std::ptr::eq(subject.text, other.text) {
            self.finding = self.finding.also(other.text, &other.rule.id_span, label);
        }
        self
    }
}

/// Findings about the rules of `sources`; what they include counts as what stands beside them.
///
/// # Errors
/// The policy does not load.
pub fn lint(
    sources: &[Source],
    library: &dyn Library,
    today: Date,
    harmless: &[ToolCall],
) -> Result<Vec<Linted>, PolicyErrors> {
    let policy = Policy::load(sources, library, today)?;
    let parts: Vec<(Text, Node, Document)> =
        sources.iter().filter_map(|source| part(source, today)).collect();
    let subjects: Vec<Subject<'_>> = parts.iter().flat_map(subjects).collect();
    let given = harmless::corpus(harmless);
    let room =
        Room { policy: &policy, subjects: &subjects, harmless: &given, has_own_work: !harmless.is_empty() };
    let mut found: Vec<Linted> =
        parts.iter().flat_map(|(text, _, document)| disabled::check(text, document, &policy)).collect();
    for subject in &subjects {
        let never = never::check(subject);
        // What can never match can have no example either.
        if never.is_none() {
            found.extend(unexplained::check(subject));
        }
        found.extend(never);
        found.extend(everything::check(subject));
        found.extend(duplicate::check(subject, &room));
        found.extend(contradiction::check(subject, &room));
        found.extend(covered::check(subject, &room));
        found.extend(harmless::check(subject, &room));
        found.extend(exception::check(subject, &room));
        found.extend(words::check(subject));
        found.extend(place::check(subject));
    }
    let order = |linted: &Linted| {
        let place = linted.finding.place();
        (sources.iter().position(|source| source.name == place.file), place.line)
    };
    found.sort_by_key(order);
    Ok(found)
}

/// One text with its examples, those of embedded policies too.
pub(super) fn part(source: &Source, today: Date) -> Option<(Text, Node, Document)> {
    let text = std::str::from_utf8(&source.bytes).ok()?;
    let text = Text::new(&source.name, text.strip_prefix('\u{feff}').unwrap_or(text));
    let (mut findings, mut notices) = (Vec::new(), Vec::new());
    let root = tree::read(&text, &mut findings)?;
    let document = Decoder {
        text: &text,
        label: label(&source.name).into(),
        is_embedded: false,
        today,
        findings: &mut findings,
        notices: &mut notices,
    }
    .document(&root);
    Some((text, root, document))
}

fn subjects<'a>((text, root, document): &'a (Text, Node, Document)) -> Vec<Subject<'a>> {
    let Value::Map(entries) = &root.value else { return Vec::new() };
    let find = |entries: &'a [Entry], key: &str| entries.iter().find(|entry| entry.key == key);
    let is_seed = find(entries, "version").is_none() || find(entries, "guardrails").is_some();
    let section = match find(entries, "guardrails").map(|entry| &entry.value.value) {
        Some(Value::Map(section)) => section,
        _ => entries,
    };
    let Some(Value::List(nodes)) = find(section, "rules").map(|entry| &entry.value.value) else {
        return Vec::new();
    };
    let entries_of = |rule: &Arc<Rule>| {
        nodes.iter().find_map(|node| match &node.value {
            Value::Map(entries) => find(entries, "id")
                .is_some_and(|entry| entry.value.span == rule.id_span)
                .then_some(entries.as_slice()),
            _ => None,
        })
    };
    document
        .rules
        .iter()
        .filter_map(|rule| Some(Subject { rule, text, entries: entries_of(rule)?, is_seed }))
        .collect()
}
