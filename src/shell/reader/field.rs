//! Words while they are being expanded: pieces that remember whether they stood in quotes.

use super::super::word::{Piece, Word};

/// A piece of a word in the making.
#[derive(Debug, Clone)]
enum Segment {
    /// Text that neither splits nor globs.
    Quoted(String),
    /// Text whose pattern characters are active.
    Plain(String),
    /// A piece that is no text.
    Other(Piece),
}

/// Words in the making.
#[derive(Debug, Default)]
pub(super) struct Fields {
    done: Vec<Word>,
    segments: Vec<Segment>,
    /// Whether the current word exists even if it is empty, as `""` does.
    is_present: bool,
    /// Whether an empty `"$@"` was met, which is not even an empty word.
    pub(super) has_vanished: bool,
}

impl Fields {
    /// Adds quoted text; the word exists from now on.
    pub(super) fn quoted(&mut self, text: &str) {
        self.is_present = true;
        match self.segments.last_mut() {
            Some(Segment::Quoted(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.segments.push(Segment::Quoted(text.to_owned())),
        }
    }

    /// Adds unquoted text.
    pub(super) fn plain(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.is_present = true;
        match self.segments.last_mut() {
            Some(Segment::Plain(last)) => last.push_str(text),
            _ => self.segments.push(Segment::Plain(text.to_owned())),
        }
    }

    /// Adds what is no text.
    pub(super) fn piece(&mut self, piece: Piece) {
        self.is_present = true;
        self.segments.push(Segment::Other(piece));
    }

    /// The word exists, even if nothing is added to it.
    pub(super) fn present(&mut self) {
        self.is_present = true;
    }

    /// Whether the current word holds no text that is certain, but something that may be none.
    pub(super) fn may_be_nothing(&self) -> bool {
        self.is_present
            && self.segments.iter().all(|segment| match segment {
                Segment::Quoted(text) | Segment::Plain(text) => text.is_empty(),
                Segment::Other(_) => true,
            })
    }

    /// Ends the current word, if there is one.
    pub(super) fn split(&mut self) {
        if std::mem::take(&mut self.is_present) {
            let pieces = pieces(std::mem::take(&mut self.segments), true);
            self.done.push(Word { pieces, span: None });
        }
        self.segments.clear();
    }

    /// All words.
    pub(super) fn into_words(mut self) -> Vec<Word> {
        self.split();
        self.done
    }

    /// Everything as one word in which nothing globs.
    pub(super) fn into_value(mut self) -> Word {
        if self.done.is_empty() {
            return Word { pieces: pieces(std::mem::take(&mut self.segments), false), span: None };
        }
        let last = pieces(std::mem::take(&mut self.segments), false);
        let mut all = Vec::new();
        for word in std::mem::take(&mut self.done).into_iter().map(|word| word.pieces).chain([last]) {
            if !all.is_empty() && !word.is_empty() {
                push(&mut all, Piece::Text(" ".to_owned()));
            }
            for piece in word {
                push(&mut all, piece);
            }
        }
        Word { pieces: all, span: None }
    }
}

/// Adds a piece to a word, merging texts.
pub(super) fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
        (_, Piece::Text(text)) if text.is_empty() => {}
        (_, piece) => pieces.push(piece),
    }
}

fn pieces(segments: Vec<Segment>, globs: bool) -> Vec<Piece> {
    let is_pattern = globs
        && segments.iter().any(|segment| {
            matches!(segment, Segment::Plain(text) if text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'(')))
        });
    let mut all = Vec::with_capacity(segments.len());
    if !is_pattern {
        for segment in segments {
            match segment {
                Segment::Quoted(text) | Segment::Plain(text) => push(&mut all, Piece::Text(text)),
                Segment::Other(piece) => all.push(piece),
            }
        }
        return all;
    }
    patterns(&segments, &mut all);
    all
}

/// Takes pattern characters of unquoted text out as globs.
fn patterns(segments: &[Segment], all: &mut Vec<Piece>) {
    // One run of characters between pieces that are no text.
    let mut run: Vec<(char, bool)> = Vec::new();
    for segment in segments {
        match segment {
            Segment::Quoted(text) => run.extend(text.chars().map(|character| (character, true))),
            Segment::Plain(text) => run.extend(text.chars().map(|character| (character, false))),
            Segment::Other(piece) => {
                pattern_run(&run, all);
                run.clear();
                all.push(piece.clone());
            }
        }
    }
    pattern_run(&run, all);
}

fn pattern_run(run: &[(char, bool)], all: &mut Vec<Piece>) {
    // With `extglob` an unquoted parenthesis makes a pattern of everything around it.
    if run.contains(&('(', false)) {
        all.push(Piece::Glob(run.iter().map(|(character, _)| character).collect()));
        return;
    }
    let mut text = String::new();
    let mut rest = run.iter().enumerate();
    // No bracket closes behind this position: looking again and again would be quadratic.
    let mut closes = true;
    while let Some((index, (character, is_quoted))) = rest.next() {
        let glob = match character {
            _ if *is_quoted => None,
            '*' | '?' => Some(character.to_string()),
            '[' if closes => {
                let found = run.get(index + 1..).and_then(bracket_end);
                closes = found.is_some();
                found.map(|length| {
                    let mut glob = String::from("[");
                    for (_, (inner, _)) in rest.by_ref().take(length) {
                        glob.push(*inner);
                    }
                    glob
                })
            }
            _ => None,
        };
        match glob {
            None => text.push(*character),
            Some(glob) => {
                push(all, Piece::Text(std::mem::take(&mut text)));
                match all.last_mut() {
                    Some(Piece::Glob(last)) => last.push_str(&glob),
                    _ => all.push(Piece::Glob(glob)),
                }
            }
        }
    }
    push(all, Piece::Text(text));
}

/// How many characters up to and including the `]` that closes a bracket.
fn bracket_end(rest: &[(char, bool)]) -> Option<usize> {
    let mut index = 0;
    if matches!(rest.first(), Some(('!' | '^', false))) {
        index += 1;
    }
    if matches!(rest.get(index), Some((']', false))) {
        index += 1;
    }
    loop {
        match rest.get(index)? {
            (']', false) => return Some(index + 1),
            ('/', _) => return None,
            _ => index += 1,
        }
    }
}
