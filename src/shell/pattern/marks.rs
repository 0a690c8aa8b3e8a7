//! Which words of a command a pattern is about, and which of its own it misses: for people, decides nothing.

use super::super::command::Command;
use super::fit::{fit_operand, fits_program};
use super::glob::Glob;
use super::{Fit, Form, WordPattern};

impl WordPattern {
    /// Indices of the words by which `command` fits, in order; empty when it does not.
    pub fn marks(&self, command: &Command) -> Vec<usize> {
        let best = self.forms().iter().map(|form| (form.fit(command), form)).max_by_key(|(fit, _)| *fit);
        match best {
            Some((fit, form)) if fit > Fit::No => form.marks(command),
            _ => Vec::new(),
        }
    }

    /// What the nearest form of the pattern asks for and `command`, which has its program, does not have. Empty
    /// where all words are there and it does not fit all the same, `None` where it cannot be said in words.
    pub fn missing(&self, command: &Command) -> Option<Vec<String>> {
        let about = self.forms().iter().filter(|form| fits_program(&form.program, &command.invocation));
        about.filter_map(|form| form.missing(command)).min_by_key(Vec::len)
    }
}

impl Form {
    fn marks(&self, command: &Command) -> Vec<usize> {
        if self.is_any_program {
            return Vec::new();
        }
        let invocation = &command.invocation;
        let mut marks = vec![0];
        let mut from = 1;
        for name in invocation.subcommand.iter().take(self.subcommand.len()) {
            let rest = command.words.iter().enumerate().skip(from);
            if let Some((at, _)) = rest.into_iter().find(|(_, word)| word.value() == Some(name)) {
                marks.push(at);
                from = at + 1;
            }
        }
        for (name, _) in &self.options {
            marks.extend(invocation.options.iter().filter(|own| name.fits(&own.name)).map(|own| own.word));
        }
        let mut operands = invocation.operands.iter();
        for wanted in self.later_words(command).chain(&self.operands) {
            let met = operands.by_ref().find(|operand| fit_operand(wanted, operand) > Fit::No);
            marks.extend(met.map(|operand| operand.index));
        }
        marks.sort_unstable();
        marks.dedup();
        marks
    }

    /// Words of the pattern's subcommand that the command has no known word for.
    fn later_words(&self, command: &Command) -> impl Iterator<Item = &Glob> {
        self.subcommand.iter().skip(command.invocation.subcommand.len())
    }

    fn missing(&self, command: &Command) -> Option<Vec<String>> {
        let invocation = &command.invocation;
        let text = |glob: &Glob| glob.literal().map(str::to_owned);
        let mut missing = Vec::new();
        for (at, wanted) in self.subcommand.iter().enumerate() {
            if !invocation.subcommand.get(at).is_some_and(|word| wanted.fits(word)) {
                missing.push(text(wanted)?);
            }
        }
        for (name, _) in &self.options {
            if !invocation.options.iter().any(|own| name.fits(&own.name)) {
                missing.push(text(name)?);
            }
        }
        let mut operands = invocation.operands.iter();
        for wanted in &self.operands {
            if !operands.any(|operand| fit_operand(wanted, operand) > Fit::No) {
                missing.push(text(wanted)?);
            }
        }
        Some(missing)
    }
}
