//! Two policies side by side: which rules differ, and which calls are judged otherwise.

use std::collections::{BTreeMap, HashSet};

use crate::call::{Context, NoLinks, Targets, ToolCall};
use crate::verdict::{Decision, Origin, Verdict};

use super::after::Memory;
use super::load::Policy;
use super::rule::{Rule, verdict_word};
use super::{builtin, example, lint};

/// A call to judge by both policies.
#[derive(Debug, Clone)]
pub struct Tried {
    /// The call.
    pub call: ToolCall,
    /// Calls that came before it and were let through.
    pub before: Vec<ToolCall>,
    /// Where it happens.
    pub context: Context,
    /// Where it comes from, for people: `example of git-push`, `log.jsonl:7`.
    pub from: String,
}

/// What differs between two policies.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Rules that were added, removed or changed, in the order of the new policy, removed ones last.
    pub rules: Vec<RuleChange>,
    /// Rules that are as before.
    pub same: usize,
    /// `default` and `unreadable`, where they differ: name, old word, new word.
    pub levels: Vec<(&'static str, Verdict, Verdict)>,
    /// Calls whose verdict differs, in the order they were tried.
    pub shifts: Vec<Shift>,
    /// Calls that were tried.
    pub tried: usize,
}

/// How a rule differs.
#[derive(Debug)]
pub struct RuleChange {
    /// Its id.
    pub id: String,
    /// Where it stands: in the new policy, or in the old one if it was removed.
    pub place: crate::verdict::Place,
    /// Whether one side or both have it.
    pub kind: Kind,
    /// What differs, for people: `verdict ask, now deny`.
    pub parts: Vec<String>,
}

/// Kinds of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only the new policy has it in force.
    Added,
    /// Only the old policy has it in force.
    Removed,
    /// Both have it, and it differs.
    Changed,
}

/// A call whose verdict differs.
#[derive(Debug)]
pub struct Shift {
    /// The call for people.
    pub call: String,
    /// Where it comes from.
    pub from: String,
    /// The verdict of the old policy, and who decided.
    pub old: (Verdict, String),
    /// The verdict of the new policy, and who decided.
    pub new: (Verdict, String),
    /// Ids of the rules that it is an example for or that vote on it on one side only.
    pub rules: Vec<String>,
}

impl Shift {
    /// Whether the new verdict is the stricter one.
    pub fn is_tightened(&self) -> bool {
        self.new.0 > self.old.0
    }
}

impl Policy {
    /// The examples of its rules in force, those of embedded policies included, as calls to try.
    pub fn tries(&self) -> Vec<Tried> {
        let mut embedded: BTreeMap<String, Vec<(String, Tried)>> = BTreeMap::new();
        let mut tries = Vec::new();
        for rule in self.in_force() {
            let Some(name) = rule.place.file.strip_prefix("builtin:") else {
                tries.extend(examples(rule));
                continue;
            };
            // Those of embedded policies are left out when they are loaded.
            let known = embedded.entry(name.to_owned()).or_insert_with(|| {
                let part = builtin::source(name).and_then(|source| lint::part(&source, self.today()));
                let rules = part.iter().flat_map(|(_, _, document)| &document.rules);
                rules.flat_map(|rule| examples(rule).map(|tried| (rule.id.clone(), tried))).collect()
            });
            tries.extend(known.iter().filter(|(id, _)| *id == rule.id).map(|(_, tried)| tried.clone()));
        }
        tries
    }

    /// Compares this policy with the one that is to take its place. Their own examples are tried, and `more`.
    pub fn compare(&self, new: &Self, more: Vec<Tried>) -> Comparison {
        let mut comparison = Comparison::default();
        for (name, old, now) in [
            ("default", self.default_verdict().0, new.default_verdict().0),
            ("unreadable", self.unreadable_verdict().0, new.unreadable_verdict().0),
        ] {
            if old != now {
                comparison.levels.push((name, old, now));
            }
        }
        self.compare_rules(new, &mut comparison);
        let mut seen = HashSet::new();
        for tried in self.tries().into_iter().chain(new.tries()).chain(more) {
            let key = format!("{:?}", (&tried.call.tool, &tried.call.args, &tried.call.cwd, &tried.before));
            if !seen.insert(key) {
                continue;
            }
            comparison.tried += 1;
            comparison.shifts.extend(self.shift(new, &tried));
        }
        comparison
    }

    fn compare_rules(&self, new: &Self, into: &mut Comparison) {
        let mut left: Vec<&Rule> = self.rules_in_force().collect();
        for rule in new.rules_in_force() {
            let same_source = left.iter().position(|old| old.id == rule.id && old.source == rule.source);
            let at = same_source.or_else(|| left.iter().position(|old| old.id == rule.id));
            let (kind, parts) = match at.map(|at| left.remove(at)) {
                None => (Kind::Added, vec![format!("says {}", verdict_word(rule.verdict))]),
                Some(old) => (Kind::Changed, differences(old, rule)),
            };
            if parts.is_empty() {
                into.same += 1;
                continue;
            }
            into.rules.push(RuleChange { id: rule.id.clone(), place: rule.place.clone(), kind, parts });
        }
        for rule in left {
            into.rules.push(RuleChange {
                id: rule.id.clone(),
                place: rule.place.clone(),
                kind: Kind::Removed,
                parts: vec![format!("said {}", verdict_word(rule.verdict))],
            });
        }
    }

    fn rules_in_force(&self) -> impl Iterator<Item = &Rule> {
        self.in_force().filter(|_| self.is_enabled())
    }

    fn shift(&self, new: &Self, tried: &Tried) -> Option<Shift> {
        let (old, now) = (self.decide(tried), new.decide(tried));
        if old.verdict == now.verdict {
            return None;
        }
        let voters = |decision: &Decision| -> Vec<String> {
            decision.votes.iter().filter_map(|vote| rule_of(&vote.origin)).map(str::to_owned).collect()
        };
        let (before, after) = (voters(&old), voters(&now));
        let one_side = |own: &[String], other: &[String]| -> Vec<String> {
            own.iter().filter(|id| !other.contains(id)).cloned().collect()
        };
        let mut rules = one_side(&before, &after);
        rules.extend(one_side(&after, &before));
        // A rule that votes on both sides and otherwise is one that changed.
        rules.extend(
            [&old, &now]
                .into_iter()
                .filter_map(|decision| rule_of(&decision.deciding_vote()?.origin).map(str::to_owned)),
        );
        rules.extend(tried.from.strip_prefix("example of ").map(str::to_owned));
        rules.sort();
        rules.dedup();
        let call = match tried.call.args.get("command").and_then(|line| line.as_str()) {
            Some(line) => line.to_owned(),
            None => format!("{} {}", tried.call.tool, tried.call.args),
        };
        Some(Shift {
            call,
            from: tried.from.clone(),
            old: (old.verdict, decider(&old)),
            new: (now.verdict, decider(&now)),
            rules,
        })
    }

    fn decide(&self, tried: &Tried) -> Decision {
        let mut memory = Memory::default();
        for call in &tried.before {
            let targets = Targets::resolve(call, &tried.context, &NoLinks);
            self.remember(&mut memory, &targets, &call.args, true);
        }
        let targets = Targets::resolve(&tried.call, &tried.context, &NoLinks);
        Decision::fold(self.votes_after(&targets, &tried.call.args, &memory))
    }
}

fn examples(rule: &Rule) -> impl Iterator<Item = Tried> {
    rule.examples.iter().map(|example| Tried {
        call: example.call.clone(),
        before: example.before.clone(),
        context: example::context(),
        from: format!("example of {}", rule.id),
    })
}

/// What differs between two rules of one id, for people.
fn differences(old: &Rule, new: &Rule) -> Vec<String> {
    let mut parts = Vec::new();
    if old.verdict != new.verdict {
        parts.push(format!("verdict {}, now {}", verdict_word(old.verdict), verdict_word(new.verdict)));
    }
    let (before, after) = (old.matchers(), new.matchers());
    let names = before.iter().chain(&after).map(|(key, _)| *key);
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let values = |of: &[(&'static str, String)]| {
            let own: Vec<String> =
                of.iter().filter(|(key, _)| *key == name).map(|(_, value)| value.clone()).collect();
            own.join("; ")
        };
        let (was, is) = (values(&before), values(&after));
        match (was.as_str(), is.as_str()) {
            (was, is) if was == is => {}
            (_, "") => parts.push(format!("no `{name}` any more; it was {was}")),
            ("", _) => parts.push(format!("`{name}` is new: {is}")),
            _ => parts.push(format!("`{name}` was {was}; is {is}")),
        }
    }
    let exceptions = |rule: &Rule| -> Vec<String> {
        let all = rule.exceptions().into_iter().filter(|exception| !exception.is_over);
        all.map(|exception| format!("{:?} {:?}", exception.matchers, exception.until)).collect()
    };
    let (was, is) = (exceptions(old), exceptions(new));
    let gone = was.iter().filter(|one| !is.contains(one)).count();
    let come = is.iter().filter(|one| !was.contains(one)).count();
    if gone + come > 0 {
        parts.push(format!("exceptions: {come} added, {gone} removed"));
    }
    for (name, differs) in [
        ("reason", old.reason != new.reason),
        ("hint", old.hint != new.hint),
        ("scopes", old.scopes != new.scopes),
    ] {
        if differs {
            parts.push(format!("another {name}"));
        }
    }
    parts
}

fn rule_of(origin: &Origin) -> Option<&str> {
    match origin {
        Origin::Rule { id, .. } => Some(id),
        Origin::Unreadable { rule, .. } => rule.as_deref(),
        _ => None,
    }
}

fn decider(decision: &Decision) -> String {
    match decision.deciding_vote().map(|vote| &vote.origin) {
        Some(Origin::Default { .. }) => "default".to_owned(),
        Some(Origin::Unreadable { rule: None, .. }) => "unreadable".to_owned(),
        Some(origin) => rule_of(origin).unwrap_or_default().to_owned(),
        None => "no rule".to_owned(),
    }
}
