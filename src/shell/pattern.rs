//! Word patterns: what a rule's `run` key says.

use super::command::Command;

/// Whether something fits, given what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It cannot fit.
    No,
    /// It fits for some values of what is unknown.
    Maybe,
    /// It fits.
    Yes,
}

/// A parsed word pattern.
#[derive(Debug, Clone)]
pub struct WordPattern {
    /// As written.
    text: String,
}

/// What is wrong with a word pattern.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct WordPatternError {
    /// What.
    pub message: String,
    /// Byte offset in the pattern.
    pub offset: usize,
}

impl WordPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Empty patterns, unclosed braces, a pattern that begins with an option.
    pub fn parse(text: &str) -> Result<Self, WordPatternError> {
        Ok(Self { text: text.to_owned() })
    }

    /// Whether `command` fits.
    pub fn fit(&self, command: &Command) -> Fit {
        let _ = (command, &self.text);
        Fit::No
    }
}
