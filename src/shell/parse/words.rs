//! Small operations on words: cutting, joining, and reading a path's parts.

use super::super::word::{Piece, Word};

/// The word without its first `bytes` bytes, which must be known text.
pub(in crate::shell) fn without_prefix(word: &Word, bytes: usize) -> Word {
    let mut pieces = word.pieces.clone();
    if let Some(Piece::Text(text)) = pieces.first_mut() {
        let rest = text.get(bytes..).unwrap_or_default().to_owned();
        if rest.is_empty() {
            pieces.remove(0);
        } else {
            *text = rest;
        }
    }
    Word { pieces, span: None }
}

/// The known text before the first `separator`, and the rest of the word after it.
pub(in crate::shell) fn split_once(word: &Word, separator: char) -> Option<(&str, Word)> {
    let prefix = word.known_prefix();
    let at = prefix.find(separator)?;
    Some((prefix.get(..at)?, without_prefix(word, at + separator.len_utf8())))
}

/// Words one after the other, with `between` between them.
pub(in crate::shell) fn join(words: &[Word], between: &str) -> Word {
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            push(&mut pieces, Piece::Text(between.to_owned()));
        }
        for piece in &word.pieces {
            push(&mut pieces, piece.clone());
        }
    }
    Word { pieces, span: None }
}

pub(super) fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
        (_, Piece::Text(text)) if text.is_empty() => {}
        (_, piece) => pieces.push(piece),
    }
}

/// `path` as seen from `directory`; absolute paths and paths whose beginning is not known stay as they are.
pub(in crate::shell) fn under(directory: Option<&Word>, path: &Word) -> Word {
    let Some(directory) = directory else { return path.clone() };
    let prefix = path.known_prefix();
    let begins_known =
        !prefix.is_empty() || matches!(path.pieces.first(), Some(Piece::Glob(_) | Piece::Name));
    if prefix.starts_with('/') || !begins_known {
        return path.clone();
    }
    let ends_in_slash = matches!(directory.pieces.last(), Some(Piece::Text(text)) if text.ends_with('/'));
    let joined = join(&[directory.clone(), path.clone()], if ends_in_slash { "" } else { "/" });
    Word { pieces: joined.pieces, span: path.span }
}

/// The last component of a path, if the word has one that is a name.
pub(in crate::shell) fn base_name(path: &Word) -> Option<Word> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, piece) in path.pieces.iter().enumerate().rev() {
        if let Piece::Text(text) | Piece::Glob(text) = piece {
            let is_last = at + 1 == path.pieces.len();
            let text = if is_last { text.trim_end_matches('/') } else { text };
            let make = |text: &str| match piece {
                Piece::Glob(_) => Piece::Glob(text.to_owned()),
                Piece::Text(_) | Piece::Name | Piece::Unknown { .. } => Piece::Text(text.to_owned()),
            };
            if let Some(slash) = text.rfind('/') {
                let rest = text.get(slash + 1..).unwrap_or_default();
                if !rest.is_empty() {
                    pieces.insert(0, make(rest));
                }
                break;
            }
            if !text.is_empty() {
                pieces.insert(0, make(text));
            }
        } else {
            pieces.insert(0, piece.clone());
        }
    }
    match pieces.as_slice() {
        [] => None,
        [Piece::Text(text)] if text == "." || text == ".." => None,
        _ => Some(Word { pieces, span: None }),
    }
}

/// The base name of a program word: the part after the last slash, if that part is known; `.exe` set aside.
pub(in crate::shell) fn program_name(word: &Word) -> Option<String> {
    let Some(Piece::Text(text)) = word.pieces.last() else { return None };
    let name = match text.rfind(['/']) {
        Some(at) => text.get(at + 1..)?,
        None if word.pieces.len() == 1 => text,
        None => return None,
    };
    let name = name.rsplit('\\').next().unwrap_or(name);
    let bytes = name.len();
    let name = match name.get(bytes.saturating_sub(4)..) {
        Some(ending) if bytes > 4 && ending.eq_ignore_ascii_case(".exe") => name.get(..bytes - 4)?,
        _ => name,
    };
    if name.is_empty() { None } else { Some(name.to_owned()) }
}

/// Splits known text into words the way a shell would without expansions; `None` for open quotes.
pub(in crate::shell) fn split_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut current: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(current.take()),
            '\'' => {
                let word = current.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => {
                let word = current.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => word.push(chars.next()?),
                        other => word.push(other),
                    }
                }
            }
            '\\' => current.get_or_insert_default().push(chars.next()?),
            other => current.get_or_insert_default().push(other),
        }
    }
    words.extend(current);
    Some(words)
}

/// A name that a variable may have.
pub(in crate::shell) fn is_variable_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An unknown part, with what stands for it in the source.
pub(in crate::shell) fn unknown(source: &str, splits: bool) -> Word {
    Word { pieces: vec![Piece::Unknown { splits, source: source.to_owned() }], span: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> Word {
        Word { pieces: vec![Piece::Text("a/b/".into()), Piece::Glob(text.into())], span: None }
    }

    #[test]
    fn base_names_end_at_slashes() {
        assert_eq!(base_name(&Word::known("a/b.txt")), Some(Word::known("b.txt")));
        assert_eq!(base_name(&Word::known("a/b/")), Some(Word::known("b")));
        assert_eq!(base_name(&Word::known("a/..")), None);
        assert_eq!(base_name(&glob("*.rs")).map(|w| w.pieces), Some(vec![Piece::Glob("*.rs".into())]));
    }

    #[test]
    fn program_names_lose_directory_and_ending() {
        assert_eq!(program_name(&Word::known("/usr/bin/git")).as_deref(), Some("git"));
        assert_eq!(program_name(&Word::known("C:\\tools\\Git.EXE")).as_deref(), Some("Git"));
        let word = Word {
            pieces: vec![
                Piece::Unknown { splits: false, source: "$P".into() },
                Piece::Text("/bin/rm".into()),
            ],
            span: None,
        };
        assert_eq!(program_name(&word).as_deref(), Some("rm"));
    }

    #[test]
    fn words_are_split_like_a_shell_would() {
        assert_eq!(
            split_words("rm -rf 'a b' c\\ d"),
            Some(vec!["rm".into(), "-rf".into(), "a b".into(), "c d".into()])
        );
        assert_eq!(split_words("'open"), None);
    }
}
