//! A piece of shell text that is being read, and the parser's view of it.

use std::rc::Rc;

use shuck_ast::{File, Span};
use shuck_parser::parser::{ParseStatus, Parser};

use super::super::word::Piece;

/// First of the private characters that stand for unknown parts of nested code.
const FIRST_HOLE: u32 = 0xE000;
/// How many of them there are.
const HOLES: u32 = 0x1000;

/// Text that is being read.
#[derive(Debug, Clone)]
pub(super) struct Source<'t> {
    /// The text.
    pub(super) text: &'t str,
    /// Where it begins in the line, if it stands there as it is.
    pub(super) base: Option<usize>,
    /// The range to show for it otherwise.
    pub(super) span: Option<(usize, usize)>,
    /// What the private characters in it stand for.
    pub(super) holes: Rc<Vec<Piece>>,
}

impl<'t> Source<'t> {
    /// Where `start..end` lies in the line.
    pub(super) fn place(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        match self.base {
            Some(base) => Some((base + start, base + end)),
            None => self.span,
        }
    }

    pub(super) fn place_of(&self, span: Span) -> Option<(usize, usize)> {
        self.place(span.start.offset(), span.end.offset())
    }

    /// The text of a range of the tree.
    pub(super) fn slice(&self, span: Span) -> Option<&'t str> {
        self.text.get(span.start.offset()..span.end.offset())
    }

    /// What a private character stands for.
    pub(super) fn hole(&self, character: char) -> Option<&Piece> {
        if self.holes.is_empty() {
            return None;
        }
        let index = u32::from(character).checked_sub(FIRST_HOLE)?;
        self.holes.get(usize::try_from(index).ok()?)
    }
}

/// Code with unknown parts as text, each of them a private character.
pub(super) fn with_holes(pieces: &[Piece]) -> (String, Vec<Piece>) {
    let mut text = String::new();
    let mut holes = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(known) => text.push_str(known),
            other => {
                let index = u32::try_from(holes.len()).unwrap_or(HOLES).min(HOLES - 1);
                text.push(char::from_u32(FIRST_HOLE + index).unwrap_or('\u{E000}'));
                holes.push(other.clone());
            }
        }
    }
    (text, holes)
}

/// Whether `text` holds a character that could be taken for a hole.
pub(super) fn has_private(text: &str) -> bool {
    // The characters begin with the byte EE in UTF-8.
    memchr::memchr(0xEE, text.as_bytes()).is_some()
        && text.chars().any(|character| (FIRST_HOLE..FIRST_HOLE + HOLES).contains(&u32::from(character)))
}

/// The tree of `text`, and why it is not whole if it is not.
pub(super) fn parse(text: &str) -> (File, Option<String>) {
    let result = Parser::new(text).parse();
    let problem = match result.status {
        ParseStatus::Clean => None,
        ParseStatus::Recovered | ParseStatus::Fatal => Some(
            result
                .terminal_error
                .as_ref()
                .map(ToString::to_string)
                .or_else(|| result.diagnostics.first().map(|diagnostic| diagnostic.message.clone()))
                .unwrap_or_else(|| "it cannot be parsed".to_owned()),
        ),
    };
    (result.file, problem)
}
