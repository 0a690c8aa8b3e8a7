//! However a file is written, the verdict is that of the file: `fixtures/cases/writers.jsonl` is a matrix of writers
//! and targets, one visible line for each pair.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use gatewright::call::ToolCall;
use gatewright::policy::Policy;
use gatewright::verdict::{Origin, Verdict};
use serde::Deserialize;

use crate::cases::{judge, shipped, top};

/// Targets, and which rule decides about them: a file that nothing speaks about is allowed without a vote.
const TARGETS: &[(&str, Verdict, Option<&str>)] = &[
    (".env", Verdict::Deny, Some("secret-file")),
    (".git/hooks/pre-commit", Verdict::Deny, Some("git-folder")),
    (".gatewright/policy.yml", Verdict::Deny, Some("guard-policy")),
    ("docs/a.md", Verdict::Allow, None),
];

/// Writers that the matrix has to hold at the least.
const FEWEST: usize = 80;

#[derive(Deserialize)]
struct Row {
    id: String,
    call: ToolCall,
    expect: Verdict,
    writer: String,
    target: String,
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(top().join("fixtures/cases/writers.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

#[test]
fn every_writer_is_tried_on_every_target() {
    let mut tried: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows() {
        assert!(tried.entry(row.writer).or_default().insert(row.target), "{} is there twice", row.id);
    }
    let all: BTreeSet<String> = TARGETS.iter().map(|(target, ..)| (*target).to_owned()).collect();
    for (writer, targets) in &tried {
        assert_eq!(*targets, all, "{writer}");
    }
    assert!(tried.len() >= FEWEST, "{} writers", tried.len());
}

#[test]
fn the_target_alone_decides_however_it_is_written() {
    let policy = shipped("ci.yml");
    let wrong: Vec<String> = rows().iter().filter_map(|row| wrong(&policy, row)).collect();
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with a row: its claim, the verdict, or who gave it.
fn wrong(policy: &Policy, row: &Row) -> Option<String> {
    let (_, verdict, rule) = *TARGETS.iter().find(|(target, ..)| *target == row.target)?;
    let decision = judge(policy, &row.call);
    let deciding = decision.deciding_vote().map(|vote| match &vote.origin {
        Origin::Rule { id, .. } => id.clone(),
        other => format!("{other:?}"),
    });
    let is_right = row.expect == verdict && decision.verdict == verdict && deciding.as_deref() == rule;
    (!is_right).then(|| format!("{}: {:?} by {deciding:?}: {}", row.id, decision.verdict, row.call.args))
}
