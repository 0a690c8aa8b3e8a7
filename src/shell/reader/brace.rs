//! Brace expansion: `{a,b}` and `{1..9}` on raw words, before every other expansion.

use super::skip;

/// What became of a word's braces.
pub(super) enum Braces {
    /// There are none that expand.
    None,
    /// The raw words that they give.
    Words(Vec<String>),
    /// More than the reader is willing to make.
    TooMany,
}

/// Expands the braces of `raw`, into at most `limit` words.
pub(super) fn expand(raw: &str, limit: usize) -> Braces {
    let Some(first) = find(raw, 0) else { return Braces::None };
    let mut words = Vec::new();
    if combine(raw, first, limit, 0, &mut words) { Braces::Words(words) } else { Braces::TooMany }
}

/// One brace group that expands.
struct Group<'t> {
    start: usize,
    end: usize,
    kind: Kind<'t>,
}

enum Kind<'t> {
    List(Vec<&'t str>),
    Range(Vec<String>),
    TooMany,
}

fn combine(raw: &str, group: Group<'_>, limit: usize, depth: usize, words: &mut Vec<String>) -> bool {
    if depth > 16 {
        return false;
    }
    let prefix = raw.get(..group.start).unwrap_or_default();
    let suffix = raw.get(group.end..).unwrap_or_default();
    let mut tails = Vec::new();
    if !expand_part(suffix, limit, depth, &mut tails) {
        return false;
    }
    let mut heads: Vec<String> = Vec::new();
    match group.kind {
        Kind::TooMany => return false,
        Kind::Range(items) => heads = items,
        Kind::List(items) => {
            for item in items {
                if !expand_part(item, limit, depth, &mut heads) {
                    return false;
                }
            }
        }
    }
    if heads.len().saturating_mul(tails.len()) > limit {
        return false;
    }
    for head in &heads {
        for tail in &tails {
            let mut word = String::with_capacity(prefix.len() + head.len() + tail.len());
            word.push_str(prefix);
            word.push_str(head);
            word.push_str(tail);
            words.push(word);
        }
    }
    words.len() <= limit
}

fn expand_part(raw: &str, limit: usize, depth: usize, words: &mut Vec<String>) -> bool {
    match find(raw, 0) {
        Some(group) => combine(raw, group, limit, depth + 1, words),
        None => {
            words.push(raw.to_owned());
            words.len() <= limit
        }
    }
}

/// The first group of `raw` from `from` on that expands.
fn find(raw: &str, from: usize) -> Option<Group<'_>> {
    let bytes = raw.as_bytes();
    let mut index = from;
    let mut tries = 0_usize;
    while let Some(byte) = bytes.get(index) {
        match byte {
            b'{' => {
                // Unclosed openers would each be scanned to the end; nobody writes that many.
                tries += 1;
                if tries > 64 {
                    return Some(Group { start: index, end: bytes.len(), kind: Kind::TooMany });
                }
                if let Some(group) = group_at(raw, index) {
                    return Some(group);
                }
                index += 1;
            }
            _ => index = step(raw, index)?,
        }
    }
    None
}

/// The position after the quoted text, expansion or plain byte at `index`.
fn step(raw: &str, index: usize) -> Option<usize> {
    match raw.as_bytes().get(index)? {
        b'\\' => Some(index + 2),
        b'\'' => skip::single_quote(raw, index),
        b'"' => skip::double_quote(raw, index),
        b'`' => skip::back_quote(raw, index),
        b'$' => skip::dollar(raw, index, false),
        b'<' | b'>' if raw.as_bytes().get(index + 1) == Some(&b'(') => skip::parenthesis(raw, index + 2),
        _ => Some(index + 1),
    }
}

fn group_at(raw: &str, start: usize) -> Option<Group<'_>> {
    let bytes = raw.as_bytes();
    let mut index = start + 1;
    let mut depth = 0_usize;
    let mut item = index;
    let mut items = Vec::new();
    loop {
        match bytes.get(index)? {
            b'{' => {
                depth += 1;
                index += 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                index += 1;
            }
            b',' if depth == 0 => {
                items.push(raw.get(item..index)?);
                index += 1;
                item = index;
            }
            b'}' => {
                let last = raw.get(item..index)?;
                let end = index + 1;
                if items.is_empty() {
                    return range(last).map(|kind| Group { start, end, kind });
                }
                items.push(last);
                return Some(Group { start, end, kind: Kind::List(items) });
            }
            _ => index = step(raw, index)?,
        }
    }
}

/// `1..5`, `a..e`, `01..10..2`.
fn range(body: &str) -> Option<Kind<'static>> {
    let mut parts = body.split("..");
    let (first, last) = (parts.next()?, parts.next()?);
    let step = match parts.next() {
        Some(step) => step.parse::<i64>().ok()?.unsigned_abs().max(1),
        None => 1,
    };
    if parts.next().is_some() {
        return None;
    }
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let padded = |text: &str| text.trim_start_matches(['-', '+']).starts_with('0') && text.len() > 1;
        let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
        let count = from.abs_diff(to) / step;
        if count > 4096 {
            return Some(Kind::TooMany);
        }
        let signed = i64::try_from(step).ok()?;
        let items = (0..=i64::try_from(count).ok()?).map(|index| {
            let value = if from <= to { from + index * signed } else { from - index * signed };
            format!("{value:0width$}")
        });
        return Some(Kind::Range(items.collect()));
    }
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    };
    let (from, to) = (letter(first)?, letter(last)?);
    let step = usize::try_from(step).ok()?;
    let items: Vec<String> = if from <= to {
        (from..=to).step_by(step).map(|byte| char::from(byte).to_string()).collect()
    } else {
        (to..=from).rev().step_by(step).map(|byte| char::from(byte).to_string()).collect()
    };
    Some(Kind::Range(items))
}

#[cfg(test)]
mod tests {
    use super::{Braces, expand};

    fn words(raw: &str) -> String {
        match expand(raw, 100) {
            Braces::None => "-".to_owned(),
            Braces::Words(words) => words.join(" "),
            Braces::TooMany => "many".to_owned(),
        }
    }

    #[test]
    fn groups_expand_as_in_bash() {
        assert_eq!(words("r{m,x}"), "rm rx");
        assert_eq!(words("a{b,{c,d}}e{1..3}"), "abe1 abe2 abe3 ace1 ace2 ace3 ade1 ade2 ade3");
        assert_eq!(words("{a}"), "-");
        assert_eq!(words("{}"), "-");
        assert_eq!(words("{a,b"), "-");
        assert_eq!(words("{{a,b}"), "{a {b");
        assert_eq!(words("'{a,b}'"), "-");
        assert_eq!(words("${x}{1,2}"), "${x}1 ${x}2");
        assert_eq!(words("{03..1}"), "03 02 01");
        assert_eq!(words("{a..e..2}"), "a c e");
        assert_eq!(words("{1..1000000}"), "many");
        assert_eq!(words("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"), "many");
    }
}
