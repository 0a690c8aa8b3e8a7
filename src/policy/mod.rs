//! Policy text in, checked [`Policy`] or located errors out.
//!
//! Pure: finding and reading files is the work of whoever calls. `include` asks a [`Library`] for texts.

use crate::call::Targets;
use crate::shell::Access;
use crate::verdict::{Place, Scope, Verdict, Vote};

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
    /// `builtin:NAME` never arrives here.
    fn include(&self, name: &str, from: &str) -> Result<Source, String>;
}

/// A checked policy. A broken one has no value of this type.
#[derive(Debug)]
pub struct Policy {/* rules, default, unreadable, disabled, digest */}

/// Everything that is wrong with a policy: all findings, each with its place.
#[derive(Debug)]
pub struct PolicyErrors {/* Vec<PolicyError>, each a miette::Diagnostic with NamedSource and labels */}

impl Policy {
    /// Loads the given sources as one policy: their rules add up, the strictest `default` and `unreadable` hold.
    ///
    /// # Errors
    /// All findings of all sources.
    pub fn load(sources: &[Source], library: &dyn Library) -> Result<Self, PolicyErrors> {
        todo!()
    }
    /// The embedded policy of that name (`ci`, `guardrails`, `strict`).
    pub fn builtin(name: &str) -> Option<Source> {
        todo!()
    }
    /// Votes of all rules on a call, in rule order; then the vote for what could not be read; then the default's.
    pub fn votes(&self, targets: &Targets, args: &serde_json::Value) -> Vec<Vote> {
        todo!()
    }
    /// sha256 of the effective policy, hex.
    pub fn digest(&self) -> &str {
        todo!()
    }
    /// The effective policy as one self-contained YAML text with the same digest when it is loaded.
    pub fn to_yaml(&self) -> String {
        todo!()
    }
}
