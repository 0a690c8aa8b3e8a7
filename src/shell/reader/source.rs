//! A piece of shell text that is being read, and the parser's view of it.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use shuck_ast::{File, Span};
use shuck_parser::parser::{ParseStatus, Parser};

use super::super::word::Piece;
use super::skip;

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
    /// Where `start..end` lies in the line. The parser's ranges of what is not closed may go past the end.
    pub(super) fn place(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let within = |offset: usize| {
            let mut offset = offset.min(self.text.len());
            while !self.text.is_char_boundary(offset) {
                offset -= 1;
            }
            offset
        };
        match self.base {
            Some(base) => Some((base + within(start.min(end)), base + within(end))),
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
    let neutral = without_false_braces(text);
    let neutral = without_alias_switch(&neutral);
    // The parser panics on some texts that are not closed before a character of several bytes.
    let Ok(result) = catch_unwind(AssertUnwindSafe(|| Parser::new(&neutral).parse())) else {
        return (Parser::new("").parse().file, Some("the parser gave up on it".to_owned()));
    };
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

/// The text with another word of the same length for `expand_aliases`.
///
/// The parser would put aliases in by itself once it sees that word, at places that are not in the text; the
/// reader follows aliases on its own.
fn without_alias_switch(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"expand_aliases").is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("expand_aliases", "expand_aliasez"))
}

/// The text with an inert character for every brace that is an ordinary part of a word.
///
/// The parser takes `{a;rm x}` for one word, where bash sees the end of a command. Only the tree is made from
/// this text; words are read from the original, at the same places.
fn without_false_braces(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut changed: Option<Vec<u8>> = None;
    for index in memchr::memchr_iter(b'{', bytes) {
        if !is_parameter(bytes, index) && brace_end(text, index) == BraceEnd::Word {
            let copy = changed.get_or_insert_with(|| bytes.to_vec());
            if let Some(byte) = copy.get_mut(index) {
                *byte = b'_';
            }
        }
    }
    let Some(mut copy) = changed else { return Cow::Borrowed(text) };
    // Their closing halves would end a group.
    let mut closers = vec![false; copy.len()];
    for index in memchr::memchr_iter(b'{', bytes) {
        let end = if is_parameter(bytes, index) {
            skip::brace(text, index + 1, false).or_else(|| skip::brace(text, index + 1, true))
        } else {
            match brace_end(text, index) {
                BraceEnd::Closed(end) => Some(end),
                BraceEnd::Word | BraceEnd::Group => None,
            }
        };
        if let Some(closer) = end.and_then(|end| closers.get_mut(end - 1)) {
            *closer = true;
        }
    }
    for index in memchr::memchr_iter(b'}', bytes) {
        let follows_word = index > 0 && bytes.get(index - 1).is_some_and(|before| !is_end(*before));
        if follows_word
            && closers.get(index) == Some(&false)
            && let Some(byte) = copy.get_mut(index)
        {
            *byte = b'_';
        }
    }
    match String::from_utf8(copy) {
        Ok(changed) => Cow::Owned(changed),
        Err(_) => Cow::Borrowed(text),
    }
}

/// Whether the `{` at `index` belongs to a `${`.
fn is_parameter(bytes: &[u8], index: usize) -> bool {
    index > 0 && bytes.get(index - 1) == Some(&b'$') && !(index > 1 && bytes.get(index - 2) == Some(&b'\\'))
}

/// Bytes that end a word.
fn is_end(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// What an opening brace is.
#[derive(Debug, PartialEq, Eq)]
enum BraceEnd {
    /// A word of its own: it opens a group.
    Group,
    /// Part of a word that ends before it is closed.
    Word,
    /// It is closed in its word; the position behind that.
    Closed(usize),
}

fn brace_end(text: &str, start: usize) -> BraceEnd {
    let bytes = text.as_bytes();
    if bytes.get(start + 1).copied().is_none_or(is_end) {
        let follows_word = start > 0 && bytes.get(start - 1).is_some_and(|before| !is_end(*before));
        return if follows_word { BraceEnd::Word } else { BraceEnd::Group };
    }
    let last = start.saturating_add(4096);
    let mut index = start + 1;
    let mut open = 1_usize;
    while index < last {
        let Some(&byte) = bytes.get(index) else { break };
        let next = match byte {
            b'\\' => Some(index + 2),
            b'\'' => skip::single_quote(text, index),
            b'"' => skip::double_quote(text, index),
            b'`' => skip::back_quote(text, index),
            b'$' => skip::dollar(text, index, false),
            b'<' | b'>' if bytes.get(index + 1) == Some(&b'(') => skip::parenthesis(text, index + 2),
            b'{' => {
                open += 1;
                Some(index + 1)
            }
            b'}' => {
                open -= 1;
                if open == 0 {
                    return BraceEnd::Closed(index + 1);
                }
                Some(index + 1)
            }
            byte if is_end(byte) => break,
            _ => Some(index + 1),
        };
        match next {
            Some(next) => index = next,
            None => break,
        }
    }
    BraceEnd::Word
}

#[cfg(test)]
mod tests {
    use super::without_false_braces;

    #[test]
    fn only_braces_that_expand_are_kept() {
        for kept in [
            "echo {a,b}",
            "{ ls; }",
            "{ ls;}",
            "f() { ls; }",
            "echo ${x}",
            "echo {a,'b c'}",
            "{(ls)}",
            "echo {}",
            "{fd}>x",
        ] {
            assert_eq!(without_false_braces(kept), kept);
        }
        assert_eq!(without_false_braces("echo {a;rm x}"), "echo _a;rm x_");
        assert_eq!(without_false_braces("echo {{a b},c}"), "echo __a b_,c_");
        assert_eq!(without_false_braces("echo \\${a b}"), "echo \\$_a b_");
    }
}
