//! Words with wildcards, and how far a word that is not wholly known fits them.

use super::super::word::{Piece, Word};
use super::Fit;

/// Longest word that is compared sign by sign; longer ones may fit.
const LONGEST: usize = 4096;

/// A pattern of one word: `*` is any text (slashes included), `?` one sign, `[a-z]` one of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob {
    signs: Vec<Sign>,
    /// The text it stands for, if it has no wildcard: most patterns have none, and comparing texts is cheap.
    plain: Option<Box<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    One(char),
    Any,
    /// Any text; in a word: of a file name pattern, without a slash.
    Text,
    /// Any text at all, not known.
    Unknown,
    /// A name that is not empty and has no slash.
    Name,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    /// Reads a pattern; a backslash takes the meaning from the next sign.
    pub(super) fn parse(text: &str) -> Self {
        let signs = signs(text);
        let plain: Option<String> =
            signs.iter().map(|sign| if let Sign::One(c) = sign { Some(*c) } else { None }).collect();
        Self { signs, plain: plain.map(String::into_boxed_str) }
    }

    /// The text that it stands for, if it has no wildcard.
    pub(super) fn literal(&self) -> Option<&str> {
        self.plain.as_deref()
    }

    /// Whether `text` fits.
    pub(super) fn fits(&self, text: &str) -> bool {
        if let Some(plain) = &self.plain {
            return **plain == *text;
        }
        let word: Vec<Sign> = text.chars().map(Sign::One).collect();
        meets(&word, &self.signs, true)
    }

    /// How far `word` fits.
    pub(super) fn fit(&self, word: &Word) -> Fit {
        if let Some(text) = word.value() {
            return if self.fits(text) { Fit::Yes } else { Fit::No };
        }
        let mut sequence = Vec::new();
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => sequence.extend(text.chars().map(Sign::One)),
                Piece::Glob(text) => sequence.extend(signs(text)),
                Piece::Name => sequence.push(Sign::Name),
                Piece::Unknown { .. } => sequence.push(Sign::Unknown),
            }
        }
        if sequence.len() > LONGEST {
            return Fit::Maybe;
        }
        // Written alike, or every value fits.
        if sequence == self.signs || meets(&sequence, &self.signs, true) {
            return Fit::Yes;
        }
        if meets(&sequence, &self.signs, false) { Fit::Maybe } else { Fit::No }
    }
}

fn signs(text: &str) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => signs.push(Sign::One(chars.next().unwrap_or('\\'))),
            '*' => {
                if signs.last() != Some(&Sign::Text) {
                    signs.push(Sign::Text);
                }
            }
            '?' => signs.push(Sign::Any),
            '[' => {
                let rest: String = chars.clone().collect();
                match class(&rest) {
                    Some((sign, length)) => {
                        signs.push(sign);
                        for _ in 0..length {
                            chars.next();
                        }
                    }
                    None => signs.push(Sign::One('[')),
                }
            }
            other => signs.push(Sign::One(other)),
        }
    }
    signs
}

/// A class after its `[`, and how many signs it takes.
fn class(rest: &str) -> Option<(Sign, usize)> {
    let all: Vec<char> = rest.chars().collect();
    let mut at = 0;
    let negated = matches!(all.first(), Some('!' | '^'));
    if negated {
        at = 1;
    }
    let mut ranges = Vec::new();
    let start = at;
    loop {
        let c = *all.get(at)?;
        if c == ']' && at > start {
            return Some((Sign::Class { negated, ranges }, at + 1));
        }
        if all.get(at + 1) == Some(&'-') && all.get(at + 2).is_some_and(|end| *end != ']') {
            ranges.push((c, *all.get(at + 2)?));
            at += 3;
        } else {
            ranges.push((c, c));
            at += 1;
        }
    }
}

/// Whether some value of `word` fits `pattern`; with `all`, whether every value does (never wrongly yes).
fn meets(word: &[Sign], pattern: &[Sign], all: bool) -> bool {
    // reached[j]: the signs of `word` so far can end at `pattern[j]`.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    close(&mut reached, pattern);
    for sign in word {
        let mut next = vec![false; pattern.len() + 1];
        for at in 0..=pattern.len() {
            if !reached[at] {
                continue;
            }
            let target = pattern.get(at);
            match sign {
                Sign::One(_) | Sign::Any | Sign::Class { .. } => {
                    if target == Some(&Sign::Text) {
                        next[at] = true;
                    } else if target.is_some_and(|target| one_meets(sign, target, all)) {
                        next[at + 1] = true;
                    }
                }
                Sign::Text | Sign::Unknown | Sign::Name => {
                    if target == Some(&Sign::Text) {
                        next[at] = true;
                    }
                    if all {
                        continue;
                    }
                    // It may take any number of the pattern's signs, slashes only when it is not a name.
                    if *sign != Sign::Name {
                        next[at] = true;
                    }
                    for (end, target) in pattern.iter().enumerate().skip(at) {
                        if *target == Sign::One('/') && *sign != Sign::Unknown {
                            break;
                        }
                        next[end + 1] = true;
                    }
                }
            }
        }
        close(&mut next, pattern);
        reached = next;
    }
    reached[pattern.len()]
}

/// A `*` may stand for nothing.
fn close(reached: &mut [bool], pattern: &[Sign]) {
    for (at, sign) in pattern.iter().enumerate() {
        if reached[at] && *sign == Sign::Text {
            reached[at + 1] = true;
        }
    }
}

fn one_meets(sign: &Sign, target: &Sign, all: bool) -> bool {
    match (sign, target) {
        (_, Sign::Any) => true,
        (Sign::One(c), Sign::One(d)) => c == d,
        (Sign::One(c), Sign::Class { negated, ranges }) => in_class(*c, *negated, ranges),
        (Sign::Any, Sign::One(c)) => !all && *c != '/',
        (Sign::Class { negated, ranges }, Sign::One(c)) => !all && in_class(*c, *negated, ranges),
        (left, right) => left == right || !all,
    }
}

fn in_class(c: char, negated: bool, ranges: &[(char, char)]) -> bool {
    ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown() -> Piece {
        Piece::Unknown { splits: false, source: "$X".into() }
    }

    #[test]
    fn known_words_fit_or_do_not() {
        assert!(Glob::parse("of=/dev/*").fits("of=/dev/a/b"));
        assert!(Glob::parse("[a-c]?").fits("bz"));
        assert!(!Glob::parse("[!a-c]?").fits("bz"));
        assert!(Glob::parse(r"\*").fits("*"));
        assert!(!Glob::parse(r"\*").fits("x"));
    }

    #[test]
    fn unknown_parts_may_fit() {
        let word = |pieces: Vec<Piece>| Word { pieces, span: None };
        let suffix = word(vec![unknown(), Piece::Text("/app.toml".into())]);
        assert_eq!(Glob::parse("--force").fit(&suffix), Fit::No);
        assert_eq!(Glob::parse("/etc/*").fit(&suffix), Fit::Maybe);
        assert_eq!(Glob::parse("*").fit(&suffix), Fit::Yes);
        assert_eq!(Glob::parse("*.toml").fit(&suffix), Fit::Yes);
        let name = word(vec![Piece::Text("/tmp/".into()), Piece::Name]);
        assert_eq!(Glob::parse("/").fit(&name), Fit::No);
        assert_eq!(Glob::parse("/tmp/*").fit(&name), Fit::Yes);
        let glob = word(vec![Piece::Text("/e".into()), Piece::Glob("*".into())]);
        assert_eq!(Glob::parse("/etc").fit(&glob), Fit::Maybe);
        assert_eq!(Glob::parse("/e*").fit(&glob), Fit::Yes);
    }
}
