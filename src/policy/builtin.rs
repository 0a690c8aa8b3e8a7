//! The policies that gatewright brings along.

use super::Source;

const BUILTIN: &[(&str, &[u8])] = &[("guardrails", include_bytes!("../../policies/guardrails.yml"))];

/// The embedded policy of that name.
pub(super) fn source(name: &str) -> Option<Source> {
    let (name, bytes) = BUILTIN.iter().find(|(own, _)| *own == name)?;
    Some(Source { name: format!("builtin:{name}"), bytes: bytes.to_vec() })
}

/// Names of the embedded policies.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}
