//! JSON as logs really hold it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A text that is borrowed from the line where it holds no escapes.
#[derive(Debug, Clone, Default)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// All values of a line: usually one, but two records without a line break between them occur.
///
/// Ends after the first value that cannot be read.
pub(super) fn values_of<'a, T: Deserialize<'a> + 'a>(
    line: &'a [u8],
) -> impl Iterator<Item = Result<T, serde_json::Error>> + 'a {
    serde_json::Deserializer::from_slice(line).into_iter::<T>()
}

/// A line as text that JSON takes: what is no UTF-8 and half surrogate pairs become replacement characters.
pub(super) fn repaired(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(index) = rest.find('\\') {
        repaired.push_str(&rest[..index]);
        rest = &rest[index..];
        let first = surrogate(rest);
        let taken = match first {
            Some(0xd800..0xdc00) if matches!(rest.get(6..).and_then(surrogate), Some(0xdc00..0xe000)) => 12,
            Some(0xd800..0xe000) => {
                repaired.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // Any other escape, or a backslash before a character of several bytes, which JSON refuses anyhow.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        repaired.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    repaired.push_str(rest);
    repaired
}

fn surrogate(text: &str) -> Option<u32> {
    text.strip_prefix("\\u")
        .and_then(|rest| rest.get(..4))
        .and_then(|code| u32::from_str_radix(code, 16).ok())
}

/// The value of a raw piece of JSON.
pub(super) fn value(raw: &str) -> Option<Value> {
    owned(raw)
}

/// An owned value of a raw piece of JSON, repaired where needed.
pub(super) fn owned<T: DeserializeOwned>(raw: &str) -> Option<T> {
    serde_json::from_str(raw).ok().or_else(|| serde_json::from_str(&repaired(raw.as_bytes())).ok())
}

/// Arguments that arrive as an object, or as a text that holds one.
///
/// A text that is no JSON stays a text, and the answer says so.
pub(super) fn arguments(raw: &str) -> (Value, Option<&'static str>) {
    match value(raw) {
        Some(Value::String(text)) => match value(&text) {
            Some(inner @ (Value::Object(_) | Value::Array(_))) => (inner, None),
            // Encoded twice.
            Some(Value::String(inner)) => match value(&inner) {
                Some(object @ Value::Object(_)) => (object, None),
                _ => (Value::String(text), Some("arguments are no JSON object")),
            },
            _ if text.trim().is_empty() => (Value::Object(serde_json::Map::new()), None),
            _ => (Value::String(text), Some("arguments are no JSON object")),
        },
        Some(Value::Null) => (Value::Object(serde_json::Map::new()), None),
        Some(other) => (other, None),
        None => (Value::String(raw.to_owned()), Some("arguments are no JSON")),
    }
}

/// Whether a line may write ordinary characters as `\u00XX`: a search for plain text could then miss it.
pub(super) fn hides_text(line: &[u8]) -> bool {
    memchr::memmem::find_iter(line, b"\\u00").any(|index| matches!(line.get(index + 4), Some(b'2'..=b'7')))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn half_surrogates_are_replaced_and_whole_ones_stay() {
        let line = br#"{"a":"x\ud83dy \ud83d\ude00 \\ud83d \n","b":"\udc00"}"#;
        assert!(serde_json::from_slice::<Value>(line).is_err());
        let value: Value = serde_json::from_str(&repaired(line)).unwrap();
        assert_eq!(value, json!({"a": "x\u{fffd}y 😀 \\ud83d \n", "b": "\u{fffd}"}));
        assert_eq!(repaired(b"a\xff\\"), "a\u{fffd}\\");
    }

    #[test]
    fn arguments_come_in_many_coats() {
        assert_eq!(arguments(r#"{"a":1}"#), (json!({"a": 1}), None));
        assert_eq!(arguments(r#""{\"a\":1}""#), (json!({"a": 1}), None));
        assert_eq!(arguments(r#""\"{\\\"a\\\":1}\"""#), (json!({"a": 1}), None));
        assert_eq!(arguments(r#""""#), (json!({}), None));
        assert_eq!(arguments("null"), (json!({}), None));
        let (value, opaque) = arguments(r#""{\"command\":\"ls""#);
        assert_eq!((value, opaque.is_some()), (json!("{\"command\":\"ls"), true));
    }

    #[test]
    fn text_written_in_escapes_is_noticed() {
        assert!(hides_text(br#"{"type":"tool\u005fuse"}"#));
        assert!(!hides_text(br#"{"type":"\u001b[31m \u00e4"}"#));
    }
}
