//! What went wrong, for people: what, in what, then the next step. All conversions are here.

use std::fmt::Write as _;
use std::io;

use miette::{GraphicalReportHandler, GraphicalTheme};

use crate::config::Fault;
use crate::policy::{PolicyError, PolicyErrors};
use crate::record::RecordError;
use crate::run::SourcesError;
use crate::state::StateError;
use crate::worktree::WorktreeError;

use super::exit::Exit;
use super::screen::harmless;

/// A command that cannot do what it was asked to do.
#[derive(Debug)]
pub(super) struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What went wrong, one line each; more than one for files with several faults.
    pub lines: Vec<String>,
    /// Located findings, ready to be shown.
    pub findings: Findings,
    /// The next step.
    pub hint: Option<String>,
}

/// Findings with places.
#[derive(Debug, Default)]
pub(super) enum Findings {
    /// None.
    #[default]
    None,
    /// In settings, tasks and scripts.
    Faults(Vec<Fault>),
    /// In a policy.
    Policy(PolicyErrors),
}

impl Failure {
    /// A failure of one line.
    pub(super) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, lines: vec![what.into()], findings: Findings::None, hint: None }
    }

    /// The same with a next step.
    #[must_use]
    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Wrong usage.
    pub(super) fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    /// Faults in a file.
    pub(super) fn faults(faults: Vec<Fault>) -> Self {
        Self { exit: Exit::Usage, lines: Vec::new(), findings: Findings::Faults(faults), hint: None }
    }

    /// The text for stderr.
    pub(super) fn text(&self, has_colour: bool) -> String {
        let mut out = String::new();
        let (red, plain) = if has_colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        for line in &self.lines {
            let _ = writeln!(out, "{red}error{plain}: {}", harmless(line));
        }
        match &self.findings {
            Findings::None => {}
            Findings::Faults(faults) => {
                faults.iter().for_each(|fault| fault_text(&mut out, fault, red, plain))
            }
            Findings::Policy(errors) => out.push_str(&policy_errors(errors, has_colour)),
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, "hint: {}", harmless(hint));
        }
        out
    }
}

fn fault_text(out: &mut String, fault: &Fault, red: &str, plain: &str) {
    let _ = writeln!(out, "{red}error{plain}: {}", harmless(&fault.to_string()));
    if fault.line > 0 && !fault.excerpt.trim().is_empty() {
        let number = fault.line.to_string();
        let excerpt = fault.excerpt.replace('\t', " ");
        let excerpt = harmless(&excerpt).into_owned();
        let length = fault.length.min(excerpt.chars().count().saturating_sub(fault.column - 1)).max(1);
        let _ = writeln!(out, " {number} | {excerpt}");
        let _ = writeln!(
            out,
            " {} | {}{red}{}{plain}",
            " ".repeat(number.len()),
            " ".repeat(fault.column - 1),
            "^".repeat(length)
        );
    }
    if let Some(hint) = &fault.hint {
        let _ = writeln!(out, "hint: {}", harmless(hint));
    }
}

/// All findings of a policy, each with its underlined line.
pub(super) fn policy_errors(errors: &PolicyErrors, has_colour: bool) -> String {
    located(errors.errors(), has_colour)
}

/// Findings with places, each with its underlined line.
pub(super) fn located<'a>(errors: impl IntoIterator<Item = &'a PolicyError>, has_colour: bool) -> String {
    let theme = if has_colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false).with_width(100);
    let mut out = String::new();
    for error in errors {
        // Rendering into a String fails only when a part of the finding cannot be shown; then its place must do.
        if handler.render_report(&mut out, error).is_err() {
            let _ = writeln!(out, "error: {}: {}", error.place(), error.message());
        }
    }
    out
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // Whoever read the answer has read enough.
            return Self { exit: Exit::Fine, lines: Vec::new(), findings: Findings::None, hint: None };
        }
        Self::new(Exit::Failed, format!("cannot write the answer: {error}"))
    }
}

impl From<SourcesError> for Failure {
    fn from(error: SourcesError) -> Self {
        match error {
            SourcesError::Broken(errors) => Self {
                exit: Exit::PolicyBroken,
                lines: Vec::new(),
                findings: Findings::Policy(errors),
                hint: Some("nothing was started: without a policy every gate is closed".to_owned()),
            },
            SourcesError::NoBuiltin { .. } => {
                let names: Vec<String> =
                    crate::policy::Policy::builtin_names().map(|name| format!("builtin:{name}")).collect();
                Self::new(Exit::PolicyBroken, error.to_string())
                    .with_hint(format!("there are {}", names.join(", ")))
            }
            SourcesError::Unavailable(_) => {
                Self::new(Exit::PolicyBroken, error.to_string()).with_hint("give a file, or `builtin:ci`")
            }
        }
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        let exit = match error {
            StateError::Nowhere
            | StateError::Foreign { .. }
            | StateError::NoRun { .. }
            | StateError::Ambiguous { .. } => Exit::Usage,
            StateError::Io { .. } => Exit::Failed,
            StateError::Locked { .. } => Exit::Repository,
        };
        let hint = error.next_step();
        Self::new(exit, with_causes(&error)).with_hint(hint)
    }
}

impl From<WorktreeError> for Failure {
    fn from(error: WorktreeError) -> Self {
        let hint = error.next_step();
        let failure = Self::new(Exit::Repository, with_causes(&error));
        match hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::new(Exit::Failed, with_causes(&error))
    }
}

/// An error and what caused it, on one line.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let _ = write!(text, ": {inner}");
        cause = inner.source();
    }
    text
}
