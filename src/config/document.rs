//! Small YAML documents (settings, tasks, scripts) as a tree in which everything knows its line.
//!
//! A typed reader stops at its first error and names no line for an unknown key; here all faults are collected.

use std::fmt;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::Value;

/// Nesting that no such document needs.
const MAX_DEPTH: usize = 32;

/// One thing that is wrong in a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// File name as people know it.
    pub file: String,
    /// Line, from 1; 0 when the fault has no line, such as one in an environment variable.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// The line's text, to be shown.
    pub excerpt: String,
    /// Characters to underline.
    pub length: usize,
    /// What is wrong: a lower-case fragment.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault without a line.
    pub fn without_place(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            excerpt: String::new(),
            length: 0,
            message: message.into(),
            hint: None,
        }
    }

    /// The same with a next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.file, self.message)
        } else {
            write!(f, "{}:{}: {}", self.file, self.line, self.message)
        }
    }
}

/// Where something stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Characters on that line.
    pub length: usize,
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its place.
    pub mark: Mark,
    /// Last line that belongs to it.
    pub last_line: usize,
    /// What it is.
    pub content: Content,
}

/// Kinds of values.
#[derive(Debug, Clone)]
pub enum Content {
    /// Text, a number, a switch or nothing.
    Scalar {
        /// As written, quotes taken off.
        text: String,
        /// Whether it stood without quotes.
        is_plain: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the file.
    Map(Vec<Entry>),
}

/// A key and its value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub mark: Mark,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The entries, when it is a map.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            Content::Scalar { .. } | Content::List(_) => None,
        }
    }

    /// The items, when it is a list.
    pub fn items(&self) -> Option<&[Self]> {
        match &self.content {
            Content::List(items) => Some(items),
            Content::Scalar { .. } | Content::Map(_) => None,
        }
    }

    /// The value of a key, when it is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The text, when it is a scalar other than nothing.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { text, .. } if !self.is_null() => Some(text),
            Content::Scalar { .. } | Content::List(_) | Content::Map(_) => None,
        }
    }

    /// Whether nothing stands there.
    pub fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar { text, is_plain: true }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The value as JSON: plain scalars become numbers, switches or null as YAML's core schema has it.
    pub fn to_json(&self) -> Value {
        match &self.content {
            Content::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Content::Map(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect(),
            ),
            Content::Scalar { text, is_plain: false } => Value::String(text.clone()),
            Content::Scalar { .. } if self.is_null() => Value::Null,
            Content::Scalar { text, .. } => match text.as_str() {
                "true" | "True" | "TRUE" => Value::Bool(true),
                "false" | "False" | "FALSE" => Value::Bool(false),
                other => match (other.parse::<i64>(), other.parse::<f64>()) {
                    (Ok(number), _) => Value::from(number),
                    (_, Ok(number)) if number.is_finite() && other.contains(['.', 'e', 'E']) => {
                        Value::from(number)
                    }
                    _ => Value::String(other.to_owned()),
                },
            },
        }
    }
}

/// A document that was read, with its text for excerpts.
#[derive(Debug, Clone)]
pub struct Document {
    /// File name as people know it.
    pub file: String,
    /// The text.
    pub text: String,
    /// The tree; an empty file is an empty map.
    pub root: Node,
}

impl Document {
    /// Reads one YAML document.
    ///
    /// # Errors
    /// The place where it is no YAML, holds a key twice, or uses aliases, tags or several documents.
    pub fn parse(file: &str, text: &str) -> Result<Self, Box<Fault>> {
        Self::parse_events(file, text)
    }

    /// A fault at a place of this document.
    pub fn fault(&self, mark: Mark, message: impl Into<String>) -> Fault {
        fault_in(&self.file, &self.text, mark, message)
    }

    fn parse_events(file: &str, text: &str) -> Result<Self, Box<Fault>> {
        let mut open: Vec<Open> = Vec::new();
        let mut root: Option<Node> = None;
        let mut documents = 0;
        for event in Parser::new_from_str(text) {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    let mark =
                        Mark { line: error.marker().line(), column: error.marker().col() + 1, length: 1 };
                    let message = format!("is no YAML: {}", error.info());
                    return Err(Box::new(fault_in(file, text, mark, message)));
                }
            };
            let mark = Mark {
                line: span.start.line(),
                column: span.start.col() + 1,
                length: if span.end.line() == span.start.line() { span.len().max(1) } else { 1 },
            };
            let refuse = |message: &str| Err(Box::new(fault_in(file, text, mark, message)));
            let finished = match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        return refuse("holds more than one document");
                    }
                    None
                }
                Event::Alias(_) => return refuse("aliases are not taken here"),
                Event::Scalar(value, style, anchor, tag) => {
                    if anchor != 0 || tag.is_some() {
                        return refuse("anchors and tags are not taken here");
                    }
                    let content =
                        Content::Scalar { text: value.into_owned(), is_plain: style == ScalarStyle::Plain };
                    Some(Node { mark, last_line: span.end.line(), content })
                }
                Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag)
                    if anchor != 0 || tag.is_some() =>
                {
                    return refuse("anchors and tags are not taken here");
                }
                Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                    return refuse("is nested too deeply");
                }
                Event::SequenceStart(..) => {
                    open.push(Open { mark, content: Content::List(Vec::new()), key: None });
                    None
                }
                Event::MappingStart(..) => {
                    open.push(Open { mark, content: Content::Map(Vec::new()), key: None });
                    None
                }
                Event::SequenceEnd | Event::MappingEnd => open.pop().map(|done| Node {
                    mark: done.mark,
                    last_line: span.end.line(),
                    content: done.content,
                }),
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => None,
            };
            let Some(node) = finished else { continue };
            let Some(parent) = open.last_mut() else {
                root = Some(node);
                continue;
            };
            match (&mut parent.content, parent.key.take()) {
                (Content::List(items), _) => items.push(node),
                (Content::Map(entries), Some((key, mark))) => entries.push(Entry { key, mark, value: node }),
                (Content::Map(entries), None) => {
                    let Content::Scalar { text: key, .. } = &node.content else {
                        return Err(Box::new(fault_in(file, text, node.mark, "a key must be a word")));
                    };
                    if let Some(first) = entries.iter().find(|entry| &entry.key == key) {
                        let message =
                            format!("`{key}` stands here twice (first on line {})", first.mark.line);
                        return Err(Box::new(fault_in(file, text, node.mark, message)));
                    }
                    parent.key = Some((key.clone(), node.mark));
                }
                (Content::Scalar { .. }, _) => {}
            }
        }
        let empty = Node { mark: Mark::default(), last_line: 0, content: Content::Map(Vec::new()) };
        let root = root.filter(|node| !node.is_null()).unwrap_or(empty);
        Ok(Self { file: file.to_owned(), text: text.to_owned(), root })
    }
}

struct Open {
    mark: Mark,
    content: Content,
    key: Option<(String, Mark)>,
}

fn fault_in(file: &str, text: &str, mark: Mark, message: impl Into<String>) -> Fault {
    let excerpt = text.lines().nth(mark.line.saturating_sub(1)).unwrap_or_default().to_owned();
    Fault {
        file: file.to_owned(),
        line: mark.line.max(1),
        column: mark.column.max(1),
        excerpt,
        length: mark.length.max(1),
        message: message.into(),
        hint: None,
    }
}

/// The name among `known` that was probably meant.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len().min(given.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn everything_knows_its_line() {
        let document = Document::parse("a.yml", "a: 1\nb:\n  - x\n  - {c: 'true'}\n").unwrap();
        assert_eq!(document.root.get("b").unwrap().items().unwrap()[1].get("c").unwrap().mark.line, 4);
        assert_eq!(document.root.to_json(), serde_json::json!({"a": 1, "b": ["x", {"c": "true"}]}));
    }

    #[test]
    fn what_is_ambiguous_is_refused_with_its_line() {
        for (text, line) in
            [("a: 1\na: 2\n", 2), ("a: &x 1\nb: *x\n", 1), ("a: 1\n---\nb: 2\n", 2), ("a: [1\nb: 2", 2)]
        {
            let fault = Document::parse("a.yml", text).unwrap_err();
            assert!(fault.line.abs_diff(line) <= 1, "{text:?}: {fault}");
        }
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(nearest("max_iteration", ["max_iterations", "wall_clock_secs"]), Some("max_iterations"));
        assert_eq!(nearest("zebra", ["max_iterations"]), None);
    }
}
