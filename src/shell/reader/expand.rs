//! Expands raw words: quotes, escapes, tildes, variables, substitutions, splitting.

use shuck_ast::Word as RawWord;

use super::super::command::Directory;
use super::super::word::{Piece, Word};
use super::brace::{self, Braces};
use super::field::Fields;
use super::parts::Parts;
use super::scope::{Scope, Value};
use super::source::Source;
use super::{Place, Reader, UnreadableKind, skip};

/// How text is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// Not at all.
    None,
    /// In `"…"`.
    Double,
    /// In the operand of a `${…}` within double quotes.
    Operand,
    /// In a here-document or an arithmetic expression.
    Here,
}

/// One run of the expansion.
pub(super) struct Expansion<'a, 't> {
    pub(super) source: &'a Source<'t>,
    pub(super) parts: Parts<'a>,
    pub(super) fields: Fields,
    /// Whether unquoted values are split.
    pub(super) splits: bool,
    /// Whether literal text is split too, as in the operand of a `${…}`.
    pub(super) splits_text: bool,
    /// What such text is split at; blanks if not given.
    pub(super) separators: Option<Value>,
    /// Whether `~` counts after `=` and `:`.
    pub(super) is_assignment: bool,
    /// Whether the text is what an assignment gives, so that its `=` has been met.
    pub(super) is_value: bool,
    /// Whether the text is one word to bash, so that nothing may end it.
    pub(super) is_word: bool,
}

impl<'a, 't> Expansion<'a, 't> {
    pub(super) fn new(source: &'a Source<'t>, parts: Parts<'a>, splits: bool) -> Self {
        Self {
            source,
            parts,
            fields: Fields::default(),
            splits,
            splits_text: false,
            separators: None,
            is_assignment: false,
            is_value: false,
            is_word: false,
        }
    }
}

/// Bytes that stand for themselves in an unquoted word.
const fn plain_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0x21;
    while byte < 0x7F {
        table[byte] = true;
        byte += 1;
    }
    let special = b"\\'\"$`{~*?[]()<>|&;!=";
    let mut index = 0;
    while index < special.len() {
        table[special[index] as usize] = false;
        index += 1;
    }
    table[b'!' as usize] = true;
    table[b']' as usize] = true;
    table
}

static PLAIN: [bool; 256] = plain_bytes();

fn is_plain(byte: u8) -> bool {
    PLAIN.get(usize::from(byte)).copied().unwrap_or(false)
}

impl Reader<'_> {
    /// The words that raw words become. Where the parser ends a word and nothing stands before the next one, both
    /// are one word to bash (`}a`, `]$x`, `a<(ls)`).
    pub(super) fn words<'r>(
        &mut self,
        raws: impl IntoIterator<Item = &'r RawWord>,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
        words: &mut Vec<Word>,
    ) {
        let mut raws = raws.into_iter().peekable();
        while let Some(raw) = raws.next() {
            let mut last = raw;
            while let Some(next) =
                raws.next_if(|next| next.span.start.offset() == last.span.end.offset() && !is_empty(last))
            {
                last = next;
            }
            if !is_empty(last) {
                self.certain_end(last.span.end.offset(), source);
            }
            if std::ptr::eq(raw, last) {
                self.word(raw, source, scope, place, words);
            } else {
                let range = (raw.span.start.offset(), last.span.end.offset());
                self.word_at(range, Parts::None, source, scope, place, words);
            }
        }
    }

    /// The words that one raw word becomes, added to `words`.
    pub(super) fn word(
        &mut self,
        raw: &RawWord,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
        words: &mut Vec<Word>,
    ) {
        let range = (raw.span.start.offset(), raw.span.end.offset());
        self.word_at(range, Parts::Word(&raw.parts), source, scope, place, words);
    }

    /// The words that an element of a list becomes: `~` does not count behind its `=`.
    pub(super) fn element(
        &mut self,
        raw: &RawWord,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
        words: &mut Vec<Word>,
    ) {
        let (start, end) = (raw.span.start.offset(), raw.span.end.offset());
        let is_tilde =
            source.text.get(start..end).is_some_and(|text| is_assignment(text) && text.contains('~'));
        if !is_tilde || source.slice(raw.span).is_some_and(|text| text.contains('{')) {
            self.word(raw, source, scope, place, words);
        } else if self.spend(8 + (end - start) / 4) {
            let expansion = Expansion::new(source, Parts::Word(&raw.parts), true);
            self.fields(expansion, start, end, scope, place, source.place(start, end), words);
        }
    }

    fn word_at(
        &mut self,
        (start, end): (usize, usize),
        parts: Parts<'_>,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
        words: &mut Vec<Word>,
    ) {
        let Some(text) = source.text.get(start..end) else {
            self.unreadable(UnreadableKind::Syntax, "a word lies outside the text".to_owned(), source.span);
            return;
        };
        let span = source.place(start, end);
        if !self.spend(8 + text.len() / 4) {
            return;
        }
        if text.bytes().all(|byte| is_plain(byte) || byte == b'=') && !text.is_empty() {
            words.push(Word { pieces: vec![Piece::Text(text.to_owned())], span });
            return;
        }
        if memchr::memchr(b'{', text.as_bytes()).is_some() {
            match brace::expand(text, 512) {
                Braces::None => {}
                Braces::TooMany => {
                    self.limit("braces that expand to more words than are read", span);
                    words.push(unknown(text, true));
                    return;
                }
                Braces::Words(raws) => {
                    for raw in raws {
                        if !self.spend(8 + raw.len()) {
                            return;
                        }
                        let part = Source { text: &raw, base: None, span, holes: source.holes.clone() };
                        // What braces make is no assignment: `~` does not count behind its `=`.
                        let expansion = Expansion::new(&part, Parts::None, true);
                        self.fields(expansion, 0, raw.len(), scope, place, span, words);
                    }
                    return;
                }
            }
        }
        let mut expansion = Expansion::new(source, parts, true);
        expansion.is_assignment = is_assignment(text);
        self.fields(expansion, start, end, scope, place, span, words);
    }

    #[expect(clippy::too_many_arguments, reason = "one place that both forms of a word share")]
    fn fields(
        &mut self,
        mut expansion: Expansion<'_, '_>,
        start: usize,
        end: usize,
        scope: &mut Scope,
        place: &Place,
        span: Option<(usize, usize)>,
        words: &mut Vec<Word>,
    ) {
        expansion.is_word = true;
        self.scan(&mut expansion, scope, place, start, end, Quote::None, None);
        let first = words.len();
        words.append(&mut expansion.fields.into_words());
        for word in words.iter_mut().skip(first) {
            word.span = span;
        }
    }

    /// The value of a word that is not split: what an assignment, a redirect or a `case` takes.
    pub(super) fn value(
        &mut self,
        raw: &RawWord,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Word {
        let (start, end) = (raw.span.start.offset(), raw.span.end.offset());
        let Some(text) = source.text.get(start..end) else { return Word::default() };
        if !self.spend(8 + text.len() / 4) {
            return unknown(text, false);
        }
        let span = source.place(start, end);
        if text.bytes().all(is_plain) {
            return Word { span, ..Word::known(text) };
        }
        let mut expansion = Expansion::new(source, Parts::Word(&raw.parts), false);
        expansion.is_assignment = true;
        expansion.is_value = true;
        expansion.is_word = true;
        self.scan(&mut expansion, scope, place, start, end, Quote::None, None);
        Word { span, ..expansion.fields.into_value() }
    }

    /// The value of text that expands as in a here-document.
    pub(super) fn here_text(
        &mut self,
        source: &Source<'_>,
        parts: Parts<'_>,
        (start, end): (usize, usize),
        scope: &mut Scope,
        place: &Place,
    ) -> Word {
        if !self.spend(8 + (end - start) / 4) {
            return unknown("…", false);
        }
        let mut expansion = Expansion::new(source, parts, false);
        self.scan(&mut expansion, scope, place, start, end, Quote::Here, None);
        Word { span: source.place(start, end), ..expansion.fields.into_value() }
    }

    /// Expands `start..end`; stops behind `until` if that is given. Answers with the position reached.
    #[expect(clippy::too_many_arguments, reason = "the state of one scan, passed down its recursion")]
    pub(super) fn scan(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        start: usize,
        end: usize,
        quote: Quote,
        until: Option<u8>,
    ) -> usize {
        let text = expansion.source.text;
        let bytes = text.as_bytes();
        let mut index = start;
        let mut tilde = quote == Quote::None;
        let mut has_equals = expansion.is_value;
        while index < end {
            let Some(&byte) = bytes.get(index) else { break };
            if until == Some(byte) {
                return index + 1;
            }
            let may_tilde = std::mem::take(&mut tilde);
            match byte {
                b'\\' => index = self.escape(expansion, index, end, quote),
                b'\'' if quote == Quote::None => {
                    let close = skip::single_quote(text, index).map_or(end, |close| close.min(end));
                    let inner = text.get(index + 1..close.saturating_sub(1)).unwrap_or_default();
                    self.quoted_text(expansion, inner);
                    index = close;
                }
                b'"' if quote == Quote::None => {
                    expansion.fields.has_vanished = false;
                    index = self.scan(expansion, scope, place, index + 1, end, Quote::Double, Some(b'"'));
                    // `"$@"` of nothing is no word at all.
                    if !std::mem::take(&mut expansion.fields.has_vanished) {
                        expansion.fields.quoted("");
                    } else if expansion.splits && expansion.fields.may_be_nothing() {
                        let source = "$@".to_owned();
                        expansion.fields.piece(Piece::Unknown { splits: true, source });
                    }
                }
                b'"' if quote == Quote::Operand => index += 1,
                b'$' => index = self.dollar(expansion, scope, place, index, end, quote),
                b'`' => index = self.back_quotes(expansion, scope, place, index, end, quote),
                b'~' if may_tilde => index = self.tilde(expansion, scope, index, end),
                b'<' | b'>' if quote == Quote::None && bytes.get(index + 1) == Some(&b'(') => {
                    index = self.process_substitution(expansion, scope, place, index, end);
                }
                _ => {
                    let run = self.run(expansion, index, end, quote, until);
                    let taken = text.get(index..run).unwrap_or_default();
                    if expansion.is_assignment && quote == Quote::None {
                        if taken == "=" && !has_equals {
                            has_equals = true;
                            tilde = true;
                        } else if taken == ":" {
                            tilde = true;
                        }
                    }
                    index = run;
                }
            }
        }
        index.min(end).max(start)
    }

    /// Takes a run of ordinary characters.
    fn run(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        start: usize,
        end: usize,
        quote: Quote,
        until: Option<u8>,
    ) -> usize {
        let text = expansion.source.text;
        let bytes = text.as_bytes();
        let stops_at_marks = expansion.is_assignment && quote == Quote::None;
        let mut index = start;
        let mut is_ascii = true;
        while index < end {
            let Some(&byte) = bytes.get(index) else { break };
            let stops = match byte {
                b'\\' | b'$' | b'`' => true,
                b'"' => quote != Quote::Here,
                b'\'' => quote == Quote::None,
                b'<' | b'>' => quote == Quote::None && bytes.get(index + 1) == Some(&b'('),
                b'=' | b':' => stops_at_marks,
                other => Some(other) == until,
            };
            if stops {
                if index == start && matches!(byte, b'=' | b':' | b'"' | b'\'' | b'<' | b'>') {
                    index += 1;
                }
                break;
            }
            is_ascii &= byte < 0x80;
            if expansion.is_word
                && quote == Quote::None
                && !expansion.splits_text
                && matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>')
            {
                // Parser and bash differ about where the word ends.
                expansion.is_word = false;
                let span = expansion.source.place(start, end);
                self.unreadable(
                    UnreadableKind::Syntax,
                    "where this word ends is not certain".to_owned(),
                    span,
                );
            }
            index += 1;
        }
        let index = index.max(start + 1);
        let taken = text.get(start..index).unwrap_or_default();
        if is_ascii {
            match quote {
                Quote::None if expansion.splits_text => self.split_text(expansion, taken, None),
                Quote::None => expansion.fields.plain(taken),
                Quote::Double | Quote::Operand | Quote::Here => expansion.fields.quoted(taken),
            }
        } else {
            self.wide_text(expansion, taken, start, quote);
        }
        index
    }

    /// Text with characters beyond ASCII: holes, and blanks that only look like blanks.
    fn wide_text(&mut self, expansion: &mut Expansion<'_, '_>, text: &str, at: usize, quote: Quote) {
        let mut from = 0;
        for (index, character) in text.char_indices() {
            if quote == Quote::None && is_odd_blank(character) {
                let span = expansion.source.place(at + index, at + index + character.len_utf8());
                let code = u32::from(character);
                let what = format!("U+{code:04X} looks like a blank but does not separate words");
                self.unreadable(UnreadableKind::Words, what, span);
            }
            if let Some(hole) = expansion.source.hole(character) {
                let hole = hole.clone();
                self.text(expansion, text.get(from..index).unwrap_or_default(), quote);
                self.hole(expansion, hole, quote);
                from = index + character.len_utf8();
            }
        }
        self.text(expansion, text.get(from..).unwrap_or_default(), quote);
    }

    fn text(&mut self, expansion: &mut Expansion<'_, '_>, text: &str, quote: Quote) {
        match quote {
            Quote::None if expansion.splits_text => self.split_text(expansion, text, None),
            Quote::None => expansion.fields.plain(text),
            Quote::Double | Quote::Operand | Quote::Here => expansion.fields.quoted(text),
        }
    }

    fn hole(&mut self, expansion: &mut Expansion<'_, '_>, hole: Piece, quote: Quote) {
        let piece = match hole {
            Piece::Unknown { source, .. } => Piece::Unknown { splits: quote == Quote::None, source },
            other => other,
        };
        expansion.fields.piece(piece);
    }

    /// Quoted text as it is, apart from holes.
    fn quoted_text(&mut self, expansion: &mut Expansion<'_, '_>, text: &str) {
        if expansion.source.holes.is_empty() || text.is_ascii() {
            expansion.fields.quoted(text);
        } else {
            expansion.fields.quoted("");
            self.wide_text(expansion, text, 0, Quote::Double);
        }
    }

    fn escape(&mut self, expansion: &mut Expansion<'_, '_>, index: usize, end: usize, quote: Quote) -> usize {
        let rest = expansion.source.text.get(index + 1..end).unwrap_or_default();
        let Some(character) = rest.chars().next() else {
            expansion.fields.quoted("\\");
            return index + 1;
        };
        let next = index + 1 + character.len_utf8();
        let text = rest.get(..character.len_utf8()).unwrap_or_default();
        let stands_alone = match quote {
            Quote::None => true,
            Quote::Double => matches!(character, '$' | '`' | '"' | '\\' | '\n'),
            Quote::Operand => matches!(character, '$' | '`' | '"' | '\\' | '\n' | '}'),
            Quote::Here => matches!(character, '$' | '`' | '\\' | '\n'),
        };
        if character == '\n' && stands_alone {
            return next;
        }
        if !stands_alone {
            expansion.fields.quoted("\\");
        }
        self.quoted_text(expansion, text);
        next
    }

    /// `~`, `~+`, `~-`, `~user`
    fn tilde(&mut self, expansion: &mut Expansion<'_, '_>, scope: &Scope, index: usize, end: usize) -> usize {
        let text = expansion.source.text;
        let rest = text.get(index + 1..end).unwrap_or_default();
        let stop = |byte: u8| byte == b'/' || (byte == b':' && expansion.is_assignment);
        let length = rest.bytes().position(stop).unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or_default();
        let directory = match name {
            "" => match self.lookup(scope, "HOME") {
                Value::Text(home) => {
                    for piece in home.pieces {
                        match piece {
                            Piece::Text(text) => expansion.fields.quoted(&text),
                            other => expansion.fields.piece(other),
                        }
                    }
                    return index + 1;
                }
                Value::Unset | Value::List(_) | Value::Unknown => Directory::Unknown,
            },
            "+" => self.known_directory(&scope.directory),
            "-" => self.known_directory(&scope.previous),
            // With a quote or an expansion in it, it is no tilde prefix.
            name if !name.bytes().all(is_plain) => {
                expansion.fields.quoted("~");
                return index + 1;
            }
            _ => Directory::Unknown,
        };
        match directory {
            Directory::Known(path) => expansion.fields.quoted(&path),
            Directory::Unknown => {
                expansion.fields.piece(Piece::Unknown { splits: false, source: format!("~{name}") });
            }
        }
        index + 1 + length
    }
}

/// Whether a text needs no quotes to be one word.
pub(super) fn stands_for_itself(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:,+%@".contains(&byte))
}

fn is_empty(raw: &RawWord) -> bool {
    raw.span.start.offset() == raw.span.end.offset()
}

/// An unknown word for `source`.
pub(super) fn unknown(source: &str, splits: bool) -> Word {
    let source: String = source.chars().take(80).collect();
    Word { pieces: vec![Piece::Unknown { splits, source }], span: None }
}

/// Whether a word looks like `name=…`.
fn is_assignment(text: &str) -> bool {
    match memchr::memchr(b'=', text.as_bytes()).and_then(|at| text.get(..at)) {
        Some(name) => is_name(name.strip_suffix('+').unwrap_or(name)),
        None => false,
    }
}

/// Whether `text` is a variable's name.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte == b'_' || byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Characters that people take for a blank, or do not see at all.
pub(super) fn is_odd_blank(character: char) -> bool {
    matches!(
        character,
        '\u{A0}' | '\u{AD}' | '\u{1680}' | '\u{180E}' | '\u{2000}'..='\u{200F}' | '\u{2028}'..='\u{202F}'
            | '\u{205F}'..='\u{2064}' | '\u{2066}'..='\u{206F}' | '\u{3000}' | '\u{FEFF}' | '\u{3164}' | '\u{115F}'
            | '\u{1160}' | '\u{FFA0}' | '\u{85}'
    )
}
