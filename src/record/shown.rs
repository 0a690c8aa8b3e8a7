//! Text from agents, logs and file names, made harmless for a terminal.

use std::borrow::Cow;

/// `text` on one line, without control characters and without marks that reorder it.
///
/// Line breaks become spaces; other control characters, and the invisible marks that change the direction of
/// text, become their code in angle brackets.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            other if is_harmful(other) => {
                shown.push_str(&format!("<{:02x}>", u32::from(other)));
            }
            other => shown.push(other),
        }
    }
    Cow::Owned(shown)
}

/// `text` on one line and at most `limit` characters long.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= limit {
        return line.into_owned();
    }
    let mut short: String = line.chars().take(limit.saturating_sub(1)).collect();
    short.push('…');
    short
}

fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_direction_marks_are_spelled_out() {
        assert_eq!(one_line("a\u{1b}[31mb\nc\u{202e}d"), "a<1b>[31mb c<202e>d");
        assert!(matches!(one_line("plain ä text"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_text_ends_in_a_mark() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
