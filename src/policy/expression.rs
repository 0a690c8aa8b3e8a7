//! Regular expressions of rules: checked when the policy loads, compiled when a call first needs them.
//!
//! Compiling is what a short process pays for, so loading only parses, and literals are asked first. A pattern that parses and still cannot be
//! compiled (it would grow too large) counts as one that may fit everything.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

use crate::shell::Fit;

use super::literal::LiteralGate;

/// What an expression is matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// A command written canonically, from its program's name on: anchored at the start, `.` crosses lines.
    Command,
    /// Text as it is: found anywhere, `^` and `$` hold per line.
    Text,
}

/// How much of the text has to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// A part, as `Over` says: for rules that ask or deny.
    Part,
    /// All of it: for what relaxes, where a partial match would let the rest through.
    Whole,
}

#[derive(Debug)]
pub(super) struct Expression {
    pub(super) text: String,
    over: Over,
    gate: OnceLock<LiteralGate>,
    part: OnceLock<Option<Regex>>,
    whole: OnceLock<Option<Regex>>,
}

/// What is wrong with an expression, and where in it (byte offset and length).
#[derive(Debug)]
pub(super) struct ExpressionFault {
    pub(super) message: String,
    pub(super) offset: usize,
    pub(super) length: usize,
    pub(super) help: Option<String>,
}

impl Expression {
    /// Checks and keeps an expression.
    pub(super) fn parse(text: &str, over: Over) -> Result<Self, ExpressionFault> {
        match regex_syntax::Parser::new().parse(text) {
            Ok(_) => Ok(Self::trusted(text, over)),
            Err(error) => Err(fault(text, &error)),
        }
    }

    /// Keeps an expression that a test has checked.
    pub(super) fn trusted(text: &str, over: Over) -> Self {
        Self {
            text: text.to_owned(),
            over,
            gate: OnceLock::new(),
            part: OnceLock::new(),
            whole: OnceLock::new(),
        }
    }

    /// Whether `subject` matches. `Maybe` only when the expression is too large to be tried.
    pub(super) fn fit(&self, subject: &str, extent: Extent) -> Fit {
        if !self.gate().admits(subject) {
            return Fit::No;
        }
        let compiled = match extent {
            Extent::Part => self.part.get_or_init(|| self.compile(extent)),
            Extent::Whole => self.whole.get_or_init(|| self.compile(extent)),
        };
        match compiled {
            Some(regex) if regex.is_match(subject) => Fit::Yes,
            Some(_) => Fit::No,
            None => Fit::Maybe,
        }
    }

    /// For an expression over commands: the words of which every match begins with one, when they are known.
    pub(super) fn first_words(&self) -> Option<Vec<String>> {
        if self.over != Over::Command {
            return None;
        }
        self.gate().first_words()
    }

    fn gate(&self) -> &LiteralGate {
        self.gate.get_or_init(|| LiteralGate::of(&self.text, self.over == Over::Command))
    }

    fn compile(&self, extent: Extent) -> Option<Regex> {
        let (before, after) = match (self.over, extent) {
            (Over::Text, Extent::Part) => ("", ""),
            (Over::Command, Extent::Part) => (r"\A(?:", ")"),
            (_, Extent::Whole) => (r"\A(?:", r")\z"),
        };
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .multi_line(self.over == Over::Text)
                .dot_matches_new_line(self.over == Over::Command)
                .build()
                .ok()
        };
        // A pattern in verbose mode may end in a comment, which would swallow what is put behind it.
        build(&format!("{before}{}{after}", self.text))
            .or_else(|| build(&format!("{before}{}\n{after}", self.text)))
    }
}

fn fault(text: &str, error: &regex_syntax::Error) -> ExpressionFault {
    let (message, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(*error.span())),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(*error.span())),
        other => (other.to_string(), None),
    };
    let (start, end) = span.map_or((0, text.len()), |span| (span.start.offset, span.end.offset));
    let at = |offset: usize| text.get(offset..).unwrap_or_default();
    let group = at(start.saturating_sub(if at(start).starts_with('(') { 0 } else { 2 }));
    let construct = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|opening| group.starts_with(opening));
    let help = if construct {
        Some("write the rule without it: what must not be there is said by `except`".to_owned())
    } else if message.contains("backreference") {
        Some("write out what is to be repeated".to_owned())
    } else {
        None
    };
    let message = if construct { "look-around is not supported".to_owned() } else { message };
    ExpressionFault { message, offset: start, length: end.saturating_sub(start).max(1), help }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_command_matches_from_its_program_on() {
        let expression = Expression::parse(r"git (push|send-pack)\b", Over::Command).unwrap();
        assert_eq!(expression.fit("git push origin", Extent::Part), Fit::Yes);
        assert_eq!(expression.fit("echo git push", Extent::Part), Fit::No);
        assert_eq!(expression.fit("git push origin", Extent::Whole), Fit::No);
        assert_eq!(expression.fit("git push", Extent::Whole), Fit::Yes);
    }

    #[test]
    fn text_is_matched_per_line() {
        let expression = Expression::parse("^rm", Over::Text).unwrap();
        assert_eq!(expression.fit("cd x\nrm y", Extent::Part), Fit::Yes);
        assert_eq!(expression.fit("x rm", Extent::Part), Fit::No);
    }

    #[test]
    fn a_comment_in_verbose_mode_does_not_swallow_the_end() {
        let expression = Expression::parse(r"(?x) git \x20 push # publishes", Over::Command).unwrap();
        assert_eq!(expression.fit("git push", Extent::Whole), Fit::Yes);
        assert_eq!(expression.fit("git push -f", Extent::Whole), Fit::No);
    }

    #[test]
    fn faults_have_a_place() {
        let fault = Expression::parse("git (?!x)", Over::Command).unwrap_err();
        assert_eq!((fault.message.as_str(), fault.offset), ("look-around is not supported", 4));
        let fault = Expression::parse("a[b", Over::Text).unwrap_err();
        assert_eq!(fault.offset, 1);
    }

    #[test]
    fn an_expression_too_large_to_compile_may_fit_anything() {
        let expression = Expression::parse(r"((\w{100}){100}){100}", Over::Text).unwrap();
        assert_eq!(expression.fit("x", Extent::Part), Fit::Maybe);
    }
}
