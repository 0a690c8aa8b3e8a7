//! YAML text into a tree in which every key and value knows its place.
//!
//! The tree is read from parser events, not by a typed reader, because a typed reader stops at its first
//! error and a policy reports all of them. What YAML offers for writing one thing and meaning another
//! (aliases, merge keys, tags, several documents) is refused here.

use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::finding::{PolicyError, Text};

/// Nesting that no policy needs.
const MAX_DEPTH: usize = 24;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Byte range in the text; a map or list reaches from its first to its last part.
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Scalar {
        text: String,
        is_plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// Something that was refused and reported already.
    Refused,
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) value: Node,
}

impl Node {
    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar { .. } if self.is_null() => "nothing",
            Value::Scalar { .. } => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Refused => "something that was refused",
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, is_plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The span of `length` bytes at `offset` of the value's text, where the text stands in the file as it is;
    /// the whole value where escapes or folding lie between.
    pub(super) fn part(&self, text: &Text, offset: usize, length: usize) -> Range<usize> {
        let Value::Scalar { text: value, .. } = &self.value else { return self.span.clone() };
        let written = text.text.get(self.span.clone()).unwrap_or_default();
        match written.find(value.as_str()) {
            Some(at) if !value.is_empty() => {
                let start = self.span.start + at + offset.min(value.len());
                let end = (start + length.max(1)).min(self.span.start + at + value.len()).max(start);
                start..end
            }
            _ => self.span.clone(),
        }
    }
}

/// Reads one document. `None` when there is nothing to go on with; the findings say why.
pub(super) fn read(text: &Text, findings: &mut Vec<PolicyError>) -> Option<Node> {
    let mut builder =
        Builder { text, findings, bytes: byte_offsets(&text.text), open: Vec::new(), root: None };
    let mut documents = 0;
    for event in Parser::new_from_str(&text.text) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => {
                builder.report_scan(&error);
                return None;
            }
        };
        if matches!(event, Event::DocumentStart(_)) {
            documents += 1;
            if documents > 1 {
                let span = builder.range(span);
                builder.findings.push(
                    PolicyError::labelled(
                        text,
                        &span,
                        "a policy is one document",
                        "a second one starts here",
                    )
                    .help("put it into a file of its own and name that under `include`"),
                );
                break;
            }
        }
        if !builder.take(event, span) {
            return None;
        }
    }
    let root = builder.root;
    if root.is_none() && findings.is_empty() {
        let start = 0..text.text.find('\n').unwrap_or(text.text.len());
        findings.push(
            PolicyError::new(text, &start, "the policy is empty").help("a policy begins with `version: 1`"),
        );
    }
    root
}

/// Byte offset of each character; empty when they are the same.
fn byte_offsets(text: &str) -> Vec<usize> {
    if text.is_ascii() {
        return Vec::new();
    }
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

enum Open {
    List {
        start: usize,
        items: Vec<Node>,
    },
    Map {
        start: usize,
        entries: Vec<Entry>,
        seen: HashMap<String, Range<usize>>,
        key: Option<(String, Range<usize>)>,
    },
}

struct Builder<'a> {
    text: &'a Text,
    findings: &'a mut Vec<PolicyError>,
    bytes: Vec<usize>,
    open: Vec<Open>,
    root: Option<Node>,
}

impl Builder<'_> {
    fn byte(&self, character: usize) -> usize {
        if self.bytes.is_empty() {
            return character.min(self.text.text.len());
        }
        self.bytes.get(character).copied().unwrap_or(self.text.text.len())
    }

    fn range(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }

    /// Takes one event; false when going on makes no sense.
    fn take(&mut self, event: Event<'_>, span: Span) -> bool {
        let range = self.range(span);
        match event {
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
            Event::Alias(_) => {
                self.findings.push(
                    PolicyError::labelled(self.text, &range, "aliases are not supported", "an alias")
                        .help("a rule has to be readable where it stands: write the value out"),
                );
                self.place(Node { span: range, value: Value::Refused });
            }
            Event::Scalar(value, style, _, tag) => {
                if tag.is_some() {
                    self.refuse_tag(&range);
                }
                let is_plain = style == ScalarStyle::Plain;
                let range = self.trimmed(range);
                self.place(Node { span: range, value: Value::Scalar { text: value.into_owned(), is_plain } });
            }
            Event::SequenceStart(_, tag) => {
                if tag.is_some() {
                    self.refuse_tag(&range);
                }
                self.open.push(Open::List { start: range.start, items: Vec::new() });
                return self.is_shallow(&range);
            }
            Event::MappingStart(_, tag) => {
                if tag.is_some() {
                    self.refuse_tag(&range);
                }
                self.open.push(Open::Map {
                    start: range.start,
                    entries: Vec::new(),
                    seen: HashMap::new(),
                    key: None,
                });
                return self.is_shallow(&range);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let node = match self.open.pop() {
                    Some(Open::List { start, items }) => {
                        let end = items.last().map_or(range.start, |last| last.span.end).max(start);
                        Node { span: start..end, value: Value::List(items) }
                    }
                    Some(Open::Map { start, entries, .. }) => {
                        let end = entries.last().map_or(range.start, |last| last.value.span.end).max(start);
                        Node { span: start..end, value: Value::Map(entries) }
                    }
                    None => return false,
                };
                self.place(node);
            }
        }
        true
    }

    fn is_shallow(&mut self, range: &Range<usize>) -> bool {
        let shallow = self.open.len() <= MAX_DEPTH;
        if !shallow {
            self.findings.push(PolicyError::new(self.text, range, "nested too deeply for a policy"));
        }
        shallow
    }

    fn refuse_tag(&mut self, range: &Range<usize>) {
        self.findings.push(
            PolicyError::labelled(self.text, range, "tags are not supported", "the value of a tag")
                .help("leave the tag out; quote a value that is to be text"),
        );
    }

    /// Without the blank lines that a block scalar's span may end with.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let piece = self.text.text.get(range.clone()).unwrap_or_default();
        range.start..range.start + piece.trim_end().len()
    }

    /// Puts a finished node where it belongs: the root, a list's item, a map's key or value.
    fn place(&mut self, node: Node) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, seen, key, .. }) => match key.take() {
                Some((name, key_span)) => {
                    if name == "<<" {
                        self.findings.push(
                            PolicyError::labelled(
                                self.text,
                                &key_span,
                                "merge keys are not supported",
                                "a merge key",
                            )
                            .help("a rule has to be readable where it stands: write its keys out"),
                        );
                    } else if let Some(first) = seen.get(&name) {
                        self.findings.push(
                            PolicyError::labelled(
                                self.text,
                                &key_span,
                                format!("key `{name}` is given twice"),
                                "given again",
                            )
                            .also(self.text, first, "first given here")
                            .help("only one of them could hold; remove the other"),
                        );
                    } else {
                        seen.insert(name.clone(), key_span.clone());
                        entries.push(Entry { key: name, key_span, value: node });
                    }
                }
                None => {
                    let name = match node.value {
                        Value::Scalar { text, .. } => text,
                        Value::List(_) | Value::Map(_) | Value::Refused => {
                            self.findings.push(PolicyError::new(
                                self.text,
                                &node.span,
                                "a key must be a word",
                            ));
                            String::new()
                        }
                    };
                    *key = Some((name, node.span));
                }
            },
        }
    }

    /// The parser's own error, in words that say what to do.
    fn report_scan(&mut self, error: &ScanError) {
        let at = self.byte(error.marker().index());
        let line = self.text.line(at);
        let (start, written) = self.text.line_at(line);
        if let Some(tab) = self
            .indenting_tab(start)
            .filter(|_| error.info().contains("tab") || self.is_indented_by_tab(start))
        {
            self.findings.push(
                PolicyError::labelled(self.text, &(tab..tab + 1), "a tab is used for indentation", "a tab")
                    .help("YAML is indented with spaces only"),
            );
            return;
        }
        let (quote, message) = match self.unclosed_quote() {
            Some(open) => (Some(open), "a quote is not closed".to_owned()),
            None => (None, format!("this is not YAML: {}", error.info())),
        };
        let span = match quote {
            Some(open) => open..open + 1,
            None => at..(at + 1).min(start + written.len()).max(at),
        };
        let help = match quote {
            Some(_) => "close it, or leave the quotes away",
            None => "quote values that contain `: `, ` #`, or begin with one of `[]{}&*!|>'\"%@`",
        };
        self.findings.push(PolicyError::new(self.text, &span, message).help(help));
    }

    /// The first tab in the indentation of a line at or after `start`.
    fn indenting_tab(&self, start: usize) -> Option<usize> {
        let mut at = start;
        for line in self.text.text.get(start..)?.split_inclusive('\n') {
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            if let Some(tab) = line[..indent].find('\t') {
                return Some(at + tab);
            }
            at += line.len();
        }
        None
    }

    fn is_indented_by_tab(&self, start: usize) -> bool {
        let line = self.text.text.get(start..).unwrap_or_default();
        line.chars().take_while(|c| matches!(c, ' ' | '\t')).any(|c| c == '\t')
    }

    /// Where a quote was opened that nothing closes: found by asking, line by line, whether an opening quote at
    /// the start of a value has its like on the same line.
    fn unclosed_quote(&self) -> Option<usize> {
        let mut start = 0;
        for line in self.text.text.split_inclusive('\n') {
            let body = line.trim_end();
            if !body.trim_start().starts_with('#') {
                for (at, quote) in body.char_indices().filter(|(_, c)| matches!(c, '"' | '\'')) {
                    let before = body[..at].trim_end();
                    let opens = before.is_empty()
                        || before.ends_with([':', '-', '[', ',', '{'])
                            && (before.len() < at || before.ends_with(['[', '{']));
                    if opens {
                        if !closes(&body[at + 1..], quote) {
                            return Some(start + at);
                        }
                        if before.ends_with([':', '-']) {
                            break;
                        }
                    }
                }
            }
            start += line.len();
        }
        None
    }
}

/// Whether `rest` holds the quote's end.
fn closes(rest: &str, quote: char) -> bool {
    let mut escaped = false;
    for c in rest.chars() {
        match c {
            '\\' if quote == '"' && !escaped => escaped = true,
            c if c == quote && !escaped => return true,
            _ => escaped = false,
        }
    }
    false
}
