//! `${…}` in all its forms.

use std::rc::Rc;

use super::super::word::{Piece, Word};
use super::expand::{Expansion, Quote, is_name};
use super::matching::Pattern;
use super::parts::Parts;
use super::scope::{Scope, Value, is_moved};
use super::source::Source;
use super::{Place, Reader, UnreadableKind, ansi, skip};

/// Longest value that is cut or replaced.
const LONGEST: usize = 4096;

/// The value that a `${…}` starts from.
enum Base {
    One(Value),
    Many(Vec<Word>, bool),
    UnknownMany,
}

impl Reader<'_> {
    /// Adds the value of the `${…}` at `index..after`.
    pub(super) fn parameter(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        (index, after): (usize, usize),
        quote: Quote,
    ) {
        let source = expansion.source;
        let shown = source.text.get(index..after).unwrap_or_default();
        let body = source.text.get(index + 2..after - 1).unwrap_or_default();
        let at = index + 2;
        if body.starts_with([' ', '\t', '\n', '|']) {
            // Newer shells run `${ list; }` in place.
            let inner = Source {
                text: body.trim_start_matches('|'),
                base: None,
                span: source.place(index, after),
                holes: Rc::clone(&source.holes),
            };
            self.captured_text(&inner, scope, place);
            self.push_value(expansion, scope, Value::Unknown, shown, quote);
            return;
        }
        let (prefix, name_at) = match body.as_bytes() {
            [b'#', next, ..]
                if *next == b'_' || next.is_ascii_alphanumeric() || matches!(next, b'@' | b'*') =>
            {
                ('#', 1)
            }
            [b'#' | b'!', b'}', ..] => (' ', 0),
            [b'!', next, ..]
                if *next == b'_' || next.is_ascii_alphanumeric() || matches!(next, b'@' | b'*') =>
            {
                ('!', 1)
            }
            _ => (' ', 0),
        };
        let rest = body.get(name_at..).unwrap_or_default();
        let length = match rest.bytes().next() {
            Some(byte) if byte.is_ascii_digit() => rest.bytes().take_while(u8::is_ascii_digit).count(),
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                rest.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count()
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => 1,
            _ => {
                self.unreadable(
                    UnreadableKind::Syntax,
                    format!("{} is no expansion that bash knows", shorten(shown)),
                    source.place(index, after),
                );
                // Whatever it is: commands in it count.
                self.here_text(source, expansion.parts, (at, after - 1), scope, place);
                self.push_value(expansion, scope, Value::Unknown, shown, quote);
                return;
            }
        };
        let name = rest.get(..length).unwrap_or_default().to_owned();
        let mut cursor = at + name_at + length;
        let mut subscript = None;
        if source.text.as_bytes().get(cursor) == Some(&b'[') {
            let close = subscript_end(source.text, cursor + 1, after - 1).unwrap_or(after - 1);
            subscript = Some((cursor + 1, close.saturating_sub(1).max(cursor + 1)));
            cursor = close;
        }
        let mut base = self.base(source, expansion.parts, &name, subscript, scope, place);
        let operator = source.text.get(cursor..after - 1).unwrap_or_default();
        if prefix == '#' {
            let count = match base {
                Base::One(Value::Text(word)) => word.value().map(|text| text.chars().count()),
                Base::One(Value::Unset) => Some(0),
                Base::Many(words, _) if words.iter().any(Word::may_split) => None,
                Base::Many(words, _) => Some(words.len()),
                Base::One(_) | Base::UnknownMany => None,
            };
            let value = match count {
                Some(count) => Word::known(count.to_string()),
                None => Word { pieces: vec![Piece::Name], span: None },
            };
            self.push_value(expansion, scope, Value::Text(value), shown, quote);
            return;
        }
        if prefix == '!' {
            if operator == "@" || operator == "*" || subscript.is_some() {
                // Names or keys, nobody knows how many.
                self.push_base(expansion, scope, Base::UnknownMany, shown, quote);
                return;
            }
            self.errors += 1;
            base = match base {
                Base::One(Value::Text(word)) => match word.value() {
                    Some(name) if is_name(name) => Base::One(self.lookup(scope, name)),
                    Some(name) => {
                        if !name.contains('[') && name.parse::<usize>().is_err() {
                            let what = format!("{} is an error that ends the line", shorten(shown));
                            self.unreadable(UnreadableKind::Syntax, what, source.place(index, after));
                        }
                        // `a[$(…)]` as the name of a variable runs the substitution.
                        let name = name.to_owned();
                        self.subscript_text(&name, source.place(index, after), scope, place);
                        Base::One(Value::Unknown)
                    }
                    None => Base::One(Value::Unknown),
                },
                _ => Base::One(Value::Unknown),
            };
        }
        self.operate(expansion, scope, place, base, &name, (cursor, after - 1), shown, quote);
    }

    /// Text that names a variable: the commands in its subscript run.
    pub(super) fn subscript_text(
        &mut self,
        text: &str,
        span: Option<(usize, usize)>,
        scope: &mut Scope,
        place: &Place,
    ) {
        if text.contains('[') && (text.contains("$(") || text.contains('`')) {
            let inner = Source { text, base: None, span, holes: Rc::default() };
            self.here_text(&inner, Parts::None, (0, text.len()), scope, place);
        }
    }

    fn base(
        &mut self,
        source: &Source<'_>,
        parts: Parts<'_>,
        name: &str,
        subscript: Option<(usize, usize)>,
        scope: &mut Scope,
        place: &Place,
    ) -> Base {
        if name == "@" || name == "*" {
            return match &scope.parameters {
                Some(words) => Base::Many(words.to_vec(), name == "*"),
                None => Base::UnknownMany,
            };
        }
        let Some((from, to)) = subscript else {
            self.moved_parameter(scope, name);
            return Base::One(match self.lookup(scope, name) {
                Value::List(words) => Value::element(&words, 0, self.patterns_vanish),
                value => value,
            });
        };
        let text = source.text.get(from..to).unwrap_or_default();
        if text == "@" || text == "*" {
            return match self.lookup(scope, name) {
                Value::List(words) => Base::Many(words, text == "*"),
                Value::Text(word) => Base::Many(vec![word], text == "*"),
                Value::Unset => Base::Many(Vec::new(), text == "*"),
                Value::Unknown => Base::UnknownMany,
            };
        }
        let number = self.arithmetic(source, parts, (from, to), scope, place);
        Base::One(match (self.lookup(scope, name), number) {
            // Which element has which number is not known.
            (Value::List(words), number) if words.iter().any(Word::may_split) => {
                let index = number.and_then(|number| usize::try_from(number).ok());
                match index.filter(|index| !is_moved(&words, *index)) {
                    Some(index) => Value::element(&words, index, self.patterns_vanish),
                    None => {
                        self.moved(&format!("{name}[…]"));
                        Value::Unknown
                    }
                }
            }
            (Value::List(words), Some(number)) => {
                let count = i64::try_from(words.len()).unwrap_or(i64::MAX);
                let index = if number < 0 { number + count } else { number };
                match usize::try_from(index).ok().and_then(|index| words.into_iter().nth(index)) {
                    Some(word) => Value::Text(word),
                    None => Value::Unset,
                }
            }
            (Value::Text(word), Some(0)) => Value::Text(word),
            (Value::Unset, _) => Value::Unset,
            _ => Value::Unknown,
        })
    }

    /// Notes a parameter that may be another word than the one in its place: what it names is no mere unknown, it is
    /// one of the words that stand there, and nobody may be told that nothing was read or written.
    pub(super) fn moved_parameter(&mut self, scope: &Scope, name: &str) {
        let Some(words) = &scope.parameters else { return };
        let index = name.parse::<usize>().ok().and_then(|position| position.checked_sub(1));
        if index.is_some_and(|index| is_moved(words, index)) {
            self.moved(&format!("${name}"));
        }
    }

    fn moved(&mut self, shown: &str) {
        let what = format!("which word {shown} is depends on how many the ones before it become");
        self.unreadable(UnreadableKind::Words, what, None);
    }

    #[expect(clippy::too_many_arguments, reason = "everything that an operator of an expansion may need")]
    fn operate(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        base: Base,
        name: &str,
        (from, to): (usize, usize),
        shown: &str,
        quote: Quote,
    ) {
        let operator = expansion.source.text.get(from..to).unwrap_or_default();
        let bytes = operator.as_bytes();
        match bytes {
            [] => self.push_base(expansion, scope, base, shown, quote),
            [b':', kind @ (b'-' | b'=' | b'?' | b'+'), ..] => {
                self.default_value(
                    expansion,
                    scope,
                    place,
                    base,
                    name,
                    (from + 2, to),
                    *kind,
                    true,
                    shown,
                    quote,
                );
            }
            [kind @ (b'-' | b'=' | b'?' | b'+'), ..] => {
                self.default_value(
                    expansion,
                    scope,
                    place,
                    base,
                    name,
                    (from + 1, to),
                    *kind,
                    false,
                    shown,
                    quote,
                );
            }
            [b':', ..] => self.slice(expansion, scope, place, base, (from + 1, to), shown, quote),
            [first @ (b'#' | b'%'), rest @ ..] => {
                let is_long = rest.first() == Some(first);
                let start = from + 1 + usize::from(is_long);
                let pattern = self.pattern(expansion, scope, place, (start, to));
                let is_prefix = *first == b'#';
                let changed = self.each(base, |text| pattern.as_ref()?.cut(text, is_prefix, is_long));
                self.push_base(expansion, scope, changed, shown, quote);
            }
            [b'/', rest @ ..] => {
                let (anchor, skipped) = match rest {
                    [kind @ (b'/' | b'#' | b'%'), _, ..] => (*kind, 2),
                    _ => (b' ', 1),
                };
                let start = from + skipped;
                let middle = separator(expansion.source.text, start, to);
                let pattern = self.pattern(expansion, scope, place, (start, middle.unwrap_or(to)));
                let replacement = match middle {
                    Some(middle) => self.operand(expansion, scope, place, (middle + 1, to), quote),
                    None => Word::default(),
                };
                let replacement = replacement.value().map(str::to_owned);
                let changed =
                    self.each(base, |text| pattern.as_ref()?.replace(text, replacement.as_deref()?, anchor));
                self.push_base(expansion, scope, changed, shown, quote);
            }
            [kind @ (b'^' | b','), rest @ ..] => {
                let is_all = rest.first() == Some(kind);
                let has_pattern = rest.len() > usize::from(is_all);
                if has_pattern {
                    self.operand(expansion, scope, place, (from + 1, to), quote);
                }
                let is_upper = *kind == b'^';
                let changed =
                    self.each(base, |text| (!has_pattern).then(|| change_case(text, is_upper, is_all)));
                self.push_base(expansion, scope, changed, shown, quote);
            }
            [b'@', kind] => self.transform(expansion, scope, place, base, *kind, shown, quote),
            _ => {
                self.operand(expansion, scope, place, (from, to), quote);
                self.push_value(expansion, scope, Value::Unknown, shown, quote);
            }
        }
    }

    /// The operand of an operator as one value.
    fn operand(
        &mut self,
        expansion: &Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        (from, to): (usize, usize),
        quote: Quote,
    ) -> Word {
        let mut inner = Expansion::new(expansion.source, expansion.parts, false);
        let quote = if quote == Quote::None { Quote::None } else { Quote::Operand };
        self.scan(&mut inner, scope, place, from, to, quote, None);
        inner.fields.into_value()
    }

    fn pattern(
        &mut self,
        expansion: &Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        (from, to): (usize, usize),
    ) -> Option<Pattern> {
        let mut inner = Expansion::new(expansion.source, expansion.parts, false);
        self.scan(&mut inner, scope, place, from, to, Quote::None, None);
        let words = inner.fields.into_words();
        match words.as_slice() {
            [] => Pattern::new(&Word::default()),
            // A value in a pattern is a pattern, unless it stands in quotes; which it was is not kept.
            [word]
                if word.pieces.iter().any(
                    |piece| matches!(piece, Piece::Text(text) if text.contains(['\\', '*', '?', '['])),
                ) && expansion.source.text.get(from..to).is_some_and(|raw| raw.contains(['$', '`'])) =>
            {
                None
            }
            [word] => Pattern::new(word),
            _ => None,
        }
    }

    /// Applies a change to every known text of a value; what is not known stays so.
    fn each(&mut self, base: Base, change: impl Fn(&str) -> Option<String>) -> Base {
        let mut one = |word: &Word| {
            let text = word.value().filter(|text| text.len() <= LONGEST)?;
            if !self.spend(text.len()) {
                return None;
            }
            change(text).map(Word::known)
        };
        match base {
            Base::One(Value::Text(word)) => Base::One(one(&word).map_or(Value::Unknown, Value::Text)),
            Base::One(Value::Unset) => Base::One(Value::Unset),
            Base::One(_) => Base::One(Value::Unknown),
            Base::Many(words, is_star) => match words.iter().map(one).collect::<Option<Vec<Word>>>() {
                Some(words) => Base::Many(words, is_star),
                None => Base::UnknownMany,
            },
            Base::UnknownMany => Base::UnknownMany,
        }
    }

    fn push_base(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &Scope,
        base: Base,
        shown: &str,
        quote: Quote,
    ) {
        match base {
            Base::One(value) => self.push_value(expansion, scope, value, shown, quote),
            Base::Many(words, is_star) => self.list(expansion, scope, &words, quote, is_star),
            Base::UnknownMany => {
                expansion.fields.piece(Piece::Unknown { splits: true, source: shorten(shown) });
            }
        }
    }

    /// `:-`, `:=`, `:?`, `:+` and their kin without colon.
    #[expect(clippy::too_many_arguments, reason = "everything that an operator of an expansion may need")]
    fn default_value(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        base: Base,
        name: &str,
        (from, to): (usize, usize),
        kind: u8,
        has_colon: bool,
        shown: &str,
        quote: Quote,
    ) {
        let is_set = match &base {
            Base::One(Value::Unset) => Some(false),
            Base::One(Value::Unknown) | Base::UnknownMany => None,
            Base::One(Value::List(words)) | Base::Many(words, _) if words.iter().any(Word::may_split) => None,
            // A list of one empty word is as empty as none where there is a colon.
            Base::One(Value::List(words)) | Base::Many(words, _)
                if has_colon && matches!(words.as_slice(), [word] if word.pieces.is_empty()) =>
            {
                Some(false)
            }
            Base::One(Value::List(words)) | Base::Many(words, _) => Some(!words.is_empty()),
            Base::One(Value::Text(word)) => match word.pieces.as_slice() {
                [] => Some(!has_colon),
                pieces if pieces.iter().all(|piece| matches!(piece, Piece::Unknown { .. })) => None,
                _ => Some(true),
            },
        };
        let takes_operand = is_set.map(|is_set| is_set == (kind == b'+'));
        match takes_operand {
            Some(true) if kind != b'?' => {
                if kind == b'=' {
                    let value = self.operand(expansion, scope, place, (from, to), quote);
                    if is_name(name) {
                        scope.set(name, Value::Text(value.clone()));
                    }
                    self.push_value(expansion, scope, Value::Text(value), shown, quote);
                } else {
                    let splits_text = std::mem::replace(&mut expansion.splits_text, expansion.splits);
                    if expansion.splits {
                        expansion.separators = Some(self.lookup(scope, "IFS"));
                    }
                    let quote = if quote == Quote::None { Quote::None } else { Quote::Operand };
                    if quote != Quote::None {
                        expansion.fields.quoted("");
                    }
                    self.scan(expansion, scope, place, from, to, quote, None);
                    expansion.splits_text = splits_text;
                }
            }
            Some(true) if kind == b'?' => {
                self.errors += 1;
                self.operand(expansion, scope, place, (from, to), quote);
                self.push_value(expansion, scope, Value::Unknown, shown, quote);
            }
            Some(false) if kind != b'+' => self.push_base(expansion, scope, base, shown, quote),
            Some(false) => {
                let is_none = matches!(&base, Base::Many(words, false) if words.is_empty());
                expansion.fields.has_vanished |= is_none && quote != Quote::None;
                self.push_value(expansion, scope, Value::Unset, shown, quote);
            }
            _ => {
                self.errors += usize::from(kind == b'?');
                // Commands in the operand may run.
                self.operand(expansion, scope, place, (from, to), quote);
                if kind == b'=' && is_name(name) {
                    scope.set(name, Value::Unknown);
                }
                if matches!(base, Base::UnknownMany | Base::Many(..)) {
                    self.push_base(expansion, scope, Base::UnknownMany, shown, quote);
                    return;
                }
                self.push_value(expansion, scope, Value::Unknown, shown, quote);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "everything that an operator of an expansion may need")]
    fn slice(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        base: Base,
        (from, to): (usize, usize),
        shown: &str,
        quote: Quote,
    ) {
        let source = expansion.source;
        let middle = colon(source.text, from, to);
        let parts = expansion.parts;
        let offset = self.arithmetic(source, parts, (from, middle.unwrap_or(to)), scope, place);
        let length = middle.map(|middle| self.arithmetic(source, parts, (middle + 1, to), scope, place));
        let (Some(offset), Some(length)) = (offset, length.map_or(Some(None), |length| length.map(Some)))
        else {
            let unknown =
                if matches!(base, Base::One(_)) { Base::One(Value::Unknown) } else { Base::UnknownMany };
            self.push_base(expansion, scope, unknown, shown, quote);
            return;
        };
        let range = |count: usize| -> Option<(usize, usize)> {
            let count = i64::try_from(count).ok()?;
            let start = if offset < 0 { count + offset } else { offset };
            if start < 0 || start > count {
                return Some((0, 0));
            }
            let end = match length {
                None => count,
                Some(length) if length < 0 => count + length,
                Some(length) => start.saturating_add(length).min(count),
            };
            Some((usize::try_from(start).ok()?, usize::try_from(end.max(start)).ok()?))
        };
        let changed = match base {
            Base::Many(words, is_star) if is_positional(source.text, shown) => {
                // `${@:0:…}` begins with the shell's own name.
                let mut all = vec![Word::known("bash")];
                all.extend(words);
                cut_list(all, range, is_star)
            }
            Base::Many(words, is_star) => cut_list(words, range, is_star),
            other => self.each(other, |text| {
                let (start, end) = range(text.chars().count())?;
                Some(text.chars().skip(start).take(end - start).collect())
            }),
        };
        self.push_base(expansion, scope, changed, shown, quote);
    }

    #[expect(clippy::too_many_arguments, reason = "everything that an operator of an expansion may need")]
    fn transform(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        base: Base,
        kind: u8,
        shown: &str,
        quote: Quote,
    ) {
        if kind == b'P' {
            let words = match base {
                Base::One(Value::Text(word)) => vec![word],
                Base::Many(words, _) => words,
                Base::One(Value::Unset) => Vec::new(),
                _ => vec![super::expand::unknown(shown, false)],
            };
            for word in &words {
                let (text, holes) = super::source::with_holes(&word.pieces);
                if !holes.is_empty() {
                    let what = format!("{} evaluates a value that is not known", shorten(shown));
                    self.unreadable(UnreadableKind::Code, what, expansion.source.span.or(word.span));
                }
                let text = text.replace("\\$", "$").replace("\\\\", "\\");
                let inner =
                    Source { text: &text, base: None, span: expansion.source.span, holes: Rc::new(holes) };
                self.here_text(&inner, Parts::None, (0, text.len()), scope, place);
            }
            self.push_value(expansion, scope, Value::Unknown, shown, quote);
            return;
        }
        let changed = match kind {
            b'Q' => self.each(base, |text| {
                // What does not print is shown otherwise.
                (!text.contains(char::is_control)).then(|| format!("'{}'", text.replace('\'', "'\\''")))
            }),
            b'E' => self.each(base, |text| Some(ansi::decode(text))),
            b'U' => self.each(base, |text| Some(change_case(text, true, true))),
            b'L' => self.each(base, |text| Some(change_case(text, false, true))),
            b'u' => self.each(base, |text| Some(change_case(text, true, false))),
            _ => Base::One(Value::Unknown),
        };
        self.push_base(expansion, scope, changed, shown, quote);
    }
}

fn cut_list(words: Vec<Word>, range: impl Fn(usize) -> Option<(usize, usize)>, is_star: bool) -> Base {
    match range(words.len()).filter(|_| !words.iter().any(Word::may_split)) {
        Some((start, end)) => Base::Many(words.into_iter().skip(start).take(end - start).collect(), is_star),
        None => Base::UnknownMany,
    }
}

fn is_positional(_: &str, shown: &str) -> bool {
    shown.starts_with("${@") || shown.starts_with("${*")
}

fn change_case(text: &str, is_upper: bool, is_all: bool) -> String {
    let change = |text: &str| if is_upper { text.to_uppercase() } else { text.to_lowercase() };
    if is_all {
        return change(text);
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    let (head, tail) = text.split_at(first);
    format!("{}{tail}", change(head))
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

/// The position behind the `]` of a subscript.
fn subscript_end(text: &str, at: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 1_usize;
    let mut index = at;
    while index < end {
        index = match bytes.get(index)? {
            b'[' => {
                open += 1;
                index + 1
            }
            b']' => {
                open -= 1;
                if open == 0 {
                    return Some(index + 1);
                }
                index + 1
            }
            _ => step(text, index)?,
        };
    }
    None
}

/// The `/` between pattern and replacement.
fn separator(text: &str, at: usize, end: usize) -> Option<usize> {
    find(text, at, end, b'/')
}

/// The `:` between offset and length.
fn colon(text: &str, at: usize, end: usize) -> Option<usize> {
    find(text, at, end, b':')
}

fn find(text: &str, at: usize, end: usize, wanted: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut index = at;
    while index < end {
        if *bytes.get(index)? == wanted {
            return Some(index);
        }
        index = step(text, index)?;
    }
    None
}

fn step(text: &str, index: usize) -> Option<usize> {
    match text.as_bytes().get(index)? {
        b'\\' => Some(index + 2),
        b'\'' => skip::single_quote(text, index).or(Some(index + 1)),
        b'"' => skip::double_quote(text, index),
        b'`' => skip::back_quote(text, index),
        b'$' => skip::dollar(text, index, false),
        _ => Some(index + 1),
    }
}
