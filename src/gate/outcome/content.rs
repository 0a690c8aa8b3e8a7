//! Secrets by content.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::call::find_secrets;
use crate::verdict::Vote;

use super::{Change, ChangeKind, finding};

const CHECK: &str = "secret_content";
const HINT: &str =
    "take it out of the file and read it from the environment; a secret that was real must be replaced";

pub(super) fn votes(changes: &[Change]) -> Vec<Vote> {
    changes.iter().filter(|change| change.kind != ChangeKind::Deleted).flat_map(votes_on).collect()
}

fn votes_on(change: &Change) -> Vec<Vote> {
    let Some(content) = &change.content else { return Vec::new() };
    let text = text_of(content);
    let old = change.old_content.as_deref().map(text_of).unwrap_or_default();
    let known: BTreeSet<&str> = find_secrets(&old).into_iter().map(|secret| &old[secret.range]).collect();
    let (mut line, mut counted) = (1, 0);
    find_secrets(&text)
        .into_iter()
        .filter(|secret| !secret.is_sample && !known.contains(&text[secret.range.clone()]))
        .map(|secret| {
            // Places come in order, so every line is counted once.
            line += text[counted..secret.range.start].matches('\n').count();
            counted = secret.range.start;
            let reason = format!("the file holds what looks like a secret: {}", secret.kind);
            finding(CHECK, reason, &format!("{}:{line}", change.path), HINT)
        })
        .collect()
}

/// Bytes as text: UTF-16 by its mark, everything else as UTF-8 with gaps.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let wide = |from_bytes: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| from_bytes([pair[0], pair[1]])).collect();
        Cow::Owned(String::from_utf16_lossy(&units))
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// Judges the message of a commit, which is published like its files.
pub fn judge_message(message: &str) -> Vec<Vote> {
    find_secrets(message)
        .into_iter()
        .filter(|secret| !secret.is_sample)
        .map(|secret| {
            let reason = format!("the commit message holds what looks like a secret: {}", secret.kind);
            finding(CHECK, reason, "commit message", "write the message without it")
        })
        .collect()
}
