//! The id of an object.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Id of a commit, tree or blob.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub(super) git2::Oid);

impl ObjectId {
    /// The first twelve digits, for people.
    pub fn short(&self) -> String {
        self.0.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl FromStr for ObjectId {
    type Err = git2::Error;

    /// Takes the full 40 digits and nothing shorter.
    fn from_str(text: &str) -> Result<ObjectId, git2::Error> {
        if text.len() != 40 {
            return Err(git2::Error::from_str("an object id has 40 digits"));
        }
        git2::Oid::from_str(text).map(ObjectId)
    }
}

impl Serialize for ObjectId {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ObjectId {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<ObjectId, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}
