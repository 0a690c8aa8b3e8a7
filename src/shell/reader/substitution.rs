//! `$…`, back-quotes and process substitutions within a word.

use std::rc::Rc;

use shuck_ast::StmtSeq;

use super::super::word::{Piece, Word};
use super::expand::{Expansion, Quote};
use super::parts::{Part, Parts};
use super::scope::{Scope, Value};
use super::source::Source;
use super::{Place, Reader, Stored, UnreadableKind, ansi, arithmetic, skip};

impl Reader<'_> {
    /// What begins with the `$` at `index`. Answers with the position behind it.
    pub(super) fn dollar(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        index: usize,
        end: usize,
        quote: Quote,
    ) -> usize {
        let text = expansion.source.text;
        let bytes = text.as_bytes();
        let next = if index + 1 < end { bytes.get(index + 1).copied() } else { None };
        match next {
            Some(b'(') if bytes.get(index + 2) == Some(&b'(') => {
                match self.arithmetic_range(expansion, index, end) {
                    Some((from, to, after)) => {
                        self.arithmetic_value(expansion, scope, place, (from, to), quote);
                        after
                    }
                    None => self.command_substitution(expansion, scope, place, index, end, quote),
                }
            }
            Some(b'(') => self.command_substitution(expansion, scope, place, index, end, quote),
            Some(b'[') => {
                let close = bracket(text, index + 2, end).unwrap_or(end);
                self.arithmetic_value(expansion, scope, place, (index + 2, close.saturating_sub(1)), quote);
                close
            }
            Some(b'{') => {
                let after = match expansion.parts.at(index) {
                    Some(Part::Other(span)) if span.end.offset() <= end => {
                        let after = Some(span.end.offset());
                        let quoted = quote != Quote::None;
                        if [quoted, !quoted]
                            .iter()
                            .all(|quoted| skip::brace(text, index + 2, *quoted) != after)
                        {
                            self.unreadable(
                                UnreadableKind::Syntax,
                                "where this ${ ends is not certain".to_owned(),
                                expansion.source.place(index, end),
                            );
                        }
                        after
                    }
                    _ => skip::brace(text, index + 2, quote != Quote::None).filter(|after| *after <= end),
                };
                let Some(after) = after.filter(|after| *after > index + 2) else {
                    self.unreadable(
                        UnreadableKind::Syntax,
                        "a ${ is not closed".to_owned(),
                        expansion.source.place(index, end),
                    );
                    return end;
                };
                self.parameter(expansion, scope, place, (index, after), quote);
                after
            }
            Some(b'\'') if quote == Quote::None => {
                let close = skip::ansi_quote(text, index + 1).map_or(end, |close| close.min(end));
                let raw = text.get(index + 2..close.saturating_sub(1)).unwrap_or_default();
                expansion.fields.quoted(&ansi::decode(raw));
                close
            }
            Some(b'"') if quote == Quote::None => {
                expansion.fields.quoted("");
                self.scan(expansion, scope, place, index + 2, end, Quote::Double, Some(b'"'))
            }
            Some(first) if first == b'_' || first.is_ascii_alphabetic() => {
                let rest = bytes.get(index + 1..end).unwrap_or_default();
                let length = rest
                    .iter()
                    .position(|byte| !(*byte == b'_' || byte.is_ascii_alphanumeric()))
                    .unwrap_or(rest.len());
                let after = index + 1 + length;
                let name = text.get(index + 1..after).unwrap_or_default();
                self.variable(expansion, scope, name, text.get(index..after).unwrap_or_default(), quote);
                after
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0'..=b'9') => {
                let name = text.get(index + 1..index + 2).unwrap_or_default();
                self.variable(expansion, scope, name, text.get(index..index + 2).unwrap_or_default(), quote);
                index + 2
            }
            _ => {
                match quote {
                    Quote::None => expansion.fields.plain("$"),
                    Quote::Double | Quote::Operand | Quote::Here => expansion.fields.quoted("$"),
                }
                index + 1
            }
        }
    }

    /// Adds the value of a variable or special parameter.
    pub(super) fn variable(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &Scope,
        name: &str,
        shown: &str,
        quote: Quote,
    ) {
        match name {
            "@" | "*" => {
                let list = scope.parameters.clone();
                match list {
                    Some(words) => self.list(expansion, scope, &words, quote, name == "*"),
                    None => expansion.fields.piece(Piece::Unknown { splits: true, source: shown.to_owned() }),
                }
            }
            _ => {
                self.moved_parameter(scope, name);
                let value = self.lookup(scope, name);
                self.push_value(expansion, scope, value, shown, quote);
            }
        }
    }

    /// Adds the elements of a list: `"$@"`, `${a[*]}`.
    pub(super) fn list(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &Scope,
        words: &[Word],
        quote: Quote,
        is_star: bool,
    ) {
        let is_quoted = quote != Quote::None;
        expansion.fields.has_vanished |= is_quoted && !is_star && words.is_empty();
        // `"$*"` is joined by the first separator, everything else by blanks.
        let joint = if is_star && (is_quoted || !expansion.splits) {
            match self.lookup(scope, "IFS") {
                Value::Unset => Some(" ".to_owned()),
                Value::Text(word) => word.value().map(|text| text.chars().take(1).collect()),
                Value::List(_) | Value::Unknown => None,
            }
        } else {
            Some(" ".to_owned())
        };
        for (index, word) in words.iter().enumerate() {
            if !self.spend(4 + word.pieces.len()) {
                return;
            }
            let splits = |word: &Word| {
                word.pieces.iter().any(|piece| matches!(piece, Piece::Unknown { splits: true, .. }))
            };
            let before = index.checked_sub(1).and_then(|before| words.get(before));
            // An element that may be none at all leaves its neighbours in one word.
            let is_certain = !(splits(word) || before.is_some_and(splits));
            if index > 0 && is_certain {
                if expansion.splits && !(is_quoted && is_star) {
                    expansion.fields.split();
                } else {
                    match &joint {
                        Some(joint) => expansion.fields.quoted(joint),
                        None => {
                            let source = "$IFS".to_owned();
                            expansion.fields.piece(Piece::Unknown { splits: false, source });
                        }
                    }
                }
            }
            if let Some(Piece::Unknown { source, .. }) =
                word.pieces.iter().find(|piece| matches!(piece, Piece::Unknown { splits: true, .. }))
            {
                // An element of which nobody knows how many it is.
                expansion.fields.piece(Piece::Unknown { splits: expansion.splits, source: source.clone() });
                continue;
            }
            self.push_value(expansion, scope, Value::Text(word.clone()), "", quote);
        }
    }

    /// Adds a value, split and globbed as its quoting says.
    pub(super) fn push_value(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &Scope,
        value: Value,
        shown: &str,
        quote: Quote,
    ) {
        let is_quoted = quote != Quote::None;
        self.errors += usize::from(self.is_strict && matches!(value, Value::Unset | Value::Unknown));
        match value {
            Value::Unset => {
                if is_quoted {
                    expansion.fields.quoted("");
                }
            }
            Value::Unknown => {
                let splits = !is_quoted && expansion.splits;
                expansion.fields.piece(Piece::Unknown { splits, source: shown.to_owned() });
            }
            // `$a` is `${a[0]}`
            Value::List(words) => {
                let first = Value::element(&words, 0, self.patterns_vanish);
                self.push_value(expansion, scope, first, shown, quote);
            }
            Value::Text(word) => {
                if is_quoted || !expansion.splits {
                    expansion.fields.quoted("");
                }
                let separators =
                    if is_quoted || !expansion.splits { None } else { Some(self.lookup(scope, "IFS")) };
                for piece in word.pieces {
                    match piece {
                        Piece::Text(text) => {
                            if !self.spend(1 + text.len() / 16) {
                                return;
                            }
                            if is_quoted || !expansion.splits {
                                expansion.fields.quoted(&text);
                            } else {
                                self.split_text(expansion, &text, separators.as_ref());
                            }
                        }
                        Piece::Unknown { source, .. } => {
                            let splits = !is_quoted && expansion.splits;
                            expansion.fields.piece(Piece::Unknown { splits, source });
                        }
                        other => expansion.fields.piece(other),
                    }
                }
            }
        }
    }

    /// Unquoted text, split at the separators.
    pub(super) fn split_text(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        text: &str,
        separators: Option<&Value>,
    ) {
        let default = " \t\n";
        let own = if separators.is_none() { expansion.separators.clone() } else { None };
        let separators = match separators.or(own.as_ref()) {
            None | Some(Value::Unset) => default,
            Some(Value::Text(word)) => match word.value() {
                Some(known) => known,
                None => {
                    expansion
                        .fields
                        .piece(Piece::Unknown { splits: true, source: text.chars().take(80).collect() });
                    return;
                }
            },
            Some(Value::List(_) | Value::Unknown) => {
                expansion
                    .fields
                    .piece(Piece::Unknown { splits: true, source: text.chars().take(80).collect() });
                return;
            }
        };
        let is_separator = |character: char| separators.contains(character);
        let is_blank = |character: char| is_separator(character) && default.contains(character);
        let mut rest = text;
        loop {
            let Some(at) = rest.find(is_separator) else {
                expansion.fields.plain(rest);
                return;
            };
            expansion.fields.plain(rest.get(..at).unwrap_or_default());
            let after = rest.get(at..).unwrap_or_default();
            let trimmed = after.trim_start_matches(is_blank);
            let hard = trimmed.chars().next().filter(|character| is_separator(*character));
            if hard.is_some() {
                // A separator that is no blank makes a word even out of nothing.
                expansion.fields.present();
            }
            expansion.fields.split();
            rest = match hard {
                Some(character) => {
                    trimmed.get(character.len_utf8()..).unwrap_or_default().trim_start_matches(is_blank)
                }
                None => trimmed,
            };
            if rest.is_empty() || !self.spend(2) {
                return;
            }
        }
    }

    fn command_substitution(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        index: usize,
        end: usize,
        quote: Quote,
    ) -> usize {
        let source = expansion.source;
        let text = source.text;
        // The parser's ranges inside a body are off once a line is continued in it.
        let is_reliable = |from: usize, to: usize| {
            text.get(from..to).is_some_and(|body| body.ends_with(')') && !body.contains("\\\n"))
        };
        let after = match expansion.parts.at(index) {
            Some(Part::Commands(body, span)) if span.end.offset() <= end => {
                let after = span.end.offset();
                if is_reliable(index, after) && is_whole(body, source, after) {
                    let printed = self.captured(body, source, scope, place);
                    self.push_printed(expansion, scope, printed, (index, after), quote);
                    return after;
                }
                Some(after).filter(|after| text.get(index..*after).is_some_and(|body| body.ends_with(')')))
            }
            _ => None,
        };
        let after = after.or_else(|| skip::parenthesis(text, index + 2).filter(|after| *after <= end));
        let Some(after) = after else {
            let span = source.place(index, end);
            self.unreadable(UnreadableKind::Syntax, "a $( is not closed".to_owned(), span);
            return end;
        };
        let body = text.get(index + 2..after - 1).unwrap_or_default();
        let inner = Source {
            text: body,
            base: source.base.map(|base| base + index + 2),
            span: source.place(index, after),
            holes: Rc::clone(&source.holes),
        };
        let printed = self.captured_text(&inner, scope, place);
        self.push_printed(expansion, scope, printed, (index, after), quote);
        after
    }

    pub(super) fn back_quotes(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        index: usize,
        end: usize,
        quote: Quote,
    ) -> usize {
        let source = expansion.source;
        let after = match skip::back_quote(source.text, index).filter(|after| *after <= end) {
            Some(after) => after,
            None => {
                let span = source.place(index, end);
                self.unreadable(UnreadableKind::Syntax, "a back-quote is not closed".to_owned(), span);
                return end;
            }
        };
        let raw = source.text.get(index + 1..after - 1).unwrap_or_default();
        let mut body = String::with_capacity(raw.len());
        let mut characters = raw.chars().peekable();
        while let Some(character) = characters.next() {
            let is_escape = character == '\\'
                && match characters.peek() {
                    Some('\\' | '$' | '`') => true,
                    Some('"') => matches!(quote, Quote::Double | Quote::Operand),
                    _ => false,
                };
            match characters.next_if(|_| is_escape) {
                Some(escaped) => body.push(escaped),
                None => body.push(character),
            }
        }
        let inner = Source {
            text: &body,
            base: (body.len() == raw.len()).then(|| source.base.map(|base| base + index + 1)).flatten(),
            span: source.place(index, after),
            holes: Rc::clone(&source.holes),
        };
        let printed = self.captured_text(&inner, scope, place);
        self.push_printed(expansion, scope, printed, (index, after), quote);
        after
    }

    fn push_printed(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &Scope,
        printed: Option<Word>,
        (from, to): (usize, usize),
        quote: Quote,
    ) {
        let shown = expansion.source.text.get(from..to).unwrap_or("$(…)");
        match printed {
            Some(mut word) => {
                while let Some(Piece::Text(last)) = word.pieces.last_mut() {
                    let kept = last.trim_end_matches('\n').len();
                    last.truncate(kept);
                    if !last.is_empty() {
                        break;
                    }
                    word.pieces.pop();
                }
                self.push_value(expansion, scope, Value::Text(word), shown, quote);
            }
            None => {
                let shown: String = shown.chars().take(80).collect();
                self.push_value(expansion, scope, Value::Unknown, &shown, quote);
            }
        }
    }

    pub(super) fn process_substitution(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        index: usize,
        end: usize,
    ) -> usize {
        let source = expansion.source;
        let text = source.text;
        let is_input = text.as_bytes().get(index) == Some(&b'<');
        let first = self.reading.commands.len();
        let (printed, after) = match expansion.parts.at(index) {
            Some(Part::Commands(body, span))
                if span.end.offset() <= end
                    && is_whole(body, source, span.end.offset())
                    && source
                        .slice(span)
                        .is_some_and(|body| body.ends_with(')') && !body.contains("\\\n")) =>
            {
                (self.captured(body, source, scope, place), span.end.offset())
            }
            _ => match skip::parenthesis(text, index + 2).filter(|after| *after <= end) {
                Some(after) => {
                    let inner = Source {
                        text: text.get(index + 2..after - 1).unwrap_or_default(),
                        base: source.base.map(|base| base + index + 2),
                        span: source.place(index, after),
                        holes: Rc::clone(&source.holes),
                    };
                    (self.captured_text(&inner, scope, place), after)
                }
                None => {
                    let span = source.place(index, end);
                    self.unreadable(UnreadableKind::Syntax, "a <( is not closed".to_owned(), span);
                    return end;
                }
            },
        };
        self.substitutions += 1;
        let path = format!("/dev/fd/{}", 62 + self.substitutions);
        if is_input {
            let stored = match printed {
                Some(text) => Stored::Text(text),
                None => Stored::Foreign(self.origin(first), first..self.reading.commands.len()),
            };
            self.files.insert(path.clone(), vec![stored]);
        }
        expansion.fields.quoted(&path);
        after
    }

    /// The names of the programs started since `first`, for people.
    pub(super) fn origin(&self, first: usize) -> String {
        let names: Vec<&str> = self
            .reading
            .commands
            .iter()
            .skip(first)
            .filter_map(|command| command.invocation.program.as_deref())
            .take(3)
            .collect();
        if names.is_empty() { "a command".to_owned() } else { names.join(", ") }
    }

    /// The commands of a substitution, and what they print.
    fn captured(
        &mut self,
        body: &StmtSeq,
        source: &Source<'_>,
        scope: &Scope,
        place: &Place,
    ) -> Option<Word> {
        let mut inner = self.subshell(scope);
        let inside = Place { is_captured: true, redirects: Vec::new(), pipeline: None, ..place.clone() };
        let errors = self.errors;
        // After an error in an expansion nothing more is printed.
        self.statements(body, source, &mut inner, &inside).filter(|_| self.errors == errors)
    }

    pub(super) fn captured_text(
        &mut self,
        source: &Source<'_>,
        scope: &Scope,
        place: &Place,
    ) -> Option<Word> {
        let mut inner = self.subshell(scope);
        let inside = Place { is_captured: true, redirects: Vec::new(), pipeline: None, ..place.clone() };
        let errors = self.errors;
        self.text_statements(source, &mut inner, &inside).filter(|_| self.errors == errors)
    }

    /// The range of the expression in `$((…))` and the position behind it; `None` if it is a command
    /// substitution that begins with a subshell.
    fn arithmetic_range(
        &self,
        expansion: &Expansion<'_, '_>,
        index: usize,
        end: usize,
    ) -> Option<(usize, usize, usize)> {
        let text = expansion.source.text;
        let after = match expansion.parts.at(index) {
            Some(Part::Other(span)) => span.end.offset(),
            Some(Part::Commands(..)) => return None,
            None => skip::parenthesis(text, index + 2)?,
        };
        let to = after.checked_sub(2).filter(|to| *to >= index + 3 && after <= end)?;
        (text.get(to..after) == Some("))") && skip::parenthesis(text, index + 3) == Some(to + 1)).then_some((
            index + 3,
            to,
            after,
        ))
    }

    fn arithmetic_value(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        scope: &mut Scope,
        place: &Place,
        (from, to): (usize, usize),
        quote: Quote,
    ) {
        let value = self.arithmetic(expansion.source, expansion.parts, (from, to.max(from)), scope, place);
        let value = match value {
            Some(number) => Word::known(number.to_string()),
            None => {
                self.errors += 1;
                Word { pieces: vec![Piece::Name], span: None }
            }
        };
        self.push_value(expansion, scope, Value::Text(value), "$((…))", quote);
    }

    /// Reads an arithmetic expression: the commands in it count, its value is known if its parts are.
    pub(super) fn arithmetic(
        &mut self,
        source: &Source<'_>,
        parts: Parts<'_>,
        range: (usize, usize),
        scope: &mut Scope,
        place: &Place,
    ) -> Option<i64> {
        let text = self.here_text(source, parts, range, scope, place);
        let known = text.value().map(str::to_owned);
        let shown = known.clone().unwrap_or_else(|| text.shown().into_owned());
        self.evaluated(&shown, scope, place, source.place(range.0, range.1), 0);
        let value = known.as_deref().and_then(|known| {
            arithmetic::evaluate(known, &|name| match self.lookup(scope, name) {
                Value::Text(word) => word.value().map(str::to_owned),
                Value::Unset => Some(String::new()),
                Value::List(_) | Value::Unknown => None,
            })
        });
        arithmetic::assigned(&shown, &mut |name| scope.set(name, Value::Unknown));
        value
    }

    /// Text that is evaluated as arithmetic: the values of its variables are evaluated in turn, and a
    /// subscript in them may hold a command substitution.
    pub(super) fn evaluated(
        &mut self,
        text: &str,
        scope: &mut Scope,
        place: &Place,
        span: Option<(usize, usize)>,
        depth: usize,
    ) {
        if depth > 4 || !text.bytes().any(|byte| byte == b'_' || byte.is_ascii_alphabetic()) {
            return;
        }
        let mut seen: Vec<String> = Vec::new();
        for name in text.split(|character: char| !(character == '_' || character.is_ascii_alphanumeric())) {
            if !super::expand::is_name(name) || seen.iter().any(|other| other == name) || seen.len() > 32 {
                continue;
            }
            seen.push(name.to_owned());
            let Some(variable) = scope.variable(name) else { continue };
            let Value::Text(word) = &variable.value else { continue };
            let Some(value) = word.value().map(str::to_owned) else { continue };
            if value.contains("$(") || value.contains('`') {
                let inner = Source { text: &value, base: None, span, holes: Rc::default() };
                self.here_text(&inner, Parts::None, (0, value.len()), scope, place);
            } else if value.contains(|character: char| character.is_ascii_alphabetic()) && self.spend(8) {
                self.evaluated(&value, scope, place, span, depth + 1);
            }
        }
    }
}

/// Whether the parser's view of a substitution that ends before `after` reaches its end: it leaves out what it
/// cannot read, without a word.
fn is_whole(body: &StmtSeq, source: &Source<'_>, after: usize) -> bool {
    let Some(last) = body.iter().last() else { return false };
    let from = last.span.end.offset();
    let Some(rest) = after.checked_sub(1).and_then(|close| source.text.get(from..close)) else {
        return false;
    };
    let rest = rest.trim_start_matches(|next: char| next.is_whitespace() || matches!(next, ';' | '&'));
    rest.is_empty() || rest.starts_with('#')
}

/// The position behind the `]` that closes a `$[` whose body begins at `at`.
fn bracket(text: &str, at: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 1_usize;
    let mut index = at;
    while index < end {
        match bytes.get(index)? {
            b'[' => open += 1,
            b']' => {
                open -= 1;
                if open == 0 {
                    return Some(index + 1);
                }
            }
            b'$' if bytes.get(index + 1) == Some(&b'(') => {
                index = skip::dollar(text, index, true)?;
                continue;
            }
            _ => {}
        }
        index += 1;
    }
    None
}
