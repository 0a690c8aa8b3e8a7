//! `verify` notices one changed byte, wherever it is.

use std::fs;

use crate::scratch::Scratch;

#[test]
fn one_changed_byte_in_journal_policy_or_report_is_noticed() {
    let scratch = Scratch::new();
    let root = scratch.project("good, better");
    scratch.run_project(&root, &["--tests", "grep -q good value", "--allow-commit"]).expect_code(0);
    let run = scratch.runs()[0].clone();
    let answer = scratch.run(&["verify", "last"]).expect_code(0);
    assert!(answer.out.contains("belong together"), "{}", answer.out);
    for name in ["journal.jsonl", "policy.yml", "report.json"] {
        let path = run.join(name);
        let good = fs::read(&path).unwrap();
        for at in [good.len() / 3, good.len() / 2, good.len() - 4] {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, &bad).unwrap();
            scratch.run(&["verify", "last"]).expect_code(13);
        }
        fs::write(&path, &good).unwrap();
    }
    scratch.run(&["verify", "last"]).expect_code(0);
}

#[test]
fn a_moved_or_missing_branch_is_noticed() {
    let scratch = Scratch::new();
    let root = scratch.project("good, better");
    scratch.run_project(&root, &["--tests", "grep -q good value", "--allow-commit"]).expect_code(0);
    let branch = scratch.git(&root, &["for-each-ref", "--format=%(refname)", "refs/heads/gatewright"]);
    scratch.git(&root, &["update-ref", &branch, "main"]);
    let answer = scratch.run(&["verify", "last"]).expect_code(13);
    assert!(answer.out.contains("branch"), "{}", answer.out);
    scratch.git(&root, &["update-ref", "-d", &branch]);
    scratch.run(&["verify", "last"]).expect_code(13);
}

#[test]
fn a_changed_patch_is_noticed() {
    let scratch = Scratch::new();
    let root = scratch.project("good, better");
    scratch.run_project(&root, &["--tests", "grep -q good value"]).expect_code(0);
    scratch.run(&["verify", "last"]).expect_code(0);
    let patch = scratch.runs()[0].join("change.patch");
    let mut bytes = fs::read(&patch).unwrap();
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    fs::write(&patch, bytes).unwrap();
    scratch.run(&["verify", "last"]).expect_code(13);
}
