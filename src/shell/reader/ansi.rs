//! `$'…'`: the escapes of ANSI C strings.

/// The text between the quotes, decoded, up to a zero byte. What is no UTF-8 afterwards is replaced.
pub(super) fn decode(raw: &str) -> String {
    decode_to(raw, true)
}

/// As [`decode`], but leaves zero bytes out and goes on.
pub(super) fn decode_all(raw: &str) -> String {
    decode_to(raw, false)
}

fn decode_to(raw: &str, stops_at_zero: bool) -> String {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let Some(escape) = rest.next() else {
            bytes.push(b'\\');
            break;
        };
        let mut digits = |radix: u32, most: usize, first: Option<u8>| {
            let mut value = first.and_then(|digit| char::from(digit).to_digit(radix));
            let mut count = usize::from(first.is_some());
            while count < most {
                let Some(digit) = rest.peek().and_then(|digit| char::from(*digit).to_digit(radix)) else {
                    break;
                };
                value = Some(value.unwrap_or(0).wrapping_mul(radix).wrapping_add(digit));
                count += 1;
                rest.next();
            }
            value
        };
        match escape {
            b'a' => bytes.push(7),
            b'b' => bytes.push(8),
            b'e' | b'E' => bytes.push(27),
            b'f' => bytes.push(12),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'v' => bytes.push(11),
            b'\\' | b'\'' | b'"' | b'?' => bytes.push(escape),
            b'0'..=b'7' => match digits(8, 3, Some(escape)).unwrap_or(0).to_le_bytes() {
                // A zero ends the string.
                [0, ..] if stops_at_zero => break,
                [0, ..] => {}
                [low, ..] => bytes.push(low),
            },
            b'x' => match digits(16, 2, None) {
                Some(0) if stops_at_zero => break,
                Some(0) => {}
                Some(value) => bytes.push(value.to_le_bytes()[0]),
                None => bytes.extend_from_slice(b"\\x"),
            },
            b'u' | b'U' => match digits(16, if escape == b'u' { 4 } else { 8 }, None) {
                Some(0) if stops_at_zero => break,
                Some(0) => {}
                Some(value) => {
                    let character = char::from_u32(value).unwrap_or('\u{FFFD}');
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                None => bytes.extend_from_slice(&[b'\\', escape]),
            },
            b'c' => match rest.next() {
                Some(control) => bytes.push(control.to_ascii_uppercase() & 0x1F),
                None => bytes.extend_from_slice(b"\\c"),
            },
            other => bytes.extend_from_slice(&[b'\\', other]),
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_are_those_of_bash() {
        assert_eq!(decode(r"\x72m"), "rm");
        assert_eq!(decode(r"\162\155 a\tb\n"), "rm a\tb\n");
        assert_eq!(decode(r"\u0072\U0000006d"), "rm");
        assert_eq!(decode(r"a\0b"), "a");
        assert_eq!(decode(r"\'\q\xzz"), r"'\q\xzz");
        assert_eq!(decode(r"\c"), r"\c");
    }
}
