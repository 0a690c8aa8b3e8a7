//! awk: `system`, files and pipes of `print` and `getline`.

use super::super::effect::Access;
use super::super::word::Word;
use super::{CodeReading, unknown};

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Text(String),
    Name(String),
    Mark(char),
    Value,
}

/// Reads an awk program.
pub(super) fn read(text: &str, reading: &mut CodeReading) {
    let Some(tokens) = tokens(text) else {
        reading.unreadable("awk code whose quotes do not close");
        return;
    };
    // `>` compares, except in the list of a print.
    let mut prints = false;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) if name == "print" || name == "printf" => {
                prints = true;
                depth = 0;
            }
            Token::Name(name) if name == "system" => match operand(&tokens, at + 1) {
                Some(line) => reading.shell.push(line),
                None => reading.unreadable("awk code that gives a shell a line that is not known"),
            },
            Token::Name(name) if name == "getline" => {
                if matches!(tokens.get(at.wrapping_sub(1)), Some(Token::Mark('|'))) {
                    match at.checked_sub(2).and_then(|before| tokens.get(before)) {
                        Some(Token::Text(line)) => reading.shell.push(Word::known(line.clone())),
                        _ => reading.unreadable("awk code that gives a shell a line that is not known"),
                    }
                }
                let file = (at + 1..at + 3).find(|next| tokens.get(*next) == Some(&Token::Mark('<')));
                if let Some(Token::Text(path)) = file.and_then(|mark| tokens.get(mark + 1)) {
                    reading.path(Access::Read, false, Word::known(path.clone()));
                }
            }
            Token::Mark('\n' | '}') => prints = false,
            Token::Mark('(') => depth += 1,
            Token::Mark(')') => depth = depth.saturating_sub(1),
            Token::Mark('>') if prints && depth == 0 => {
                let next = if tokens.get(at + 1) == Some(&Token::Mark('>')) { at + 2 } else { at + 1 };
                if tokens.get(at.wrapping_sub(1)) == Some(&Token::Mark('>')) {
                    continue;
                }
                match operand(&tokens, next) {
                    Some(path) if is_stream(&path) => {}
                    Some(path) => reading.path(Access::Write, false, path),
                    None => reading.unreadable("awk code that writes a path that is not known"),
                }
            }
            Token::Mark('|') if tokens.get(at + 1) == Some(&Token::Mark('|')) => {}
            Token::Mark('|') if tokens.get(at.wrapping_sub(1)) == Some(&Token::Mark('|')) => {}
            Token::Mark('|') if prints && depth == 0 => {
                let next = if tokens.get(at + 1) == Some(&Token::Mark('&')) { at + 2 } else { at + 1 };
                match operand(&tokens, next) {
                    Some(line) => reading.shell.push(line),
                    None => reading.unreadable("awk code that gives a shell a line that is not known"),
                }
            }
            Token::Text(_) | Token::Name(_) | Token::Mark(_) | Token::Value => {}
        }
    }
}

fn is_stream(path: &Word) -> bool {
    matches!(path.value(), Some("/dev/stderr" | "/dev/stdout" | "/dev/null" | "/dev/tty" | "-"))
}

/// The constant at `at`, brackets around it taken away; concatenations with what is not known keep their known part.
fn operand(tokens: &[Token], at: usize) -> Option<Word> {
    let mut word = Word::default();
    let mut known = false;
    for token in tokens.get(at..)? {
        match token {
            Token::Mark('(') if !known && word.pieces.is_empty() => {}
            Token::Text(text) => {
                known = true;
                word.pieces.push(super::super::word::Piece::Text(text.clone()));
            }
            Token::Name(_) | Token::Value => word.pieces.extend(unknown("value").pieces),
            Token::Mark('$' | '[' | ']' | ',' | '.') => {}
            Token::Mark(_) => break,
        }
    }
    if let [one] = word.pieces.as_slice() {
        return matches!(one, super::super::word::Piece::Text(_)).then_some(word);
    }
    let text: Option<String> = word
        .pieces
        .iter()
        .map(|piece| match piece {
            super::super::word::Piece::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    match text {
        Some(text) if known => Some(Word::known(text)),
        _ => None,
    }
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '#' => while chars.next_if(|c| *c != '\n').is_some() {},
            '"' => {
                let mut inner = String::new();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            'n' => inner.push('\n'),
                            't' => inner.push('\t'),
                            other => inner.push(other),
                        },
                        other => inner.push(other),
                    }
                }
                out.push(Token::Text(inner));
            }
            '/' if expects_value(out.last()) => {
                loop {
                    match chars.next()? {
                        '/' => break,
                        '\\' => {
                            chars.next()?;
                        }
                        _ => {}
                    }
                }
                out.push(Token::Value);
            }
            ';' | '\n' => out.push(Token::Mark('\n')),
            c if c.is_whitespace() => {}
            '\\' => {
                chars.next_if_eq(&'\n');
            }
            c if c.is_ascii_digit() => {
                while chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '.').is_some() {}
                out.push(Token::Value);
            }
            c if c.is_alphabetic() || c == '_' => {
                let mut name = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                out.push(Token::Name(name));
            }
            c => out.push(Token::Mark(c)),
        }
    }
    Some(out)
}

fn expects_value(before: Option<&Token>) -> bool {
    match before {
        None => true,
        Some(Token::Mark(c)) => !matches!(c, ')' | ']' | '$'),
        Some(Token::Name(_) | Token::Text(_) | Token::Value) => false,
    }
}
