//! Where quotes and substitutions of raw shell text end.
//!
//! The parser's own ranges are used first; these scans serve text that it did not look into.

/// Nesting that the scans follow before they give up.
const DEPTH: usize = 40;

/// The position after the closing quote of the `'` at `at`.
pub(super) fn single_quote(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at + 1..)?;
    memchr::memchr(b'\'', rest).map(|found| at + 1 + found + 1)
}

/// The position after the closing quote of the `$'` whose quote stands at `at`.
pub(super) fn ansi_quote(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut index = at + 1;
    loop {
        match bytes.get(index)? {
            b'\\' => index += 2,
            b'\'' => return Some(index + 1),
            _ => index += 1,
        }
    }
}

/// The position after the closing back-quote of the one at `at`.
pub(super) fn back_quote(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut index = at + 1;
    loop {
        match bytes.get(index)? {
            b'\\' => index += 2,
            b'`' => return Some(index + 1),
            _ => index += 1,
        }
    }
}

/// The position after the closing quote of the `"` at `at`.
pub(super) fn double_quote(text: &str, at: usize) -> Option<usize> {
    double_quote_below(text, at, 0)
}

fn double_quote_below(text: &str, at: usize, depth: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut index = at + 1;
    loop {
        match bytes.get(index)? {
            b'\\' => index += 2,
            b'"' => return Some(index + 1),
            b'`' => index = back_quote(text, index)?,
            b'$' => index = dollar_below(text, index, true, depth)?,
            _ => index += 1,
        }
    }
}

/// The position after the expansion that begins with the `$` at `at`; one further if none does.
pub(super) fn dollar(text: &str, at: usize, quoted: bool) -> Option<usize> {
    dollar_below(text, at, quoted, 0)
}

fn dollar_below(text: &str, at: usize, quoted: bool, depth: usize) -> Option<usize> {
    if depth > DEPTH {
        return None;
    }
    match text.as_bytes().get(at + 1) {
        Some(b'(') => parenthesis_below(text, at + 2, depth + 1),
        Some(b'{') => brace_below(text, at + 2, quoted, depth + 1),
        Some(b'\'') if !quoted => ansi_quote(text, at + 1),
        _ => Some(at + 1),
    }
}

/// The position after the `)` that closes a command list which begins at `at`.
pub(super) fn parenthesis(text: &str, at: usize) -> Option<usize> {
    parenthesis_below(text, at, 0)
}

fn parenthesis_below(text: &str, at: usize, depth: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut index = at;
    let mut open = 1_usize;
    let mut starts_word = true;
    loop {
        let byte = *bytes.get(index)?;
        let was_start = std::mem::replace(&mut starts_word, false);
        match byte {
            b'\\' => index += 2,
            b'\'' => index = single_quote(text, index)?,
            b'"' => index = double_quote_below(text, index, depth + 1)?,
            b'`' => index = back_quote(text, index)?,
            b'$' => index = dollar_below(text, index, false, depth)?,
            b'#' if was_start => {
                index += memchr::memchr(b'\n', bytes.get(index..)?)?;
            }
            b'(' => {
                open += 1;
                index += 1;
                starts_word = true;
            }
            b')' => {
                open -= 1;
                index += 1;
                if open == 0 {
                    return Some(index);
                }
            }
            _ => {
                starts_word = matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|');
                index += 1;
            }
        }
    }
}

/// The position after the `}` of a `${` whose body begins at `at`.
pub(super) fn brace(text: &str, at: usize, quoted: bool) -> Option<usize> {
    brace_below(text, at, quoted, 0)
}

fn brace_below(text: &str, at: usize, quoted: bool, depth: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut index = at;
    loop {
        match bytes.get(index)? {
            b'\\' => index += 2,
            b'}' => return Some(index + 1),
            b'\'' if !quoted => index = single_quote(text, index)?,
            b'"' => index = double_quote_below(text, index, depth + 1)?,
            b'`' => index = back_quote(text, index)?,
            b'$' => index = dollar_below(text, index, quoted, depth + 1)?,
            _ => index += 1,
        }
    }
}
