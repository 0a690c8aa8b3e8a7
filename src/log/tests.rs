use std::io::BufReader;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(text: &[u8], format: Option<&str>) -> (Vec<Item>, Tally) {
    let format = format.map(|name| Format::named(name).unwrap());
    let mut reader = LogReader::open(BufReader::with_capacity(64, text), "log", format, Seen::new()).unwrap();
    let items = reader.by_ref().map(Result::unwrap).collect();
    (items, reader.finish().0)
}

fn calls(items: &[Item]) -> Vec<&Recorded> {
    items
        .iter()
        .filter_map(|item| match item {
            Item::Call(recorded) => Some(recorded.as_ref()),
            Item::Outcome(_) => None,
        })
        .collect()
}

const CLAUDE: &str = include_str!("../../fixtures/logs/claude-code-session.jsonl");

#[test]
fn a_claude_code_session_is_read() {
    let (items, tally) = read(CLAUDE.as_bytes(), None);
    let found = calls(&items);
    let tools: Vec<&str> = found.iter().map(|recorded| recorded.call.tool.as_str()).collect();
    assert_eq!(tools, ["Bash", "Read", "Grep", "Write"]);
    assert_eq!((tally.calls, tally.repeated, tally.bad, tally.lines), (4, 1, 1, 8));
    assert_eq!(found[0].place.to_string(), "log:2");
    assert_eq!(found[0].call.cwd.as_deref(), Some(std::path::Path::new("/repo/sub")));
    assert_eq!(found[0].call.args, json!({"command": "git push"}));
    assert_eq!(found[3].call.args, json!({"content": "\u{fffd}"}));
    assert_eq!(tally.problems[0].place.line, 8);
    assert_eq!(tally.unknown["novelty"].first.line, 7);
    assert!(matches!(&items[1], Item::Outcome(outcome) if outcome.outcome == Outcome::DeniedByUser));
}

const CODEX: &str = include_str!("../../fixtures/logs/codex-rollout.jsonl");

#[test]
fn a_codex_rollout_is_read() {
    let (items, tally) = read(CODEX.as_bytes(), None);
    let found = calls(&items);
    let shown: Vec<String> = found
        .iter()
        .map(|recorded| {
            let within = recorded.within.as_ref().map(|within| format!(" in {within}")).unwrap_or_default();
            format!("{} {}{within}", recorded.call.tool, recorded.call.args)
        })
        .collect();
    assert_eq!(
        shown,
        [
            r#"exec_command {"cmd":"ls"}"#,
            r#"apply_patch {"input":"*** Begin Patch\n*** End Patch"}"#,
            r"mcp__demo__create {}",
            r#"exec {"input":"tools.exec_command({cmd})"}"#,
            r#"exec_command {"command":["/bin/bash","-lc","rm x"]} in c4"#,
            r#"edit_file {"path":"/repo/a"} in c4"#,
            r#"write_file {"path":"/repo/b"} in c4"#,
            r#"web_search {"type":"open_page","url":"https://example.org"}"#,
            r#"local_shell {"type":"exec","command":["git","push"],"workdir":"/x"}"#,
        ]
    );
    assert_eq!((tally.calls, tally.nested, tally.bad), (6, 3, 0));
    assert_eq!(found[0].call.cwd.as_deref(), Some(std::path::Path::new("/repo")));
    assert_eq!(found[1].call.cwd.as_deref(), Some(std::path::Path::new("/repo/sub")));
    assert!(found[3].opaque.is_some());
    assert!(
        matches!(items.last(), Some(Item::Outcome(outcome)) if outcome.outcome == Outcome::DeniedByPolicy)
    );
}

#[test]
fn plain_lines_take_the_usual_names() {
    let text = include_str!("../../fixtures/logs/json-lines.jsonl");
    let (items, tally) = read(text.as_bytes(), None);
    let found = calls(&items);
    assert_eq!(found.len(), 5);
    assert_eq!(found[0].result, Some(json!({"ok": true})));
    assert_eq!(found[1].call.id.as_deref(), Some("7"));
    assert_eq!(found[2].call.args, json!({"path": "b"}));
    assert_eq!(
        (found[3].call.id.as_deref(), found[3].expect),
        (Some("case-1"), Some(crate::verdict::Verdict::Deny))
    );
    assert_eq!((tally.calls, tally.bad), (5, 3));
    assert_eq!(tally.unknown["line without a tool"].first.line, 6);
    let places: Vec<u64> = tally.problems.iter().map(|problem| problem.place.line).collect();
    assert_eq!(places, [5, 7, 8]);
}

#[test]
fn the_filter_changes_nothing_but_speed() {
    for (text, name) in [(CLAUDE, "claude-code-session"), (CODEX, "codex-rollout")] {
        let open = || LogReader::open(text.as_bytes(), "log", Format::named(name), Seen::new()).unwrap();
        let filtered: Vec<Item> = open().map(Result::unwrap).collect();
        let all: Vec<Item> = open().unfiltered().map(Result::unwrap).collect();
        assert_eq!(filtered, all, "{name}");
    }
}

#[test]
fn a_log_of_no_known_format_is_an_error_and_an_empty_one_is_empty() {
    let open =
        |text: &'static [u8]| LogReader::open(text, "x.log", None, Seen::new()).map(|reader| reader.format());
    assert!(matches!(open(b"{\"hello\":1}\n"), Err(LogError::Unknown { .. })));
    assert!(matches!(open(b"# prose\n"), Err(LogError::Unknown { .. })));
    assert_eq!(open(b" \n").unwrap(), None);
    assert_eq!(Format::named("nothing"), None);
    assert_eq!(Format::names().count(), 4);
}

#[test]
fn copies_in_other_files_count_once_and_short_ids_only_within_their_file() {
    let mut seen = Seen::new();
    let mut total = Tally::default();
    for _ in 0..2 {
        for text in [CLAUDE, CODEX] {
            let mut reader = LogReader::open(text.as_bytes(), "log", None, seen).unwrap();
            assert!(reader.by_ref().all(|item| item.is_ok()));
            let (tally, rest) = reader.finish();
            total.add(tally);
            seen = rest;
        }
    }
    // The call without an id, and all calls of the second file, count again.
    assert_eq!((total.calls, total.nested, total.repeated), (4 + 1 + 6 + 6, 3, 1 + 4 + 3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn garbled_and_cut_logs_never_panic(
        which in 0..3_usize,
        cut in 0..4000_usize,
        places in prop::collection::vec((0..4000_usize, any::<u8>()), 0..6),
        rest in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let (text, name) = [(CLAUDE, "claude-code-session"), (CODEX, "codex-rollout"), (CLAUDE, "json-lines")][which];
        let mut bytes = text.as_bytes().to_vec();
        for (place, byte) in places {
            if let Some(found) = bytes.get_mut(place) {
                *found = byte;
            }
        }
        bytes.truncate(cut);
        bytes.extend(rest);
        let (items, tally) = read(&bytes, Some(name));
        prop_assert_eq!(calls(&items).len() as u64, tally.calls + tally.nested);
        let _ = Format::detect(&bytes);
        let (_, _) = read(&bytes, Some("journal"));
    }
}
