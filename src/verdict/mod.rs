//! Votes, where they come from, and how they fold into one decision.

use serde::{Deserialize, Serialize};

/// How strictly a call is treated. Ordered: folding votes takes the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Goes ahead.
    Allow,
    /// Needs a person.
    Ask,
    /// Does not happen.
    Deny,
}

/// A place in a policy file: display name and line from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// File name as people wrote it, or `builtin:NAME`.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Who gave a vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Origin {
    /// A guardrail hook.
    Hook {
        /// Its file stem.
        name: String,
        /// The bundle it came with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bundle: Option<String>,
    },
    /// A plugin's veto; the gatekeeper is one.
    Plugin {
        /// Its name.
        name: String,
    },
    /// A core check: the policy did not load, a required hook failed.
    Core {
        /// Its name.
        check: String,
    },
    /// A protected path.
    Protected {
        /// The protected file or folder.
        path: String,
    },
    /// A rule.
    Rule {
        /// Its id.
        id: String,
        /// Where it stands.
        place: Place,
        /// The bundle it came with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bundle: Option<String>,
    },
    /// The call could not be read; a rule may be named whose match is in doubt.
    Unreadable {
        /// The rule in doubt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// Where the rule stands, or the policy's word on what cannot be read.
        place: Place,
    },
    /// The policy's default, for a call no rule speaks about.
    Default {
        /// Where the default is set.
        place: Place,
    },
    /// Control state: failures of this run so far.
    Control,
    /// A class gate.
    Class {
        /// The canonical tool name.
        tool: String,
    },
    /// A check of the tree that is to be committed.
    Outcome {
        /// Its name.
        check: String,
    },
}

/// Scopes an answer to an ask may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// This call, now.
    Once,
    /// This exact call in this run.
    Session,
    /// This exact call in this repository.
    Repo,
    /// Everything the rule asks about in this repository.
    Rule,
}

/// One opinion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// What it says. `Allow` counts against the default only.
    pub verdict: Verdict,
    /// Why, one line.
    pub reason: String,
    /// Who says it.
    pub origin: Origin,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Scopes offered with an ask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Scope>,
    /// The part of the call that it is about: byte range in the command line, for shell tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<(usize, usize)>,
    /// The part as text: `git push origin main`, `write .github/workflows/ci.yml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// What the votes come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The strictest vote, or `Allow` without any.
    pub verdict: Verdict,
    /// Index of the first vote of that level, which supplies reason and origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deciding: Option<usize>,
    /// All votes in the order they were given.
    pub votes: Vec<Vote>,
}

impl Decision {
    /// Folds votes: the strictest stays; among equals the first supplies the reason.
    pub fn fold(votes: Vec<Vote>) -> Self {
        let verdict = votes.iter().map(|vote| vote.verdict).max().unwrap_or(Verdict::Allow);
        let deciding = votes.iter().position(|vote| vote.verdict == verdict);
        Self { verdict, deciding, votes }
    }

    /// The vote that decides, if there is any vote.
    pub fn deciding_vote(&self) -> Option<&Vote> {
        self.deciding.and_then(|index| self.votes.get(index))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vote(verdict: Verdict) -> Vote {
        Vote {
            verdict,
            reason: "r".to_owned(),
            origin: Origin::Control,
            hint: None,
            scopes: Vec::new(),
            part: None,
            subject: None,
        }
    }

    fn any_verdict() -> impl Strategy<Value = Verdict> {
        prop_oneof![Just(Verdict::Allow), Just(Verdict::Ask), Just(Verdict::Deny)]
    }

    #[test]
    fn no_vote_allows_and_the_first_of_the_strictest_decides() {
        assert_eq!(Decision::fold(Vec::new()).verdict, Verdict::Allow);
        assert_eq!(Decision::fold(Vec::new()).deciding_vote(), None);
        let decision = Decision::fold([Verdict::Ask, Verdict::Deny, Verdict::Deny].map(vote).to_vec());
        assert_eq!((decision.verdict, decision.deciding), (Verdict::Deny, Some(1)));
    }

    proptest! {
        #[test]
        fn the_fold_is_monotone_and_keeps_all(verdicts in prop::collection::vec(any_verdict(), 0..8), more in any_verdict()) {
            let votes: Vec<Vote> = verdicts.into_iter().map(vote).collect();
            let before = Decision::fold(votes.clone());
            prop_assert_eq!(before.votes.len(), votes.len());
            let mut turned = votes.clone();
            turned.reverse();
            prop_assert_eq!(Decision::fold(turned).verdict, before.verdict);
            let mut after = votes;
            after.insert(0, vote(more));
            prop_assert_eq!(Decision::fold(after).verdict, before.verdict.max(more));
        }

        #[test]
        fn a_decision_survives_its_record(verdicts in prop::collection::vec(any_verdict(), 0..4)) {
            let decision = Decision::fold(verdicts.into_iter().map(vote).collect());
            let text = serde_json::to_string(&decision).unwrap();
            prop_assert_eq!(serde_json::from_str::<Decision>(&text).unwrap(), decision);
        }
    }
}
