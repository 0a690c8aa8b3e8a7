//! Glob patterns as parts and atoms, and how they meet names that are only partly known.

/// One step of a name pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Atom {
    /// This character.
    Char(char),
    /// Any one character but a slash.
    One,
    /// One character of these ranges, or of none of them.
    Class { negated: bool, ranges: Vec<(char, char)> },
    /// Any characters but slashes.
    Star,
    /// Any characters at all: an unknown value.
    Rest,
}

/// One component of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// `**` of a rule: any number of components.
    Dirs,
    /// A name that is certain.
    Literal(String),
    /// A name with wildcards.
    Name(Vec<Atom>),
}

impl Part {
    /// The name, if it is certain.
    pub(super) fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Dirs | Self::Name(_) => None,
        }
    }
}

/// What stands in for a value that is not known, where one example must do.
pub(super) const SAMPLE: char = '\u{e000}';

impl Atom {
    /// Whether it may stand for `c`.
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Char(own) => *own == c,
            Self::One | Self::Star => c != '/',
            Self::Class { negated, ranges } => {
                c != '/' && ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
            Self::Rest => true,
        }
    }

    fn is_loop(&self) -> bool {
        matches!(self, Self::Star | Self::Rest)
    }

    /// Whether some character suits both.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Char(c), any) | (any, Self::Char(c)) => any.takes(*c),
            (Self::Class { negated: false, ranges }, any) | (any, Self::Class { negated: false, ranges }) => {
                ranges.iter().any(|(low, high)| (*low..=*high).take(512).any(|c| any.takes(c)))
            }
            // Wildcards and negated classes always leave a character over.
            _ => true,
        }
    }
}

/// Whether `atoms` stand for `text` as a whole. Linear in practice: only the last star is gone back to.
pub(super) fn takes(atoms: &[Atom], text: &str) -> bool {
    let (mut at, mut rest) = (0, text);
    let mut back: Option<(usize, &str)> = None;
    loop {
        if let Some(atom) = atoms.get(at) {
            if atom.is_loop() {
                back = Some((at, rest));
                at += 1;
                continue;
            }
            let mut chars = rest.chars();
            if chars.next().is_some_and(|c| atom.takes(c)) {
                at += 1;
                rest = chars.as_str();
                continue;
            }
        } else if rest.is_empty() {
            return true;
        }
        let Some((star, from)) = back else { return false };
        let mut chars = from.chars();
        match (chars.next(), atoms.get(star)) {
            (Some(c), Some(atom)) if atom.takes(c) => {
                rest = chars.as_str();
                back = Some((star, rest));
                at = star + 1;
            }
            _ => return false,
        }
    }
}

/// Parses a pattern that bash would expand: everything is taken, a bracket that does not close is text.
pub(super) fn parse_lenient(text: &str, atoms: &mut Vec<Atom>) {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            '*' => {
                if atoms.last() != Some(&Atom::Star) {
                    atoms.push(Atom::Star);
                }
            }
            '?' => atoms.push(Atom::One),
            '[' => match parse_class(&chars, at) {
                Some((class, end)) => {
                    atoms.push(class);
                    at = end;
                }
                None => atoms.push(Atom::Char('[')),
            },
            '\\' => {
                if let Some(&next) = chars.get(at) {
                    atoms.push(Atom::Char(next));
                    at += 1;
                } else {
                    atoms.push(Atom::Char('\\'));
                }
            }
            c => atoms.push(Atom::Char(c)),
        }
    }
}

/// Parses what follows a `[`; the end is the position after the `]`.
pub(super) fn parse_class(chars: &[char], start: usize) -> Option<(Atom, usize)> {
    let mut at = start;
    let negated = matches!(chars.get(at), Some('!' | '^'));
    if negated {
        at += 1;
    }
    let mut ranges = Vec::new();
    let first = at;
    loop {
        let mut low = *chars.get(at)?;
        if low == ']' && at > first {
            return Some((Atom::Class { negated, ranges }, at + 1));
        }
        if low == '/' {
            return None;
        }
        if low == '[' && chars.get(at + 1) == Some(&':') {
            // A named class such as `[:alpha:]`: taken as any character, since it can only be too wide.
            let end = (at + 2..chars.len()).find(|&i| chars[i] == ':' && chars.get(i + 1) == Some(&']'))?;
            ranges.push((char::MIN, char::MAX));
            at = end + 2;
            continue;
        }
        if low == '\\' {
            at += 1;
            low = *chars.get(at)?;
        }
        at += 1;
        let mut high = low;
        if chars.get(at) == Some(&'-') && chars.get(at + 1).is_some_and(|&c| c != ']') {
            at += 1;
            high = *chars.get(at)?;
            if high == '\\' {
                at += 1;
                high = *chars.get(at)?;
            }
            at += 1;
        }
        ranges.push((low, high));
    }
}

/// Whether a glob of bash may begin with a dot at this place: only a written dot does.
fn hides_dot(atoms: &[Atom]) -> bool {
    matches!(atoms.first(), Some(Atom::Star | Atom::One | Atom::Class { .. }))
}

/// Whether `atoms`, as bash expands them, can name `text`.
pub(super) fn names(atoms: &[Atom], text: &str) -> bool {
    !(hides_dot(atoms) && text.starts_with('.')) && takes(atoms, text)
}

/// Whether `atoms` say nothing about the name.
pub(super) fn is_bare(atoms: &[Atom]) -> bool {
    atoms.iter().all(|atom| matches!(atom, Atom::Star | Atom::One))
}

/// Whether `atoms` are all files of a kind and no more: `*.json`.
pub(super) fn is_kind(atoms: &[Atom]) -> bool {
    match atoms {
        [Atom::Star, Atom::Char('.'), ending @ ..] => {
            !ending.is_empty()
                && ending
                    .iter()
                    .all(|atom| matches!(atom, Atom::Char(c) if c.is_ascii_alphanumeric() || *c == '.'))
        }
        _ => false,
    }
}

/// A text that `atoms` certainly stand for, wildcards shown by a character that no one writes.
pub(super) fn example(atoms: &[Atom]) -> String {
    atoms
        .iter()
        .map(|atom| match atom {
            Atom::Char(c) => *c,
            Atom::Class { negated: false, ranges } => ranges.first().map_or(SAMPLE, |range| range.0),
            _ => SAMPLE,
        })
        .collect()
}

/// What is left of a pattern when its wildcards stand for nothing.
pub(super) fn skeleton(atoms: &[Atom]) -> String {
    atoms
        .iter()
        .filter_map(|atom| match atom {
            Atom::Char(c) => Some(*c),
            Atom::One => Some(SAMPLE),
            Atom::Class { negated: false, ranges } => ranges.first().map(|range| range.0),
            _ => None,
        })
        .collect()
}

/// One step of a whole path, slashes included.
enum Step {
    One(Atom),
    /// `(.*/)?`: entering may be skipped together with the loop behind it.
    Enter,
    Loop,
}

/// Largest number of pairs of steps that are looked at; beyond it the answer is "may meet".
const MEETING_LIMIT: usize = 1 << 20;

/// Whether some path fits both sides. Parts stand below the root; a part with [`Atom::Rest`] may span several.
pub(super) fn paths_meet(one: &[Part], other: &[Part], other_is_rooted: bool) -> bool {
    if ends_apart(one, other, other_is_rooted) {
        return false;
    }
    let (one, other) = (steps(one, true), steps(other, other_is_rooted));
    let width = other.len() + 1;
    let size = (one.len() + 1) * width;
    if size > MEETING_LIMIT {
        return true;
    }
    let mut seen = vec![false; size];
    let mut open = vec![(0, 0)];
    while let Some((i, j)) = open.pop() {
        let cell = &mut seen[i * width + j];
        if std::mem::replace(cell, true) {
            continue;
        }
        if i == one.len() && j == other.len() {
            return true;
        }
        let (a, b) = (one.get(i), other.get(j));
        for target in skips(a, i) {
            open.push((target, j));
        }
        for target in skips(b, j) {
            open.push((i, target));
        }
        let (Some(a), Some(b)) = (a, b) else { continue };
        let any = Atom::Rest;
        let (first, second) = match (a, b) {
            (Step::Enter, _) | (_, Step::Enter) => continue,
            (Step::One(a), Step::One(b)) => (a, b),
            (Step::One(a), Step::Loop) => (a, &any),
            (Step::Loop, Step::One(b)) => (&any, b),
            (Step::Loop, Step::Loop) => (&any, &any),
        };
        if !first.meets(second) {
            continue;
        }
        let slash = first.takes('/') && second.takes('/');
        for next in follows(a, i, slash) {
            for after in follows(b, j, slash) {
                open.push((next, after));
            }
        }
    }
    false
}

/// A quick "no" from whole names at both ends.
fn ends_apart(one: &[Part], other: &[Part], other_is_rooted: bool) -> bool {
    let differs = |a: &Part, b: &Part| match (a, b) {
        (Part::Literal(a), Part::Literal(b)) => Some(a != b),
        (Part::Literal(text), Part::Name(atoms)) | (Part::Name(atoms), Part::Literal(text))
            if !atoms.contains(&Atom::Rest) =>
        {
            Some(!takes(atoms, text))
        }
        _ => None,
    };
    let front =
        other_is_rooted && one.iter().zip(other).map_while(|(a, b)| differs(a, b)).any(|is_apart| is_apart);
    front
        || one.iter().rev().zip(other.iter().rev()).map_while(|(a, b)| differs(a, b)).any(|is_apart| is_apart)
}

fn steps(parts: &[Part], is_rooted: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    if parts.is_empty() {
        steps.push(Step::One(Atom::Char('/')));
    }
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        let follows_dirs = index > 0 && is_open_dirs(&parts[index - 1]);
        if (index > 0 || is_rooted) && !follows_dirs {
            steps.push(Step::One(Atom::Char('/')));
        }
        match part {
            part if is_open_dirs(part) && !is_last => steps.extend([Step::Enter, Step::Loop]),
            Part::Dirs => steps.push(Step::One(Atom::Rest)),
            Part::Literal(text) => steps.extend(text.chars().map(|c| Step::One(Atom::Char(c)))),
            Part::Name(atoms) => steps.extend(atoms.iter().cloned().map(Step::One)),
        }
    }
    steps
}

/// Whether a part stands for any number of whole components.
fn is_open_dirs(part: &Part) -> bool {
    match part {
        Part::Dirs => true,
        Part::Name(atoms) => matches!(atoms.as_slice(), [Atom::Rest]),
        Part::Literal(_) => false,
    }
}

fn skips(step: Option<&Step>, at: usize) -> impl Iterator<Item = usize> {
    let targets = match step {
        Some(Step::One(atom)) if atom.is_loop() => [Some(at + 1), None],
        Some(Step::Enter) => [Some(at + 1), Some(at + 2)],
        _ => [None, None],
    };
    targets.into_iter().flatten()
}

fn follows(step: &Step, at: usize, slash: bool) -> impl Iterator<Item = usize> {
    let targets = match step {
        Step::One(atom) if atom.is_loop() => [Some(at), None],
        Step::Loop => [Some(at), slash.then_some(at + 1)],
        _ => [Some(at + 1), None],
    };
    targets.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms(text: &str) -> Vec<Atom> {
        let mut atoms = Vec::new();
        parse_lenient(text, &mut atoms);
        atoms
    }

    #[test]
    fn names_fit_as_bash_expands_them() {
        for (glob, name, expected) in [
            (".e*", ".env", true),
            ("*", ".env", false),
            ("*env", ".env", false),
            ("?env", ".env", false),
            ("[.]env", ".env", false),
            (".[a-e]nv", ".env", true),
            (".[!a-d]nv", ".env", true),
            ("*.pem", "a.pem", true),
            ("a*b*c", "axxbxxc", true),
            ("a*b*c", "axxbxx", false),
            ("[", "[", true),
            ("[]x]", "]", true),
            ("a\\*", "a*", true),
            ("", "", true),
        ] {
            assert_eq!(names(&atoms(glob), name), expected, "{glob} {name}");
        }
    }

    #[test]
    fn many_stars_stay_quick() {
        let glob = atoms(&"*a".repeat(200));
        assert!(!takes(&glob, &"a".repeat(5_000).replace("aaaaa", "aaaab")));
    }
}
