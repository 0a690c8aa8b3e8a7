//! What rules say about calls whose targets are given: matching, exceptions, consent, and what folds never do.

use std::path::{Path, PathBuf};

use jiff::civil::{Date, date};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::call::{HostTarget, PathPattern, PathTarget, Targets, ToolClass};
use crate::shell::{
    Access, Command, Directory, Input, Invocation, Piece, Pipeline, Reading, Unreadable, UnreadableKind, Word,
};
use crate::verdict::{Decision, Origin, Verdict, Vote};

use super::{NoLibrary, Policy, Source};

const TODAY: Date = date(2026, 12, 1);

fn policy(rules: &str) -> Policy {
    let text = format!("version: 1\n{rules}");
    let source = Source { name: "test.yml".to_owned(), bytes: text.clone().into_bytes() };
    Policy::load(&[source], &NoLibrary, TODAY).unwrap_or_else(|errors| panic!("{text}\n{errors}"))
}

/// A call of a tool without targets.
fn call(tool: &str, class: ToolClass) -> Targets {
    Targets {
        tool: tool.to_owned(),
        class,
        command: None,
        reading: None,
        paths: Vec::new(),
        hosts: Vec::new(),
        cwd: PathBuf::from("/repo"),
        root: PathBuf::from("/repo"),
        home: Some(PathBuf::from("/var/lib/agent")),
        outside_repo: false,
        unreadable: Vec::new(),
    }
}

/// A shell line of plain words: `;` and `|` stand between commands, `$` begins an unknown word.
fn line(text: &str) -> Targets {
    let mut reading = Reading::default();
    let mut start = 0;
    for (id, pipeline) in text.split(';').enumerate() {
        let members: Vec<&str> = pipeline.split('|').collect();
        for (position, member) in members.iter().enumerate() {
            let words: Vec<Word> = member
                .split_whitespace()
                .map(|word| match word.strip_prefix('$') {
                    Some(_) => {
                        let piece = Piece::Unknown { splits: false, source: word.to_owned() };
                        Word { pieces: vec![piece], span: None }
                    }
                    None => Word::known(word),
                })
                .collect();
            let program = words.first().and_then(Word::value).map(str::to_owned);
            reading.commands.push(Command {
                words,
                assignments: Vec::new(),
                redirects: Vec::new(),
                directory: Directory::Known(".".to_owned()),
                via: Vec::new(),
                pipeline: (members.len() > 1).then_some(Pipeline { id, position }),
                input: Input::Inherited,
                invocation: Invocation { program, ..Invocation::default() },
                span: (start, start + member.len()),
            });
            start += member.len() + 1;
        }
    }
    Targets { command: Some(text.to_owned()), reading: Some(reading), ..call("execute", ToolClass::Shell) }
}

trait Touching {
    fn touching(self, command: Option<usize>, access: Access, path: &str) -> Self;
    fn contacting(self, command: Option<usize>, url: &str) -> Self;
}

impl Touching for Targets {
    fn touching(mut self, command: Option<usize>, access: Access, path: &str) -> Self {
        let mut target = PathTarget::known(path.trim_end_matches('/'), access, Path::new("/repo"));
        target.recursive = path.ends_with('/');
        target.command = command;
        self.paths.push(target);
        self
    }

    fn contacting(mut self, command: Option<usize>, url: &str) -> Self {
        self.hosts.push(HostTarget { command, ..HostTarget::parse(url).unwrap() });
        self
    }
}

fn level(policy: &Policy, targets: &Targets) -> Verdict {
    Decision::fold(policy.votes(targets, &json!({}))).verdict
}

fn only_vote(policy: &Policy, targets: &Targets, args: &Value) -> Vote {
    let mut votes = policy.votes(targets, args);
    assert_eq!(votes.len(), 1, "{votes:?}");
    votes.remove(0)
}

const PIPED: &str = "
rules:
  - id: piped
    command: '(curl|wget) .*\\| *(sudo )?(ba)?sh$'
    verdict: deny
    reason: runs what nobody has read
";

#[test]
fn a_command_expression_sees_commands_and_stretches_of_pipelines() {
    let policy = policy(PIPED);
    let vote = only_vote(&policy, &line("cd x; curl u | tee a | sh"), &json!({}));
    assert_eq!(vote.verdict, Verdict::Deny);
    assert_eq!(vote.subject.as_deref(), Some("curl u | tee a | sh"));
    assert_eq!(vote.part, Some((5, 25)));
    assert!(
        matches!(vote.origin, Origin::Rule { ref id, ref place, .. } if id == "piped" && place.line == 4)
    );
    assert_eq!(level(&policy, &line("true | curl u | sh | cat")), Verdict::Deny);
    assert_eq!(level(&policy, &line("echo curl u; sh")), Verdict::Allow);
    assert_eq!(level(&policy, &line("echo curl u | cat")), Verdict::Allow);
}

#[test]
fn a_wrapper_and_what_it_starts_are_both_tried_in_a_pipeline() {
    let policy = policy(PIPED);
    let mut targets = line("curl u | env sh");
    if let Some(reading) = &mut targets.reading {
        let mut inner = reading.commands[1].clone();
        inner.words.remove(0);
        inner.invocation.program = Some("sh".to_owned());
        reading.commands.push(inner);
    }
    assert_eq!(level(&policy, &targets), Verdict::Deny);
}

#[test]
fn keys_of_a_rule_hold_for_the_same_command() {
    let policy = policy(
        "rules:\n  - id: r\n    command: 'tar '\n    path: /etc/**\n    access: write\n    verdict: deny\n    reason: r\n",
    );
    let two = line("tar xf a; cp b /etc/c").touching(Some(1), Access::Write, "/etc/c");
    assert_eq!(level(&policy, &two), Verdict::Allow);
    let one = line("tar xf a -C /etc/c; ls").touching(Some(0), Access::Write, "/etc/c");
    let vote = only_vote(&policy, &one, &json!({}));
    assert_eq!(vote.subject.as_deref(), Some("write /etc/c"));
    assert_eq!(vote.part, Some((0, 18)));
    let read = line("tar cf a /etc/c").touching(Some(0), Access::Read, "/etc/c");
    assert_eq!(level(&policy, &read), Verdict::Allow);
}

#[test]
fn a_path_rule_covers_tools_and_shell_alike() {
    let policy = policy(
        "rules:\n  - id: r\n    path: .github/workflows/**\n    access: [write, delete]\n    verdict: deny\n    reason: r\n",
    );
    let tool = call("write", ToolClass::Write).touching(None, Access::Write, ".github/workflows/ci.yml");
    assert_eq!(level(&policy, &tool), Verdict::Deny);
    let shell = line("rm -r .github").touching(Some(0), Access::Delete, ".github/");
    assert_eq!(level(&policy, &shell), Verdict::Deny);
}

#[test]
fn the_home_is_that_of_whoever_the_call_runs_as() {
    let policy = policy("rules:\n  - id: r\n    path: ~/.ssh/**\n    verdict: deny\n    reason: r\n");
    let read = call("read", ToolClass::Read).touching(None, Access::Read, "/var/lib/agent/.ssh/id");
    assert_eq!(level(&policy, &read), Verdict::Deny);
}

#[test]
fn an_exception_takes_away_only_what_lies_wholly_within_it() {
    let policy = policy(
        "rules:\n  - id: r\n    path: .github/workflows/**\n    access: [write, delete]\n    verdict: deny\n    reason: r\n    except:\n      - path: .github/workflows/docs.yml\n        reason: ours\n",
    );
    let write = |path: &str| call("write", ToolClass::Write).touching(None, Access::Write, path);
    assert_eq!(level(&policy, &write(".github/workflows/docs.yml")), Verdict::Allow);
    assert_eq!(level(&policy, &write(".github/workflows/ci.yml")), Verdict::Deny);
    let both = write(".github/workflows/docs.yml").touching(None, Access::Write, ".github/workflows/ci.yml");
    assert_eq!(level(&policy, &both), Verdict::Deny);
    let all = line("rm -r .github").touching(Some(0), Access::Delete, ".github/");
    assert_eq!(level(&policy, &all), Verdict::Deny);
    let mut linked = write(".github/workflows/docs.yml");
    linked.paths[0].real = Some(PathPattern::known(Path::new("/repo/.github/workflows/ci.yml")));
    assert_eq!(level(&policy, &linked), Verdict::Deny);
}

#[test]
fn an_exception_by_expression_has_to_match_the_whole_command() {
    let policy = policy(
        "rules:\n  - id: r\n    command: 'git push\\b'\n    verdict: ask\n    reason: r\n    except:\n      - command: 'git push origin docs'\n        reason: ours\n",
    );
    assert_eq!(level(&policy, &line("git push origin docs")), Verdict::Allow);
    assert_eq!(level(&policy, &line("git push origin docs main")), Verdict::Ask);
    assert_eq!(level(&policy, &line("git push origin docs; git push")), Verdict::Ask);
}

#[test]
fn an_exception_by_path_holds_for_all_paths_of_the_command() {
    let policy = policy(
        "rules:\n  - id: r\n    command: 'rm '\n    verdict: ask\n    reason: r\n    except:\n      - path: build/**\n        reason: made again\n",
    );
    let rm = |paths: &[&str]| {
        paths.iter().fold(line("rm x"), |targets, path| targets.touching(Some(0), Access::Delete, path))
    };
    assert_eq!(level(&policy, &rm(&["build/a", "build/"])), Verdict::Allow);
    assert_eq!(level(&policy, &rm(&["build/a", "src/b"])), Verdict::Ask);
    assert_eq!(level(&policy, &rm(&[])), Verdict::Ask);
}

#[test]
fn arguments_are_reached_by_dotted_paths() {
    let policy = policy(
        "rules:\n  - id: r\n    tool: mcp_tracker_create\n    args:\n      labels: [urgent, {regex: '^p[01]$'}]\n      issue.draft: false\n      issue.parts.0.size: 3\n    verdict: ask\n    reason: r\n",
    );
    let targets = call("mcp_tracker_create", ToolClass::Mcp);
    let votes = |labels: Value, draft: Value| {
        let args = json!({"labels": labels, "issue": {"draft": draft, "parts": [{"size": 3.0}]}});
        policy.votes(&targets, &args).len()
    };
    assert_eq!(votes(json!(["calm", "urgent"]), json!(false)), 1);
    assert_eq!(votes(json!("p1"), json!(false)), 1);
    assert_eq!(votes(json!("p12"), json!(false)), 0);
    assert_eq!(votes(json!("urgent"), json!(true)), 0);
    assert_eq!(policy.votes(&targets, &json!({"labels": "urgent"})).len(), 0);
}

#[test]
fn text_is_the_line_of_a_shell_tool_and_every_text_of_another() {
    let policy = policy("rules:\n  - id: r\n    text: 'AKIA[0-9A-Z]{4}'\n    verdict: deny\n    reason: r\n");
    let write = call("write", ToolClass::Write);
    assert_eq!(policy.votes(&write, &json!({"edits": [{"new": "x AKIA1234"}]})).len(), 1);
    assert_eq!(policy.votes(&line("echo AKIA1234"), &json!({"command": "echo AKIA1234"})).len(), 1);
    assert_eq!(policy.votes(&line("ls"), &json!({"command": "ls", "description": "AKIA1234"})).len(), 0);
}

#[test]
fn hosts_are_compared_by_label() {
    let policy = policy("rules:\n  - id: r\n    host: '*.example.com'\n    verdict: deny\n    reason: r\n");
    let fetch = |url: &str| call("fetch_url", ToolClass::Fetch).contacting(None, url);
    let vote = only_vote(&policy, &fetch("https://a.example.com/x"), &json!({}));
    assert_eq!(vote.subject.as_deref(), Some("contact https://a.example.com/x"));
    assert_eq!(level(&policy, &fetch("https://example.com.evil.test/")), Verdict::Allow);
}

#[test]
fn doubt_votes_at_the_weaker_of_rule_and_unreadable() {
    let rule = |unreadable: &str, verdict: &str| {
        policy(&format!(
            "unreadable: {unreadable}\nrules:\n  - id: r\n    host: bad.test\n    verdict: {verdict}\n    reason: r\n"
        ))
    };
    let mut targets = line("curl $U");
    targets.hosts.push(HostTarget { command: Some(0), ..HostTarget::unknown("$U") });
    for (unreadable, verdict, expected) in [
        ("ask", "deny", Verdict::Ask),
        ("deny", "deny", Verdict::Deny),
        ("deny", "ask", Verdict::Ask),
        ("ask", "ask", Verdict::Ask),
    ] {
        let vote = only_vote(&rule(unreadable, verdict), &targets, &json!({}));
        assert_eq!(vote.verdict, expected);
        assert!(matches!(vote.origin, Origin::Unreadable { rule: Some(ref id), .. } if id == "r"));
    }
}

#[test]
fn what_cannot_be_read_votes_unless_it_is_only_a_path_to_read() {
    let policy = policy("\nunreadable: deny\n");
    let mut targets = line("cat $F");
    let what = |kind| Unreadable { kind, what: "it".to_owned(), span: Some((4, 6)), command: Some(0) };
    targets.unreadable.push(what(UnreadableKind::Path(Access::Read)));
    assert_eq!(policy.votes(&targets, &json!({})).len(), 0);
    targets.unreadable.push(what(UnreadableKind::Code));
    targets.unreadable.push(what(UnreadableKind::Code));
    let vote = only_vote(&policy, &targets, &json!({}));
    assert_eq!((vote.verdict, vote.part, vote.subject.as_deref()), (Verdict::Deny, Some((4, 6)), Some("$F")));
    assert!(matches!(vote.origin, Origin::Unreadable { rule: None, ref place } if place.line == 3));
}

const STRICT: &str = "default: deny
rules:
  - {id: reads, tool: [read, list], path: '**/*', verdict: allow}
  - {id: build, command: 'cargo (build|test)( .*)?', verdict: allow}
  - {id: plain, command: '(true|ls)', verdict: allow}
  - {id: logs, path: 'logs/**', access: write, verdict: allow}
  - {id: clean, command: 'rm .*', path: 'target/**', verdict: allow}
";

#[test]
fn a_call_is_allowed_when_every_part_of_it_is() {
    let policy = policy(STRICT);
    let votes = policy.votes(&line("ls; cargo build; cargo test"), &json!({}));
    assert!(votes.iter().all(|vote| vote.verdict == Verdict::Allow));
    assert_eq!(votes.len(), 2, "one vote for each rule that was needed");
    for (refused, why) in [
        (line("ls; id"), "a command that no rule names"),
        (line("lsof"), "an expression has to match the whole command"),
        (line(""), "nothing could be read"),
        (line("ls").touching(Some(0), Access::Write, "other/x"), "a redirect elsewhere"),
        (
            line("rm x").touching(Some(0), Access::Delete, "target/a").touching(
                Some(0),
                Access::Delete,
                "src/",
            ),
            "a path elsewhere",
        ),
        (line("rm x"), "a rule about paths says nothing without one"),
        (call("mcp_a_b", ToolClass::Mcp), "another tool"),
        (
            call("mcp_a_b", ToolClass::Mcp).touching(None, Access::Write, "logs/x"),
            "a tool that may do more than write",
        ),
    ] {
        let mut refused = refused;
        for path in &mut refused.paths {
            path.redirect = path.access == Access::Write && refused.reading.is_some();
        }
        let vote = only_vote(&policy, &refused, &json!({}));
        assert!(matches!(vote.origin, Origin::Default { .. }), "{why}: {vote:?}");
    }
    let mut redirect = line("ls").touching(Some(0), Access::Write, "logs/x");
    redirect.paths[0].redirect = true;
    assert_eq!(level(&policy, &redirect), Verdict::Allow);
    assert_eq!(level(&policy, &line("rm x").touching(Some(0), Access::Delete, "target/")), Verdict::Allow);
    let write = call("write", ToolClass::Write).touching(None, Access::Write, "logs/x");
    assert_eq!(level(&policy, &write), Verdict::Allow);
}

#[test]
fn a_variable_that_steers_a_program_is_not_covered() {
    let policy = policy(STRICT);
    let mut targets = line("cargo build");
    let assignment = |name: &str| crate::shell::Assignment { name: name.to_owned(), value: Word::known("x") };
    if let Some(reading) = &mut targets.reading {
        reading.commands[0].assignments.push(assignment("RUST_LOG"));
    }
    assert_eq!(level(&policy, &targets), Verdict::Allow);
    if let Some(reading) = &mut targets.reading {
        reading.commands[0].assignments.push(assignment("LD_PRELOAD"));
    }
    assert_eq!(level(&policy, &targets), Verdict::Deny);
}

#[test]
fn an_allow_rule_never_stands_against_another_vote() {
    let policy = policy(
        "rules:\n  - {id: a, tool: shell, verdict: allow}\n  - {id: b, command: 'rm ', verdict: ask, reason: removes}\n",
    );
    assert_eq!(level(&policy, &line("rm x")), Verdict::Ask);
    assert_eq!(only_vote(&policy, &line("ls"), &json!({})).verdict, Verdict::Allow);
    assert_eq!(policy.votes(&call("read", ToolClass::Read), &json!({})).len(), 0, "no opinion is no consent");
}

#[test]
fn the_seed_form_looks_at_the_text_of_the_line() {
    let text = "rules:\n  - id: reset\n    tool: '*'\n    command: '^git\\s+reset\\s+--hard'\n    verdict: ask\n    reason: r\n";
    let source = Source { name: "b.yml".to_owned(), bytes: text.as_bytes().to_vec() };
    let policy = Policy::load(&[source], &NoLibrary, TODAY).unwrap();
    assert_eq!(level(&policy, &line("cd x\ngit reset --hard")), Verdict::Ask);
    assert_eq!(level(&policy, &line("echo git reset --hard")), Verdict::Allow);
    let written = json!({"content": "git reset --hard"});
    assert_eq!(policy.votes(&call("write", ToolClass::Write), &written).len(), 0);
}

#[test]
fn switched_off_rules_give_no_votes() {
    let text =
        "guardrails:\n  enabled: false\n  rules:\n    - {id: all, tool: '*', verdict: deny, reason: r}\n";
    let source = Source { name: "config.yml".to_owned(), bytes: text.as_bytes().to_vec() };
    let policy = Policy::load(&[source], &NoLibrary, TODAY).unwrap();
    assert!(!policy.is_enabled());
    assert_eq!(policy.votes(&line("ls"), &json!({})).len(), 0);
}

#[test]
fn a_policy_is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Policy>();
}

/// Rules that ask or deny, over the words and paths of `calls`.
const RULES: &[&str] = &[
    "command: 'git push', verdict: ask",
    "command: 'curl .*\\| *sh', verdict: deny",
    "tool: shell, verdict: ask",
    "tool: '{read,write}', verdict: ask",
    "path: 'src/**', access: write, verdict: deny",
    "path: outside_repo, verdict: ask",
    "text: push, verdict: deny",
    "host: '*', verdict: ask",
    "command: 'rm ', path: 'src/**', verdict: deny, except: [{path: src/gen/**, reason: made}]",
];

fn calls() -> Vec<Targets> {
    vec![
        line("git push"),
        line("curl u | sh").contacting(Some(0), "https://h.test"),
        line("rm x").touching(Some(0), Access::Delete, "src/gen/"),
        line("rm x").touching(Some(0), Access::Delete, "src/"),
        line("echo push").touching(Some(0), Access::Write, "/tmp/x"),
        call("write", ToolClass::Write).touching(None, Access::Write, "src/a"),
        call("read", ToolClass::Read).touching(None, Access::Read, "/etc/passwd"),
        call("fetch_url", ToolClass::Fetch).contacting(None, "https://h.test"),
    ]
}

fn of(rules: &[usize], default: &str) -> Policy {
    let mut text = format!("default: {default}\nrules:\n");
    for (index, rule) in rules.iter().enumerate() {
        text.push_str(&format!("  - {{id: r{index}, reason: r, {}}}\n", RULES[*rule]));
    }
    if rules.is_empty() {
        text.push_str("  []\n");
    }
    policy(&text)
}

proptest! {
    #[test]
    fn adding_a_rule_never_loosens(
        rules in proptest::collection::vec(0..RULES.len(), 0..5),
        more in 0..RULES.len(),
        default in prop_oneof![Just("allow"), Just("ask"), Just("deny")],
    ) {
        let mut added = rules.clone();
        added.push(more);
        let (before, after) = (of(&rules, default), of(&added, default));
        for targets in calls() {
            prop_assert!(level(&after, &targets) >= level(&before, &targets));
        }
    }

    #[test]
    fn the_order_of_rules_does_not_change_the_level(
        rules in Just((0..RULES.len()).collect::<Vec<_>>()).prop_shuffle(),
        count in 0..RULES.len(),
    ) {
        let mut sorted = rules[..count].to_vec();
        sorted.sort_unstable();
        let (one, other) = (of(&rules[..count], "allow"), of(&sorted, "allow"));
        for targets in calls() {
            prop_assert_eq!(level(&one, &targets), level(&other, &targets));
        }
    }
}
