//! Limits of what a tool gives back: the one place that cuts.

/// A text of `total` bytes of which head and tail are at hand, cut to `preview_bytes` when it is longer than
/// `truncate_at`. Cuts fall on character borders; bytes that are no UTF-8 become U+FFFD.
pub fn preview(head: &[u8], tail: &[u8], omitted: u64, truncate_at: usize, preview_bytes: usize) -> String {
    let total = head.len() as u64 + omitted + tail.len() as u64;
    if omitted == 0 && total <= truncate_at as u64 {
        let mut text = String::from_utf8_lossy(head).into_owned();
        text.push_str(&String::from_utf8_lossy(tail));
        return text;
    }
    // Without a gap the two are one text, and the tail may reach back into the head.
    let joined;
    let (head, tail) = if omitted == 0 {
        joined = [head, tail].concat();
        (joined.as_slice(), joined.as_slice())
    } else {
        (head, if tail.is_empty() { head } else { tail })
    };
    let first = floor(head, (preview_bytes / 2).min(head.len()));
    let last = ceil(tail, tail.len().saturating_sub(preview_bytes - preview_bytes / 2));
    let last = if omitted == 0 { last.max(first) } else { last };
    let shown = (first + tail.len() - last) as u64;
    let mut text = String::from_utf8_lossy(head.get(..first).unwrap_or_default()).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("[... {} of {total} bytes left out ...]\n", total.saturating_sub(shown)));
    text.push_str(&String::from_utf8_lossy(tail.get(last..).unwrap_or_default()));
    text
}

fn is_inside(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80)
}

fn floor(bytes: &[u8], mut at: usize) -> usize {
    let lowest = at.saturating_sub(3);
    while at > lowest && is_inside(bytes, at) {
        at -= 1;
    }
    at
}

fn ceil(bytes: &[u8], mut at: usize) -> usize {
    let highest = (at + 3).min(bytes.len());
    while at < highest && is_inside(bytes, at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_whole_and_long_output_says_what_is_missing() {
        assert_eq!(preview(b"abc", b"", 0, 3, 2), "abc");
        assert_eq!(preview(b"abcdefgh", b"", 0, 4, 4), "ab\n[... 4 of 8 bytes left out ...]\ngh");
        assert_eq!(preview(b"abcd", b"wxyz", 92, 50, 4), "ab\n[... 96 of 100 bytes left out ...]\nyz");
    }

    #[test]
    fn characters_stay_whole_wherever_the_cut_falls() {
        let text = "äö€🦀".repeat(20);
        for limit in 1..60 {
            assert!(!preview(text.as_bytes(), b"", 0, 10, limit).contains('\u{fffd}'), "{limit}");
        }
    }
}
