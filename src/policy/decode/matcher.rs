//! The matchers of a rule or an exception.

use serde_json::Value as Json;

use crate::call::{HostGlob, PathGlob};
use crate::shell::{Access, WordPattern};

use super::super::expression::{Expression, Over};
use super::super::finding::PolicyError;
use super::super::rule::{ArgumentPattern, Bounds, Glob, Matcher, access_word};
use super::super::tree::{Entry, Node, Value};
use super::super::when::Condition;
use super::rule::{RULE_KEYS, json};
use super::{Decoder, find};

/// Keys of an argument's pattern.
pub(super) const ARGUMENT_KEYS: &[&str] = &["regex", "min", "max"];

/// A number, or one with a unit of bytes behind it.
fn size(text: &str) -> Option<f64> {
    let units = [("KiB", 1_024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0), ("B", 1.0)];
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?.trim_end(), *factor)))
        .unwrap_or((text, 1.0));
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    number.parse::<f64>().ok().filter(|value| is_number && value.is_finite()).map(|value| value * factor)
}

impl Decoder<'_> {
    pub(super) fn matcher(&mut self, entries: &[Entry]) -> Matcher {
        let mut matcher = Matcher::default();
        if let Some(entry) = find(entries, "run") {
            for (text, node) in self.strings(entry) {
                match WordPattern::parse(text) {
                    Ok(pattern) => {
                        matcher.run.push(pattern);
                        matcher.run_texts.push(text.to_owned());
                    }
                    Err(error) => {
                        let span = node.part(self.text, error.offset, 1);
                        let message = format!("bad word pattern: {}", error.message);
                        self.say(PolicyError::new(self.text, &span, message));
                    }
                }
            }
        }
        matcher.command = find(entries, "command").and_then(|entry| self.expression(entry, Over::Command));
        matcher.text = find(entries, "text").and_then(|entry| self.expression(entry, Over::Text));
        self.paths(entries, &mut matcher);
        if let Some(entry) = find(entries, "host") {
            for (text, node) in self.strings(entry) {
                match HostGlob::parse(text) {
                    Ok(glob) => matcher.hosts.push((text.to_owned(), glob)),
                    Err(error) => {
                        let message = format!("bad host pattern: {}", error.message);
                        self.say(PolicyError::new(self.text, &node.span, message));
                    }
                }
            }
        }
        if let Some(entry) = find(entries, "args") {
            self.arguments(entry, &mut matcher);
        }
        matcher.when = find(entries, "when").and_then(|entry| self.condition(entry));
        matcher
    }

    /// The seed form: `command` is an expression over the text of the command line.
    pub(super) fn seed_matcher(&mut self, entries: &[Entry]) -> Matcher {
        let mut matcher = Matcher {
            text: find(entries, "command").and_then(|entry| self.expression(entry, Over::Text)),
            ..Matcher::default()
        };
        self.paths(entries, &mut matcher);
        matcher
    }

    fn paths(&mut self, entries: &[Entry], matcher: &mut Matcher) {
        if let Some(entry) = find(entries, "path") {
            for (text, node) in self.strings(entry) {
                match PathGlob::parse(text) {
                    Ok(glob) => matcher.paths.push((text.to_owned(), glob)),
                    Err(error) => {
                        let span = node.part(self.text, error.offset, 1);
                        let message = format!("bad path glob: {}", error.message);
                        self.say(PolicyError::new(self.text, &span, message).maybe_help(error.hint));
                    }
                }
            }
        }
        let Some(entry) = find(entries, "access") else { return };
        let all = [Access::Read, Access::Write, Access::Delete];
        let words: Vec<&str> = all.iter().map(|access| access_word(*access)).collect();
        for (word, node) in self.strings(entry) {
            match all.iter().find(|access| access_word(**access) == word) {
                Some(access) if matcher.access.contains(access) => {}
                Some(access) => matcher.access.push(*access),
                None => self.unknown_word(node, word, "access", &words),
            }
        }
        matcher.access.sort_unstable();
        let is_plain =
            entries.iter().all(|entry| RULE_KEYS.contains(&entry.key.as_str()) || entry.key == "until");
        if find(entries, "path").is_none() && is_plain {
            self.say(
                PolicyError::new(self.text, &entry.key_span, "`access` stands without `path`")
                    .help("say which paths it is about; `**` is every path below the repository"),
            );
        }
    }

    fn expression(&mut self, entry: &Entry, over: Over) -> Option<Expression> {
        let text = self.string(entry)?;
        if text.is_empty() {
            let message = format!("`{}` is an empty expression", entry.key);
            self.say(
                PolicyError::new(self.text, &entry.value.span, message).help("it would match everything"),
            );
            return None;
        }
        if self.is_embedded {
            return Some(Expression::trusted(&text, over));
        }
        match Expression::parse(&text, over) {
            Ok(expression) => Some(expression),
            Err(fault) => {
                let span = entry.value.part(self.text, fault.offset, fault.length);
                let message = format!("bad expression: {}", fault.message);
                self.say(PolicyError::new(self.text, &span, message).maybe_help(fault.help));
                None
            }
        }
    }

    fn condition(&mut self, entry: &Entry) -> Option<Condition> {
        let text = self.string(entry)?;
        if self.is_embedded {
            return Some(Condition::trusted(&text));
        }
        match Condition::parse(&text) {
            Ok(condition) => Some(condition),
            Err(fault) => {
                let span = entry.value.part(self.text, fault.offset, fault.length);
                let message = format!("bad condition: {}", fault.message);
                self.say(PolicyError::new(self.text, &span, message).maybe_help(fault.help));
                None
            }
        }
    }

    fn arguments(&mut self, entry: &Entry, matcher: &mut Matcher) {
        let Some(arguments) = self.map(&entry.value, "`args`") else { return };
        if arguments.is_empty() {
            self.say(PolicyError::new(self.text, &entry.key_span, "`args` names no argument"));
        }
        for argument in arguments {
            if argument.key.split('.').any(str::is_empty) {
                self.say(
                    PolicyError::new(self.text, &argument.key_span, "an argument's path has an empty part")
                        .help("join names by dots, as in `issue.labels.0`"),
                );
                continue;
            }
            let patterns: Vec<ArgumentPattern> = match &argument.value.value {
                Value::List(items) => items.iter().filter_map(|item| self.argument(item)).collect(),
                _ => self.argument(&argument.value).into_iter().collect(),
            };
            if matches!(&argument.value.value, Value::List(items) if items.is_empty()) {
                let message = format!("argument `{}` has no values", argument.key);
                self.say(PolicyError::new(self.text, &argument.key_span, message));
            }
            matcher.args.push((argument.key.clone(), patterns));
        }
    }

    /// `{min: .., max: ..}`: numbers, or sizes such as `10KiB`.
    fn bounds(&mut self, node: &Node, entries: &[Entry]) -> Option<ArgumentPattern> {
        let mut bound = |key: &str| -> Option<f64> {
            let entry = find(entries, key)?;
            let text = self.string(entry)?;
            let number = size(&text);
            if number.is_none() {
                self.say(
                    PolicyError::new(
                        self.text,
                        &entry.value.span,
                        format!("`{text}` is no number and no size"),
                    )
                    .help("write it as in `max: 100`, `max: 10KiB` or `max: 1MiB`"),
                );
            }
            number
        };
        let (min, max) = (bound("min"), bound("max"));
        if entries.is_empty() {
            self.say(
                PolicyError::new(self.text, &node.span, "an argument's pattern says nothing")
                    .help("write `{regex: ..}` or `{min: .., max: ..}`"),
            );
        }
        if let (Some(least), Some(most)) = (min, max)
            && least > most
        {
            self.say(PolicyError::new(
                self.text,
                &node.span,
                format!("nothing lies between {least} and {most}"),
            ));
        }
        (min.is_some() || max.is_some()).then_some(ArgumentPattern::Bounds(Bounds { min, max }))
    }

    fn argument(&mut self, node: &Node) -> Option<ArgumentPattern> {
        match &node.value {
            Value::Scalar { text, .. } => match json(node) {
                Json::String(_) => match Glob::parse(text) {
                    Ok(glob) => Some(ArgumentPattern::Glob(glob)),
                    Err(message) => {
                        let message = format!("bad glob: {message}");
                        self.say(PolicyError::new(self.text, &node.span, message));
                        None
                    }
                },
                Json::Null => {
                    self.say(
                        PolicyError::new(self.text, &node.span, "an argument has no value to compare with")
                            .help("`*` is any text"),
                    );
                    None
                }
                value => Some(ArgumentPattern::Value(value)),
            },
            Value::Map(entries) => {
                self.known_keys(entries, "an argument's pattern", ARGUMENT_KEYS);
                let Some(entry) = find(entries, "regex") else { return self.bounds(node, entries) };
                if let Some(bound) = find(entries, "min").or_else(|| find(entries, "max")) {
                    let message = format!("`{}` stands beside `regex`", bound.key);
                    self.say(
                        PolicyError::new(self.text, &bound.key_span, message).help(
                            "give bounds or an expression; two patterns of a list are two ways to hold",
                        ),
                    );
                }
                self.expression(entry, Over::Text).map(ArgumentPattern::Expression)
            }
            Value::List(_) => {
                self.say(PolicyError::new(self.text, &node.span, "lists of values are not nested"));
                None
            }
            Value::Refused => None,
        }
    }
}
