//! What is wrong with a policy: every finding with its file, its line and the part to underline.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

use crate::verdict::Place;

/// A policy text with its name, shared by everything that points into it.
#[derive(Debug, Clone)]
pub(super) struct Text {
    /// Display name.
    pub(super) name: Arc<str>,
    /// The text; bytes that are no UTF-8 are replaced, which is an error of its own.
    pub(super) text: Arc<str>,
    /// Byte offset of each line's start.
    lines: Arc<[usize]>,
}

impl Text {
    pub(super) fn new(name: &str, text: &str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Self { name: name.into(), text: text.into(), lines }
    }

    /// Line of a byte offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    /// Start and text of a line, from 1.
    pub(super) fn line_at(&self, number: usize) -> (usize, &str) {
        let start = self.lines.get(number.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let end = self.lines.get(number).copied().unwrap_or(self.text.len());
        (start, self.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']))
    }

    /// The place of a byte offset.
    pub(super) fn place(&self, offset: usize) -> Place {
        Place { file: self.name.to_string(), line: self.line(offset) }
    }

    /// Cuts a span down to its first line: an underline over half a file shows nothing.
    fn first_line(&self, span: &Range<usize>) -> Range<usize> {
        let start = floor(&self.text, span.start);
        let end = floor(&self.text, span.end.max(start));
        let piece = &self.text[start..end];
        let length = piece.find('\n').unwrap_or(piece.len());
        let length = piece[..length].trim_end().len();
        start..start + length
    }
}

/// The nearest character border at or below `offset`.
fn floor(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One thing that is wrong (an error), or worth knowing (a notice), with its place.
#[derive(Debug, Clone)]
pub struct PolicyError {
    message: String,
    place: Place,
    source: NamedSource<Arc<str>>,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
    severity: Severity,
    code: Option<&'static str>,
}

impl PolicyError {
    pub(super) fn new(text: &Text, span: &Range<usize>, message: impl Into<String>) -> Self {
        Self::labelled(text, span, message, "here")
    }

    pub(super) fn labelled(
        text: &Text,
        span: &Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        let span = text.first_line(span);
        Self {
            message: message.into(),
            place: text.place(span.start),
            source: NamedSource::new(&*text.name, Arc::clone(&text.text)),
            labels: vec![LabeledSpan::new_primary_with_span(Some(label.into()), (span.start, span.len()))],
            help: None,
            severity: Severity::Error,
            code: None,
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Help that may be missing, such as a word that resembles the one given.
    pub(super) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Underlines a second part of the same text.
    pub(super) fn also(mut self, text: &Text, span: &Range<usize>, label: &str) -> Self {
        let span = text.first_line(span);
        self.labels.push(LabeledSpan::new(Some(label.to_owned()), span.start, span.len()));
        self
    }

    pub(super) fn notice(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The name of the check that found it.
    pub(super) fn coded(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// What is wrong, one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// File and line.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PolicyError {}

impl Diagnostic for PolicyError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// Everything that is wrong with a policy: all findings of all sources, in the order of files and lines.
///
/// A miette `Diagnostic` whose related diagnostics are the single findings; each of them can be rendered alone.
#[derive(Debug, Clone)]
pub struct PolicyErrors {
    errors: Vec<PolicyError>,
}

impl PolicyErrors {
    /// `errors` must not be empty; without any there is a policy instead.
    pub(super) fn new(errors: Vec<PolicyError>) -> Self {
        Self { errors }
    }

    /// The single findings.
    pub fn errors(&self) -> &[PolicyError] {
        &self.errors
    }

    /// Where the first of them is, for texts that have room for one.
    pub fn first_place(&self) -> Option<&Place> {
        self.errors.first().map(PolicyError::place)
    }
}

impl fmt::Display for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("policy does not load")?;
        if let Some(first) = self.errors.first() {
            write!(f, ": {}: {first}", first.place)?;
        }
        match self.errors.len() {
            0 | 1 => Ok(()),
            2 => f.write_str(" (and 1 more finding)"),
            more => write!(f, " (and {} more findings)", more - 1),
        }
    }
}

impl std::error::Error for PolicyErrors {}

impl Diagnostic for PolicyErrors {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.errors.iter().map(|error| error as &dyn Diagnostic)))
    }
}

/// The candidate that resembles `word` most, if any does.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 64 {
        return None;
    }
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len().max(word.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
