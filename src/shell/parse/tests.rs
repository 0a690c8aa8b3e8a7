//! Rows of `fixtures/programs/*.jsonl`, and what rows cannot say.

use std::collections::BTreeSet;

use super::super::command::{Command, Directory, Input};
use super::super::effect::{Access, EffectKind};
use super::super::invocation::{Invocation, Nested};
use super::super::table::{Program, program, programs};
use super::super::word::{Piece, Word};

/// `$X` is an unknown that splits, `"$X"` one that does not, `*` inside a word a glob; all else is known.
pub(in crate::shell) fn word(text: &str) -> Word {
    if let Some(rest) = text.strip_prefix("known:") {
        return Word::known(rest);
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        if at > 0 {
            pieces.push(Piece::Text(rest[..at].trim_end_matches('"').to_owned()));
        }
        let quoted = rest[..at].ends_with('"');
        let end =
            rest[at + 1..].find(|c: char| !c.is_ascii_uppercase()).map_or(rest.len(), |end| at + 1 + end);
        pieces.push(Piece::Unknown { splits: !quoted, source: rest[at..end].to_owned() });
        rest = rest[end..].strip_prefix('"').unwrap_or(&rest[end..]);
    }
    if !rest.is_empty() {
        pieces.push(if rest.contains(['*', '?']) {
            Piece::Glob(rest.to_owned())
        } else {
            Piece::Text(rest.to_owned())
        });
    }
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    Word { pieces, span: None }
}

pub(in crate::shell) fn known(line: &[&str]) -> Vec<Word> {
    line.iter().map(|text| word(text)).collect()
}

pub(in crate::shell) fn command(line: &[&str]) -> Command {
    let words = known(line);
    Command {
        invocation: Invocation::parse(&words),
        words,
        assignments: Vec::new(),
        redirects: Vec::new(),
        directory: Directory::Known(".".to_owned()),
        via: Vec::new(),
        pipeline: None,
        input: Input::Inherited,
        span: (0, 0),
    }
}

/// One line for each thing that a row may speak about.
fn told(invocation: &Invocation) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    lines.insert(format!("sub {}", invocation.subcommand.join(" ")));
    for option in &invocation.options {
        lines.insert(match &option.value {
            Some(value) => format!("opt {}={}", option.name, value.shown()),
            None => format!("opt {}", option.name),
        });
    }
    for operand in &invocation.operands {
        lines.insert(format!("arg {}", operand.word.shown()));
    }
    if invocation.is_dry_run {
        lines.insert("dry-run".to_owned());
    }
    if invocation.is_help {
        lines.insert("help".to_owned());
    }
    for nested in &invocation.nested {
        let shown =
            |words: &[Word]| words.iter().map(|word| word.shown().into_owned()).collect::<Vec<_>>().join(" ");
        lines.insert(match nested {
            Nested::Command { words, assignments, .. } => {
                let set: Vec<String> =
                    assignments.iter().map(|a| format!("{}={} ", a.name, a.value.shown())).collect();
                format!("run {}{}", set.concat(), shown(words))
            }
            Nested::Code { language, code, .. } => format!("code {language:?} {}", code.shown()),
            Nested::Script { language, path, .. } => format!("script {language:?} {}", path.shown()),
            Nested::Input { language, .. } => format!("input {language:?}"),
        });
    }
    for (kind, word) in &invocation.effects {
        lines.insert(match kind {
            EffectKind::Path { access, recursive } => {
                let access = match access {
                    Access::Read => "read",
                    Access::Write => "write",
                    Access::Delete => "delete",
                };
                format!("{access}{} {}", if *recursive { "-tree" } else { "" }, word.shown())
            }
            EffectKind::Link { target } => format!("link {} -> {}", word.shown(), target.shown()),
            EffectKind::Contact => format!("contact {}", word.shown()),
        });
    }
    lines
}

/// `{"line_words": [...], "expect": ["run rm -rf x", "!dry-run", ...]}`: each line must be there, each with `!` must
/// not; `"effects": [...]` names all effects.
#[test]
fn rows_of_programs_hold() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/programs");
    let mut wrong = Vec::new();
    let mut covered = BTreeSet::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = format!("{}:{}", file.file_name().unwrap().to_string_lossy(), number + 1);
            let row: serde_json::Value = match serde_json::from_str(line) {
                Ok(row) => row,
                Err(error) => {
                    wrong.push(format!("{place}: {error}"));
                    continue;
                }
            };
            let list = |key: &str| -> Option<Vec<String>> {
                Some(
                    row.get(key)?
                        .as_array()?
                        .iter()
                        .map(|v| v.as_str().unwrap_or_default().to_owned())
                        .collect(),
                )
            };
            let words = list("line_words").unwrap_or_default();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let invocation = Invocation::parse(&known(&words));
            covered.extend(invocation.program.clone());
            let told = told(&invocation);
            for expected in list("expect").unwrap_or_default() {
                let (expected, present) = match expected.strip_prefix('!') {
                    Some(rest) => (rest.to_owned(), false),
                    None => (expected, true),
                };
                if told.contains(&expected) != present {
                    let not = if present { "" } else { "not " };
                    wrong.push(format!("{place}: {words:?}: {not}`{expected}` expected, got {told:#?}"));
                }
            }
            if let Some(expected) = list("effects") {
                let is_effect = |line: &&String| {
                    ["read", "write", "delete", "link", "contact"].iter().any(|verb| line.starts_with(verb))
                };
                let got: BTreeSet<String> = told.iter().filter(is_effect).cloned().collect();
                let expected: BTreeSet<String> = expected.into_iter().collect();
                if got != expected {
                    wrong.push(format!("{place}: {words:?}: effects {expected:?} expected, got {got:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows do not hold:\n{}", wrong.len(), wrong.join("\n"));
    // Every table is spoken of by a row, under one of its names at least.
    let spoken: BTreeSet<usize> = covered.iter().filter_map(|name| Some(place_of(program(name)?))).collect();
    let mut without: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for name in programs() {
        let Some(table) = program(name) else { continue };
        if !spoken.contains(&place_of(table)) && seen.insert(place_of(table)) {
            without.push(table.name);
        }
    }
    assert!(without.is_empty(), "{} tables have no row: {without:?}", without.len());
}

/// The address of a table, which is one for all names of it.
fn place_of(table: &'static Program) -> usize {
    std::ptr::from_ref(table).addr()
}

#[test]
fn nothing_makes_it_panic() {
    let odd = [
        "", "-", "--", "---", "-=", "--=", "=", "$X", "-$X", "--a$X", "-C", "-c", "--exec=", "é", "-é", "+",
        "-9", "{}", ";", ":::", "\\",
    ];
    let mut seen = BTreeSet::new();
    for name in programs().filter(|name| program(name).is_some_and(|table| seen.insert(place_of(table)))) {
        let _ = Invocation::parse(&known(&[name]));
        for a in odd {
            for b in odd {
                let _ = Invocation::parse(&known(&[name, a, b, a]));
            }
        }
    }
}
