//! The demo: what a stranger sees first.

use std::fs;

use crate::scratch::{Scratch, folders};

#[test]
fn the_demo_refuses_ends_in_one_commit_and_leaves_only_its_folder() {
    let scratch = Scratch::new();
    let answer = scratch.run(&["demo", "--out", "demo"]).expect_code(0);
    let refused = answer.out.lines().filter(|line| line.contains("(builtin:ci:")).count();
    assert!(refused >= 4, "{}", answer.out);
    let repository = scratch.path("demo/repository");
    let branches =
        scratch.git(&repository, &["for-each-ref", "--format=%(refname:short)", "refs/heads/gatewright"]);
    assert_eq!(branches.lines().count(), 1, "{}", answer.out);
    scratch.git(&repository, &["fsck", "--no-progress"]);
    let shown = scratch.git(&repository, &["show", "--stat", &branches]);
    assert!(shown.contains("greet.sh") && !shown.contains("ci.yml"), "{shown}");
    for name in ["home", "config", "state", "tmp"] {
        assert!(folders(&scratch.path(name)).is_empty(), "{name}: {:?}", folders(&scratch.path(name)));
    }
    scratch.assert_nothing_left(&scratch.path("demo/state"));

    let runs = folders(&scratch.path("demo/state/runs"));
    let journal = runs[0].join("journal.jsonl").display().to_string();
    scratch.run(&["verify", runs[0].to_str().unwrap()]).expect_code(0);
    let answer = scratch.run(&["dry-run", &journal, "--format", "json"]).expect_code(0);
    let summary: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    let text = fs::read_to_string(runs[0].join("journal.jsonl")).unwrap();
    let judged = text.lines().filter(|line| line.contains("\"type\":\"gate\"")).count() as u64;
    assert!(judged > 10);
    assert_eq!(summary["recorded_before"]["same"], judged, "{}", answer.out);
}

#[test]
fn a_folder_with_something_in_it_is_refused() {
    let scratch = Scratch::new();
    scratch.write("demo/mine.txt", "mine");
    scratch.run(&["demo", "--out", "demo"]).expect_code(2);
    assert_eq!(folders(&scratch.path("demo")).len(), 1);
}
