//! The outcome gate as a whole.

use super::*;
use crate::policy::{NoLibrary, Source};

fn context() -> Context {
    Context { root: "/tree".into(), cwd: "/tree".into(), home: None }
}

fn added(path: &str, content: &str) -> Change {
    Change {
        path: path.to_owned(),
        kind: ChangeKind::Added,
        old_mode: None,
        new_mode: Some(0o100_644),
        bytes: content.len() as u64,
        content: Some(content.as_bytes().to_vec()),
        old_content: None,
    }
}

fn deleted(path: &str) -> Change {
    Change {
        kind: ChangeKind::Deleted,
        old_mode: Some(0o100_644),
        new_mode: None,
        content: None,
        bytes: 0,
        ..added(path, "")
    }
}

fn globs(texts: &[&str]) -> Vec<PathGlob> {
    texts.iter().map(|text| PathGlob::parse(text).unwrap()).collect()
}

fn checks(changes: &[Change], rules: &OutcomeRules) -> Vec<String> {
    judge_changes(changes, rules, None, &context())
        .into_iter()
        .map(|vote| match vote.origin {
            Origin::Outcome { check } => {
                format!("{check} {}", vote.subject.unwrap_or_default()).trim().to_owned()
            }
            other => format!("{other:?}"),
        })
        .collect()
}

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

#[test]
fn an_ordinary_change_passes() {
    let changes = [added("src/a.rs", "fn main() {}\n"), deleted("old.rs"), added(".env.example", "TOKEN=\n")];
    assert_eq!(checks(&changes, &OutcomeRules::default()), Vec::<String>::new());
}

#[test]
fn paths_must_be_allowed_and_not_protected() {
    let rules = OutcomeRules {
        allowed: globs(&["src/**", "docs/**"]),
        protected: globs(&["src/gen/**"]),
        ..OutcomeRules::default()
    };
    let changes = [added("src/a.rs", ""), added("srcs/a.rs", ""), deleted("src/gen/b.rs"), deleted("src")];
    assert_eq!(
        checks(&changes, &rules),
        [
            "allowed_paths srcs/a.rs",
            "allowed_paths src",
            "protected_paths src/gen/b.rs",
            "protected_paths src"
        ]
    );
}

#[test]
fn size_and_number_are_limited() {
    let rules = OutcomeRules { most_files: 1, most_bytes: 10, most_file_bytes: 6, ..OutcomeRules::default() };
    assert_eq!(
        checks(&[added("a", "1234567"), added("b", "1234")], &rules),
        ["change_count", "change_bytes", "file_bytes a"]
    );
    let huge = Change { bytes: u64::MAX, ..added("a", "") };
    assert_eq!(checks(&[huge.clone(), huge], &OutcomeRules::default()).len(), 3);
}

#[test]
fn kinds_of_entries_are_looked_at() {
    let submodule = Change { new_mode: Some(SUBMODULE_MODE), content: None, ..added("lib", "") };
    let bumped = Change { old_mode: Some(SUBMODULE_MODE), kind: ChangeKind::Modified, ..submodule.clone() };
    let link = Change { new_mode: Some(LINK_MODE), ..added("x/l", "../../etc") };
    let inside = Change { new_mode: Some(LINK_MODE), ..added("x/k", "../y") };
    let unread = Change { content: None, ..link.clone() };
    assert_eq!(
        checks(&[submodule, bumped, link, inside, unread], &OutcomeRules::default()),
        ["submodule lib", "link x/l", "link x/l"]
    );
}

#[test]
fn names_are_looked_at() {
    let changes = [
        added("a/.Git/config", ""),
        added("a\u{202e}b", ""),
        added("Src/x", ""),
        added("src/y", ""),
        added("README.md", ""),
        deleted(".git"),
    ];
    let rules =
        OutcomeRules { tree: vec!["readme.md".to_owned(), "src/z".to_owned()], ..OutcomeRules::default() };
    assert_eq!(
        checks(&changes, &rules),
        ["name a/.Git/config", "name a\u{202e}b", "case_collision Src/x", "case_collision README.md"]
    );
    let renamed = [deleted("readme.md"), added("README.md", "")];
    assert_eq!(checks(&renamed, &rules), Vec::<String>::new());
}

#[test]
fn secrets_are_found_once_and_never_shown() {
    let text = format!("a\nb = \"{}\"\n", token());
    let changes = [added("src/a.rs", &text), added(".env", "A=1")];
    assert_eq!(checks(&changes, &OutcomeRules::default()), ["secret_name .env", "secret_content src/a.rs:2"]);
    let votes = judge_changes(&changes, &OutcomeRules::default(), None, &context());
    assert!(!format!("{votes:?}").contains(&token()));
    let kept = Change {
        old_content: Some(text.clone().into_bytes()),
        kind: ChangeKind::Modified,
        ..added("a", &text)
    };
    assert_eq!(checks(&[kept], &OutcomeRules::default()), Vec::<String>::new());
    let wide: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let wide = Change { content: Some(wide), ..added("w.txt", "") };
    assert_eq!(checks(&[wide], &OutcomeRules::default()), ["secret_content w.txt:2"]);
    assert_eq!(judge_message(&format!("use {}", token())).len(), 1);
    assert_eq!(judge_message("use the token"), Vec::new());
}

#[test]
fn many_findings_are_counted() {
    let changes: Vec<Change> = (0..50).map(|number| added(&format!("{number}.pem"), "")).collect();
    let votes = judge_changes(&changes, &OutcomeRules::default(), None, &context());
    assert_eq!(votes.len(), MOST_VOTES + 1);
    assert!(votes.last().unwrap().reason.contains("30 more"));
}

#[test]
fn rules_about_paths_hold_for_the_tree() {
    let text = "version: 1\nrules:\n  - id: ci\n    path: \".github/workflows/**\"\n    access: [write, delete]\n    \
                verdict: deny\n    reason: changes what CI runs\n  - id: any-write\n    tool: write\n    verdict: ask\n    \
                reason: writes\n";
    let source = Source { name: "p.yml".to_owned(), bytes: text.as_bytes().to_vec() };
    let policy = load(&source);
    let changes =
        [added(".github/workflows/ci.yml", ""), added("src/a.rs", ""), deleted(".github/workflows/x.yml")];
    let votes = judge_changes(&changes, &OutcomeRules::default(), Some(&policy), &context());
    let told: Vec<(String, Option<String>)> = votes
        .into_iter()
        .map(|vote| match vote.origin {
            Origin::Rule { id, .. } => (id, vote.subject),
            other => (format!("{other:?}"), None),
        })
        .collect();
    assert_eq!(
        told,
        [
            ("ci".to_owned(), Some(".github/workflows/ci.yml".to_owned())),
            ("ci".to_owned(), Some(".github/workflows/x.yml".to_owned())),
        ]
    );
}

fn load(source: &Source) -> Policy {
    Policy::load(std::slice::from_ref(source), &NoLibrary, crate::gate::tests::today()).unwrap()
}
