use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::call::ToolCall;
use crate::record::{
    Answer, Approval, Base, CallStatus, CappedText, Change, ChangeKind, Checkpoint, Cleanup, Commit,
    Difference, GateEvent, Integrity, JudgedIn, Layer, Notice, Outcome, Patch, PathLine, PolicyRecord,
    RunEnd, RunStart, Setting, Status, TargetsLine, Task, Tests, TestsResult, ToolCallStarted, ToolResult,
    Trailer, TurnEnd, TurnStart,
};
use crate::verdict::{Decision, Origin, Place, Scope, Verdict, Vote};

fn vote(text: &str) -> Vote {
    Vote {
        verdict: Verdict::Deny,
        reason: format!("because {text}"),
        origin: Origin::Rule {
            id: "git-push".into(),
            place: Place { file: "policies/ci.yml".into(), line: 12 },
            bundle: None,
        },
        hint: Some("leave it".into()),
        scopes: vec![Scope::Once],
        part: Some((0, 8)),
        subject: Some(text.to_owned()),
    }
}

/// One of every event, with `text` wherever text from outside may stand.
fn samples_with(text: &str, args: serde_json::Value) -> Vec<Event> {
    let text = text.to_owned();
    let judged_in = JudgedIn { root: "/w".into(), cwd: "/w/sub".into(), home: Some("/home/u".into()) };
    let tests = Tests {
        command: text.clone(),
        tree: "4b825dc".into(),
        result: TestsResult::Red,
        clean_checkout: true,
        exit_code: Some(1),
        digest: "d".into(),
        output: CappedText::new(&text, 100),
        duration_ms: 1200,
    };
    let call = ToolCall { id: Some("c1".into()), tool: "Bash".into(), args, cwd: Some("/w/sub".into()) };
    vec![
        Event::RunStart(Box::new(RunStart {
            run: "r1".into(),
            gatewright: "0.1.0".into(),
            task: Task { name: Some(text.clone()), prompt: text.clone(), digest: "d".into() },
            agent: "script:demo.yml".into(),
            repository: "/repo".into(),
            base: Base { revision: "main".into(), commit: "c0ffee".into(), tree: "4b825dc".into() },
            policy: Some(PolicyRecord {
                digest: "p".into(),
                copy_digest: "q".into(),
                sources: vec!["builtin:ci".into()],
                rules: 3,
            }),
            settings: BTreeMap::from([(
                "on_ask".to_owned(),
                Setting { value: json!("deny"), origin: "default".into() },
            )]),
            isolation: vec![Layer {
                name: "landlock".into(),
                in_force: false,
                required: false,
                note: text.clone(),
            }],
            judged_in: judged_in.clone(),
            may_commit: true,
        })),
        Event::TestsOnBase(Box::new(tests.clone())),
        Event::TurnStart(TurnStart { turn: 1 }),
        Event::Gate(Box::new(GateEvent {
            call: 1,
            turn: 1,
            given: call.clone(),
            replaced_by: Some(call.clone()),
            digest: GateEvent::digest_of(&call),
            judged_in,
            links: BTreeMap::from([("/w/l".to_owned(), "/etc".to_owned())]),
            targets: TargetsLine {
                commands: vec![text.clone()],
                paths: vec![PathLine {
                    path: "/w/a".into(),
                    access: crate::shell::Access::Write,
                    recursive: true,
                    real: None,
                }],
                hosts: Vec::new(),
                unreadable: vec![text.clone()],
            },
            outside_votes: vec![vote(&text)],
            decision: Decision::fold(vec![vote(&text)]),
        })),
        Event::ToolCallStarted(ToolCallStarted { call: 1, tool: "execute".into() }),
        Event::Approval(Approval {
            call: 1,
            answer: Answer::NobodyThere,
            scope: Some(Scope::Repo),
            by: "settings".into(),
            reason: Some(text.clone()),
        }),
        Event::ToolResult(Box::new(ToolResult {
            call: 1,
            tool: "execute".into(),
            ok: false,
            status: CallStatus::Blocked,
            exit_code: None,
            error: Some(text.clone()),
            output_digest: "d".into(),
            output: CappedText::new(&text, 10),
            duration_ms: 5,
        })),
        Event::HookNotice(Notice { from: "lint".into(), text: text.clone() }),
        Event::Notice(Notice { from: "policy".into(), text: text.clone() }),
        Event::Checkpoint(Checkpoint { turn: 1, state: json!({"text": text}) }),
        Event::CheckpointDiscarded(Notice { from: "policy".into(), text: text.clone() }),
        Event::Outcome(Box::new(Outcome {
            tree: "4b825dc".into(),
            changes: vec![Change { path: text.clone(), kind: ChangeKind::TypeChanged, bytes: 5 }],
            verdict: Verdict::Deny,
            votes: vec![vote(&text)],
            policy_files_changed: vec![text.clone()],
        })),
        Event::Tests(Box::new(tests)),
        Event::Commit(Box::new(Commit {
            branch: "refs/heads/gatewright/r1".into(),
            id: "beef".into(),
            tree: "4b825dc".into(),
            parent: "c0ffee".into(),
            subject: text.clone(),
            files: vec![text.clone()],
            trailers: vec![Trailer { key: "Gatewright-Run".into(), value: "r1".into() }],
            attestation: Some("tests green".into()),
        })),
        Event::Patch(Box::new(Patch {
            file: "change.patch".into(),
            digest: "d".into(),
            tree: "4b825dc".into(),
            files: vec![text.clone()],
            reason: "not permitted".into(),
            permit: Some(text.clone()),
        })),
        Event::Integrity(Integrity {
            differences: vec![Difference { what: text.clone(), how: "is new".into() }],
            compared: vec!["refs".into()],
        }),
        Event::Cleanup(Cleanup { leftovers: vec![text.clone()], processes_ended: 2 }),
        Event::TurnEnd(TurnEnd { turn: 1, reply: Some(text.clone()) }),
        Event::RunEnd(RunEnd {
            status: Status::TestsRed,
            exit_code: 10,
            reason: text.clone(),
            reply: Some(text),
        }),
    ]
}

/// One of every event.
pub(crate) fn samples() -> Vec<Event> {
    samples_with("git push origin main", json!({"command": "git push origin main"}))
}

fn written(events: &[Event]) -> (Vec<u8>, Vec<Entry>, Report) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut journal = Journal::create(&path).unwrap();
    let time: Timestamp = "2026-12-01T10:00:00Z".parse().unwrap();
    let entries = events.iter().map(|event| journal.append_at(event, time).unwrap()).collect();
    (std::fs::read(&path).unwrap(), entries, journal.report())
}

#[test]
fn what_is_read_is_what_was_written() {
    let (bytes, entries, report) = written(&samples());
    let read = read_journal(bytes.as_slice()).unwrap();
    assert_eq!(read.problem, None);
    assert_eq!(read.entries, entries);
    assert_eq!(Report::fold(&read.entries), report);
    let (lines, head) = verify_chain(bytes.as_slice()).unwrap().unwrap();
    assert_eq!((lines, &head), (entries.len() as u64, &report.journal.head));
    let first: serde_json::Value =
        serde_json::from_slice(bytes.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!(first["prev"], sha256_hex(CHAIN_START.as_bytes()));
    assert_eq!(first["type"], "run_start");
    assert_eq!(first["time"], "2026-12-01T10:00:00Z");
}

#[test]
fn only_the_owner_can_read_it_and_an_old_one_is_not_written_over() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let _journal = Journal::create(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(matches!(Journal::create(&path), Err(RecordError::Open { .. })));
}

#[test]
fn every_changed_byte_is_noticed() {
    let (bytes, _, report) = written(&samples()[..6]);
    let head = report.journal.head;
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= 1;
        let verified = verify_chain(changed.as_slice()).unwrap();
        assert!(verified.is_err() || verified.is_ok_and(|(_, found)| found != head), "byte {index}");
    }
}

#[test]
fn the_first_bad_line_is_named() {
    let (bytes, _, _) = written(&samples());
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let problem = |lines: Vec<&str>| {
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        verify_chain(text.as_bytes()).unwrap().unwrap_err()
    };
    let changed = lines[2].replace("\"turn\":1", "\"turn\":2");
    let mut edited = lines.clone();
    edited[2] = &changed;
    assert_eq!(problem(edited).line, 4);
    let mut left_out = lines.clone();
    left_out.remove(3);
    let found = problem(left_out);
    assert_eq!((found.line, found.what.as_str()), (4, "number 5, expected 4"));
    let unknown = lines[0].replace("run_start", "run_begin");
    assert_eq!(problem(vec![&unknown]).line, 1);
    let newer = lines[0].replace("{\"v\":1", "{\"v\":2");
    assert_eq!(problem(vec![&newer]).what, "version 2, this program reads version 1");
}

#[test]
fn a_torn_last_line_is_tolerated_and_told_and_the_journal_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut journal = Journal::create(&path).unwrap();
    for event in &samples()[..4] {
        journal.append(event).unwrap();
    }
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [&whole[..], b"{\"v\":1,\"seq\":5,\"ti"].concat()).unwrap();
    let read = read_journal(std::fs::read(&path).unwrap().as_slice()).unwrap();
    assert_eq!((read.entries.len(), read.problem, read.torn_bytes), (4, None, 18));

    let mut again = Journal::open(&path).unwrap();
    assert_eq!((again.len(), again.head()), (4, journal.head()));
    again.append(&samples()[4]).unwrap();
    assert!(std::fs::read(&path).unwrap().starts_with(&whole));
    assert_eq!(verify_chain(std::fs::read(&path).unwrap().as_slice()).unwrap().unwrap().0, 5);
    assert!(!again.report().journal.has_end);
    assert_eq!(again.report().status, Status::Cut);
}

#[test]
fn secrets_do_not_reach_the_disk_and_calls_stay_comparable() {
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let (bytes, entries, report) = written(&samples_with(
        &format!(
            "curl -H 'Authorization: Bearer zzTopSecret1' https://u:{secret}@example.org --password swordfish1"
        ),
        json!({"command": format!("TOKEN={secret} x"), "password": "swordfish2", secret: 1}),
    ));
    let text = String::from_utf8(bytes).unwrap() + &serde_json::to_string(&report).unwrap();
    for part in [&secret[4..], "zzTopSecret1", "swordfish1", "swordfish2"] {
        assert!(!text.contains(part), "{part}");
    }
    let digests = |text: &str| {
        GateEvent::digest_of(&ToolCall { id: None, tool: "t".into(), args: json!({"c": text}), cwd: None })
    };
    assert_ne!(digests("a --password one"), digests("a --password two"));
    assert!(entries.iter().all(|entry| entry.prev.len() == 64));
}

fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        "(?s).{0,30}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-z_]{0,8}|password", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_event_survives_a_round_trip(text in "(?s).{0,60}", args in json_value()) {
        let events = samples_with(&text, args);
        for event in &events {
            let line = serde_json::to_string(event).unwrap();
            let again: Event = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(&again, event);
        }
        let (bytes, entries, _) = written(&events);
        let read = read_journal(bytes.as_slice()).unwrap();
        prop_assert_eq!(read.problem, None);
        prop_assert_eq!(read.entries, entries);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..3000_usize) {
        let _ = read_journal(bytes.as_slice());
        let (mut whole, _, _) = written(&samples()[..3]);
        whole.truncate(cut);
        whole.extend(bytes);
        let read = read_journal(whole.as_slice()).unwrap();
        let _ = Report::fold(&read.entries);
    }
}
