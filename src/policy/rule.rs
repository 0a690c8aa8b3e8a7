//! One rule: what it holds for, what it says, and where it stands.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use jiff::civil::Date;
use serde_json::Value;

use crate::call::{HostGlob, PathGlob, ToolCall};
use crate::shell::{Access, WordPattern};
use crate::verdict::{Place, Scope, Verdict};

use super::expression::Expression;
use super::when::Condition;

/// One rule of a policy.
#[derive(Debug)]
pub struct Rule {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) source: Arc<str>,
    pub(super) tools: Vec<ToolPattern>,
    pub(super) matcher: Matcher,
    /// What an earlier call must have fitted, as a rule that only looks.
    pub(super) after: Option<Box<Rule>>,
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    pub(super) hint: Option<String>,
    pub(super) scopes: Vec<Scope>,
    pub(super) exceptions: Vec<Exception>,
    pub(super) examples: Vec<Example>,
    pub(super) id_span: Range<usize>,
}

/// What a rule or an exception looks at; every part that is given must hold.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    pub(super) run: Vec<WordPattern>,
    /// `run` as written, in the order of the patterns.
    pub(super) run_texts: Vec<String>,
    pub(super) command: Option<Expression>,
    pub(super) text: Option<Expression>,
    pub(super) paths: Vec<(String, PathGlob)>,
    /// Empty: every access.
    pub(super) access: Vec<Access>,
    pub(super) hosts: Vec<(String, HostGlob)>,
    pub(super) args: Vec<(String, Vec<ArgumentPattern>)>,
    pub(super) when: Option<Condition>,
}

impl Matcher {
    pub(super) fn is_empty(&self) -> bool {
        self.run.is_empty()
            && self.command.is_none()
            && self.text.is_none()
            && self.paths.is_empty()
            && self.hosts.is_empty()
            && self.args.is_empty()
            && self.when.is_none()
    }

    /// Whether it speaks about single commands of a line.
    pub(super) fn has_command_part(&self) -> bool {
        !self.run.is_empty() || self.command.is_some()
    }

    pub(super) fn covers_access(&self, access: Access) -> bool {
        self.access.is_empty() || self.access.contains(&access)
    }
}

/// What a rule does not hold for.
#[derive(Debug)]
pub(super) struct Exception {
    pub(super) matcher: Matcher,
    pub(super) reason: String,
    /// Last day on which it relaxes.
    pub(super) until: Option<Date>,
    /// Whether that day has passed.
    pub(super) is_over: bool,
    /// Whether it relaxed anything since the policy was loaded; decides nothing.
    pub(super) has_relaxed: AtomicBool,
}

/// A tool that a rule names.
#[derive(Debug)]
pub(super) enum ToolPattern {
    /// The group of shell tools.
    Shell,
    /// A canonical name.
    Name(String),
    /// A glob over canonical names.
    Glob(Glob),
}

impl ToolPattern {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Shell => "shell",
            Self::Name(name) => name,
            Self::Glob(glob) => &glob.text,
        }
    }
}

/// A glob over names and values: `*` crosses everything. Compiled at first need.
#[derive(Debug)]
pub(super) struct Glob {
    pub(super) text: String,
    compiled: OnceLock<Option<GlobSet>>,
}

impl Glob {
    /// Checks and keeps a glob; the error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match Self::builder(text).build() {
            Ok(_) => Ok(Self { text: text.to_owned(), compiled: OnceLock::new() }),
            Err(error) => Err(error.kind().to_string()),
        }
    }

    fn builder(text: &str) -> GlobBuilder<'_> {
        let mut builder = GlobBuilder::new(text);
        builder.literal_separator(false).backslash_escape(true);
        builder
    }

    /// Whether `name` fits; `None` when the glob is too large to be tried.
    pub(super) fn is_match(&self, name: &str) -> Option<bool> {
        // A set of one takes its short ways for plain prefixes and suffixes and needs no expression for them.
        let set = self.compiled.get_or_init(|| {
            let glob = Self::builder(&self.text).build().ok()?;
            GlobSetBuilder::new().add(glob).build().ok()
        });
        set.as_ref().map(|set| set.is_match(name))
    }
}

/// Bounds of a number, or of the length of a text in bytes; at least one is given.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bounds {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
}

impl Bounds {
    pub(super) fn holds(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    fn shown(&self) -> String {
        let part = |name: &str, bound: Option<f64>| bound.map(|bound| format!("{name} {bound}"));
        let parts: Vec<String> = part("min", self.min).into_iter().chain(part("max", self.max)).collect();
        parts.join(" ")
    }
}

/// What an argument's value has to be.
#[derive(Debug)]
pub(super) enum ArgumentPattern {
    Glob(Glob),
    Expression(Expression),
    /// A number, `true` or `false`.
    Value(Value),
    /// Numbers between two bounds, both included; texts by their length in bytes.
    Bounds(Bounds),
}

/// A call that a rule says it matches or lets pass.
#[derive(Debug)]
pub(super) struct Example {
    /// Calls that were let through before, in order.
    pub(super) before: Vec<ToolCall>,
    pub(super) call: ToolCall,
    pub(super) matches: bool,
    pub(super) span: Range<usize>,
}

impl Rule {
    /// Its id, unique within its source.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// File and line of its `id`.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The short name of its source, as `disable: ["source:id"]` uses it: `ci` for `builtin:ci`, `team` for
    /// `rules/team.yml`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it says about a call that fits.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Why; empty for an allow rule without a reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What to do instead.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Scopes that an answer to an ask may have; empty means all.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Its matchers as key and written value, in the order of the documentation; several values are joined by
    /// a comma.
    pub fn matchers(&self) -> Vec<(&'static str, String)> {
        let mut shown = Vec::new();
        if !self.tools.is_empty() {
            shown.push(("tool", joined(self.tools.iter().map(ToolPattern::text))));
        }
        self.matcher.show(&mut shown);
        if let Some(after) = &self.after {
            let parts: Vec<String> =
                after.matchers().into_iter().map(|(key, value)| format!("{key} {value}")).collect();
            let at = shown.iter().position(|(key, _)| *key == "when").unwrap_or(shown.len());
            shown.insert(at, ("after", parts.join(", ")));
        }
        shown
    }

    /// Its exceptions: matchers, reason, last day if any, and whether that day has passed.
    pub fn exceptions(&self) -> Vec<ExceptionShown<'_>> {
        self.exceptions
            .iter()
            .map(|exception| {
                let mut matchers = Vec::new();
                exception.matcher.show(&mut matchers);
                ExceptionShown {
                    matchers,
                    reason: &exception.reason,
                    until: exception.until,
                    is_over: exception.is_over,
                    has_relaxed: exception.has_relaxed.load(Ordering::Relaxed),
                }
            })
            .collect()
    }

    /// Calls that come before the call of an example, by the order of [`Self::examples`]; empty for most.
    pub fn examples_before(&self) -> impl Iterator<Item = &[ToolCall]> {
        self.examples.iter().map(|example| example.before.as_slice())
    }

    /// Its examples: the call as written and whether the rule has to match it.
    pub fn examples(&self) -> impl Iterator<Item = (&ToolCall, bool)> {
        self.examples.iter().map(|example| (&example.call, example.matches))
    }
}

/// An exception, for listings.
#[derive(Debug)]
pub struct ExceptionShown<'a> {
    /// Its matchers as key and written value.
    pub matchers: Vec<(&'static str, String)>,
    /// Why it is made.
    pub reason: &'a str,
    /// The last day on which it relaxes its rule.
    pub until: Option<Date>,
    /// Whether that day has passed, so that it relaxes nothing.
    pub is_over: bool,
    /// Whether it relaxed anything since the policy was loaded.
    pub has_relaxed: bool,
}

impl Matcher {
    pub(super) fn show(&self, into: &mut Vec<(&'static str, String)>) {
        if !self.run.is_empty() {
            into.push(("run", joined(self.run_texts.iter().map(String::as_str))));
        }
        if let Some(command) = &self.command {
            into.push(("command", command.text.clone()));
        }
        if let Some(text) = &self.text {
            into.push(("text", text.text.clone()));
        }
        if !self.paths.is_empty() {
            into.push(("path", joined(self.paths.iter().map(|(text, _)| text.as_str()))));
        }
        if !self.access.is_empty() {
            into.push(("access", joined(self.access.iter().map(|access| access_word(*access)))));
        }
        if !self.hosts.is_empty() {
            into.push(("host", joined(self.hosts.iter().map(|(text, _)| text.as_str()))));
        }
        for (path, patterns) in &self.args {
            let values: Vec<String> = patterns.iter().map(ArgumentPattern::shown).collect();
            into.push(("args", format!("{path}: {}", values.join(", "))));
        }
        if let Some(when) = &self.when {
            into.push(("when", when.text.clone()));
        }
    }
}

impl ArgumentPattern {
    fn shown(&self) -> String {
        match self {
            Self::Glob(glob) => glob.text.clone(),
            Self::Expression(expression) => format!("/{}/", expression.text),
            Self::Value(value) => value.to_string(),
            Self::Bounds(range) => range.shown(),
        }
    }
}

pub(super) fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// The word of the language for an access.
pub(super) fn access_word(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Delete => "delete",
    }
}

/// The word of the language for a verdict.
pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

/// The word of the language for a scope.
pub(super) fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::Once => "once",
        Scope::Session => "session",
        Scope::Repo => "repo",
        Scope::Rule => "rule",
    }
}
