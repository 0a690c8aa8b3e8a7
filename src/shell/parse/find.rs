//! `find`: tests, and predicates that act.

use super::super::effect::{Access, EffectKind};
use super::super::invocation::{GivenOption, Invocation, Nested, Operand};
use super::super::table::{Program, Role, Value};
use super::super::word::{Piece, Word};
use super::words::{join, push, unknown};

/// Options that name where names may lie, not which ones count.
const NO_TESTS: &[&str] = &[
    "-maxdepth",
    "-mindepth",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-follow",
    "-noleaf",
    "-print",
    "-print0",
    "-ls",
    "-o",
    "-or",
    "-a",
    "-and",
    "!",
    "-not",
    "(",
    ")",
    ",",
    "-true",
    "-daystart",
    "-warn",
    "-nowarn",
    "-H",
    "-L",
    "-P",
];

/// Reads the words of `find`.
///
/// `-delete` without a test before it removes all that lies below the start paths: a recursive deletion and the
/// derived option `--unbounded-delete`. With a test before it, what the names can be is deleted below them.
pub(super) fn parse(table: &'static Program, words: &[Word]) -> Invocation {
    let mut invocation = Invocation::default();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let prefix = word.known_prefix();
        if matches!(word.value(), Some("-H" | "-L" | "-P")) || prefix.starts_with("-O") {
            give(&mut invocation, &word.shown(), None, at);
        } else if matches!(word.value(), Some("-D")) {
            at += 1;
        } else {
            break;
        }
        at += 1;
    }
    while let Some(word) = words.get(at) {
        let prefix = word.known_prefix();
        if (prefix.starts_with('-') && prefix.len() > 1)
            || matches!(word.value(), Some("(" | "!" | ")" | ","))
        {
            break;
        }
        invocation.operands.push(Operand { word: word.clone(), index: at, access: Some(Access::Read) });
        at += 1;
    }
    let starts: Vec<Word> = if invocation.operands.is_empty() {
        vec![Word::known(".")]
    } else {
        invocation.operands.iter().map(|operand| operand.word.clone()).collect()
    };

    let mut tests = Tests::default();
    let mut outer: Vec<Tests> = Vec::new();
    while let Some(word) = words.get(at) {
        let Some(name) = word.value() else {
            give(&mut invocation, &word.shown(), None, at);
            at += 1;
            continue;
        };
        match name {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let from = at + 1;
                let mut end = from;
                while let Some(word) = words.get(end) {
                    let closes = matches!(word.value(), Some(";"))
                        || (word.value() == Some("+")
                            && words.get(end - 1).and_then(Word::value) == Some("{}"));
                    if closes {
                        break;
                    }
                    end += 1;
                }
                let mut found = found_paths(&starts, &tests, tests.is_bounded);
                if !tests.is_bounded {
                    found.iter_mut().for_each(with_everything_below);
                }
                let started = words.get(from..end).unwrap_or_default();
                give(&mut invocation, name, started.first().cloned(), at);
                if !started.is_empty() {
                    for found in &found {
                        let words: Vec<Word> = started.iter().map(|word| filled(word, found)).collect();
                        invocation.nested.push(Nested::Command {
                            words,
                            assignments: Vec::new(),
                            directory: name.ends_with("dir").then(|| unknown("the folder found", false)),
                            takes_input: false,
                        });
                    }
                }
                at = end + 1;
                continue;
            }
            "-delete" => {
                give(&mut invocation, "-delete", None, at);
                let bounded = tests.is_bounded || outer.iter().any(|tests| tests.is_bounded);
                if !bounded {
                    give(&mut invocation, "--unbounded-delete", None, at);
                }
                for path in found_paths(&starts, &tests, bounded) {
                    let kind = EffectKind::Path { access: Access::Delete, recursive: !bounded };
                    invocation.effects.push((kind, path));
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let file = words.get(at + 1).cloned();
                if let Some(file) = &file {
                    let kind = EffectKind::Path { access: Access::Write, recursive: false };
                    invocation.effects.push((kind, file.clone()));
                }
                give(&mut invocation, name, file, at);
                at += if name == "-fprintf" { 2 } else { 1 };
            }
            "-o" | "-or" | "," => {
                tests.next_alternative();
                give(&mut invocation, name, None, at);
            }
            "(" => {
                let is_negated =
                    at >= 1 && matches!(words.get(at - 1).and_then(Word::value), Some("!" | "-not"));
                outer.push(std::mem::take(&mut tests));
                tests.is_negated = is_negated;
            }
            ")" => {
                let group = std::mem::replace(&mut tests, outer.pop().unwrap_or_default());
                tests.add_group(group);
            }
            _ => {
                let row = table.option(name);
                let value = match row.map(|row| row.value) {
                    Some(Value::Required) => {
                        at += 1;
                        words.get(at).cloned()
                    }
                    _ => None,
                };
                if let (Some(value), Some(Role::Read)) = (&value, row.map(|row| row.role)) {
                    let kind = EffectKind::Path { access: Access::Read, recursive: false };
                    invocation.effects.push((kind, value.clone()));
                }
                let negated = at >= 2
                    && matches!(
                        words.get(at - if value.is_some() { 2 } else { 1 }).and_then(Word::value),
                        Some("!" | "-not")
                    );
                if !NO_TESTS.contains(&name) {
                    // `-type d` and such bound little: what is deleted are still all folders.
                    let is_weak = matches!(
                        name,
                        "-type" | "-xtype" | "-readable" | "-writable" | "-user" | "-perm" | "-group"
                    ) || (matches!(
                        name,
                        "-name" | "-iname" | "-path" | "-wholename" | "-regex" | "-iregex"
                    ) && matches!(
                        value.as_ref().and_then(Word::value),
                        Some("*" | "*/*" | ".*" | "?*" | "./*")
                    ));
                    if !is_weak && !negated {
                        tests.is_bounded = true;
                    }
                    if matches!(name, "-name" | "-iname") && !negated && !is_weak {
                        tests.names.extend(value.clone());
                    }
                    if matches!(name, "-path" | "-ipath" | "-wholename") && !negated && !is_weak {
                        tests.paths.extend(value.as_ref().and_then(Word::value).map(path_pattern));
                    }
                }
                give(&mut invocation, name, value, at);
            }
        }
        at += 1;
    }
    if invocation
        .options
        .iter()
        .any(|option| matches!(option.name.as_str(), "-help" | "--help" | "-version" | "--version"))
    {
        invocation.is_help = true;
    }
    invocation
}

/// What the tests so far say about the names that are found.
#[derive(Debug, Default)]
struct Tests {
    /// Whether the present alternative has a test.
    is_bounded: bool,
    /// Names that the present alternative asks for.
    names: Vec<Word>,
    /// Paths that it asks for.
    paths: Vec<Word>,
    /// Paths that alternatives before it ask for.
    other_paths: Vec<Word>,
    /// Whether an alternative before it had none.
    has_open_alternative: bool,
    /// Names that alternatives before it ask for; none of them asks for a name when this is empty.
    other_names: Vec<Word>,
    /// Whether an alternative before it has a test that is no name.
    has_nameless_alternative: bool,
    /// Whether a `!` stands in front of the group.
    is_negated: bool,
}

impl Tests {
    /// An `-o`: an action after it is bounded by what comes after it.
    fn next_alternative(&mut self) {
        self.has_open_alternative |= !self.is_bounded;
        self.has_nameless_alternative |= self.names.is_empty();
        self.other_names.append(&mut self.names);
        self.other_paths.append(&mut self.paths);
        self.is_bounded = false;
    }

    /// A group in parentheses is a test if all its alternatives are.
    fn add_group(&mut self, mut group: Self) {
        group.next_alternative();
        if group.has_open_alternative || group.is_negated {
            return;
        }
        self.is_bounded = true;
        self.paths.append(&mut group.other_paths);
        if self.names.is_empty() && !group.has_nameless_alternative {
            self.names = group.other_names;
        }
    }
}

fn give(invocation: &mut Invocation, name: &str, value: Option<Word>, word: usize) {
    invocation.options.push(GivenOption { name: name.to_owned(), value, word });
}

/// A folder of the worktree that is named stands for all that is found in it. `.` says nothing about what is meant.
fn with_everything_below(start: &mut Word) {
    let is_named = start.value().is_some_and(|text| {
        !text.starts_with(['/', '~']) && !matches!(text.trim_end_matches('/'), "" | "." | "..")
    });
    if is_named {
        *start = below(start, Piece::Glob("**".to_owned()));
    }
}

/// What the paths that were found may be.
fn found_paths(starts: &[Word], tests: &Tests, is_bounded: bool) -> Vec<Word> {
    let names = &tests.names;
    let mut paths = tests.paths.clone();
    for start in starts {
        if !is_bounded {
            paths.push(start.clone());
            continue;
        }
        if names.is_empty() && tests.paths.is_empty() {
            paths.push(below(start, Piece::Name));
        }
        let start = below(start, Piece::Glob("**".to_owned()));
        for name in names {
            match name.value() {
                Some(text) if text.contains(['*', '?', '[']) => {
                    paths.push(below(&start, Piece::Glob(text.to_owned())))
                }
                Some(text) => paths.push(below(&start, Piece::Text(text.to_owned()))),
                None => paths.push(join(&[start.clone(), name.clone()], "/")),
            }
        }
    }
    paths
}

/// The pattern of a whole path, in which a `*` crosses slashes.
fn path_pattern(text: &str) -> Word {
    let mut path = Word::default();
    for (at, part) in text.split('/').enumerate() {
        if at > 0 {
            push(&mut path.pieces, Piece::Text("/".to_owned()));
        }
        if !part.contains(['*', '?', '[']) {
            push(&mut path.pieces, Piece::Text(part.to_owned()));
            continue;
        }
        push(&mut path.pieces, Piece::Glob("**".to_owned()));
        if part != "*" {
            push(&mut path.pieces, Piece::Text("/".to_owned()));
            push(&mut path.pieces, Piece::Glob(part.to_owned()));
        }
    }
    path
}

fn below(start: &Word, name: Piece) -> Word {
    let name = Word { pieces: vec![name], span: None };
    join(
        &[start.clone(), name],
        if start.known_prefix().ends_with('/') && start.value().is_some() { "" } else { "/" },
    )
}

/// `{}` replaced by what was found.
fn filled(word: &Word, found: &Word) -> Word {
    let Some(text) = word.value().filter(|text| text.contains("{}")) else { return word.clone() };
    let parts: Vec<Word> = text.split("{}").map(Word::known).collect();
    let mut pieces: Vec<Word> = Vec::new();
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            pieces.push(found.clone());
        }
        pieces.push(part);
    }
    join(&pieces, "")
}
