//! Voters and their order, the fold, protected places, class gates.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::call::{Context, NoLinks};
use crate::policy::{NoLibrary, Source};
use crate::verdict::Scope;

pub(super) fn today() -> jiff::civil::Date {
    jiff::civil::date(2026, 12, 1)
}

fn policy(text: &str) -> Policy {
    let source = Source { name: "p.yml".to_owned(), bytes: text.as_bytes().to_vec() };
    Policy::load(&[source], &NoLibrary, today()).unwrap()
}

fn ballot(tool: &str, args: Value, votes: Vec<Vote>) -> Ballot {
    let context = Context { root: "/tree".into(), cwd: "/tree".into(), home: Some("/home/dev".into()) };
    let call = ToolCall { id: None, tool: tool.to_owned(), args, cwd: None };
    let targets = Targets::resolve(&call, &context, &NoLinks);
    Ballot { call, targets, votes }
}

fn vote(verdict: Verdict, origin: Origin) -> Vote {
    Vote {
        verdict,
        reason: "because".to_owned(),
        origin,
        hint: None,
        scopes: Vec::new(),
        part: None,
        subject: None,
    }
}

fn hook() -> Origin {
    Origin::Hook { name: "h".to_owned(), bundle: None }
}

fn open_gate(settings: GateSettings) -> Gate {
    Gate::new(policy("version: 1\n"), settings)
}

const RULE: &str = "version: 1\nrules:\n  - id: notes\n    path: \"notes/**\"\n    access: write\n    verdict: ask\n    \
                    reason: notes are kept\n";

#[test]
fn a_call_nobody_speaks_about_goes_ahead_once() {
    let judged =
        open_gate(GateSettings::for_check()).judge(ballot("Write", json!({"file_path": "a"}), Vec::new()));
    assert_eq!(judged.decision.verdict, Verdict::Allow);
    assert_eq!(judged.pass.unwrap().into_call(), judged.call);
}

#[test]
fn voters_come_in_order_and_all_are_kept() {
    let places = Places { worktree: Some("/tree".into()), ..Places::default() };
    let mut classes = ClassGates::default();
    classes.set("Write", ClassGate::Always);
    let gate = Gate::new(
        policy(&RULE.replace("notes/**", ".git")),
        GateSettings::for_run(classes, places.protected()),
    );
    let votes = vec![
        vote(Verdict::Ask, hook()),
        vote(Verdict::Deny, Origin::Plugin { name: "gatekeeper".to_owned() }),
    ];
    let judged = gate.judge(ballot("Write", json!({"file_path": ".git"}), votes));
    let kinds: Vec<&str> = judged
        .decision
        .votes
        .iter()
        .map(|vote| match &vote.origin {
            Origin::Hook { .. } => "hook",
            Origin::Plugin { .. } => "plugin",
            Origin::Protected { .. } => "protected",
            Origin::Rule { .. } => "rule",
            Origin::Class { .. } => "class",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["hook", "plugin", "protected", "rule", "class"]);
    assert_eq!(judged.decision.verdict, Verdict::Deny);
    assert_eq!(judged.decision.deciding, Some(1));
    assert!(judged.pass.is_none());
}

#[test]
fn a_closed_gate_denies_everything() {
    let gate = Gate::closed("no such key".to_owned(), Some(Place { file: "p.yml".to_owned(), line: 3 }));
    for (tool, args) in
        [("Read", json!({"file_path": "a"})), ("TodoWrite", json!({})), ("Bash", json!({"command": "ls"}))]
    {
        let allow = vec![vote(Verdict::Allow, hook())];
        let judged = gate.judge(ballot(tool, args, allow));
        assert_eq!(judged.decision.verdict, Verdict::Deny, "{tool}");
        assert!(judged.pass.is_none());
        let told = text::refusal(tool, &judged.decision).unwrap();
        assert!(told.contains("p.yml:3") && told.contains("no such key"), "{told}");
    }
    assert!(gate.policy().is_none());
}

#[test]
fn an_allow_never_lifts_anything() {
    let gate = Gate::new(policy(RULE), GateSettings::for_check());
    let votes = vec![vote(Verdict::Allow, hook())];
    let judged = gate.judge(ballot("Write", json!({"file_path": "notes/a"}), votes));
    assert_eq!(judged.decision.verdict, Verdict::Ask);
    let strict = Gate::new(policy("version: 1\ndefault: ask\n"), GateSettings::for_check());
    let votes = vec![vote(Verdict::Allow, hook())];
    assert_eq!(
        strict.judge(ballot("Write", json!({"file_path": "a"}), votes)).decision.verdict,
        Verdict::Ask
    );
}

#[test]
fn without_guardrails_asks_of_hooks_fall_and_denies_stay() {
    let settings = GateSettings { guardrails_enabled: false, ..GateSettings::for_check() };
    let gate = open_gate(settings);
    let verdict = |votes| gate.judge(ballot("Read", json!({"file_path": "a"}), votes)).decision.verdict;
    assert_eq!(verdict(vec![vote(Verdict::Ask, hook())]), Verdict::Allow);
    assert_eq!(verdict(vec![vote(Verdict::Deny, hook())]), Verdict::Deny);
    assert_eq!(verdict(vec![vote(Verdict::Ask, Origin::Control)]), Verdict::Ask);
}

#[test]
fn shell_calls_of_a_run_need_a_person_unless_set_otherwise() {
    let gate = open_gate(GateSettings::for_run(ClassGates::default(), Vec::new()));
    for tool in ["Bash", "exec_command", "task_create"] {
        let judged = gate.judge(ballot(tool, json!({"command": "ls"}), Vec::new()));
        assert_eq!(judged.decision.verdict, Verdict::Ask, "{tool}");
    }
    let judged = gate.judge(ballot("Write", json!({"file_path": "a"}), Vec::new()));
    assert_eq!(judged.decision.verdict, Verdict::Allow);
    let mut classes = ClassGates::default();
    classes.set("execute", ClassGate::Rules);
    assert_eq!(classes, {
        let mut all = ClassGates::none();
        all.set("shell", ClassGate::Rules);
        all
    });
}

fn run_gate() -> Gate {
    let places = Places {
        state: vec!["/home/dev/.local/state/gatewright".into()],
        extensions: vec!["/home/dev/.local/share/bundles".into()],
        policies: vec!["/tree/policy.yml".into()],
        configs: vec!["/tree/.gatewright/config.yml".into()],
        hooks: vec!["/tree/.gatewright/hooks".into()],
        git: vec!["/home/dev/repo/.git".into()],
        worktree: Some("/tree".into()),
    };
    open_gate(GateSettings::for_run(ClassGates::none(), places.protected()))
}

#[test]
fn protected_places_are_left_alone() {
    let gate = run_gate();
    let verdict = |tool: &str, path: &str| {
        gate.judge(ballot(tool, json!({ "file_path": path }), Vec::new())).decision.verdict
    };
    for (tool, path, expected) in [
        ("Write", "/home/dev/.local/state/gatewright/approvals.json", Verdict::Deny),
        ("Write", "~/.local/state/gatewright/x/y", Verdict::Deny),
        ("Write", "/home/dev/.local/state/gatewright-notes", Verdict::Allow),
        ("Edit", "/home/dev/.local/share/bundles/a/manifest.yml", Verdict::Deny),
        ("Write", "policy.yml", Verdict::Deny),
        ("Write", "./src/../policy.yml", Verdict::Deny),
        ("Write", "policy.yml.bak", Verdict::Allow),
        ("Write", ".gatewright/config.yml", Verdict::Ask),
        ("Write", ".gatewright/hooks/x", Verdict::Ask),
        ("Write", ".gatewright/notes.md", Verdict::Allow),
        ("Write", ".git", Verdict::Deny),
        ("Write", ".git/hooks/pre-commit", Verdict::Deny),
        ("Write", "/home/dev/repo/.git/config", Verdict::Deny),
        ("Write", ".gitignore", Verdict::Allow),
        ("Write", ".pending-actions/a.json", Verdict::Deny),
        ("Read", ".git/config", Verdict::Allow),
        ("Read", "policy.yml", Verdict::Allow),
        ("delete_file", ".gatewright", Verdict::Ask),
        ("delete_file", "/home/dev", Verdict::Deny),
        ("delete_file", "src", Verdict::Allow),
    ] {
        assert_eq!(verdict(tool, path), expected, "{tool} {path}");
    }
    let patch = "*** Begin Patch\n*** Add File: docs/a.md\n+x\n*** Delete File: .git\n*** End Patch\n";
    let judged = gate.judge(ballot("apply_patch", json!({ "input": patch }), Vec::new()));
    assert_eq!(judged.decision.verdict, Verdict::Deny);
    let judged = gate.judge(ballot("Write", json!({"file_path": ".gatewright/hooks/x"}), Vec::new()));
    assert_eq!(judged.decision.deciding_vote().unwrap().scopes, [Scope::Once, Scope::Session]);
}

#[test]
fn a_link_is_no_way_round() {
    struct One;
    impl crate::call::Links for One {
        fn real(&self, path: &Path) -> Option<PathBuf> {
            Some(match path.strip_prefix("/tree/docs") {
                Ok(rest) => Path::new("/home/dev/repo/.git").join(rest),
                Err(_) => path.to_owned(),
            })
        }
    }
    let context = Context { root: "/tree".into(), cwd: "/tree".into(), home: None };
    let call =
        ToolCall { id: None, tool: "Write".to_owned(), args: json!({"file_path": "docs/config"}), cwd: None };
    let targets = Targets::resolve(&call, &context, &One);
    let judged = run_gate().judge(Ballot { call, targets, votes: Vec::new() });
    assert_eq!(judged.decision.verdict, Verdict::Deny);
}

#[test]
fn staging_is_refused_in_plain_words() {
    assert_eq!(OnAsk::parse("deny"), Ok(OnAsk::Deny));
    assert!(OnAsk::parse("stage").unwrap_err().to_string().contains("not built yet"));
    assert!(OnAsk::parse("wait").is_err());
}

fn any_vote() -> impl Strategy<Value = Vote> {
    let verdict = prop_oneof![Just(Verdict::Allow), Just(Verdict::Ask), Just(Verdict::Deny)];
    let who = prop_oneof![Just(hook()), Just(Origin::Control), Just(Origin::Plugin { name: "p".to_owned() })];
    (verdict, who).prop_map(|(verdict, who)| vote(verdict, who))
}

proptest! {
    #[test]
    fn a_vote_more_never_loosens(votes in prop::collection::vec(any_vote(), 0..6), more in any_vote(), enabled: bool) {
        let settings = GateSettings { guardrails_enabled: enabled, ..GateSettings::for_check() };
        let gate = open_gate(settings);
        let verdict = |votes: Vec<Vote>| {
            gate.judge(ballot("Read", json!({"file_path": "a"}), votes)).decision.verdict
        };
        let before = verdict(votes.clone());
        let mut after = votes.clone();
        after.push(more);
        prop_assert!(verdict(after) >= before);
        let mut turned = votes;
        turned.reverse();
        prop_assert_eq!(verdict(turned), before);
    }

    #[test]
    fn a_pass_comes_with_allow_only(votes in prop::collection::vec(any_vote(), 0..6)) {
        let judged = open_gate(GateSettings::for_check()).judge(ballot("Read", json!({"file_path": "a"}), votes));
        prop_assert_eq!(judged.pass.is_some(), judged.decision.verdict == Verdict::Allow);
        let strictest = judged.decision.votes.iter().map(|vote| vote.verdict).max().unwrap_or(Verdict::Allow);
        prop_assert_eq!(judged.decision.verdict, strictest);
    }
}
