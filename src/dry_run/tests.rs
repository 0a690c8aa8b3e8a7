use serde_json::json;

use super::*;
use crate::call::{NoLinks, ToolClass};
use crate::verdict::Place;

/// Denies what holds `push`, asks about what holds `$`, and shows where it judged.
struct StandIn;

impl Judge for StandIn {
    fn judge(
        &self,
        call: &ToolCall,
        context: &Context,
        links: &dyn Links,
        outside_votes: Vec<Vote>,
        _memory: &mut Memory,
    ) -> (Targets, Decision) {
        let text = call.args.to_string();
        let mut votes = outside_votes;
        let mut vote = |verdict, id: &str| {
            votes.push(Vote {
                verdict,
                reason: format!("holds {id}"),
                origin: Origin::Rule {
                    id: id.to_owned(),
                    place: Place { file: "p.yml".into(), line: 3 },
                    bundle: None,
                },
                hint: None,
                scopes: Vec::new(),
                part: None,
                subject: None,
            });
        };
        if text.contains("push") {
            vote(Verdict::Deny, "push");
        }
        if text.contains('$') {
            vote(Verdict::Ask, "variable");
        }
        if links.real(Path::new("/w/link")).is_some() {
            vote(Verdict::Ask, "link");
        }
        let targets = Targets {
            tool: call.tool.clone(),
            class: ToolClass::Shell,
            command: None,
            reading: None,
            paths: Vec::new(),
            hosts: Vec::new(),
            cwd: context.cwd.clone(),
            root: context.root.clone(),
            home: context.home.clone(),
            outside_repo: false,
            unreadable: Vec::new(),
        };
        (targets, Decision::fold(votes))
    }
}

fn world(root: Option<&str>) -> World<'static> {
    World {
        root: root.map(PathBuf::from),
        home: None,
        top_level: &|cwd| cwd.starts_with("/repo").then(|| PathBuf::from("/repo")),
        links: &NoLinks,
    }
}

fn run(log: &str, root: Option<&str>) -> (Vec<(String, String, DecisionLine)>, Summary) {
    let mut dry_run = DryRun::new(&StandIn, world(root));
    let mut lines = Vec::new();
    dry_run
        .log(log.as_bytes(), "a.jsonl", None, |judged| {
            let shown = |path: &Path| path.display().to_string();
            lines.push((shown(&judged.targets.root), shown(&judged.targets.cwd), judged.line()));
            Ok::<(), ()>(())
        })
        .unwrap()
        .unwrap();
    (lines, dry_run.finish())
}

const LOG: &str = r#"{"id":"1","tool":"Bash","args":{"command":"git push $X"},"cwd":"/repo/sub"}
{"id":"2","tool":"Bash","args":{"command":"git push --token abc123def"},"cwd":"/elsewhere","expect":"ask"}
{"id":"3","tool":"Bash","args":{"command":"ls"},"expect":"allow"}
nonsense
"#;

#[test]
fn every_call_is_judged_in_its_directory_and_counted() {
    let (lines, summary) = run(LOG, None);
    let places: Vec<(&str, &str)> =
        lines.iter().map(|(root, cwd, _)| (root.as_str(), cwd.as_str())).collect();
    assert_eq!(
        places,
        [("/repo", "/repo/sub"), ("/elsewhere", "/elsewhere"), ("/unknown-directory", "/unknown-directory")]
    );
    assert_eq!((summary.calls, summary.judged, summary.allow, summary.ask, summary.deny), (3, 3, 1, 0, 2));
    assert_eq!((summary.no_directory, summary.bad, summary.strictest()), (1, 1, Verdict::Deny));
    let rules: Vec<(&str, u64, u64)> =
        summary.rules.iter().map(|rule| (rule.by.as_str(), rule.calls, rule.decided)).collect();
    assert_eq!(rules, [("rule push", 2, 2), ("rule variable", 1, 0)]);
    assert_eq!(summary.refused[0].subject, "git push $X");
    assert_eq!(summary.refused[1].subject, "git push --token xxxxxxxxx");
    let expected = summary.expected.as_ref().unwrap();
    assert_eq!((expected.right, expected.stricter, expected.looser), (1, 1, 0));
    assert_eq!(summary.problems[0].place, "a.jsonl:4");
    let (_, _, line) = &lines[0];
    assert_eq!(
        serde_json::to_value(line).unwrap(),
        json!({
            "v": 1, "id": "1", "tool": "Bash", "verdict": "deny", "rule": "push", "source": "p.yml:3",
            "reason": "holds push", "hint": null,
            "votes": [
                {"verdict": "deny", "by": "rule push", "rule": "push", "source": "p.yml:3", "reason": "holds push"},
                {"verdict": "ask", "by": "rule variable", "rule": "variable", "source": "p.yml:3",
                 "reason": "holds variable"},
            ],
            "targets": {"commands": [], "paths": [], "hosts": [], "unreadable": []},
            "log": "a.jsonl:1",
        })
    );
}

#[test]
fn a_given_root_stands_for_all_calls() {
    let (lines, summary) = run(LOG, Some("/given"));
    let places: Vec<(&str, &str)> =
        lines.iter().map(|(root, cwd, _)| (root.as_str(), cwd.as_str())).collect();
    assert_eq!(places, [("/given", "/repo/sub"), ("/given", "/elsewhere"), ("/given", "/given")]);
    assert_eq!(summary.no_directory, 0);
}

#[test]
fn our_own_journal_is_judged_as_it_was_then() {
    let gate = |verdict: &str| {
        json!({
            "v": 1, "seq": 1, "time": "t", "prev": "p", "type": "gate", "call": 1,
            "given": {"tool": "Bash", "args": {"command": "ls"}},
            "judged_in": {"root": "/w", "cwd": "/w/sub"},
            "links": {"/w/link": "/etc"},
            "outside_votes": [{"verdict": "ask", "reason": "r", "origin": {"kind": "control"}}],
            "decision": {"verdict": verdict, "deciding": 0, "votes": [
                {"verdict": "ask", "reason": "other words", "origin": {"kind": "control"}},
                {"verdict": "ask", "reason": "r", "origin":
                    {"kind": "rule", "id": "link", "place": {"file": "p.yml", "line": 3}}},
            ]},
        })
    };
    let (lines, summary) = run(&format!("{}\n{}\n", gate("ask"), gate("deny")), None);
    assert_eq!((lines[0].0.as_str(), lines[0].1.as_str()), ("/w", "/w/sub"));
    let recorded = summary.recorded_before.unwrap();
    assert_eq!((recorded.same, recorded.different), (1, 1));
    assert_eq!(
        (recorded.differences[0].before.as_str(), recorded.differences[0].now.as_str()),
        ("deny", "ask")
    );
}

#[test]
fn the_text_tells_counts_samples_and_doubts() {
    let (_, summary) = run(LOG, None);
    let text = summary.to_text(false);
    for part in [
        "calls     3",
        "deny      2        66.6 %",
        "      2       2   rule push (p.yml:3)",
        "git push $X  (a.jsonl:1)",
        "      1   calls without a known directory (give --root)",
        "a.jsonl:4: no JSON",
        "1 right, 1 stricter, 0 looser",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert!(!text.contains("abc123def") && !text.contains('\u{1b}'));
    assert!(summary.to_text(true).contains('\u{1b}'));
    let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    assert_eq!((&json["v"], &json["calls"]), (&json!(1), &json!(3)));
}

#[test]
fn an_error_of_the_receiver_ends_the_log() {
    let mut dry_run = DryRun::new(&StandIn, world(None));
    let ending = dry_run.log(LOG.as_bytes(), "a.jsonl", None, |_| Err("closed")).unwrap();
    assert_eq!((ending, dry_run.summary().judged), (Err("closed"), 1));
}
