//! From the tree to the parts of a policy, with a finding for everything that does not belong.
//!
//! Two forms are read. A *policy* begins with `version: 1`. The *seed form* is older: a config text with a
//! `guardrails:` section, or a bundle's file that holds `rules:` and nothing else; its rules know fewer keys, and
//! its `command` looks at the text of the command line.

mod matcher;
mod rule;
mod schema;

pub use schema::schema;

use std::ops::Range;
use std::sync::Arc;

use jiff::civil::Date;

use crate::verdict::{Place, Verdict};

use super::finding::{PolicyError, Text, nearest};
use super::rule::{Rule, verdict_word};
use super::tree::{Entry, Node, Value};

const POLICY_KEYS: &[&str] = &["version", "default", "unreadable", "include", "disable", "rules"];
const SECTION_KEYS: &[&str] = &["enabled", "rules", "disable"];

/// Words that other tools use, and the keys that come nearest to what they mean.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("pattern", "run"),
    ("pattern", "command"),
    ("pattern", "path"),
    ("regex", "command"),
    ("action", "verdict"),
    ("decision", "verdict"),
    ("effect", "verdict"),
    ("message", "reason"),
    ("description", "reason"),
    ("suggestion", "hint"),
    ("name", "id"),
    ("file", "path"),
    ("domain", "host"),
    ("url", "host"),
    ("exceptions", "except"),
    ("unless", "except"),
    ("tests", "examples"),
    ("imports", "include"),
    ("extends", "include"),
];

/// The parts of one policy text.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) default: Option<Level>,
    pub(super) unreadable: Option<Level>,
    pub(super) includes: Vec<Named>,
    pub(super) disable: Vec<Named>,
    pub(super) rules: Vec<Arc<Rule>>,
    /// `guardrails.enabled: false`.
    pub(super) is_switched_off: bool,
    /// Whether its `disable` reaches every source: that of a `guardrails:` section does.
    pub(super) disables_everywhere: bool,
}

/// A verdict given for a whole policy, and where.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) verdict: Verdict,
    pub(super) place: Place,
}

/// A name given in a policy, and where.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Policy,
    Seed,
}

/// Decodes one text.
pub(super) struct Decoder<'a> {
    pub(super) text: &'a Text,
    /// Short name of the source.
    pub(super) label: Arc<str>,
    /// Whether it is a policy that gatewright brings along, whose expressions a test has checked.
    pub(super) is_embedded: bool,
    /// The day on which exceptions are looked at.
    pub(super) today: Date,
    pub(super) findings: &'a mut Vec<PolicyError>,
    pub(super) notices: &'a mut Vec<PolicyError>,
}

impl Decoder<'_> {
    /// The document whose root is `root`; what is wrong is in the findings.
    pub(super) fn document(&mut self, root: &Node) -> Document {
        let entries = match &root.value {
            Value::Map(entries) => entries,
            _ => {
                let message = format!("a policy is a map of keys, not {}", root.kind());
                self.say(
                    PolicyError::new(self.text, &root.span, message)
                        .help("a policy begins with `version: 1`"),
                );
                return Document::default();
            }
        };
        if let Some(section) = find(entries, "guardrails") {
            return self.section(entries, section);
        }
        match find(entries, "version") {
            Some(version) => self.version(version),
            None if is_seed_bundle(entries) => {
                let mut document = Document::default();
                if let Some(rules) = find(entries, "rules") {
                    document.rules = self.rules(rules, Form::Seed);
                }
                return document;
            }
            None => {
                let span = entries.first().map_or(0..0, |entry| entry.key_span.clone());
                self.say(
                    PolicyError::labelled(self.text, &span, "`version` is missing", "the policy begins here")
                        .help("begin the file with `version: 1`"),
                );
            }
        }
        self.policy(entries)
    }

    fn policy(&mut self, entries: &[Entry]) -> Document {
        self.known_keys(entries, "a policy", POLICY_KEYS);
        let mut document = Document::default();
        if let Some(entry) = find(entries, "default") {
            document.default = self.level(entry, &[Verdict::Allow, Verdict::Ask, Verdict::Deny]);
        }
        if let Some(entry) = find(entries, "unreadable") {
            document.unreadable = self.level(entry, &[Verdict::Ask, Verdict::Deny]);
        }
        if let Some(entry) = find(entries, "include") {
            document.includes = self.names(entry, "policies to include");
        }
        if let Some(entry) = find(entries, "disable") {
            document.disable = self.names(entry, "rule ids");
        }
        if let Some(entry) = find(entries, "rules") {
            document.rules = self.rules(entry, Form::Policy);
        }
        document
    }

    /// A config text: only its `guardrails:` is policy, the rest belongs to the room `config`.
    fn section(&mut self, entries: &[Entry], section: &Entry) -> Document {
        let mut document = Document { disables_everywhere: true, ..Document::default() };
        for entry in entries.iter().filter(|entry| POLICY_KEYS[1..].contains(&entry.key.as_str())) {
            self.say(
                PolicyError::labelled(
                    self.text,
                    &entry.key_span,
                    format!("`{}` stands beside `guardrails`", entry.key),
                    "not read from a config",
                )
                .also(self.text, &section.key_span, "this makes it a config")
                .help("put it under `guardrails`, or make the file a policy with `version: 1` and without `guardrails`"),
            );
        }
        let Some(entries) = self.map(&section.value, "`guardrails`") else { return document };
        self.known_keys(entries, "`guardrails`", SECTION_KEYS);
        if let Some(entry) = find(entries, "enabled") {
            match &entry.value.value {
                Value::Scalar { text, is_plain: true } if text == "true" => {}
                Value::Scalar { text, is_plain: true } if text == "false" => document.is_switched_off = true,
                _ => self.say(
                    PolicyError::new(self.text, &entry.value.span, "`enabled` must be `true` or `false`")
                        .help("other words, `no` and `off` among them, are text"),
                ),
            }
        }
        if let Some(entry) = find(entries, "disable") {
            document.disable = self.names(entry, "rule ids");
        }
        if let Some(entry) = find(entries, "rules") {
            document.rules = self.rules(entry, Form::Seed);
        }
        document
    }

    fn version(&mut self, entry: &Entry) {
        if !matches!(&entry.value.value, Value::Scalar { text, .. } if text == "1") {
            let shown = self.shown(&entry.value);
            self.say(
                PolicyError::new(
                    self.text,
                    &entry.value.span,
                    format!("policy version {shown} is not known"),
                )
                .help("this gatewright reads `version: 1`"),
            );
        }
    }

    fn rules(&mut self, entry: &Entry, form: Form) -> Vec<Arc<Rule>> {
        let Value::List(items) = &entry.value.value else {
            if !entry.value.is_null() {
                let message = format!("`rules` must be a list of rules, not {}", entry.value.kind());
                self.say(
                    PolicyError::new(self.text, &entry.key_span, message)
                        .help("begin each rule with `- id: NAME`"),
                );
            }
            return Vec::new();
        };
        let mut rules: Vec<Arc<Rule>> = Vec::new();
        for item in items {
            let Some(rule) = self.rule(item, form) else { continue };
            if let Some(first) = rules.iter().find(|first| first.id == rule.id) {
                self.say(
                    PolicyError::labelled(
                        self.text,
                        &rule.id_span,
                        format!("rule id `{}` is given twice", rule.id),
                        "given again",
                    )
                    .also(self.text, &first.id_span, "first given here")
                    .help("an id names one rule of a file: give this one its own"),
                );
            }
            rules.push(Arc::new(rule));
        }
        rules
    }

    fn level(&mut self, entry: &Entry, allowed: &[Verdict]) -> Option<Level> {
        let verdict = self.verdict(entry, allowed)?;
        Some(Level { verdict, place: self.text.place(entry.key_span.start) })
    }

    fn verdict(&mut self, entry: &Entry, allowed: &[Verdict]) -> Option<Verdict> {
        let word = self.string(entry)?;
        let found = allowed.iter().copied().find(|verdict| verdict_word(*verdict) == word);
        if found.is_none() {
            let words: Vec<&str> = allowed.iter().map(|verdict| verdict_word(*verdict)).collect();
            self.unknown_word(&entry.value, &word, &entry.key, &words);
        }
        found
    }

    fn names(&mut self, entry: &Entry, what: &str) -> Vec<Named> {
        let mut names = Vec::new();
        match &entry.value.value {
            Value::List(items) => {
                for item in items {
                    match &item.value {
                        Value::Scalar { text, .. } if !item.is_null() => {
                            names.push(Named { name: text.clone(), span: item.span.clone() });
                        }
                        Value::Refused => {}
                        _ => {
                            let message = format!("`{}` must list {what}, not {}", entry.key, item.kind());
                            self.say(PolicyError::new(self.text, &item.span, message));
                        }
                    }
                }
            }
            Value::Refused => {}
            _ => {
                let message = format!("`{}` must be a list of {what}, not {}", entry.key, entry.value.kind());
                let span = if entry.value.is_null() { &entry.key_span } else { &entry.value.span };
                self.say(PolicyError::new(self.text, span, message).help(match &entry.value.value {
                    Value::Scalar { text, .. } if !text.is_empty() => {
                        format!("write it as `{}: [{text}]`", entry.key)
                    }
                    _ => format!("write it as `{}: [NAME]`", entry.key),
                }));
            }
        }
        names
    }

    // ---- values ----

    fn say(&mut self, error: PolicyError) {
        self.findings.push(error);
    }

    fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Entry]> {
        match &node.value {
            Value::Map(entries) => Some(entries),
            Value::Refused => None,
            _ => {
                let message = format!("{what} must be a map of keys, not {}", node.kind());
                self.say(PolicyError::new(self.text, &node.span, message));
                None
            }
        }
    }

    /// A value that is one text. Numbers and words such as `no` are text as they are written.
    fn string(&mut self, entry: &Entry) -> Option<String> {
        match &entry.value.value {
            Value::Scalar { text, .. } if !entry.value.is_null() => Some(text.clone()),
            Value::Scalar { .. } => {
                let message = format!("`{}` has no value", entry.key);
                self.say(PolicyError::new(self.text, &entry.key_span, message));
                None
            }
            Value::Refused => None,
            Value::List(_) | Value::Map(_) => {
                let message = format!("`{}` must be text, not {}", entry.key, entry.value.kind());
                self.say(PolicyError::new(self.text, &entry.value.span, message));
                None
            }
        }
    }

    /// A value that is one text or a list of texts; an empty list is an error.
    fn strings<'n>(&mut self, entry: &'n Entry) -> Vec<(&'n str, &'n Node)> {
        match &entry.value.value {
            Value::List(items) => {
                if items.is_empty() {
                    let message = format!("`{}` lists nothing", entry.key);
                    self.say(
                        PolicyError::new(self.text, &entry.key_span, message)
                            .help("a matcher that can never hold is a mistake; leave the key out"),
                    );
                }
                let mut texts = Vec::new();
                for item in items {
                    match &item.value {
                        Value::Scalar { text, .. } if !item.is_null() => texts.push((text.as_str(), item)),
                        Value::Refused => {}
                        _ => {
                            let message = format!("`{}` must list texts, not {}", entry.key, item.kind());
                            self.say(PolicyError::new(self.text, &item.span, message));
                        }
                    }
                }
                texts
            }
            Value::Scalar { text, .. } if !entry.value.is_null() => vec![(text.as_str(), &entry.value)],
            Value::Scalar { .. } => {
                let message = format!("`{}` has no value", entry.key);
                self.say(PolicyError::new(self.text, &entry.key_span, message));
                Vec::new()
            }
            Value::Refused => Vec::new(),
            Value::Map(_) => {
                let message = format!("`{}` must be text or a list of texts, not a map", entry.key);
                self.say(PolicyError::new(self.text, &entry.value.span, message));
                Vec::new()
            }
        }
    }

    fn known_keys(&mut self, entries: &[Entry], what: &str, known: &[&str]) {
        for entry in entries {
            if known.contains(&entry.key.as_str()) {
                continue;
            }
            let words = OTHER_WORDS.iter().filter(|(_, key)| known.contains(key));
            let help = match nearest(&entry.key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => match nearest(&entry.key, words.clone().map(|(word, _)| *word)) {
                    Some(word) => {
                        let keys: Vec<String> = words
                            .filter(|(own, _)| *own == word)
                            .map(|(_, key)| format!("`{key}`"))
                            .collect();
                        format!("did you mean {}?", keys.join(" or "))
                    }
                    None => format!("keys of {what}: {}", known.join(", ")),
                },
            };
            let message = format!("unknown key `{}` in {what}", entry.key);
            self.say(PolicyError::labelled(self.text, &entry.key_span, message, "not a key").help(help));
        }
    }

    fn unknown_word(&mut self, node: &Node, word: &str, key: &str, words: &[&str]) {
        let help = match nearest(word, words.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", words.join(", ")),
        };
        let message = format!("unknown {key} `{word}`");
        self.say(PolicyError::new(self.text, &node.span, message).help(help));
    }

    fn shown(&self, node: &Node) -> String {
        match &node.value {
            Value::Scalar { text, .. } if !node.is_null() => format!("`{text}`"),
            _ => node.kind().to_owned(),
        }
    }
}

/// The entry of that key.
fn find<'n>(entries: &'n [Entry], key: &str) -> Option<&'n Entry> {
    entries.iter().find(|entry| entry.key == key)
}

/// Whether a text without `version` is a bundle's rule file: `rules:` alone, whose rules use keys of the seed form.
fn is_seed_bundle(entries: &[Entry]) -> bool {
    let [Entry { key, value, .. }] = entries else { return false };
    let is_seed_rule = |rule: &Node| match &rule.value {
        Value::Map(keys) => keys.iter().all(|entry| !rule::LATER_KEYS.contains(&entry.key.as_str())),
        _ => true,
    };
    key == "rules"
        && match &value.value {
            Value::List(rules) => rules.iter().all(is_seed_rule),
            _ => true,
        }
}
