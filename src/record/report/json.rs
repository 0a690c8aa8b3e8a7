//! The report for programs.

use super::Report;

/// The whole report, indented, with a line break at its end. Equal reports give equal bytes.
pub(super) fn render(report: &Report) -> String {
    // INVARIANT: a report holds only texts, numbers and lists, which always have a JSON form.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
