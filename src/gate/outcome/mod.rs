//! The outcome gate: judges what a run leaves, without trusting how it came about.
//!
//! One file per check. Facts are gathered by whoever computes the tree; judging touches nothing.

mod content;
mod file_names;
mod kinds;
mod names;
mod rules;
mod scope;

pub use content::judge_message;

use crate::call::{Context, PathGlob, PathTarget};
use crate::policy::Policy;
use crate::shell::Access;
use crate::verdict::{Origin, Verdict, Vote};

/// Git's mode of a link.
pub const LINK_MODE: u32 = 0o120_000;
/// Git's mode of a submodule.
pub const SUBMODULE_MODE: u32 = 0o160_000;

/// One changed path. A rename is a deletion and an addition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// From the root, with `/`; what is no UTF-8 is replaced by U+FFFD.
    pub path: String,
    /// What happened.
    pub kind: ChangeKind,
    /// Git's mode before, if it was there.
    pub old_mode: Option<u32>,
    /// Git's mode now, if it is there.
    pub new_mode: Option<u32>,
    /// Bytes of the content now.
    pub bytes: u64,
    /// Content now: of a file its bytes, of a link its target. `None` when it was not read.
    pub content: Option<Vec<u8>>,
    /// Content before, if it was read. Secrets that stood there before are not held against the change.
    pub old_content: Option<Vec<u8>>,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or its mode is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It is of another kind: a file became a link, or the like.
    Type,
}

/// What a change may be.
#[derive(Debug, Clone)]
pub struct OutcomeRules {
    /// Globs of which every changed path must fit one; none at all means every path.
    pub allowed: Vec<PathGlob>,
    /// Globs that no changed path may fit.
    pub protected: Vec<PathGlob>,
    /// Most changed paths.
    pub most_files: u64,
    /// Most bytes of all changed files together.
    pub most_bytes: u64,
    /// Most bytes of one file.
    pub most_file_bytes: u64,
    /// Paths of the tree as it would be, for names that differ in case only; may be left empty.
    pub tree: Vec<String>,
}

impl Default for OutcomeRules {
    fn default() -> Self {
        Self {
            allowed: Vec::new(),
            protected: Vec::new(),
            most_files: 100,
            most_bytes: 10 << 20,
            most_file_bytes: 2 << 20,
            tree: Vec::new(),
        }
    }
}

/// Most votes of one check; the last one counts the rest.
const MOST_VOTES: usize = 20;

impl Change {
    /// How the path is touched.
    fn access(&self) -> Access {
        if self.kind == ChangeKind::Deleted { Access::Delete } else { Access::Write }
    }

    fn target(&self, context: &Context) -> PathTarget {
        PathTarget { shown: self.path.clone(), ..PathTarget::known(&self.path, self.access(), &context.root) }
    }

    fn is_new(&self, mode: u32) -> bool {
        self.new_mode == Some(mode) && self.old_mode != Some(mode)
    }
}

/// Judges all changes. Every vote is a finding; a change without any may be committed.
///
/// `context` is that of the worktree: its root is what paths are measured from.
pub fn judge_changes(
    changes: &[Change],
    rules: &OutcomeRules,
    policy: Option<&Policy>,
    context: &Context,
) -> Vec<Vote> {
    let mut votes = Vec::new();
    let mut add = |found: Vec<Vote>| votes.extend(limited(found));
    add(names::votes(changes));
    add(names::collisions(changes, &rules.tree));
    add(scope::outside_allowed(changes, rules, context));
    add(scope::protected(changes, rules, context));
    add(scope::sizes(changes, rules));
    add(kinds::submodules(changes));
    add(kinds::links(changes));
    add(file_names::votes(changes));
    add(content::votes(changes));
    if let Some(policy) = policy {
        add(rules::votes(changes, policy, context));
    }
    votes
}

/// A finding of a check.
fn finding(check: &str, reason: String, subject: &str, hint: &str) -> Vote {
    Vote {
        verdict: Verdict::Deny,
        reason,
        origin: Origin::Outcome { check: check.to_owned() },
        hint: (!hint.is_empty()).then(|| hint.to_owned()),
        scopes: Vec::new(),
        part: None,
        subject: (!subject.is_empty()).then(|| subject.to_owned()),
    }
}

/// The first findings; one more says how many there are besides. The strictest is never among those left out.
fn limited(mut votes: Vec<Vote>) -> Vec<Vote> {
    if votes.len() > MOST_VOTES {
        votes.sort_by_key(|vote| std::cmp::Reverse(vote.verdict));
        let rest = votes.len() - MOST_VOTES;
        votes.truncate(MOST_VOTES);
        if let Some(last) = votes.last().cloned() {
            votes.push(Vote {
                reason: format!("{} (and {rest} more of this check)", last.reason),
                subject: None,
                ..last
            });
        }
    }
    votes
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
