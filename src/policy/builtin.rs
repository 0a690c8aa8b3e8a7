//! The policies that gatewright brings along.

use super::Source;

const BUILTIN: &[(&str, &[u8])] = &[
    ("ci", include_bytes!("../../policies/ci.yml")),
    ("guardrails", include_bytes!("../../policies/guardrails.yml")),
    ("strict", include_bytes!("../../policies/strict.yml")),
];

/// The embedded policy of that name.
pub(super) fn source(name: &str) -> Option<Source> {
    let (name, bytes) = BUILTIN.iter().find(|(own, _)| *own == name)?;
    Some(Source { name: format!("builtin:{name}"), bytes: bytes.to_vec() })
}

/// Names of the embedded policies.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

/// An embedded text with its `examples` blanked, so that what stays keeps its line.
///
/// Examples are most of a shipped policy, and every process that judges a call reads it anew; a test checks them
/// once instead, and that nothing else is lost here.
pub(super) fn without_examples(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut below: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let body = line.trim();
        let indent = line.len() - line.trim_start_matches(' ').len();
        if below.is_some_and(|level| !body.is_empty() && indent <= level) {
            below = None;
        }
        if below.is_none() && body == "examples:" {
            below = Some(indent);
        }
        kept.push_str(if below.is_some() { "\n" } else { line });
    }
    kept
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::policy::{NoLibrary, Policy};

    #[test]
    fn blanking_examples_changes_no_rule_and_no_line() {
        for name in names() {
            let embedded = source(name).unwrap();
            let whole = Source { name: format!("{name}.yml"), bytes: embedded.bytes.clone() };
            let load = |source| Policy::load(&[source], &NoLibrary, date(2026, 12, 1)).unwrap();
            let (blanked, whole) = (load(embedded), load(whole));
            assert_eq!(blanked.digest(), whole.digest(), "{name}");
            let lines =
                |policy: &Policy| policy.rules().map(|(rule, _)| rule.place().line).collect::<Vec<_>>();
            assert_eq!(lines(&blanked), lines(&whole), "{name}");
        }
    }

    #[test]
    fn only_the_block_of_examples_goes() {
        let text = "rules:\n  - id: a\n    examples:\n      match: [x]\n\n      pass:\n        - y\n    reason: r\n  - id: b\n";
        let expected = "rules:\n  - id: a\n\n\n\n\n\n    reason: r\n  - id: b\n";
        assert_eq!(without_examples(text), expected);
    }
}
