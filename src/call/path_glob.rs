//! What a rule's `path` key says, and whether a path fits it.

mod parse;

use std::borrow::Cow;
use std::path::Path;

use crate::shell::{Access, Fit};

use super::glob::{self, Atom, Part};
use super::path::{PathPattern, PathTarget, below};
use super::targets::Context;

/// A checked path glob of a rule, or the word `outside_repo`.
///
/// `*` and `?` stay within one component and take leading dots; `**` is any number of components and stands
/// alone between slashes; `{a,b}` is a choice, `[a-z]` and `[!a-z]` are characters, a backslash makes the next
/// character plain. Where a glob is measured from follows from how it begins: `/` the file system's root, `~/`
/// the home directory (of anyone), `**/` any directory, everything else the repository's root.
#[derive(Debug, Clone)]
pub struct PathGlob {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    OutsideRepo,
    Globs(Vec<Alternative>),
}

/// One choice of the braces.
#[derive(Debug, Clone)]
struct Alternative {
    base: Base,
    parts: Vec<Part>,
    /// Number of parts at the beginning that are certain names.
    literal: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The file system's root.
    System,
    /// The home directory.
    Home,
    /// Any directory.
    Floating,
    /// The repository's root, or so many levels above it.
    Root { up: usize },
}

/// What is wrong with a path glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PathGlobError {
    /// What, as a fragment.
    pub message: String,
    /// Byte offset in the glob.
    pub offset: usize,
    /// What to write instead, if that is clear.
    pub hint: Option<String>,
}

/// Longest glob in bytes.
const LENGTH_LIMIT: usize = 1_024;

impl PathGlob {
    /// The word that stands for every path outside the repository.
    pub const OUTSIDE_REPO: &'static str = "outside_repo";

    /// Parses a glob.
    ///
    /// # Errors
    /// Empty or too long globs, `**` that does not stand alone, brackets or braces that do not close, variables
    /// and other people's homes.
    pub fn parse(text: &str) -> Result<Self, PathGlobError> {
        let wrong = |offset: usize, message: &str, hint: Option<String>| {
            Err(PathGlobError { message: message.to_owned(), offset, hint })
        };
        if text == Self::OUTSIDE_REPO {
            return Ok(Self { text: text.to_owned(), kind: Kind::OutsideRepo });
        }
        if text.is_empty() {
            return wrong(0, "empty path glob", None);
        }
        if text.len() > LENGTH_LIMIT {
            return wrong(LENGTH_LIMIT, "path glob longer than 1024 bytes", None);
        }
        if let Some(offset) = text.find(|c: char| c == '\0' || c.is_control()) {
            return wrong(offset, "control character in path glob", None);
        }
        if text.trim() != text {
            return wrong(0, "path glob begins or ends with a space", Some("take the space away".to_owned()));
        }
        if let Some(rest) = text.strip_prefix("$HOME").or_else(|| text.strip_prefix("${HOME}")) {
            return wrong(0, "variables are not expanded in path globs", Some(format!("write `~{rest}`")));
        }
        if text.starts_with('$') {
            return wrong(0, "variables are not expanded in path globs", None);
        }
        if text.starts_with('~') && text != "~" && !text.starts_with("~/") {
            return wrong(0, "only `~/` is understood", Some("write the absolute path".to_owned()));
        }
        let mut choices = Vec::new();
        parse::expand(text, 0, &mut choices)?;
        let alternatives =
            choices.iter().map(|choice| Alternative::parse(choice, text)).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), kind: Kind::Globs(alternatives) })
    }

    /// The glob of a certain place and everything in it; no character of `path` is a wildcard.
    pub fn everything_below(path: &Path) -> Self {
        let clean = PathPattern::known(path);
        let names = clean.value().unwrap_or("/").split('/').filter(|name| !name.is_empty());
        let mut parts: Vec<Part> = names.map(|name| Part::Literal(name.to_owned())).collect();
        let literal = parts.len();
        parts.push(Part::Dirs);
        let alternative = Alternative { base: Base::System, parts, literal };
        Self { text: format!("{}/**", path.display()), kind: Kind::Globs(vec![alternative]) }
    }

    /// The glob as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is the word `outside_repo`.
    pub fn is_outside_repo(&self) -> bool {
        matches!(self.kind, Kind::OutsideRepo)
    }

    /// What each of its choices cannot do without; `None` for [`Self::OUTSIDE_REPO`].
    pub(super) fn names(&self) -> Option<impl Iterator<Item = ChoiceNames<'_>>> {
        match &self.kind {
            Kind::OutsideRepo => None,
            Kind::Globs(choices) => Some(choices.iter().map(Alternative::names)),
        }
    }

    /// Whether `target` fits, by its name or through links.
    ///
    /// A delete, and whatever else goes down a folder, also fits a glob that begins beneath that folder. Names
    /// with wildcards of the shell fit what they would name; unknown parts give `Maybe` where they could be it,
    /// for reads only if what is known already points there.
    pub fn fit(&self, target: &PathTarget, context: &Context) -> Fit {
        let mut best = Fit::No;
        for form in target.forms() {
            best = best.max(self.fit_path(form, target.access, target.recursive, context));
            if best == Fit::Yes {
                break;
            }
        }
        best
    }

    /// Whether one form of a path fits; see [`PathGlob::fit`].
    pub fn fit_path(&self, path: &PathPattern, access: Access, recursive: bool, context: &Context) -> Fit {
        match &self.kind {
            Kind::OutsideRepo => outside(path, access, context),
            Kind::Globs(alternatives) => alternatives
                .iter()
                .map(|alternative| match path.value() {
                    Some(known) => alternative.fit_known(known, access, recursive, context),
                    None => alternative.fit_pattern(path, access, recursive, context),
                })
                .max()
                .unwrap_or(Fit::No),
        }
    }
}

fn outside(path: &PathPattern, access: Access, context: &Context) -> Fit {
    if path.is_outside(&context.root) {
        Fit::Yes
    } else if path.is_unrooted() && access != Access::Read {
        Fit::Maybe
    } else {
        Fit::No
    }
}

/// Certain names of one choice of a glob.
pub(super) struct ChoiceNames<'a> {
    /// A certain path that fits by itself, or lies beneath one that does, has each of them as a component.
    pub(super) needed: Vec<&'a str>,
    /// A certain folder beneath which the choice begins ends in one of them, or lies at or above the place that the
    /// choice is measured from.
    pub(super) folders: Vec<&'a str>,
}

/// Whether a touch of a folder is one of what lies in it.
pub(super) fn goes_down(access: Access, recursive: bool) -> bool {
    recursive || access == Access::Delete
}

impl Alternative {
    fn names(&self) -> ChoiceNames<'_> {
        let needed = self.parts.iter().filter_map(Part::literal).collect();
        let skipped = usize::from(self.base == Base::Floating);
        let folders = self.parts.iter().skip(skipped).map_while(Part::literal).collect();
        ChoiceNames { needed, folders }
    }

    fn fit_known(&self, path: &str, access: Access, recursive: bool, context: &Context) -> Fit {
        let down = goes_down(access, recursive);
        let is_fit = match self.base {
            Base::System | Base::Floating => {
                self.fits_below(path.strip_prefix('/').unwrap_or(path), access, down)
            }
            Base::Root { up } => {
                let root = context.root.to_string_lossy();
                self.fits_at(path, above(&root, up), access, down)
            }
            Base::Home => homes(path, context).any(|home| self.fits_at(path, &home, access, down)),
        };
        if is_fit { Fit::Yes } else { Fit::No }
    }

    /// `path` against the glob measured from `base`, both absolute.
    fn fits_at(&self, path: &str, base: &str, access: Access, down: bool) -> bool {
        match below(path, base) {
            Some(rest) => self.fits_below(rest, access, down),
            // A folder above the base holds all of it.
            None => down && below(base, path).is_some(),
        }
    }

    /// `rest` is relative to where the glob is measured from.
    fn fits_below(&self, rest: &str, access: Access, down: bool) -> bool {
        let names = || rest.split('/').filter(|name| !name.is_empty());
        // Most paths part from a glob at its first certain name.
        if let (Some(Part::Literal(own)), Some(first)) = (self.parts.first(), names().next())
            && own != first
        {
            return false;
        }
        if self.base == Base::Floating
            && let Some(first) = self.parts.iter().find(|part| **part != Part::Dirs)
            && !names().any(|name| takes_name(first, name))
        {
            return false;
        }
        if takes_names(&self.parts, names()) {
            return true;
        }
        // The folder whose content a rule is about: replacing or removing it is a change of that content.
        let content =
            self.parts.split_last().filter(|(last, before)| **last == Part::Dirs && !before.is_empty());
        if let Some((_, folder)) = content
            && (down || access == Access::Write)
            && takes_names(folder, names())
        {
            return true;
        }
        if !down {
            return false;
        }
        match self.base {
            Base::Floating => self.anchors().any(|parts| takes_names(parts, names())),
            _ => {
                let count = names().count();
                count <= self.literal
                    && names()
                        .zip(&self.parts)
                        .all(|(name, part)| matches!(part, Part::Literal(own) if own == name))
            }
        }
    }

    /// Beginnings of a floating glob that name a certain folder: `**/.github` of `**/.github/workflows/**`.
    fn anchors(&self) -> impl Iterator<Item = &[Part]> {
        let certain = self.parts.iter().skip(1).take_while(|part| matches!(part, Part::Literal(_))).count();
        // The last certain name is the thing itself where nothing follows it.
        (2..=certain + 1).filter(|end| *end < self.parts.len()).map(|end| &self.parts[..end])
    }

    fn fit_pattern(&self, path: &PathPattern, access: Access, recursive: bool, context: &Context) -> Fit {
        let subject = path.parts();
        let down = goes_down(access, recursive);
        let from = |base: &str| {
            if !path.is_unrooted() && self.parts_from(base, subject) {
                return Fit::No;
            }
            let names = base.split('/').filter(|name| !name.is_empty());
            let mut parts: Vec<Part> = names.map(|name| Part::Literal(name.to_owned())).collect();
            let own = parts.len();
            parts.extend(self.parts.iter().cloned());
            self.fit_parts(&parts, own, subject, path, access, down)
        };
        match self.base {
            Base::Floating if self.is_missed_by(path, subject) => Fit::No,
            Base::Floating => self.fit_parts(&self.parts, 0, subject, path, access, down),
            Base::System => from(""),
            Base::Root { up } => from(above(&context.root.to_string_lossy(), up)),
            Base::Home => {
                homes(path.known_directory(), context).map(|home| from(&home)).max().unwrap_or(Fit::No)
            }
        }
    }

    /// Whether the certain names that `subject` begins with lead elsewhere than the glob measured from `base`.
    /// Most paths are told apart by that, and what follows decides nothing then.
    fn parts_from(&self, base: &str, subject: &[Part]) -> bool {
        let base = base.split('/').filter(|name| !name.is_empty());
        let own = self.parts.iter().map_while(Part::literal);
        let names = subject.iter().map_while(Part::literal);
        base.chain(own).zip(names).any(|(own, name)| own != name)
    }

    /// Whether no component of a path can be the first name that a floating glob asks for.
    fn is_missed_by(&self, path: &PathPattern, subject: &[Part]) -> bool {
        let Some(first) = self.parts.iter().find(|part| **part != Part::Dirs) else { return false };
        !path.has_unknown()
            && subject.iter().all(|name| *name != Part::Dirs && part_fit(first, name, false) == Fit::No)
    }

    /// `parts` are absolute, the glob's own begin at `own`.
    fn fit_parts(
        &self,
        parts: &[Part],
        own: usize,
        subject: &[Part],
        path: &PathPattern,
        access: Access,
        down: bool,
    ) -> Fit {
        let is_floating = self.base == Base::Floating;
        let mut best = align(parts, own, subject, is_floating);
        let literal = own + self.literal;
        if best < Fit::Yes && (down || access == Access::Write) && parts.last() == Some(&Part::Dirs) {
            let folder = &parts[..parts.len() - 1];
            if folder.len() > own {
                best = best.max(align(folder, own, subject, is_floating));
            }
        }
        if best < Fit::Yes && down {
            if is_floating {
                for anchor in self.anchors() {
                    best = best.max(align(anchor, 0, subject, true));
                }
            } else {
                for end in 0..=literal {
                    best = best.max(align(&parts[..end], own, subject, false));
                }
            }
        }
        if best == Fit::Yes || !path.has_unknown() {
            return best;
        }
        let may_be = if access == Access::Read {
            points_at(&parts[own..], subject) && glob::paths_meet(parts, subject, !path.is_unrooted())
        } else {
            let rooted = !path.is_unrooted();
            glob::paths_meet(parts, subject, rooted)
                || without_open_end(subject).is_some_and(|folder| glob::paths_meet(parts, folder, rooted))
                || down
                    && !is_floating
                    && (0..=literal).any(|end| {
                        glob::paths_meet(&parts[..end], subject, rooted)
                            || without_open_end(subject)
                                .is_some_and(|folder| glob::paths_meet(&parts[..end], folder, rooted))
                    })
        };
        if may_be { best.max(Fit::Maybe) } else { best }
    }
}

/// `path/$X` without its open end, since the value may be empty.
fn without_open_end(subject: &[Part]) -> Option<&[Part]> {
    match subject.split_last() {
        Some((Part::Name(atoms), before)) if matches!(atoms.as_slice(), [Atom::Rest]) => Some(before),
        _ => None,
    }
}

/// Whether what is known of a path names one of the glob's own components, or begins like one.
fn points_at(own: &[Part], subject: &[Part]) -> bool {
    subject.iter().any(|part| match part {
        Part::Literal(name) => own.iter().any(|own| matches!(own, Part::Literal(text) if text == name)),
        Part::Name(atoms) => {
            let start: String = atoms
                .iter()
                .map_while(|atom| match atom {
                    Atom::Char(c) => Some(*c),
                    _ => None,
                })
                .collect();
            start.chars().count() >= 3
                && own.iter().any(|own| match own {
                    Part::Literal(text) => text.starts_with(&start),
                    Part::Name(own) => glob::example(own).starts_with(&start),
                    Part::Dirs => false,
                })
        }
        Part::Dirs => false,
    })
}

/// Whether names fit parts one by one.
fn takes_names<'a>(parts: &[Part], names: impl Iterator<Item = &'a str> + Clone) -> bool {
    // The usual shapes are settled without the table below.
    let mut names = names;
    let mut parts = parts;
    loop {
        match parts.split_first() {
            None => return names.next().is_none(),
            Some((Part::Dirs, [])) => return names.next().is_some(),
            Some((Part::Dirs, rest)) => {
                if !rest.contains(&Part::Dirs) {
                    let count = names.clone().count();
                    return count >= rest.len()
                        && rest
                            .iter()
                            .zip(names.skip(count - rest.len()))
                            .all(|(part, name)| takes_name(part, name));
                }
                let all: Vec<&str> = names.collect();
                return (0..=all.len()).any(|from| takes_names(rest, all[from..].iter().copied()));
            }
            Some((part, rest)) => match names.next() {
                Some(name) if takes_name(part, name) => parts = rest,
                _ => return false,
            },
        }
    }
}

fn takes_name(part: &Part, name: &str) -> bool {
    match part {
        Part::Dirs => true,
        Part::Literal(text) => text == name,
        Part::Name(atoms) => glob::takes(atoms, name),
    }
}

/// The best way to lay `subject` along `parts`, of which the glob's own begin at `own`; unknown values count as one
/// ordinary name.
///
/// Once a name of the glob has been met, a wildcard behind it is a sign: `.github/*/x` is `.github/workflows/x`.
fn align(parts: &[Part], own: usize, subject: &[Part], is_floating: bool) -> Fit {
    let width = subject.len() + 1;
    let mut below = vec![Fit::No; width];
    below[subject.len()] = Fit::Yes;
    for at in (0..subject.len()).rev() {
        below[at] = if subject[at] == Part::Dirs { below[at + 1] } else { Fit::No };
    }
    for (index, part) in parts.iter().enumerate().rev() {
        let mut row = vec![Fit::No; width];
        let is_last = index + 1 == parts.len();
        let has_sign = parts.get(own..index).is_some_and(|own| own.iter().any(|part| *part != Part::Dirs));
        for at in (0..width).rev() {
            row[at] = match part {
                // At the end something must stand below; elsewhere nothing need to.
                Part::Dirs if is_last => {
                    if at < subject.len() {
                        Fit::Yes
                    } else {
                        Fit::No
                    }
                }
                Part::Dirs => below[at].max(row.get(at + 1).copied().unwrap_or(Fit::No)),
                part => match subject.get(at) {
                    // Any folders, none included.
                    Some(Part::Dirs) if has_sign => below[at].max(row[at + 1]),
                    Some(Part::Dirs) => row[at + 1],
                    Some(name) => part_fit(part, name, is_floating && !has_sign).min(below[at + 1]),
                    None => Fit::No,
                },
            };
        }
        below = row;
    }
    below[0]
}

/// How a component of a path whose name is a pattern fits one of the glob.
fn part_fit(part: &Part, name: &Part, is_floating: bool) -> Fit {
    let atoms = match name {
        Part::Literal(text) => return if takes_name(part, text) { Fit::Yes } else { Fit::No },
        Part::Name(atoms) => atoms,
        Part::Dirs => return Fit::No,
    };
    if atoms.contains(&Atom::Rest) {
        let example = glob::example(atoms);
        return if takes_name(part, &example) { Fit::Yes } else { Fit::No };
    }
    let is_bare = glob::is_bare(atoms);
    match part {
        Part::Dirs => Fit::Yes,
        Part::Name(own) if own == atoms => Fit::Yes,
        Part::Name(own) if glob::is_bare(own) && glob::takes(own, &glob::example(atoms)) => Fit::Yes,
        // `cat *` and `cat *.json` name whatever there is: no sign that the one file is meant.
        _ if (is_bare || glob::is_kind(atoms)) && is_floating => Fit::No,
        Part::Literal(text) => {
            if glob::names(atoms, text) {
                Fit::Yes
            } else {
                Fit::No
            }
        }
        Part::Name(own) => {
            let is_meant = own == atoms
                || glob::takes(own, &glob::example(atoms))
                || glob::names(atoms, &glob::skeleton(own));
            let meets = || {
                glob::paths_meet(std::slice::from_ref(part), std::slice::from_ref(name), true)
                    && (!starts_with_dot(own) || starts_with_dot(atoms))
            };
            if is_meant || is_bare && meets() {
                Fit::Yes
            } else if !is_floating && meets() {
                Fit::Maybe
            } else {
                Fit::No
            }
        }
    }
}

fn starts_with_dot(atoms: &[Atom]) -> bool {
    atoms.first() == Some(&Atom::Char('.'))
}

/// The folder so many levels above.
fn above(root: &str, up: usize) -> &str {
    let mut path = root.trim_end_matches('/');
    for _ in 0..up {
        path = path.rfind('/').map_or("", |at| &path[..at]);
    }
    path
}

/// Homes that `~/` may stand for: the one of the context, and the one that `path` lies in or above by custom.
fn homes<'a>(path: &'a str, context: &'a Context) -> impl Iterator<Item = Cow<'a, str>> {
    let own = context.home.as_ref().map(|home| match home.to_string_lossy() {
        Cow::Borrowed(home) => Cow::Borrowed(home.trim_end_matches('/')),
        Cow::Owned(home) => Cow::Owned(home.trim_end_matches('/').to_owned()),
    });
    let mut names = path.split('/').filter(|name| !name.is_empty());
    let customary = match (names.next(), names.next()) {
        (Some(parent @ ("home" | "Users")), Some(name)) => Some(Cow::Owned(format!("/{parent}/{name}"))),
        (Some("home") | None, None) => Some(Cow::Owned(format!("/home/{}", glob::SAMPLE))),
        (Some("Users"), None) => Some(Cow::Owned(format!("/Users/{}", glob::SAMPLE))),
        (Some("root"), _) => Some(Cow::Borrowed("/root")),
        (Some("var"), Some("root")) => Some(Cow::Borrowed("/var/root")),
        _ => None,
    };
    let customary = customary.filter(|home| own.as_ref() != Some(home));
    own.into_iter().chain(customary)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
mod tests;
