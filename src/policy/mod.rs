//! Policy text in, checked [`Policy`] or located errors out.
//!
//! Pure: finding and reading files is the work of whoever calls. `include` asks a [`Library`] for texts, and the
//! day on which exceptions end is an input.

mod after;
mod builtin;
mod compare;
mod decode;
mod effective;
mod example;
mod explain;
mod expression;
mod finding;
mod fit;
mod index;
mod lint;
mod literal;
mod load;
mod pages;
mod relax;
mod rule;
mod sight;
#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests;
mod tree;
mod votes;
mod when;

pub use after::Memory;
pub use compare::{Comparison, Kind, RuleChange, Shift, Tried};
pub use decode::schema;
pub use explain::{Explanation, Near, Speaking};
pub use finding::{PolicyError, PolicyErrors};
pub use lint::{Linted, lint};
pub use load::Policy;
pub use pages::{RulePage, rule_pages};
pub use rule::{ExceptionShown, Rule};

/// A named policy text.
#[derive(Debug, Clone)]
pub struct Source {
    /// Display name: the path as people wrote it, `builtin:ci`, `<base>:.gatewright/policy.yml`.
    pub name: String,
    /// Raw bytes; checked for UTF-8 and size when loaded.
    pub bytes: Vec<u8>,
}

/// Gives the texts that `include:` names.
pub trait Library {
    /// The source that `name`, written in the policy `from`, stands for; the error text says why there is none.
    /// `builtin:NAME` never arrives here. One text has one name: that is how circles are noticed.
    fn include(&self, name: &str, from: &str) -> Result<Source, String>;
}

/// A library without texts: only embedded policies can be included.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLibrary;

impl Library for NoLibrary {
    fn include(&self, _name: &str, _from: &str) -> Result<Source, String> {
        Err("files cannot be included here".to_owned())
    }
}
