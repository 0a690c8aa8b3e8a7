//! `policy compare`: rules that differ, and calls that show it.

use crate::scratch::Scratch;

const OLD: &str = "\
version: 1
rules:
  - id: push
    run: git push
    verdict: ask
    reason: publishes
    hint: leave it
    examples: {match: [git push origin main]}
  - id: kept
    run: kubectl delete
    verdict: deny
    reason: takes down what is live
    examples: {match: [kubectl delete pod x]}
  - id: gone
    run: terraform apply
    verdict: deny
    reason: changes what is live
    examples: {match: [terraform apply]}
";

const NEW: &str = "\
version: 1
rules:
  - id: push
    run: git push
    verdict: deny
    reason: publishes
    hint: leave it
  - id: kept
    run: kubectl delete
    verdict: deny
    reason: takes down what is live
  - id: new
    run: helm uninstall
    verdict: deny
    reason: takes down what is live
    examples: {match: [helm uninstall shop]}
";

#[test]
fn every_difference_has_a_call_that_shows_it() {
    let scratch = Scratch::new();
    scratch.write("old.yml", OLD);
    scratch.write("new.yml", NEW);
    let told = scratch.run(&["policy", "compare", "old.yml", "new.yml"]).expect_code(0).out;
    let expected = "\
old.yml -> new.yml
rules: 1 added, 1 removed, 1 changed, 1 as before

~ push  new.yml:3
    verdict ask, now deny
    tightened  ask -> deny  git push origin main
               push -> push; example of push

+ new  new.yml:12
    says deny
    tightened  allow -> deny  helm uninstall shop
               no rule -> new; example of new

- gone  old.yml:14
    said deny
    loosened   deny -> allow  terraform apply
               gone -> no rule; example of gone

4 calls tried: 2 tightened, 1 loosened, 1 as before
";
    assert_eq!(told, expected);
    scratch.run(&["policy", "compare", "old.yml", "new.yml", "--fail-on", "loosened"]).expect_code(6);
    scratch.run(&["policy", "compare", "old.yml", "old.yml", "--fail-on", "changed"]).expect_code(0);
}

#[test]
fn calls_of_a_log_are_tried_too() {
    let scratch = Scratch::new();
    scratch.write("old.yml", OLD);
    scratch.write("new.yml", NEW);
    scratch
        .write("calls.jsonl", "{\"tool\": \"Bash\", \"args\": {\"command\": \"sudo helm uninstall x\"}}\n");
    let arguments = ["policy", "compare", "old.yml", "new.yml", "--calls", "calls.jsonl"];
    let told = scratch.run(&arguments).expect_code(0).out;
    assert!(told.contains("sudo helm uninstall x") && told.contains("calls.jsonl:1"), "{told}");
    scratch.run(&["policy", "compare", "old.yml", "new.yml", "--calls", "missing"]).expect_code(2);
}

#[test]
fn embedded_policies_bring_their_examples() {
    let scratch = Scratch::new();
    let told = scratch.run(&["policy", "compare", "builtin:guardrails", "builtin:ci"]).expect_code(0).out;
    let summary = told.lines().last().unwrap();
    let tried: usize = summary.split(' ').next().unwrap().parse().unwrap();
    assert!(tried > 500 && !summary.contains(" 0 tightened"), "{summary}");
    let same = scratch.run(&["policy", "compare", "builtin:ci", "builtin:ci"]).expect_code(0).out;
    assert!(same.contains("0 tightened, 0 loosened"), "{same}");
}
