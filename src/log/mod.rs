//! Recorded logs in, tool calls out: one file per format.
//!
//! A log is read line by line from any [`BufRead`], with memory bounded by the longest line. A new format is a file
//! that implements `Reader` and a line in `FORMATS`. What is not understood is counted by kind, with the place
//! where it was seen first; a bad line is a problem with a place, and the rest goes on.

mod claude_code_session;
mod codex_rollout;
mod head;
mod journal;
mod json;
mod json_lines;
mod lines;
mod recorded;
mod seen;
mod tally;

use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::Arc;

use head::Head;
use lines::{LINE_LIMIT, Line, Lines};

pub use recorded::{Item, JudgedBefore, LogPlace, Outcome, Recorded, RecordedOutcome};
pub use seen::Seen;
pub use tally::{Counted, Problem, Tally};

/// Bytes of a log that tell its format.
const HEAD_BYTES: usize = 64 * 1024;

/// The formats in the order they are tried: the first whose look fits wins.
static FORMATS: &[FormatEntry] = &[
    FormatEntry { name: "journal", looks_like: journal::looks_like, open: journal::open },
    FormatEntry { name: "codex-rollout", looks_like: codex_rollout::looks_like, open: codex_rollout::open },
    FormatEntry {
        name: "claude-code-session",
        looks_like: claude_code_session::looks_like,
        open: claude_code_session::open,
    },
    FormatEntry { name: "json-lines", looks_like: json_lines::looks_like, open: json_lines::open },
];

struct FormatEntry {
    name: &'static str,
    looks_like: fn(&Head) -> bool,
    open: fn() -> Box<dyn Reader>,
}

/// A log format that can be read.
#[derive(Clone, Copy)]
pub struct Format(&'static FormatEntry);

impl Format {
    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        FORMATS.iter().find(|entry| entry.name == name).map(Self)
    }

    /// The format whose look the first bytes of a log have.
    pub fn detect(first_bytes: &[u8]) -> Option<Self> {
        let head = Head::new(first_bytes);
        FORMATS.iter().find(|entry| (entry.looks_like)(&head)).map(Self)
    }

    /// Names of all formats, in the order they are tried.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|entry| entry.name)
    }

    /// Its name, as `--from` takes it.
    pub fn name(self) -> &'static str {
        self.0.name
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Format").field(&self.name()).finish()
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

/// Reads the lines of one format.
trait Reader: Send {
    /// Whether a line could say anything; `false` only if it surely holds no call, no outcome and no state.
    ///
    /// Called for every line, so it must be far cheaper than parsing.
    fn wants(&self, line: &[u8]) -> bool {
        let _ = line;
        true
    }

    /// Takes in a line.
    fn line(&mut self, line: &[u8], found: &mut Found<'_>);
}

/// Where a reader puts what it finds in a line.
struct Found<'a> {
    place: LogPlace,
    items: &'a mut VecDeque<Item>,
    tally: &'a mut Tally,
    seen: &'a mut Seen,
}

impl Found<'_> {
    /// A call, unless one with its id was there before.
    fn call(&mut self, recorded: Recorded) {
        if let Some(id) = &recorded.call.id
            && !self.seen.insert(id)
        {
            self.tally.repeated += 1;
            return;
        }
        self.call_as_it_stands(recorded);
    }

    /// A call, whatever its id.
    fn call_as_it_stands(&mut self, recorded: Recorded) {
        match recorded.within {
            None => self.tally.calls += 1,
            Some(_) => self.tally.nested += 1,
        }
        self.items.push_back(Item::Call(Box::new(recorded)));
    }

    fn outcome(&mut self, id: String, outcome: Outcome) {
        self.items.push_back(Item::Outcome(RecordedOutcome { id, outcome, place: self.place.clone() }));
    }

    /// A record of a kind that nothing is known about.
    fn unknown(&mut self, kind: &str) {
        self.tally.unknown(kind, &self.place);
    }

    /// A line or record that cannot be read.
    fn problem(&mut self, what: impl Into<String>) {
        self.tally.problem(self.place.clone(), what.into());
    }
}

/// Why a log cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Reading fails.
    #[error("cannot read {file}")]
    Read {
        /// Which log.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Its format is none that is known.
    #[error("{file} is in no format that can be told by its content; known are {}", known_names())]
    Unknown {
        /// Which log.
        file: String,
    },
}

fn known_names() -> String {
    Format::names().collect::<Vec<_>>().join(", ")
}

/// Reads one log, call by call.
pub struct LogReader<R> {
    lines: Lines<R>,
    file: Arc<str>,
    format: Option<Format>,
    reader: Option<Box<dyn Reader>>,
    items: VecDeque<Item>,
    tally: Tally,
    seen: Seen,
    is_filtered: bool,
}

impl<R: BufRead> LogReader<R> {
    /// Reads `input`, known as `file`, in the given format or the one that its content tells.
    ///
    /// `seen` knows the calls of the logs read before, so that copies of conversations count once.
    ///
    /// # Errors
    /// The beginning cannot be read, or the format cannot be told. An empty log has no format and no calls.
    pub fn open(input: R, file: &str, format: Option<Format>, seen: Seen) -> Result<Self, LogError> {
        let mut lines = Lines::new(input, LINE_LIMIT);
        let head =
            lines.peek(HEAD_BYTES).map_err(|source| LogError::Read { file: file.to_owned(), source })?;
        let is_empty = head.iter().all(u8::is_ascii_whitespace);
        let format = match format.or_else(|| Format::detect(head)) {
            Some(format) => Some(format),
            None if is_empty => None,
            None => return Err(LogError::Unknown { file: file.to_owned() }),
        };
        let mut seen = seen;
        seen.next_file();
        Ok(Self {
            lines,
            file: Arc::from(file),
            format,
            reader: format.map(|format| (format.0.open)()),
            items: VecDeque::new(),
            tally: Tally::default(),
            seen,
            is_filtered: true,
        })
    }

    /// Parses every line, also those that surely say nothing. Slow; for tests that compare.
    #[must_use]
    pub fn unfiltered(mut self) -> Self {
        self.is_filtered = false;
        self
    }

    /// The format; `None` for an empty log.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// What was counted so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The counts, and what the next log needs to know.
    pub fn finish(self) -> (Tally, Seen) {
        (self.tally, self.seen)
    }
}

impl<R: BufRead> Iterator for LogReader<R> {
    type Item = Result<Item, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Some(Ok(item));
            }
            let reader = self.reader.as_mut()?;
            let line = match self.lines.next() {
                Ok(None) => {
                    self.reader = None;
                    continue;
                }
                Ok(Some(line)) => line,
                Err(source) => {
                    self.reader = None;
                    return Some(Err(LogError::Read { file: self.file.to_string(), source }));
                }
            };
            self.tally.lines += 1;
            let place = || LogPlace { file: Arc::clone(&self.file), line: self.tally.lines };
            match line {
                Line::Whole { bytes, has_end } => {
                    self.tally.bytes += u64::try_from(bytes.len()).unwrap_or(0) + u64::from(has_end);
                    let text = lines::trimmed(bytes);
                    if text.is_empty() {
                        continue;
                    }
                    if self.is_filtered && !reader.wants(text) {
                        // The one thing that is looked for in lines that say nothing: a line that was cut.
                        if text.last() != Some(&b'}') || text.first() != Some(&b'{') {
                            let place = place();
                            self.tally.problem(place, cut(has_end).to_owned());
                        }
                        continue;
                    }
                    let mut found = Found {
                        place: place(),
                        items: &mut self.items,
                        tally: &mut self.tally,
                        seen: &mut self.seen,
                    };
                    reader.line(text, &mut found);
                }
                Line::TooLong { bytes } => {
                    let place = place();
                    self.tally.bytes += bytes;
                    self.tally.too_long += 1;
                    self.tally.problem(
                        place,
                        format!("line of {bytes} bytes, longer than the limit of {LINE_LIMIT}"),
                    );
                }
            }
        }
    }
}

fn cut(has_end: bool) -> &'static str {
    if has_end { "no JSON object" } else { "the last line is cut" }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
