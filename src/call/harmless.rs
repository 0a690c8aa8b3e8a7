//! Text of models, logs and file names made harmless before it is shown or told.

use std::fmt::Write as _;

/// `text` as one line in which nothing moves the cursor, hides, or turns the reading direction.
///
/// Line breaks become spaces; other control characters, direction marks, invisible and tag characters become
/// `\u{..}`.
pub fn harmless(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut after_break = false;
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}' => {
                if !after_break && !line.is_empty() {
                    line.push(' ');
                }
                after_break = true;
                continue;
            }
            '\t' => line.push(' '),
            c if c.is_control() || is_hidden(c) => {
                // Writing to a string cannot fail.
                let _ = write!(line, "\\u{{{:x}}}", u32::from(c));
            }
            c => line.push(c),
        }
        after_break = false;
    }
    line.truncate(line.trim_end().len());
    line
}

/// The same, cut in the middle to about `limit` characters.
pub fn harmless_within(text: &str, limit: usize) -> String {
    // The middle of a huge text is not worth making harmless.
    let count = text.chars().count();
    if count <= limit {
        return harmless(text);
    }
    let half = limit / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{} … {}", harmless(&head), harmless(&tail))
}

/// Characters that change how a line looks without being seen.
pub(crate) fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_hides_or_turns() {
        assert_eq!(harmless("a\r\n\nb\n"), "a b");
        assert_eq!(harmless("\x1b[31mred\u{7}"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(harmless("a\u{202e}b\u{200b}c\u{e0041}"), "a\\u{202e}b\\u{200b}c\\u{e0041}");
        assert_eq!(harmless("tab\there ü 漢"), "tab here ü 漢");
        assert_eq!(harmless_within(&"x".repeat(100), 10), "xxxxx … xxxxx");
    }
}
