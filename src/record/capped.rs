//! Text of any length kept short: its head, its tail, and how much lies between.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Head and tail of a text, cut on character borders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CappedText {
    /// The beginning; the whole text when nothing was left out.
    pub head: String,
    /// The end, when something was left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// Bytes left out between the two.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

impl CappedText {
    /// Keeps `limit` bytes of `text`, two thirds of them from its beginning.
    pub fn new(text: &str, limit: usize) -> Self {
        if text.len() <= limit {
            return Self { head: text.to_owned(), tail: String::new(), omitted: 0 };
        }
        let head = floor_boundary(text, limit / 3 * 2);
        let tail = ceil_boundary(text, text.len() - (limit - limit / 3 * 2));
        Self {
            head: text[..head].to_owned(),
            tail: text[tail..].to_owned(),
            omitted: u64::try_from(tail - head).unwrap_or(u64::MAX),
        }
    }

    /// The same from bytes; what is no UTF-8 becomes replacement characters.
    pub fn from_bytes(bytes: &[u8], limit: usize) -> Self {
        Self::new(&String::from_utf8_lossy(bytes), limit)
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// The last lines, at most `count`, for people.
    pub fn last_lines(&self, count: usize) -> Vec<&str> {
        let text = if self.tail.is_empty() { &self.head } else { &self.tail };
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(count)..].to_vec()
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn floor_boundary(text: &str, mut index: usize) -> usize {
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

fn ceil_boundary(text: &str, mut index: usize) -> usize {
    while !text.is_char_boundary(index) {
        index += 1;
    }
    index
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn short_text_stays_whole() {
        let capped = CappedText::new("all of it", 9);
        assert_eq!(capped, CappedText { head: "all of it".into(), tail: String::new(), omitted: 0 });
    }

    #[test]
    fn cuts_fall_on_character_borders_and_nothing_is_lost_from_the_count() {
        let text = "äöü€🦀".repeat(50);
        for limit in 0..text.len() {
            let capped = CappedText::new(&text, limit);
            let kept = capped.head.len() + capped.tail.len();
            assert!(kept <= limit);
            assert_eq!(kept + usize::try_from(capped.omitted).unwrap(), text.len());
        }
    }

    #[test]
    fn bytes_that_are_no_text_do_no_harm() {
        assert_eq!(CappedText::from_bytes(b"a\xffb", 100).head, "a\u{fffd}b");
    }
}
