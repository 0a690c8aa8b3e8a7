//! The policy's rules about paths, applied to the paths that changed.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::call::{Context, NoLinks, Targets, ToolCall};
use crate::policy::Policy;
use crate::verdict::{Origin, Vote};

use super::{Change, ChangeKind};

pub(super) fn votes(changes: &[Change], policy: &Policy, context: &Context) -> Vec<Vote> {
    // Rules of one id may stand in several sources; the place tells them apart.
    let about_paths: BTreeSet<(&str, usize)> = policy
        .rules()
        .filter(|(rule, _)| rule.matchers().iter().any(|(key, _)| *key == "path"))
        .map(|(rule, _)| (rule.place().file.as_str(), rule.place().line))
        .collect();
    if about_paths.is_empty() {
        return Vec::new();
    }
    let is_about_paths = |vote: &Vote| match &vote.origin {
        Origin::Rule { place, .. } => about_paths.contains(&(place.file.as_str(), place.line)),
        _ => false,
    };
    let mut votes = Vec::new();
    for change in changes {
        let targets = targets(change, context);
        let found = policy.votes(&targets, &Value::Null).into_iter().filter(is_about_paths);
        votes.extend(found.map(|vote| Vote { part: None, subject: Some(change.path.clone()), ..vote }));
    }
    votes
}

/// The change as the file tool would have made it, so that rules for these tools hold too.
fn targets(change: &Change, context: &Context) -> Targets {
    let tool = match change.kind {
        ChangeKind::Added => "write",
        ChangeKind::Modified | ChangeKind::Type => "edit",
        ChangeKind::Deleted => "delete",
    };
    // The path is set afterwards: nothing of its text is to be taken for more than a name.
    let call = ToolCall { id: None, tool: tool.to_owned(), args: Value::Null, cwd: None };
    let mut targets = Targets::resolve(&call, context, &NoLinks);
    targets.unreadable.clear();
    targets.paths = vec![change.target(context)];
    targets
}
