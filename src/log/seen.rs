//! Ids of calls that were read before.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// Shortest id that cannot repeat by chance in another file.
const UNIQUE_LENGTH: usize = 16;

/// Remembers ids by their hash: some 20 bytes a call, whatever the size of the logs.
#[derive(Debug, Default)]
pub struct Seen {
    states: (RandomState, RandomState),
    everywhere: HashSet<u128>,
    in_this_file: HashSet<u128>,
}

impl Seen {
    /// Nothing was read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Short ids (`call_0`, `item_3`) count within their file only.
    pub(super) fn next_file(&mut self) {
        self.in_this_file.clear();
    }

    /// Whether `id` is new.
    pub(super) fn insert(&mut self, id: &str) -> bool {
        let hash = (u128::from(self.states.0.hash_one(id)) << 64) | u128::from(self.states.1.hash_one(id));
        if id.len() < UNIQUE_LENGTH { self.in_this_file.insert(hash) } else { self.everywhere.insert(hash) }
    }
}
