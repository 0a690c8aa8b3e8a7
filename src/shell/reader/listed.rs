//! Lists of files that commands print, as patterns: what `find` or `grep -l` finds lies where it was told to look.
//!
//! A list is an approximation from above and carries wildcards, so nobody takes it for a text that is known. From the
//! top of the repository everything could be found; such lists stay unknown.

use super::super::command::Input;
use super::super::effect::{Access, EffectKind};
use super::super::invocation::Invocation;
use super::super::word::{Piece, Word};
use super::field::push;
use super::start::Start;
use super::{Place, Reader};

impl Reader<'_> {
    /// The list that a command prints, one pattern a line.
    pub(super) fn listed(&mut self, name: &str, start: &Start, place: &Place) -> Option<Word> {
        let arguments = start.words.get(1..).unwrap_or_default();
        match name {
            "find" => found(arguments),
            "grep" | "egrep" | "fgrep" | "rg" => {
                let invocation = Invocation::parse(&start.words);
                let reads: Vec<(&Word, bool)> = invocation
                    .effects
                    .iter()
                    .filter_map(|(kind, word)| match kind {
                        EffectKind::Path { access: Access::Read, recursive } => Some((word, *recursive)),
                        _ => None,
                    })
                    .collect();
                let has = |name: &str| invocation.options.iter().any(|option| option.name == name);
                let lists =
                    ["-l", "-L", "--files-with-matches", "--files-without-match"].into_iter().any(has);
                if reads.is_empty() && !lists && !has("-c") && !has("--count") && !has("-n") {
                    return passed_on(place);
                }
                if !lists {
                    return None;
                }
                let mut all = Word::default();
                for (path, recursive) in reads {
                    let path = path.value().filter(|path| is_below(path))?.trim_end_matches('/');
                    push(&mut all.pieces, Piece::Text(path.to_owned()));
                    if recursive || name == "rg" {
                        push(&mut all.pieces, Piece::Text("/".to_owned()));
                        push(&mut all.pieces, Piece::Glob("**".to_owned()));
                    }
                    push(&mut all.pieces, Piece::Text("\n".to_owned()));
                }
                all.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_))).then_some(all)
            }
            "sort" | "uniq" | "head" | "tail" => {
                let has_files = arguments.iter().any(|word| {
                    word.value().is_none_or(|text| !text.starts_with('-') && text.parse::<u32>().is_err())
                });
                if has_files { None } else { passed_on(place) }
            }
            _ => None,
        }
    }
}

/// A filter's output is a part of the list that it is given.
fn passed_on(place: &Place) -> Option<Word> {
    match &place.input {
        Input::Text(text) if text.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_))) => {
            Some(text.clone())
        }
        _ => None,
    }
}

/// Whether a folder is narrower than the one the line runs in.
fn is_below(path: &str) -> bool {
    !matches!(path.trim_end_matches('/'), "" | "." | "..") && !path.starts_with('-')
}

fn found(arguments: &[Word]) -> Option<Word> {
    let words: Vec<&str> = arguments.iter().map(Word::value).collect::<Option<_>>()?;
    let mut words = words.into_iter().peekable();
    while words.next_if(|word| matches!(*word, "-H" | "-L" | "-P")).is_some() {}
    let mut starts = Vec::new();
    while let Some(start) = words.next_if(|word| !word.starts_with('-') && !matches!(*word, "(" | "!" | ")"))
    {
        starts.push(start);
    }
    if starts.is_empty() || !starts.iter().all(|start| is_below(start)) {
        return None;
    }
    let (mut names, mut is_negated, mut has_path) = (Vec::new(), false, false);
    while let Some(word) = words.next() {
        match word {
            "!" | "-not" => {
                is_negated = true;
                continue;
            }
            "-name" | "-iname" => {
                let name = words.next()?;
                if !is_negated {
                    names.push(name);
                }
            }
            "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex" => {
                words.next()?;
                has_path |= !is_negated;
            }
            // What was named so far is left out.
            "-prune" => has_path = false,
            "-type" | "-maxdepth" | "-mindepth" | "-newer" | "-size" | "-mtime" | "-mmin" | "-atime"
            | "-ctime" | "-user" | "-group" | "-perm" => {
                words.next()?;
            }
            "-print" | "-print0" | "-o" | "-or" | "-a" | "-and" | "(" | ")" | "-empty" | "-depth"
            | "-follow" | "-executable" | "-readable" | "-writable" => {}
            _ => return None,
        }
        is_negated = false;
    }
    if has_path || starts.len() * names.len().max(1) > 32 {
        return None;
    }
    if names.is_empty() {
        names.push("*");
    }
    let mut all = Word::default();
    for start in starts {
        for name in &names {
            push(&mut all.pieces, Piece::Text(format!("{}/", start.trim_end_matches('/'))));
            push(&mut all.pieces, Piece::Glob("**".to_owned()));
            push(&mut all.pieces, Piece::Text("/".to_owned()));
            let is_plain = !name.contains(['*', '?', '[']);
            let name = (*name).to_owned();
            push(&mut all.pieces, if is_plain { Piece::Text(name) } else { Piece::Glob(name) });
            push(&mut all.pieces, Piece::Text("\n".to_owned()));
        }
    }
    Some(all)
}

/// The items of a list, if it is one.
pub(super) fn items(text: &Word) -> Option<Vec<Word>> {
    if !text.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_))) {
        return None;
    }
    let mut items = vec![Word::default()];
    for piece in &text.pieces {
        match piece {
            Piece::Text(text) => {
                for (at, part) in text.split('\n').enumerate() {
                    if at > 0 {
                        items.push(Word::default());
                    }
                    if let Some(item) = items.last_mut()
                        && !part.is_empty()
                    {
                        push(&mut item.pieces, Piece::Text(part.to_owned()));
                    }
                }
            }
            piece @ Piece::Glob(_) => {
                if let Some(item) = items.last_mut() {
                    push(&mut item.pieces, piece.clone());
                }
            }
            Piece::Name | Piece::Unknown { .. } => return None,
        }
    }
    items.retain(|item| !item.pieces.is_empty());
    Some(items)
}
