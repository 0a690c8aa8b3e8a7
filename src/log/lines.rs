//! Lines of any length from any reader, without copying where a line lies whole in the reader's buffer.

use std::io::BufRead;

use memchr::memchr;

/// Longest line that is read, in bytes; a longer one is counted and left out.
pub(super) const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// Memory that a line in pieces may keep for the next one, in bytes.
const KEPT_CAPACITY: usize = 1024 * 1024;

/// A line.
pub(super) enum Line<'a> {
    /// All of it.
    Whole {
        /// Without the line break.
        bytes: &'a [u8],
        /// Whether a line break followed.
        has_end: bool,
    },
    /// Left out.
    TooLong {
        /// Its length.
        bytes: u64,
    },
}

/// Splits a reader into lines.
pub(super) struct Lines<R> {
    input: R,
    /// What was peeked, or the beginning of a line that does not lie whole in the reader's buffer.
    held: Vec<u8>,
    /// Bytes of `held` that were handed out already.
    used: usize,
    /// Bytes of the reader's buffer that were handed out and are to be consumed.
    pending: usize,
    limit: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self { input, held: Vec::new(), used: 0, pending: 0, limit }
    }

    /// The first bytes, at least up to `length` if there are as many; nothing is lost for reading.
    pub(super) fn peek(&mut self, length: usize) -> std::io::Result<&[u8]> {
        while self.held.len() < length {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let taken = buffer.len().min(length - self.held.len());
            self.held.extend_from_slice(&buffer[..taken]);
            self.input.consume(taken);
        }
        Ok(&self.held)
    }

    /// The next line.
    pub(super) fn next(&mut self) -> std::io::Result<Option<Line<'_>>> {
        self.input.consume(std::mem::take(&mut self.pending));
        if self.used < self.held.len() {
            if let Some(length) = memchr(b'\n', &self.held[self.used..]) {
                let start = self.used;
                self.used += length + 1;
                return Ok(Some(Line::Whole { bytes: &self.held[start..start + length], has_end: true }));
            }
            self.held.drain(..self.used);
        } else {
            self.held.clear();
            self.held.shrink_to(KEPT_CAPACITY);
        }
        self.used = 0;
        if self.held.is_empty() {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            if let Some(length) = memchr(b'\n', buffer) {
                self.pending = length + 1;
                // The buffer is asked for again because the borrow of the first one ended with the search.
                let buffer = self.input.fill_buf()?;
                return Ok(Some(Line::Whole { bytes: &buffer[..length], has_end: true }));
            }
        }
        self.gather()
    }

    /// Puts a line together that lies across buffers.
    fn gather(&mut self) -> std::io::Result<Option<Line<'_>>> {
        let mut length = self.held.len();
        loop {
            let buffer = self.input.fill_buf()?;
            let (part, has_end) = match memchr(b'\n', buffer) {
                Some(end) => (end, true),
                None => (buffer.len(), false),
            };
            let is_over = has_end || buffer.is_empty();
            length += part;
            if length <= self.limit {
                self.held.extend_from_slice(&buffer[..part]);
            } else {
                self.held = Vec::new();
            }
            self.input.consume(part + usize::from(has_end));
            if is_over {
                self.used = self.held.len();
                if length > self.limit {
                    return Ok(Some(Line::TooLong { bytes: u64::try_from(length).unwrap_or(u64::MAX) }));
                }
                return Ok(Some(Line::Whole { bytes: &self.held, has_end }));
            }
        }
    }
}

/// A line without a byte order mark, blanks and carriage returns around it.
pub(super) fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn split(text: &[u8], buffer: usize, peeked: usize, limit: usize) -> Vec<String> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, text), limit);
        lines.peek(peeked).unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                Line::Whole { bytes, has_end } => {
                    format!("{}{}", String::from_utf8_lossy(bytes), if has_end { "" } else { "(cut)" })
                }
                Line::TooLong { bytes } => format!("too long: {bytes}"),
            });
        }
        found
    }

    #[test]
    fn lines_are_the_same_for_every_size_of_buffer() {
        let text = b"one\n\ntwo and more\nthree is the longest of them\nfour";
        for buffer in 1..60 {
            for peeked in [0, 1, 4, 5, 20, 100] {
                assert_eq!(
                    split(text, buffer, peeked, 100),
                    ["one", "", "two and more", "three is the longest of them", "four(cut)"],
                    "buffer {buffer}, peeked {peeked}"
                );
            }
        }
    }

    #[test]
    fn a_line_over_the_limit_is_left_out_and_the_rest_goes_on() {
        for buffer in [1, 3, 7] {
            assert_eq!(split(b"a\n0123456789\nb\n", buffer, 0, 8), ["a", "too long: 10", "b"]);
        }
    }
}
