//! `policy lint`: a policy with a fault of each kind, and the shipped policies, which have none.
//!
//! The expected text lies beside the policy; `GATEWRIGHT_BLESS=1 cargo test lint` rewrites it, to be read before it
//! is committed.

use std::fs;
use std::path::Path;

use crate::scratch::Scratch;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_fault_of_each_kind_is_found_where_it_is() {
    let scratch = Scratch::new();
    let policy = "fixtures/policies/lint/twelve.yml";
    let shown = scratch.run_in(root(), &["policy", "lint", policy]).expect_code(6).out;
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    let shown = lines.join("\n") + "\n";
    let expected_at = root().join(policy).with_extension("txt");
    if std::env::var_os("GATEWRIGHT_BLESS").is_some_and(|value| value == "1") {
        fs::write(&expected_at, &shown).unwrap();
    }
    assert_eq!(fs::read_to_string(&expected_at).unwrap_or_default(), shown);
    for code in [
        "never-matches",
        "covered",
        "no-hint",
        "contradiction",
        "duplicate",
        "harmless",
        "exception-over",
        "words-say-it",
        "no-example",
        "matches-everything",
        "path-nowhere",
        "disabled-unknown",
    ] {
        assert!(shown.contains(code), "{code} is not found:\n{shown}");
    }
}

#[test]
fn shipped_policies_have_no_finding() {
    let scratch = Scratch::new();
    for name in ["guardrails", "ci", "strict"] {
        scratch.run(&["policy", "lint", &format!("builtin:{name}")]).expect_code(0);
    }
}

#[test]
fn findings_are_a_document_too_and_a_list_with_holes_is_refused() {
    let scratch = Scratch::new();
    let policy = root().join("fixtures/policies/lint/twelve.yml").display().to_string();
    let told = scratch.run(&["policy", "lint", &policy, "--format", "json"]).expect_code(6).out;
    let document: serde_json::Value = serde_json::from_str(&told).unwrap();
    let first = &document["findings"][0];
    assert!(
        first["code"].is_string() && first["source"].as_str().unwrap().contains("twelve.yml:"),
        "{first}"
    );
    scratch.write("calls.jsonl", "{\"tool\": \"Bash\", \"args\": {\"command\": \"ls\"}}\n{\n");
    scratch.write("none.jsonl", "\n");
    scratch.write("own.jsonl", "{\"tool\": \"Bash\", \"args\": {\"command\": \"kubectl delete pod x\"}}\n");
    for name in ["calls.jsonl", "none.jsonl", "missing.jsonl"] {
        scratch.run(&["policy", "lint", &policy, "--harmless", name]).expect_code(2);
    }
    let told = scratch.run(&["policy", "lint", &policy, "--harmless", "own.jsonl"]).expect_code(6).out;
    assert!(told.contains("rule `unproved` holds harmless calls"), "{told}");
    assert!(!told.contains("rule `git-at-all` holds harmless calls"), "{told}");
}
