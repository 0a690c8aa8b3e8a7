//! What was counted while a log was read.

use std::collections::BTreeMap;

use super::LogPlace;

/// Problems that are kept with their place; the rest is counted.
const PROBLEMS_KEPT: usize = 20;

/// Kinds of unknown records that are kept apart; names in a broken log must not fill the memory.
const KINDS_KEPT: usize = 200;

/// Longest name of a kind that is kept, in characters.
const KIND_LENGTH: usize = 60;

/// Counts of one log, or of several added up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Lines.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
    /// Calls that an agent proposed.
    pub calls: u64,
    /// Calls that a script inside one of these calls made.
    pub nested: u64,
    /// Records of calls that were there before.
    pub repeated: u64,
    /// Lines over the limit.
    pub too_long: u64,
    /// Records of unknown kinds, by kind.
    pub unknown: BTreeMap<String, Counted>,
    /// Lines and records that cannot be read.
    pub bad: u64,
    /// The first of these.
    pub problems: Vec<Problem>,
}

/// A count and where the first was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// How many.
    pub count: u64,
    /// The first.
    pub first: LogPlace,
}

/// Something that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Where.
    pub place: LogPlace,
    /// What.
    pub what: String,
}

impl Tally {
    pub(super) fn unknown(&mut self, kind: &str, place: &LogPlace) {
        let mut kind: String = kind.chars().take(KIND_LENGTH).collect();
        if self.unknown.len() >= KINDS_KEPT && !self.unknown.contains_key(&kind) {
            kind = "(others)".to_owned();
        }
        self.unknown.entry(kind).or_insert_with(|| Counted { count: 0, first: place.clone() }).count += 1;
    }

    pub(super) fn problem(&mut self, place: LogPlace, what: String) {
        self.bad += 1;
        if self.problems.len() < PROBLEMS_KEPT {
            self.problems.push(Problem { place, what });
        }
    }

    /// Adds the counts of another log.
    pub fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.bytes += other.bytes;
        self.calls += other.calls;
        self.nested += other.nested;
        self.repeated += other.repeated;
        self.too_long += other.too_long;
        self.bad += other.bad;
        for (kind, counted) in other.unknown {
            self.unknown.entry(kind).or_insert(Counted { count: 0, first: counted.first }).count +=
                counted.count;
        }
        let room = PROBLEMS_KEPT.saturating_sub(self.problems.len());
        self.problems.extend(other.problems.into_iter().take(room));
    }
}
