//! Which paths may change, and how much.

use crate::call::{Context, PathGlob};
use crate::shell::Fit;
use crate::verdict::Vote;

use super::{Change, OutcomeRules, finding};

fn fits(globs: &[PathGlob], change: &Change, context: &Context) -> Option<usize> {
    let target = change.target(context);
    globs.iter().position(|glob| glob.fit(&target, context) == Fit::Yes)
}

pub(super) fn outside_allowed(changes: &[Change], rules: &OutcomeRules, context: &Context) -> Vec<Vote> {
    if rules.allowed.is_empty() {
        return Vec::new();
    }
    // A deletion fits globs beneath it, which is right for what is protected and too much for what is allowed.
    let is_allowed = |change: &Change| {
        let target = crate::call::PathTarget { access: crate::shell::Access::Read, ..change.target(context) };
        rules.allowed.iter().any(|glob| glob.fit(&target, context) == Fit::Yes)
    };
    changes
        .iter()
        .filter(|change| !is_allowed(change))
        .map(|change| {
            let reason = "the path is none of those that the change may touch".to_owned();
            finding("allowed_paths", reason, &change.path, "change only the paths named in the task")
        })
        .collect()
}

pub(super) fn protected(changes: &[Change], rules: &OutcomeRules, context: &Context) -> Vec<Vote> {
    changes
        .iter()
        .filter_map(|change| {
            let glob = rules.protected.get(fits(&rules.protected, change, context)?)?;
            let reason = format!("the path is protected by `{}`", glob.text());
            Some(finding("protected_paths", reason, &change.path, "leave it as it was"))
        })
        .collect()
}

pub(super) fn sizes(changes: &[Change], rules: &OutcomeRules) -> Vec<Vote> {
    let mut votes = Vec::new();
    let count = changes.len() as u64;
    if count > rules.most_files {
        let reason = format!("{count} changed paths, {} at most", rules.most_files);
        votes.push(finding(
            "change_count",
            reason,
            "",
            "make a smaller change, and keep build output out of it",
        ));
    }
    let bytes = changes.iter().fold(0_u64, |sum, change| sum.saturating_add(change.bytes));
    if bytes > rules.most_bytes {
        let reason = format!("{bytes} bytes in changed files, {} at most", rules.most_bytes);
        votes.push(finding("change_bytes", reason, "", "keep build output and large files out of it"));
    }
    for change in changes.iter().filter(|change| change.bytes > rules.most_file_bytes) {
        let reason = format!("{} bytes in one file, {} at most", change.bytes, rules.most_file_bytes);
        votes.push(finding("file_bytes", reason, &change.path, "keep large files out of it"));
    }
    votes
}
