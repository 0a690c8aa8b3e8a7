//! Paths that a call touches, resolved without touching the file system.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::shell::{Access, Piece, Word};

use super::glob::{self, Atom, Part};

/// Symlinks of the world, gathered or looked up by the caller. Judging itself touches no disk.
pub trait Links {
    /// The resolved form of an absolute lexical path: all links followed; for a path that does not exist, its
    /// nearest existing parent followed and the rest appended. `None` when nothing is known about it.
    fn real(&self, path: &Path) -> Option<PathBuf>;
}

/// No link is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLinks;

impl Links for NoLinks {
    fn real(&self, _path: &Path) -> Option<PathBuf> {
        None
    }
}

/// An absolute path of which some parts may not be known.
///
/// Cleaned lexically: no `.`, no `..`, no doubled or trailing slash. It begins with a slash unless its very
/// beginning is not known.
#[derive(Debug, Clone)]
pub struct PathPattern {
    pieces: Vec<Piece>,
    /// Components, worked out when a glob first asks: many globs look at one path.
    parts: OnceLock<Vec<Part>>,
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.pieces == other.pieces
    }
}

impl Eq for PathPattern {}

/// One path that a call touches.
#[derive(Debug, Clone)]
pub struct PathTarget {
    /// As written.
    pub shown: String,
    /// How it is touched.
    pub access: Access,
    /// Whether everything below is touched too.
    pub recursive: bool,
    /// Absolute and lexically cleaned.
    pub lexical: PathPattern,
    /// With links followed, where that differs.
    pub real: Option<PathPattern>,
    /// Index of the command that touches it, for shell tools.
    pub command: Option<usize>,
    /// Whether a redirect touches it.
    pub redirect: bool,
}

impl PathTarget {
    /// A target whose path is certain and reached through no link.
    pub fn known(path: &str, access: Access, directory: &Path) -> Self {
        Self {
            shown: path.to_owned(),
            access,
            recursive: false,
            lexical: PathPattern::known(&directory.join(path)),
            real: None,
            command: None,
            redirect: false,
        }
    }

    /// The forms under which it is judged.
    pub fn forms(&self) -> impl Iterator<Item = &PathPattern> {
        std::iter::once(&self.lexical).chain(&self.real)
    }

    /// Whether it certainly lies outside `root`, by name or through links.
    pub fn is_outside(&self, root: &Path) -> bool {
        self.forms().any(|form| form.is_outside(root))
    }
}

impl PathPattern {
    fn of(pieces: Vec<Piece>) -> Self {
        Self { pieces, parts: OnceLock::new() }
    }

    /// A path that is certain. A relative one is taken from `/`.
    pub fn known(path: &Path) -> Self {
        let text = path.to_string_lossy();
        let mut names: Vec<&str> = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop();
                }
                name => names.push(name),
            }
        }
        Self::of(vec![Piece::Text(format!("/{}", names.join("/")))])
    }

    /// A path nothing is known of.
    pub fn unknown(source: &str) -> Self {
        Self::of(vec![Piece::Unknown { splits: false, source: source.to_owned() }])
    }

    /// The path that `word` names when `directory` is the one a relative path starts from.
    pub fn resolve(word: &Word, directory: &Self) -> Self {
        Self::clean(&Self::laid(word, directory))
    }

    /// The same without cleaning, since `link/..` leads elsewhere than it looks. Only good for following links.
    pub(super) fn raw(word: &Word, directory: &Self) -> Self {
        let mut raw = Self::of(Vec::new());
        Self::laid(word, directory).into_iter().for_each(|piece| raw.push(piece.clone()));
        raw
    }

    /// The path that `pieces` lead to from this one; they begin with a slash.
    pub(super) fn below(&self, pieces: &[Piece]) -> Self {
        Self::clean(&self.pieces.iter().chain(pieces).collect::<Vec<_>>())
    }

    fn laid<'a>(word: &'a Word, directory: &'a Self) -> Vec<&'a Piece> {
        let is_absolute = match word.pieces.first() {
            Some(Piece::Text(text)) => text.starts_with('/'),
            // An unknown beginning may be absolute or not: what stands before it says nothing.
            Some(Piece::Unknown { .. }) => true,
            Some(Piece::Glob(_) | Piece::Name) | None => false,
        };
        if is_absolute {
            word.pieces.iter().collect()
        } else {
            let slash: &'static Piece = slash();
            directory.pieces.iter().chain(std::iter::once(slash)).chain(&word.pieces).collect()
        }
    }

    fn clean(pieces: &[&Piece]) -> Self {
        let mut parts: Vec<Vec<Piece>> = vec![Vec::new()];
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    for (index, name) in text.split('/').enumerate() {
                        if index > 0 {
                            parts.push(Vec::new());
                        }
                        push_text(parts.last_mut(), name);
                    }
                }
                Piece::Glob(text) => {
                    if let Some(part) = parts.last_mut() {
                        match part.last_mut() {
                            Some(Piece::Glob(before)) => before.push_str(text),
                            _ => part.push(Piece::Glob(text.clone())),
                        }
                    }
                }
                other => {
                    if let Some(part) = parts.last_mut() {
                        part.push((*other).clone());
                    }
                }
            }
        }
        let is_rooted = !matches!(pieces.first(), Some(Piece::Unknown { .. }));
        let mut cleaned: Vec<Vec<Piece>> = Vec::new();
        for part in parts {
            match part.as_slice() {
                [] => {}
                [Piece::Text(text)] if text == "." => {}
                [Piece::Text(text)] if text == ".." => match cleaned.last_mut() {
                    // What lies above an unknown value is not known either.
                    Some(last) if last.iter().any(is_unknown) => {
                        let source = shown(last).into_owned();
                        *last = vec![Piece::Unknown { splits: false, source: format!("{source}/..") }];
                    }
                    _ => {
                        cleaned.pop();
                    }
                },
                _ => cleaned.push(part),
            }
        }
        let mut joined = Self::of(Vec::new());
        for (index, part) in cleaned.into_iter().enumerate() {
            if index > 0 || is_rooted {
                joined.push(Piece::Text("/".to_owned()));
            }
            for piece in part {
                joined.push(piece);
            }
        }
        if joined.pieces.is_empty() {
            joined.push(Piece::Text("/".to_owned()));
        }
        joined
    }

    fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), &piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(text),
            _ => self.pieces.push(piece),
        }
    }

    /// The parts in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Its components. An unknown value keeps its component open.
    pub(super) fn parts(&self) -> &[Part] {
        self.parts.get_or_init(|| parts(&self.pieces))
    }

    /// The path, if all of it is certain.
    pub fn value(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether any part is not known at all.
    pub fn has_unknown(&self) -> bool {
        self.pieces.iter().any(is_unknown)
    }

    /// Whether nothing is known of where it begins.
    pub fn is_unrooted(&self) -> bool {
        !matches!(self.pieces.first(), Some(Piece::Text(_)))
    }

    /// The certain text it begins with, up to the last whole component; empty when unrooted.
    pub fn known_directory(&self) -> &str {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => text,
            [Piece::Text(text), ..] => match text.rfind('/') {
                Some(0) => "/",
                Some(at) => &text[..at],
                None => "",
            },
            _ => "",
        }
    }

    /// For people: known text as it is, the rest as its source.
    pub fn shown(&self) -> Cow<'_, str> {
        shown(&self.pieces)
    }

    /// Whether it certainly lies outside `root`. The root itself is inside; names are compared whole.
    pub fn is_outside(&self, root: &Path) -> bool {
        let root = root.to_string_lossy();
        let known = self.known_directory();
        if known.is_empty() {
            return false;
        }
        if below(known, &root).is_some() {
            return false;
        }
        // `/$X` may lie inside, `/home/$X` cannot; a glob such as `/re*` names more than what is inside.
        !self.has_unknown() || below(&root, known).is_none()
    }
}

fn parts(pieces: &[Piece]) -> Vec<Part> {
    let mut parts: Vec<Vec<Atom>> = vec![Vec::new()];
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                for (index, name) in text.split('/').enumerate() {
                    if index > 0 {
                        parts.push(Vec::new());
                    }
                    if let Some(part) = parts.last_mut() {
                        part.extend(name.chars().map(Atom::Char));
                    }
                }
            }
            piece => {
                let Some(part) = parts.last_mut() else { continue };
                match piece {
                    // Kept apart from `*`: it stands for any folders where it is all of a component.
                    Piece::Glob(text) if text == "**" && part.is_empty() => {
                        part.extend([Atom::Star, Atom::Star]);
                    }
                    Piece::Glob(text) => glob::parse_lenient(text, part),
                    Piece::Name => part.push(Atom::Char(glob::SAMPLE)),
                    _ => part.push(Atom::Rest),
                }
            }
        }
    }
    parts
        .into_iter()
        .filter(|atoms| !atoms.is_empty())
        .map(|atoms| {
            let is_certain = atoms.iter().all(|atom| matches!(atom, Atom::Char(_)));
            if matches!(atoms.as_slice(), [Atom::Star, Atom::Star]) {
                Part::Dirs
            } else if is_certain {
                Part::Literal(glob::skeleton(&atoms))
            } else {
                Part::Name(atoms)
            }
        })
        .collect()
}

/// What is left of `path` below `base`, both absolute and clean; `Some("")` when they are equal.
pub(super) fn below<'a>(path: &'a str, base: &str) -> Option<&'a str> {
    let base = base.trim_end_matches('/');
    let rest = path.strip_prefix(base)?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest),
        None if rest.is_empty() => Some(""),
        None => None,
    }
}

fn slash() -> &'static Piece {
    static SLASH: std::sync::LazyLock<Piece> = std::sync::LazyLock::new(|| Piece::Text("/".to_owned()));
    &SLASH
}

fn is_unknown(piece: &Piece) -> bool {
    matches!(piece, Piece::Unknown { .. })
}

fn push_text(part: Option<&mut Vec<Piece>>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(part) = part {
        match part.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ => part.push(Piece::Text(text.to_owned())),
        }
    }
}

fn shown(pieces: &[Piece]) -> Cow<'_, str> {
    match pieces {
        [Piece::Text(text)] => Cow::Borrowed(text),
        pieces => pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Glob(text) => text.as_str(),
                Piece::Name => "…",
                Piece::Unknown { source, .. } => source.as_str(),
            })
            .collect::<String>()
            .into(),
    }
}
