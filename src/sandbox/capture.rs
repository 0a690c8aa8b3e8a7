//! What is kept of an output stream: its beginning, its end, and how much lay between.

use std::collections::VecDeque;

/// How many bytes of a stream are kept from its beginning and from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Bytes kept from the beginning.
    pub head: usize,
    /// Bytes kept from the end.
    pub tail: usize,
}

impl Keep {
    /// Keeps up to `bytes` whole and the beginning alone of anything longer.
    pub const fn whole(bytes: usize) -> Keep {
        Keep { head: bytes, tail: 0 }
    }
}

impl Default for Keep {
    fn default() -> Keep {
        Keep { head: 32 * 1024, tail: 32 * 1024 }
    }
}

/// One output stream as it was kept. Memory is bounded by [`Keep`], however much was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes; everything if nothing was left out.
    pub head: Vec<u8>,
    /// The last bytes after a gap; empty if nothing was left out.
    pub tail: Vec<u8>,
    /// Bytes between the two that were read and thrown away.
    pub omitted: u64,
}

impl Captured {
    /// Whether every byte that was written is here.
    pub fn is_whole(&self) -> bool {
        self.omitted == 0
    }

    /// Bytes that were written in all.
    pub fn total(&self) -> u64 {
        self.head.len() as u64 + self.omitted + self.tail.len() as u64
    }

    /// The stream as text, cut on character borders, with a line that says how much is missing.
    /// Bytes that are no UTF-8 become U+FFFD.
    pub fn text(&self) -> String {
        if self.is_whole() {
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        let head = without_cut_end(&self.head);
        let tail = without_cut_start(&self.tail);
        let missing = self.total() - head.len() as u64 - tail.len() as u64;
        let mut text = String::from_utf8_lossy(head).into_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[... {missing} bytes left out ...]\n"));
        text.push_str(&String::from_utf8_lossy(tail));
        text
    }
}

/// Drops the beginning of a character whose rest was cut away.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let width = match bytes[at] {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => return bytes,
        };
        return if width > back { &bytes[..at] } else { bytes };
    }
    bytes
}

/// Drops the rest of a character whose beginning was cut away.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let rest = bytes.iter().take(3).take_while(|byte| (0x80..=0xBF).contains(*byte)).count();
    &bytes[rest..]
}

/// Takes a stream in pieces and keeps what [`Keep`] allows.
pub(super) struct Recorder {
    keep: Keep,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl Recorder {
    pub(super) fn new(keep: Keep) -> Recorder {
        Recorder { keep, head: Vec::new(), tail: VecDeque::new(), omitted: 0 }
    }

    pub(super) fn take(&mut self, mut piece: &[u8]) {
        let room = self.keep.head - self.head.len();
        if room > 0 {
            let now = room.min(piece.len());
            self.head.extend_from_slice(&piece[..now]);
            piece = &piece[now..];
        }
        if piece.len() > self.keep.tail {
            let skipped = piece.len() - self.keep.tail;
            self.omitted += skipped as u64;
            piece = &piece[skipped..];
        }
        let over = (self.tail.len() + piece.len()).saturating_sub(self.keep.tail);
        self.omitted += over as u64;
        self.tail.drain(..over);
        self.tail.extend(piece);
    }

    pub(super) fn finish(self) -> Captured {
        let mut captured = Captured { head: self.head, tail: self.tail.into(), omitted: self.omitted };
        if captured.omitted == 0 {
            captured.head.append(&mut captured.tail);
        }
        captured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(keep: Keep, pieces: &[&[u8]]) -> Captured {
        let mut recorder = Recorder::new(keep);
        for piece in pieces {
            recorder.take(piece);
        }
        recorder.finish()
    }

    #[test]
    fn what_fits_is_whole() {
        let captured = record(Keep { head: 3, tail: 3 }, &[b"ab", b"cd", b"ef"]);
        assert!(captured.is_whole());
        assert_eq!(captured.head, b"abcdef");
        assert_eq!(captured.text(), "abcdef");
    }

    #[test]
    fn the_middle_is_counted() {
        for pieces in [&[b"0123456789".as_slice()][..], &[b"0", b"12345", b"6789"], &[b"01234567", b"89"]] {
            let captured = record(Keep { head: 3, tail: 3 }, pieces);
            assert_eq!((captured.head.as_slice(), captured.tail.as_slice()), (&b"012"[..], &b"789"[..]));
            assert_eq!((captured.omitted, captured.total()), (4, 10));
        }
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let text = "aé€😀".repeat(20);
        for head in 0..12 {
            for tail in 0..12 {
                let captured = record(Keep { head, tail }, &[text.as_bytes()]);
                assert!(!captured.text().contains('\u{FFFD}'), "{head} {tail}: {}", captured.text());
            }
        }
    }

    #[test]
    fn invalid_bytes_are_kept_but_shown_harmless() {
        let captured = record(Keep { head: 4, tail: 4 }, &[b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xff\xff"]);
        assert!(captured.text().contains('\u{FFFD}'));
        assert!(captured.text().contains("2 bytes left out"));
    }
}
