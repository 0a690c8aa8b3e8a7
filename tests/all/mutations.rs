//! Mutation test of the shipped policies: a rule that is dropped, loosened or tightened makes a row wrong. A rule
//! that could change unnoticed is one that nobody needs, or that nobody tests.
//!
//! Rows: `fixtures/cases/*.jsonl` for `ci`, and `fixtures/shipped/NAME.jsonl` for each policy. A row's `disable` takes
//! rules away first, as a policy of one's own does: some rules are a second line behind a wider one. Rows are judged
//! once by `ci` and `guardrails`; what a mutant would say is worked out from the votes, and that mutants really say it
//! is tried on some. `strict` is mutated for real, for what allow rules come to is more than their votes; but for some
//! mutants, without the rules that it includes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use gatewright::call::ToolCall;
use gatewright::policy::{NoLibrary, Policy, Source};
use gatewright::verdict::{Decision, Origin, Verdict, Vote};
use jiff::civil::date;
use serde::Deserialize;

use crate::cases::{judge, shipped, top};

/// What is done to a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mutation {
    Drop,
    Turn(Verdict),
}

fn mutations(verdict: Verdict) -> impl Iterator<Item = Mutation> {
    let verdicts = [Verdict::Allow, Verdict::Ask, Verdict::Deny];
    let turned = verdicts.into_iter().filter(move |other| *other != verdict).map(Mutation::Turn);
    std::iter::once(Mutation::Drop).chain(turned)
}

#[derive(Deserialize)]
struct Row {
    id: String,
    call: ToolCall,
    expect: Verdict,
    #[serde(default)]
    disable: Vec<String>,
    /// A rule that has to be among those that speak, where others come to the same verdict.
    rule: Option<String>,
}

impl Row {
    fn agrees(&self, decision: &Decision) -> bool {
        let says = |name: &String| {
            let mut origins = decision.votes.iter().map(|vote| &vote.origin);
            origins.any(|origin| matches!(origin, Origin::Rule { id, .. } if id == name))
        };
        decision.verdict == self.expect && self.rule.as_ref().is_none_or(says)
    }
}

fn rows(file: &str) -> Vec<Row> {
    let text = fs::read_to_string(top().join(file)).unwrap();
    let row = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{file}: {error}: {line}"));
    text.lines().map(row).collect()
}

/// A row and what the policy, without the rules that the row disables, votes on it.
struct Judged {
    row: Row,
    votes: Vec<Vote>,
}

fn judged(policy: &Policy, files: &[String]) -> Vec<Judged> {
    let rows = files.iter().flat_map(|file| rows(file));
    let mut wrong = String::new();
    let judged = rows.map(|row| {
        let mut votes = judge(policy, &row.call).votes;
        for disabled in &row.disable {
            assert!(policy.rule(disabled).is_some(), "{}: no rule {disabled}", row.id);
            votes.retain(|vote| rule_of(vote) != Some(disabled));
        }
        let decision = Decision::fold(votes.clone());
        if !row.agrees(&decision) {
            let verdict = decision.verdict;
            let by: Vec<Option<&str>> = votes.iter().map(rule_of).collect();
            writeln!(wrong, "{}: {verdict:?} by {by:?}: {}", row.id, row.call.args).unwrap();
        }
        Judged { row, votes }
    });
    let judged = judged.collect();
    assert!(wrong.is_empty(), "rows are wrong:\n{wrong}");
    judged
}

/// The rule that a vote comes from, in doubt or not.
fn rule_of(vote: &Vote) -> Option<&str> {
    match &vote.origin {
        Origin::Rule { id, .. } => Some(id),
        Origin::Unreadable { rule, .. } => rule.as_deref(),
        _ => None,
    }
}

/// What a policy whose default is to allow says after one of its ask or deny rules was mutated. One that allows
/// instead says nothing any more.
fn decision_of_mutant(votes: &[Vote], rule: &str, unreadable: Verdict, mutation: Mutation) -> Decision {
    let votes = votes.iter().filter_map(|vote| {
        let is_in_doubt = matches!(vote.origin, Origin::Unreadable { .. });
        let verdict = match mutation {
            _ if rule_of(vote) != Some(rule) => vote.verdict,
            Mutation::Drop | Mutation::Turn(Verdict::Allow) => return None,
            Mutation::Turn(turned) if is_in_doubt => turned.min(unreadable),
            Mutation::Turn(turned) => turned,
        };
        Some(Vote { verdict, ..vote.clone() })
    });
    Decision::fold(votes.collect())
}

/// Mutants of a policy that no row notices.
fn unnoticed(policy: &Policy, rows: &[Judged]) -> String {
    let (unreadable, _) = policy.unreadable_verdict();
    let mut by_rule: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    for row in rows {
        for rule in row.votes.iter().filter_map(rule_of) {
            by_rule.entry(rule).or_default().push(row);
        }
    }
    let mut text = String::new();
    for (rule, _) in policy.rules() {
        let fitting = by_rule.get(rule.id()).map_or(&[][..], Vec::as_slice);
        for mutation in mutations(rule.verdict()) {
            let notices = |judged: &&&Judged| {
                !judged.row.agrees(&decision_of_mutant(&judged.votes, rule.id(), unreadable, mutation))
            };
            if fitting.iter().find(notices).is_none() {
                writeln!(text, "{}: {mutation:?} ({} rows fit)", rule.id(), fitting.len()).unwrap();
            }
        }
    }
    text
}

fn corpus_of_ci() -> Vec<String> {
    let folder = fs::read_dir(top().join("fixtures/cases")).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let files = folder.map(name).map(|name| format!("fixtures/cases/{name}"));
    files.chain(["fixtures/shipped/ci.jsonl".to_owned()]).collect()
}

#[test]
fn no_rule_of_ci_can_change_unnoticed() {
    let policy = shipped("ci.yml");
    assert!(policy.rules().count() > 90);
    let left = unnoticed(&policy, &judged(&policy, &corpus_of_ci()));
    assert!(left.is_empty(), "no row notices:\n{left}");
}

#[test]
fn no_rule_of_guardrails_can_change_unnoticed() {
    let policy = shipped("guardrails.yml");
    assert!(policy.rules().count() > 10);
    let left = unnoticed(&policy, &judged(&policy, &["fixtures/shipped/guardrails.jsonl".to_owned()]));
    assert!(left.is_empty(), "no row notices:\n{left}");
}

#[test]
fn no_rule_of_strict_can_change_unnoticed() {
    let text = fs::read_to_string(top().join("policies/strict.yml")).unwrap();
    let include = "include: [\"builtin:ci\"]\n";
    assert!(text.contains(include));
    let alone = text.replace(include, "");
    let whole = load(&text);
    // The verdicts of the rules of `ci` stay what they are, whatever becomes of an allow rule.
    let included: BTreeSet<&str> =
        whole.rules().filter_map(|(rule, _)| (rule.source() == "ci").then_some(rule.id())).collect();
    let rows: Vec<(Row, Verdict)> = rows("fixtures/shipped/strict.jsonl")
        .into_iter()
        .map(|row| {
            let decision = judge(&whole, &row.call);
            assert!(row.agrees(&decision), "{}: {} {:#?}", row.id, row.call.args, decision.votes);
            let of_ci =
                decision.votes.iter().filter(|vote| rule_of(vote).is_some_and(|id| included.contains(id)));
            let verdict = of_ci.map(|vote| vote.verdict).max().unwrap_or(Verdict::Allow);
            (row, verdict)
        })
        .collect();
    let (mut left, mut count) = (String::new(), 0);
    for (rule, _) in whole.rules().filter(|(rule, _)| rule.source() == "mutant") {
        for mutation in mutations(rule.verdict()) {
            let mutant = load(&mutated_text(&alone, rule.id(), mutation));
            // Now and then, the whole of it for real.
            let real = (count % 16 == 0).then(|| load(&mutated_text(&text, rule.id(), mutation)));
            count += 1;
            let mut is_noticed = false;
            for (row, of_ci) in &rows {
                let verdict = judge(&mutant, &row.call).verdict.max(*of_ci);
                is_noticed |= verdict != row.expect;
                if let Some(real) = &real {
                    assert_eq!(
                        judge(real, &row.call).verdict,
                        verdict,
                        "{}: {} {mutation:?}",
                        row.id,
                        rule.id()
                    );
                }
            }
            if !is_noticed {
                writeln!(left, "{}: {mutation:?}", rule.id()).unwrap();
            }
        }
    }
    assert!(count >= 30, "{count} mutants");
    assert!(left.is_empty(), "no row notices:\n{left}");
}

#[test]
fn mutants_that_are_loaded_say_what_was_worked_out() {
    let policy = shipped("guardrails.yml");
    let text = fs::read_to_string(top().join("policies/guardrails.yml")).unwrap();
    let rows = judged(&policy, &["fixtures/shipped/guardrails.jsonl".to_owned()]);
    for (rule, _) in policy.rules() {
        for mutation in mutations(rule.verdict()) {
            let mutant = load(&mutated_text(&text, rule.id(), mutation));
            for Judged { row, votes } in rows.iter().filter(|judged| judged.row.disable.is_empty()) {
                let worked_out = decision_of_mutant(votes, rule.id(), Verdict::Ask, mutation);
                let said = judge(&mutant, &row.call).verdict;
                assert_eq!(said, worked_out.verdict, "{}: {} {mutation:?}", row.id, rule.id());
            }
        }
    }
    // Rules of `ci` that are disabled for real.
    let policy = shipped("ci.yml");
    for Judged { row, .. } in judged(&policy, &["fixtures/shipped/ci.jsonl".to_owned()]).iter().step_by(3) {
        let disabled = serde_json::to_string(&row.disable).unwrap();
        let without = load(&format!("version: 1\ninclude: [\"builtin:ci\"]\ndisable: {disabled}\n"));
        assert_eq!(judge(&without, &row.call).verdict, row.expect, "{}", row.id);
    }
}

fn load(text: &str) -> Policy {
    let source = Source { name: "mutant.yml".to_owned(), bytes: text.as_bytes().to_vec() };
    Policy::load(&[source], &NoLibrary, date(2026, 12, 1))
        .unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// The policy's text with one of its rules mutated. Examples are left out, and exceptions of a rule that allows.
fn mutated_text(text: &str, rule: &str, mutation: Mutation) -> String {
    let mut kept = String::new();
    let (mut is_own, mut is_left_out) = (false, false);
    for line in text.lines() {
        if let Some(id) = line.strip_prefix("  - id: ") {
            is_own = id == rule;
        }
        if !line.starts_with("      ") {
            let is_allow = is_own && mutation == Mutation::Turn(Verdict::Allow);
            let has_no_place = line == "    except:" && is_allow;
            is_left_out = line == "    examples:" || has_no_place;
        }
        let turned = match mutation {
            _ if is_left_out => continue,
            Mutation::Drop if is_own => continue,
            Mutation::Turn(verdict) if is_own && line.starts_with("    verdict: ") => Some(verdict),
            _ => None,
        };
        match turned {
            Some(verdict) => {
                writeln!(kept, "    verdict: {}", format!("{verdict:?}").to_lowercase()).unwrap();
            }
            None => writeln!(kept, "{line}").unwrap(),
        }
    }
    kept
}
