//! Shell patterns on known text, for `${x#p}`, `${x/p/r}` and `case`.

use super::super::word::{Piece, Word};

/// A pattern whose every part is known.
#[derive(Debug)]
pub(super) struct Pattern {
    items: Vec<Item>,
}

#[derive(Debug)]
enum Item {
    Character(char),
    Any,
    Star,
    Class { is_negated: bool, ranges: Vec<(char, char)> },
}

impl Pattern {
    /// The pattern of a word; `None` if a part of it is not known.
    pub(super) fn new(word: &Word) -> Option<Self> {
        let mut items = Vec::new();
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => items.extend(text.chars().map(Item::Character)),
                Piece::Glob(glob) => globs(glob, &mut items)?,
                Piece::Name | Piece::Unknown { .. } => return None,
            }
        }
        Some(Self { items })
    }

    /// Whether the whole text fits.
    pub(super) fn fits(&self, text: &str) -> bool {
        let characters: Vec<char> = text.chars().collect();
        self.fits_characters(&characters)
    }

    fn fits_characters(&self, text: &[char]) -> bool {
        // The usual walk with one point to come back to: linear in practice, never more than the product.
        let (mut item, mut at) = (0_usize, 0_usize);
        let mut back: Option<(usize, usize)> = None;
        loop {
            match (self.items.get(item), text.get(at)) {
                (Some(Item::Star), _) => {
                    back = Some((item, at));
                    item += 1;
                    continue;
                }
                (None, None) => return true,
                (Some(wanted), Some(character)) if wanted.takes(*character) => {
                    item += 1;
                    at += 1;
                    continue;
                }
                _ => {}
            }
            match back {
                Some((star, from)) if from < text.len() => {
                    back = Some((star, from + 1));
                    item = star + 1;
                    at = from + 1;
                }
                _ => return false,
            }
        }
    }

    /// `${x#p}` and its kin. `None` when the work would be too much.
    pub(super) fn cut(&self, text: &str, is_prefix: bool, is_long: bool) -> Option<String> {
        let characters: Vec<char> = text.chars().collect();
        let count = characters.len();
        if count.saturating_mul(count).saturating_mul(self.items.len() + 1) > 4_000_000 {
            return None;
        }
        let lengths: Box<dyn Iterator<Item = usize>> =
            if is_long { Box::new((0..=count).rev()) } else { Box::new(0..=count) };
        for length in lengths {
            let (part, rest) = if is_prefix {
                characters.split_at_checked(length)?
            } else {
                let (rest, part) = characters.split_at_checked(count - length)?;
                (part, rest)
            };
            if self.fits_characters(part) {
                return Some(rest.iter().collect());
            }
        }
        Some(text.to_owned())
    }

    /// `${x/p/r}`; `anchor` is `/` for all, `#` for the beginning, `%` for the end.
    pub(super) fn replace(&self, text: &str, by: &str, anchor: u8) -> Option<String> {
        let characters: Vec<char> = text.chars().collect();
        let count = characters.len();
        let work = count.saturating_mul(count).saturating_mul(count).saturating_mul(self.items.len() + 1);
        if self.items.is_empty() {
            return Some(text.to_owned());
        }
        let is_literal =
            self.items.iter().all(|item| matches!(item, Item::Character(_) | Item::Any | Item::Class { .. }));
        if by.contains('&') || (!is_literal && work > 4_000_000) || count.saturating_mul(by.len()) > 1_000_000
        {
            return None;
        }
        let mut changed = String::new();
        let mut at = 0;
        while at <= count {
            let rest = characters.get(at..)?;
            let longest = match (anchor, at) {
                (b'#', 1..) => None,
                (b'%', _) => self.fits_characters(rest).then_some(rest.len()),
                _ if is_literal => {
                    let length = self.items.len();
                    rest.get(..length).filter(|part| self.fits_characters(part)).map(<[char]>::len)
                }
                _ => (0..=rest.len())
                    .rev()
                    .find(|length| rest.get(..*length).is_some_and(|part| self.fits_characters(part))),
            };
            match longest {
                Some(length) if length > 0 || anchor == b'#' || anchor == b'%' => {
                    changed.push_str(by);
                    at += length;
                    if anchor != b'/' {
                        changed.extend(characters.get(at..)?);
                        return Some(changed);
                    }
                }
                _ => {
                    changed.extend(characters.get(at));
                    at += 1;
                }
            }
        }
        Some(changed)
    }
}

impl Item {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Character(own) => *own == character,
            Self::Any => true,
            Self::Star => false,
            Self::Class { is_negated, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&character)) != *is_negated
            }
        }
    }
}

fn globs(glob: &str, items: &mut Vec<Item>) -> Option<()> {
    let mut rest = glob.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '*' => items.push(Item::Star),
            '?' => items.push(Item::Any),
            '[' => {
                let is_negated = rest.next_if(|next| matches!(next, '!' | '^')).is_some();
                let mut ranges = Vec::new();
                let mut is_first = true;
                loop {
                    let next = rest.next()?;
                    match next {
                        ']' if !is_first => break,
                        '[' if matches!(rest.peek(), Some(':' | '.' | '=')) => return None,
                        _ => {}
                    }
                    is_first = false;
                    let mut ahead = rest.clone();
                    match (ahead.next(), ahead.next()) {
                        (Some('-'), Some(end)) if end != ']' => {
                            ranges.push((next, end));
                            rest = ahead;
                        }
                        _ => ranges.push((next, next)),
                    }
                }
                items.push(Item::Class { is_negated, ranges });
            }
            // An extended pattern.
            '(' => return None,
            other => items.push(Item::Character(other)),
        }
    }
    Some(())
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Pattern, Piece, Word};

    fn pattern(parts: &[Piece]) -> Pattern {
        Pattern::new(&Word { pieces: parts.to_vec(), span: None }).expect("known")
    }

    #[test]
    fn prefixes_and_suffixes_are_cut() {
        let star = Piece::Glob("*".to_owned());
        let slash = Piece::Text("/".to_owned());
        assert_eq!(pattern(&[star.clone(), slash.clone()]).cut("a/b/c", true, false).as_deref(), Some("b/c"));
        assert_eq!(pattern(&[star.clone(), slash.clone()]).cut("a/b/c", true, true).as_deref(), Some("c"));
        assert_eq!(
            pattern(&[slash.clone(), star.clone()]).cut("a/b/c", false, false).as_deref(),
            Some("a/b")
        );
        assert_eq!(pattern(&[slash, star]).cut("a/b/c", false, true).as_deref(), Some("a"));
    }

    #[test]
    fn replacements_follow_their_anchor() {
        let x = pattern(&[Piece::Text("x".to_owned())]);
        assert_eq!(x.replace("rxmx", "", b'/').as_deref(), Some("rm"));
        assert_eq!(x.replace("rxmx", "-", b' ').as_deref(), Some("r-mx"));
        assert_eq!(x.replace("xrmx", "", b'%').as_deref(), Some("xrm"));
        assert_eq!(x.replace("xrmx", "", b'#').as_deref(), Some("rmx"));
    }
}
