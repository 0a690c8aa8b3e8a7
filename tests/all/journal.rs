//! The journal of a run, its report, and the proof that they belong together.

use std::path::Path;

use gatewright::call::ToolCall;
use gatewright::record::{
    Base, Cleanup, Commit, CommitFacts, Event, Facts, Format, GateEvent, Integrity, JOURNAL_FILE, Journal,
    JudgedIn, Layer, Notice, Outcome, POLICY_FILE, PolicyRecord, REPORT_FILE, Report, RunEnd, RunFiles,
    RunStart, Status, Task, Tests, TestsResult, Trailer, TurnStart, read_journal, render, trailer, verify,
};
use gatewright::verdict::{Decision, Origin, Place, Verdict, Vote};
use sha2::{Digest, Sha256};

const POLICY: &[u8] = b"version: 1\n";

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn refused(call: u64, command: &str) -> Event {
    let vote = Vote {
        verdict: Verdict::Deny,
        reason: "publishes commits".into(),
        origin: Origin::Rule {
            id: "git-push".into(),
            place: Place { file: "policies/ci.yml".into(), line: 12 },
            bundle: None,
        },
        hint: Some("leave publishing to the reviewer".into()),
        scopes: Vec::new(),
        part: None,
        subject: Some(command.to_owned()),
    };
    let given = ToolCall {
        id: None,
        tool: "execute".into(),
        args: serde_json::json!({ "command": command }),
        cwd: None,
    };
    Event::Gate(Box::new(GateEvent {
        call,
        turn: 1,
        digest: GateEvent::digest_of(&given),
        given,
        replaced_by: None,
        judged_in: JudgedIn { root: "/w".into(), cwd: "/w".into(), home: None },
        links: std::collections::BTreeMap::new(),
        targets: gatewright::record::TargetsLine::default(),
        outside_votes: Vec::new(),
        decision: Decision::fold(vec![vote]),
    }))
}

/// Writes a run's folder; gives back what git would say of its commit.
fn run(folder: &Path) -> Facts {
    let mut journal = Journal::create(&folder.join(JOURNAL_FILE)).unwrap();
    let tests = |tree: &str, clean_checkout| Tests {
        command: "cargo test".into(),
        tree: tree.into(),
        result: TestsResult::Green,
        clean_checkout,
        exit_code: Some(0),
        digest: "t".into(),
        output: gatewright::record::CappedText::default(),
        duration_ms: 1234,
    };
    let start = RunStart {
        run: "r1".into(),
        gatewright: "0.1.0".into(),
        task: Task { name: Some("greet".into()), prompt: "write a greeting".into(), digest: "d".into() },
        agent: "script:demo.yml".into(),
        repository: "/repo".into(),
        base: Base { revision: "main".into(), commit: "c0ffee".into(), tree: "7ee0".into() },
        policy: Some(PolicyRecord {
            digest: "effective".into(),
            copy_digest: hex(POLICY),
            sources: vec!["builtin:ci".into()],
            rules: 41,
        }),
        isolation: vec![
            Layer {
                name: "clean environment".into(),
                in_force: true,
                required: true,
                note: "programs see no variable of the user".into(),
            },
            Layer {
                name: "landlock".into(),
                in_force: false,
                required: false,
                note: "a program may read any file that the user can read".into(),
            },
        ],
        may_commit: true,
        ..RunStart::default()
    };
    let mut events = vec![
        Event::RunStart(Box::new(start)),
        Event::TestsOnBase(Box::new(tests("7ee0", true))),
        Event::TurnStart(TurnStart { turn: 1 }),
        refused(1, "git push origin main"),
        refused(2, "git push https://u:hunter2@example.org \u{1b}[2J | <b>"),
        Event::Notice(Notice { from: "policy".into(), text: "exception of rule x is past its date".into() }),
        Event::Outcome(Box::new(Outcome {
            tree: "7ee1".into(),
            changes: Vec::new(),
            verdict: Verdict::Allow,
            votes: Vec::new(),
            policy_files_changed: Vec::new(),
        })),
        Event::Tests(Box::new(tests("7ee1", true))),
    ];
    let time = |second: i64| jiff::Timestamp::from_second(1_796_119_200 + second).unwrap();
    for (index, event) in events.drain(..).enumerate() {
        journal.append_at(&event, time(index as i64)).unwrap();
    }
    let pair = |key: &str, value: &str| Trailer { key: key.into(), value: value.into() };
    let commit = Commit {
        branch: "refs/heads/gatewright/r1".into(),
        id: "beef".into(),
        tree: "7ee1".into(),
        parent: "c0ffee".into(),
        subject: "greet".into(),
        files: vec!["src/greet.rs".into()],
        trailers: vec![
            pair(trailer::RUN, "r1"),
            pair(trailer::POLICY, "effective"),
            pair(trailer::JOURNAL, journal.head()),
        ],
        attestation: Some("tests green on exactly this tree".into()),
    };
    let facts = CommitFacts {
        branch_points_to: Some(commit.id.clone()),
        id: commit.id.clone(),
        tree: commit.tree.clone(),
        parents: vec![commit.parent.clone()],
        subject: commit.subject.clone(),
        trailers: commit.trailers.clone(),
        files: commit.files.clone(),
    };
    for event in [
        Event::Commit(Box::new(commit)),
        Event::Integrity(Integrity {
            differences: Vec::new(),
            compared: vec!["refs".into(), "config".into()],
        }),
        Event::Cleanup(Cleanup::default()),
        Event::RunEnd(RunEnd {
            status: Status::Ok,
            exit_code: 0,
            reason: String::new(),
            reply: Some("done".into()),
        }),
    ] {
        journal.append_at(&event, time(10)).unwrap();
    }
    std::fs::write(folder.join(POLICY_FILE), POLICY).unwrap();
    std::fs::write(folder.join(REPORT_FILE), render(&journal.report(), Format::Json, false)).unwrap();
    Facts { policy_digest: Some(Ok("effective".into())), commit: Some(Ok(facts)) }
}

#[test]
fn a_whole_run_has_no_finding() {
    let folder = tempfile::tempdir().unwrap();
    let facts = run(folder.path());
    let files = RunFiles::read(folder.path()).unwrap();
    assert_eq!(verify(&files, &facts), []);
    let report: Report = serde_json::from_slice(files.report.as_deref().unwrap()).unwrap();
    assert_eq!(Report::fold(&read_journal(files.journal.as_deref().unwrap()).unwrap().entries), report);
}

#[test]
fn one_changed_byte_anywhere_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let facts = run(folder.path());
    let whole = RunFiles::read(folder.path()).unwrap();
    let flipped = |bytes: &Option<Vec<u8>>, index: usize| {
        let mut bytes = bytes.clone().unwrap();
        bytes[index] ^= 4;
        Some(bytes)
    };
    for index in (0..whole.journal.as_ref().unwrap().len()).step_by(7) {
        let files = RunFiles { journal: flipped(&whole.journal, index), ..whole.clone() };
        assert!(!verify(&files, &facts).is_empty(), "journal byte {index}");
    }
    for index in (0..whole.report.as_ref().unwrap().len()).step_by(7) {
        let files = RunFiles { report: flipped(&whole.report, index), ..whole.clone() };
        assert!(!verify(&files, &facts).is_empty(), "report byte {index}");
    }
    for index in 0..POLICY.len() {
        let files = RunFiles { policy: flipped(&whole.policy, index), ..whole.clone() };
        assert!(!verify(&files, &facts).is_empty(), "policy byte {index}");
    }
}

#[test]
fn every_other_commit_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let facts = run(folder.path());
    let files = RunFiles::read(folder.path()).unwrap();
    let changes: [fn(&mut CommitFacts); 8] = [
        |commit| commit.branch_points_to = None,
        |commit| commit.branch_points_to = Some("feed".into()),
        |commit| commit.id = "feed".into(),
        |commit| commit.tree = "7ee2".into(),
        |commit| commit.parents.push("feed".into()),
        |commit| commit.subject.push('!'),
        |commit| commit.trailers[1].value.push('0'),
        |commit| commit.files.push("README.md".into()),
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut facts = facts.clone();
        if let Some(Ok(commit)) = &mut facts.commit {
            change(commit);
        }
        let findings = verify(&files, &facts);
        assert!(
            findings.iter().all(|finding| finding.what == "commit") && !findings.is_empty(),
            "change {index}"
        );
    }
    let gone = Facts { commit: Some(Err("no such object".into())), ..facts };
    assert_eq!(verify(&files, &gone).len(), 1);
}

#[test]
fn missing_parts_and_a_cut_journal_are_findings() {
    let folder = tempfile::tempdir().unwrap();
    let facts = run(folder.path());
    let whole = RunFiles::read(folder.path()).unwrap();
    for files in [
        RunFiles { journal: None, ..whole.clone() },
        RunFiles { report: None, ..whole.clone() },
        RunFiles { policy: None, ..whole.clone() },
    ] {
        assert_eq!(verify(&files, &facts).len(), 1);
    }
    let mut cut = whole.journal.clone().unwrap();
    let end = cut[..cut.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    cut.truncate(end + 1);
    let findings = verify(&RunFiles { journal: Some(cut), ..whole }, &facts);
    assert_eq!(findings.iter().map(|finding| finding.what).collect::<Vec<_>>(), ["journal", "report"]);
}

#[test]
fn the_report_reads_the_same_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path());
    let report: Report =
        serde_json::from_slice(&std::fs::read(folder.path().join(REPORT_FILE)).unwrap()).unwrap();
    let text = render(&report, Format::Text, false);
    for (name, format) in
        [("run.txt", Format::Text), ("run.md", Format::Markdown), ("run.json", Format::Json)]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports").join(name);
        let written = render(&report, format, false);
        if std::env::var_os("GATEWRIGHT_BLESS").is_some() {
            std::fs::write(&path, written).unwrap();
        } else {
            assert_eq!(
                written,
                std::fs::read_to_string(&path).unwrap(),
                "{name}: run with GATEWRIGHT_BLESS=1"
            );
        }
    }
    let coloured = render(&report, Format::Text, true);
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some(start) = rest.find('\u{1b}') {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        rest = &rest[rest.find('m').unwrap() + 1..];
    }
    plain.push_str(rest);
    assert_eq!(plain, text);
    assert!(!text.contains('\u{1b}') && !text.contains("hunter2"));
}
