//! The votes of a policy on one call.

use serde_json::Value;

use crate::call::Targets;
use crate::shell::{Access, Fit, Unreadable, UnreadableKind};
use crate::verdict::{Origin, Verdict, Vote};

use super::after::{Memory, NOTHING};
use super::load::Policy;
use super::relax::{Unit, units};
use super::rule::{Rule, verdict_word};
use super::sight::Sight;

impl Policy {
    /// Votes on a call, in this order: those of rules that ask or deny, in rule order; one for what could not be
    /// read; then either those of the allow rules that cover the whole call, or the default's if that is stricter
    /// than allow.
    ///
    /// No vote at all means that the policy has no opinion on the call.
    /// This is for a call with nothing before it; see [`Self::votes_after`].
    pub fn votes(&self, targets: &Targets, args: &Value) -> Vec<Vote> {
        self.votes_after(targets, args, &NOTHING)
    }

    /// The votes on a call of a run, given what happened before: [`Self::votes`] otherwise.
    pub fn votes_after(&self, targets: &Targets, args: &Value, memory: &Memory) -> Vec<Vote> {
        let sight = Sight::after(targets, args, memory);
        let mut votes = Vec::new();
        if self.is_enabled() {
            votes.extend(
                self.judging(&sight).filter_map(|rule| rule.vote(&sight, self.unreadable.verdict, None)),
            );
            votes.extend(self.vote_on_unreadable(targets));
            let consent = self.consent(&sight);
            if !consent.is_empty() {
                votes.extend(consent);
                return votes;
            }
        }
        votes.extend(self.default_vote());
        votes
    }

    /// Rules in force that ask or deny and may speak about this call.
    fn judging(&self, sight: &Sight<'_>) -> impl Iterator<Item = &Rule> {
        let candidates = self.index().candidates(sight);
        candidates.into_iter().filter_map(|at| self.rules.get(at)).map(|held| &*held.rule)
    }

    fn vote_on_unreadable(&self, targets: &Targets) -> Option<Vote> {
        let of_reading = targets.reading.iter().flat_map(|reading| &reading.unreadable);
        let mut what: Vec<&Unreadable> = Vec::new();
        for unreadable in of_reading.chain(&targets.unreadable) {
            // Reading a path that is not known is shown and left at that.
            let counts = !matches!(unreadable.kind, UnreadableKind::Path(Access::Read));
            if counts && !what.contains(&unreadable) {
                what.push(unreadable);
            }
        }
        let first = *what.first()?;
        let mut reason = format!("cannot be read with certainty: {}", first.what);
        if what.len() > 1 {
            reason.push_str(&format!(" (and {} more)", what.len() - 1));
        }
        let subject = first
            .span
            .and_then(|(start, end)| targets.command.as_deref()?.get(start..end))
            .map(str::to_owned);
        Some(Vote {
            verdict: self.unreadable.verdict,
            reason,
            origin: Origin::Unreadable { rule: None, place: self.unreadable.place.clone() },
            hint: Some(
                "write out what is meant, without variables, substitutions or generated code".to_owned(),
            ),
            scopes: Vec::new(),
            part: first.span,
            subject,
        })
    }

    /// Votes of the allow rules that together cover the call; none when a part of it is left.
    fn consent(&self, sight: &Sight<'_>) -> Vec<Vote> {
        let allowing: Vec<&Rule> = self.in_force().filter(|rule| rule.verdict == Verdict::Allow).collect();
        if allowing.is_empty() {
            return Vec::new();
        }
        let units = units(sight);
        let mut used: Vec<&Rule> = Vec::new();
        for unit in &units {
            let Some(rule) = allowing.iter().find(|rule| rule.covers(sight, *unit)) else {
                return Vec::new();
            };
            if !used.iter().any(|known| std::ptr::eq(*known, *rule)) {
                used.push(rule);
            }
        }
        used.into_iter().map(Rule::consent).collect()
    }

    fn default_vote(&self) -> Option<Vote> {
        (self.default.verdict > Verdict::Allow).then(|| Vote {
            verdict: self.default.verdict,
            reason: format!(
                "no rule allows it, and the policy's default is {}",
                verdict_word(self.default.verdict)
            ),
            origin: Origin::Default { place: self.default.place.clone() },
            hint: None,
            scopes: Vec::new(),
            part: None,
            subject: None,
        })
    }
}

impl Rule {
    /// The rule's vote on a call, if it speaks about it. Where that is in doubt, the weaker of its own verdict and
    /// `unreadable`.
    pub(super) fn vote(&self, sight: &Sight<'_>, unreadable: Verdict, bundle: Option<&str>) -> Option<Vote> {
        let witness = self.witness(sight)?;
        let (verdict, reason, origin) = if witness.fit == Fit::Yes {
            let origin = Origin::Rule {
                id: self.id.clone(),
                place: self.place.clone(),
                bundle: bundle.map(str::to_owned),
            };
            (self.verdict, self.reason.clone(), origin)
        } else {
            let origin = Origin::Unreadable { rule: Some(self.id.clone()), place: self.place.clone() };
            let reason = format!("cannot be told from the call whether this holds: {}", self.reason);
            (self.verdict.min(unreadable), reason, origin)
        };
        let reason = match &witness.note {
            Some(note) => format!("{reason} ({note})"),
            None => reason,
        };
        Some(Vote {
            verdict,
            reason,
            origin,
            hint: self.hint.clone(),
            scopes: if verdict == Verdict::Ask { self.scopes.clone() } else { Vec::new() },
            part: witness.part,
            subject: witness.subject,
        })
    }

    fn consent(&self) -> Vote {
        let reason = if self.reason.is_empty() { "allowed by a rule" } else { &self.reason };
        Vote {
            verdict: Verdict::Allow,
            reason: reason.to_owned(),
            origin: Origin::Rule { id: self.id.clone(), place: self.place.clone(), bundle: None },
            hint: self.hint.clone(),
            scopes: Vec::new(),
            part: None,
            subject: None,
        }
    }

    /// Whether the rule alone speaks about a call: an ask or deny rule by voting, an allow rule by covering all of it.
    pub(super) fn speaks_about(&self, sight: &Sight<'_>) -> Option<Option<String>> {
        if self.verdict != Verdict::Allow {
            return self.witness(sight).map(|witness| witness.subject);
        }
        let units: Vec<Unit<'_>> = units(sight);
        let covers = !units.is_empty() && units.iter().all(|unit| self.covers(sight, *unit));
        covers.then_some(None)
    }
}
