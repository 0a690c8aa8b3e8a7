//! Constant arguments of calls: what a text says a value is.

use super::super::word::{Piece, Word};
use super::calls::{Argument, Scan, Value};
use super::lexer::Token;
use super::unknown;

impl Scan<'_> {
    pub(super) fn arguments(&self, from: usize, in_brackets: bool) -> Vec<Argument> {
        let mut arguments = Vec::new();
        let mut at = if in_brackets { from + 1 } else { from };
        let mut start = at;
        let mut depth = 0_usize;
        loop {
            let end = match self.token(at) {
                None => true,
                Some(Token::Mark(')')) if depth == 0 => true,
                Some(Token::Mark('\n' | '}')) if depth == 0 && !in_brackets => true,
                Some(Token::Name(word)) if depth == 0 && !in_brackets => {
                    matches!(
                        word.as_str(),
                        "or" | "and" | "if" | "unless" | "while" | "do" | "for" | "foreach"
                    )
                }
                Some(Token::Mark('|' | '&')) if depth == 0 && !in_brackets => true,
                Some(_) => false,
            };
            let comma = depth == 0 && self.is_mark(at, ',');
            if end || comma {
                if at > start {
                    arguments.push(self.argument(start, at));
                }
                if end {
                    return arguments;
                }
                start = at + 1;
            }
            match self.token(at) {
                Some(Token::Mark('(' | '[' | '{')) => depth += 1,
                Some(Token::Mark(')' | ']' | '}')) => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
    }

    pub(super) fn argument(&self, start: usize, end: usize) -> Argument {
        let mut from = start;
        while from < end && self.is_mark(from, '\n') {
            from += 1;
        }
        let mut keyword = None;
        if let Some(name) = self.name(from)
            && self.is_mark(from + 1, '=')
            && !self.is_mark(from + 2, '=')
        {
            keyword = Some(name.to_owned());
            from += 2;
        }
        // Perl's `my $x`.
        if matches!(self.name(from), Some("my" | "local" | "our" | "new" | "await")) {
            from += 1;
        }
        let words = (from..end)
            .filter_map(|at| match self.token(at) {
                Some(Token::Name(name)) => Some(name.clone()),
                Some(Token::Mark(mark)) => Some(mark.to_string()),
                Some(Token::Text(word)) => Some(word.shown().into_owned()),
                _ => None,
            })
            .collect();
        let (value, next) = self.value(from);
        let rest_is_blank = (next..end).all(|at| self.is_mark(at, '\n'));
        let value = match value {
            value if rest_is_blank => value,
            _ => Value::Unknown,
        };
        Argument { keyword, value, words }
    }

    /// The value that begins at `at`, and where it ends.
    pub(super) fn value(&self, at: usize) -> (Value, usize) {
        let (mut value, mut at) = self.operand(at);
        loop {
            let joins = match self.token(at) {
                Some(Token::Text(_)) => true,
                Some(Token::Mark('+' | '.' | '/')) if !self.is_mark(at + 1, '=') => {
                    at += 1;
                    true
                }
                _ => false,
            };
            if !joins {
                return (value, at);
            }
            let is_division = self.is_mark(at.wrapping_sub(1), '/');
            let (more, next) = self.operand(at);
            value = match (value, more) {
                (Value::Text(mut one), Value::Text(other)) => {
                    if is_division {
                        append(&mut one, &Word::known("/"));
                    }
                    append(&mut one, &other);
                    Value::Text(one)
                }
                (Value::Text(mut one), Value::Unknown) => {
                    append(&mut one, &unknown("value"));
                    Value::Text(one)
                }
                (Value::Unknown, Value::Text(other)) => {
                    let mut one = unknown("value");
                    append(&mut one, &other);
                    Value::Text(one)
                }
                (value, _) => value,
            };
            if next <= at {
                return (value, at + 1);
            }
            at = next;
        }
    }

    pub(super) fn operand(&self, at: usize) -> (Value, usize) {
        match self.token(at) {
            Some(Token::Text(word)) => (Value::Text(word.clone()), at + 1),
            Some(Token::Mark('(')) => {
                let (value, next) = self.value(at + 1);
                if self.is_mark(next, ',') {
                    return self.list(at, ')');
                }
                (value, if self.is_mark(next, ')') { next + 1 } else { self.after_group(at) })
            }
            Some(Token::Mark('[')) => self.list(at, ']'),
            Some(Token::Name(name)) => {
                let full = self.resolved(name);
                if self.is_mark(at + 1, '(') {
                    let end = self.after_group(at + 1);
                    if !self.dialect.transparent.contains(&full.as_str()) {
                        return (Value::Unknown, end);
                    }
                    let joins = full.ends_with("join");
                    let mut whole = Word::default();
                    for (index, argument) in self.arguments(at + 1, true).iter().enumerate() {
                        if index > 0 {
                            append(
                                &mut whole,
                                &Word::known(if joins || full.ends_with("Path") { "/" } else { "" }),
                            );
                        }
                        match &argument.value {
                            Value::Text(word) => append(&mut whole, word),
                            Value::List(_) | Value::Unknown => append(&mut whole, &unknown("value")),
                        }
                    }
                    return (Value::Text(whole), end);
                }
                (self.constants.get(name.as_str()).cloned().unwrap_or(Value::Unknown), at + 1)
            }
            _ => (Value::Unknown, at + 1),
        }
    }

    pub(super) fn list(&self, open: usize, close: char) -> (Value, usize) {
        let mut words = Vec::new();
        let mut at = open + 1;
        loop {
            match self.token(at) {
                None => return (Value::Unknown, at),
                Some(Token::Mark(c)) if *c == close => return (Value::List(words), at + 1),
                Some(Token::Mark(',' | '\n')) => at += 1,
                Some(_) => {
                    let (value, next) = self.value(at);
                    words.push(match value {
                        Value::Text(word) => word,
                        Value::List(_) | Value::Unknown => splitting("value"),
                    });
                    at = if next > at { next } else { at + 1 };
                    while !matches!(self.token(at), None | Some(Token::Mark(',' | ']' | ')'))) {
                        at += 1;
                    }
                }
            }
        }
    }

    pub(super) fn after_group(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = open;
        while let Some(token) = self.token(at) {
            match token {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(')' | ']' | '}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// The path that a method at `at` is called on.
    pub(super) fn receiver(&self, at: usize, full: &str) -> Value {
        if let Some(name) = full.strip_prefix('.') {
            let _ = name;
            let Some(close) = at.checked_sub(1) else { return Value::Unknown };
            if let Some(Token::Text(word)) = self.token(close) {
                return Value::Text(word.clone());
            }
            if self.is_mark(close, ')') {
                let mut depth = 0_usize;
                let mut back = close;
                loop {
                    match self.token(back) {
                        Some(Token::Mark(')')) => depth += 1,
                        Some(Token::Mark('(')) => {
                            depth = depth.saturating_sub(1);
                            if depth == 0 {
                                break;
                            }
                        }
                        _ => {}
                    }
                    let Some(next) = back.checked_sub(1) else { return Value::Unknown };
                    back = next;
                }
                let start = match back.checked_sub(1) {
                    Some(name) if self.name(name).is_some() => name,
                    _ => back,
                };
                return self.operand(start).0;
            }
            if let Some(name) = self.name(close) {
                return self.constants.get(name).cloned().unwrap_or(Value::Unknown);
            }
            return Value::Unknown;
        }
        let receiver = full.rsplit_once('.').map_or("", |(receiver, _)| receiver);
        self.constants.get(receiver).cloned().unwrap_or(Value::Unknown)
    }
}

/// A word that stands for any number of words.
pub(super) fn splitting(source: &str) -> Word {
    Word { pieces: vec![Piece::Unknown { splits: true, source: source.to_owned() }], span: None }
}

pub(super) fn append(word: &mut Word, more: &Word) {
    for piece in &more.pieces {
        match (word.pieces.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(text),
            _ => word.pieces.push(piece.clone()),
        }
    }
}
