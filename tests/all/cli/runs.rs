//! `runs`, `report`, `init`, `doctor`: looking around.

use std::fs;

use crate::scratch::Scratch;

#[test]
fn runs_are_listed_and_shown_in_every_format() {
    let scratch = Scratch::new();
    let root = scratch.project("good, better");
    scratch.run(&["runs", "list"]).expect_code(0);
    scratch.run_project(&root, &["--tests", "true", "--allow-commit"]).expect_code(0);
    let listed = scratch.run(&["runs", "list"]).expect_code(0);
    assert!(listed.out.contains("gatewright/") && listed.out.contains("Change the value."), "{}", listed.out);
    scratch.run(&["runs", "show", "last"]).expect_code(0);
    let json = scratch.run(&["report", "last", "--format", "json"]).expect_code(0);
    assert_eq!(json.out, fs::read_to_string(scratch.runs()[0].join("report.json")).unwrap());
    let markdown = scratch.run(&["report", "last", "--format", "markdown"]).expect_code(0);
    assert!(markdown.out.starts_with('#'), "{}", markdown.out);
    scratch.run(&["report", "no-such-run"]).expect_code(2);
}

#[test]
fn a_run_with_out_inside_the_repository_changes_nothing_there() {
    let scratch = Scratch::new();
    let root = scratch.project("good, better");
    scratch.run_project(&root, &["--tests", "true", "--allow-commit", "--out", "run"]).expect_code(0);
    assert_eq!(scratch.git(&root, &["status", "--porcelain"]), "");
    scratch.run_in(&root, &["verify", "run"]).expect_code(0);
    assert!(scratch.run(&["runs", "list"]).expect_code(0).out.contains("gatewright/"));
}

#[test]
fn init_writes_what_loads_and_overwrites_nothing() {
    let scratch = Scratch::new();
    let root = scratch.repository("new", &[]);
    scratch.run_in(&root, &["init"]).expect_code(0);
    scratch.run_in(&root, &["policy", "check", ".gatewright/policy.yml"]).expect_code(0);
    scratch.write("new/.gatewright/policy.yml", "mine");
    let answer = scratch.run_in(&root, &["init"]).expect_code(0);
    assert!(answer.out.contains("kept .gatewright/policy.yml"), "{}", answer.out);
    assert_eq!(fs::read_to_string(root.join(".gatewright/policy.yml")).unwrap(), "mine");
}

#[test]
fn the_settings_that_init_writes_hold_for_a_run() {
    let scratch = Scratch::new();
    let root = scratch.repository("new", &[("Makefile", "test:\n\ttrue\n"), ("value", "good\n")]);
    scratch.run_in(&root, &["init"]).expect_code(0);
    scratch.git(&root, &["add", "--all"]);
    scratch.git(&root, &["commit", "--quiet", "--message", "gatewright"]);
    let script = scratch.write("agent.yml", "- calls:\n  - {tool: write, args: {path: value, content: x}}\n");
    let script = format!("script:{}", script.display());
    let answer = scratch.run_in(&root, &["run", "--agent", &script, "--tests", "true"]).expect_code(0);
    assert!(answer.out.contains(":.gatewright/policy.yml"), "{}", answer.out);
}

#[test]
fn doctor_says_what_is_in_force_and_what_is_not() {
    let scratch = Scratch::new();
    let answer = scratch.run(&["doctor"]).expect_code(0);
    assert!(answer.out.contains("landlock") && answer.out.contains("builtin:ci"), "{}", answer.out);
}
