//! The beginning of a log, as far as its format shows in it.

use serde_json::Value;

use super::json::values_of;
use super::lines::trimmed;

/// Records that are looked at.
const RECORDS: usize = 50;

/// The beginning of a log.
pub(super) struct Head<'a> {
    /// Records of its first lines; the last line may be cut and is then missing.
    pub records: Vec<Value>,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl<'a> Head<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut records = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n').take(RECORDS) {
            records.extend(values_of::<Value>(trimmed(line)).filter_map(Result::ok));
        }
        Self { records, bytes }
    }

    /// Whether these bytes stand somewhere in the beginning, for first lines that are longer than it.
    pub(super) fn has_text(&self, text: &str) -> bool {
        memchr::memmem::find(self.bytes, text.as_bytes()).is_some()
    }
}
