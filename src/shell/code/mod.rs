//! Code given to an interpreter in an argument or on its standard input, as far as files, processes and hosts go.
//!
//! These are scanners, not parsers: they find the calls that do something, take their constant arguments, and say so
//! where an argument is not constant. Code of the repository that the text calls by name is not followed; it is
//! like running a script.

mod acts;
mod awk;
mod calls;
mod javascript;
mod lexer;
mod opaque;
mod perl;
mod php;
mod python;
mod ruby;
mod sed;
mod sql;
mod values;

use super::effect::{Access, EffectKind};
use super::invocation::Language;
use super::word::{Piece, Word};

pub(crate) use sql::sql_verbs;

/// Longest code that is looked into, in bytes.
const LENGTH_LIMIT: usize = 256 * 1024;
/// Deepest nesting of code that evaluates code.
const DEPTH_LIMIT: usize = 4;

/// What a piece of code does.
#[derive(Debug, Default)]
pub(crate) struct CodeReading {
    /// What it does to files and hosts.
    pub(crate) effects: Vec<(EffectKind, Word)>,
    /// Lines that it gives to a shell.
    pub(crate) shell: Vec<Word>,
    /// Programs that it starts without a shell.
    pub(crate) commands: Vec<Vec<Word>>,
    /// What could not be read, one phrase each.
    pub(crate) unreadable: Vec<String>,
}

impl CodeReading {
    fn path(&mut self, access: Access, recursive: bool, word: Word) {
        self.effects.push((EffectKind::Path { access, recursive }, word));
    }

    fn contact(&mut self, word: Word) {
        self.effects.push((EffectKind::Contact, word));
    }

    fn unreadable(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.unreadable.contains(&what) {
            self.unreadable.push(what);
        }
    }
}

/// Reads code; `arguments` are what the program hands to it. Shell is not read here but by the reader, and gives nothing.
pub(crate) fn read_code(language: Language, code: &Word, arguments: &[Word]) -> CodeReading {
    read_nested(language, code, arguments, 0)
}

fn read_nested(language: Language, code: &Word, arguments: &[Word], depth: usize) -> CodeReading {
    let mut reading = CodeReading::default();
    if language == Language::Shell {
        return reading;
    }
    if depth > DEPTH_LIMIT {
        reading.unreadable("code that evaluates code, too deep");
        return reading;
    }
    if code.pieces.iter().any(|piece| !matches!(piece, Piece::Text(_))) {
        // What is put into code can be code: the known part is still read, for what it certainly does.
        reading.unreadable(format!("{} code with a part that is not known", language_name(language)));
    }
    let text = known_text(code);
    if text.len() > LENGTH_LIMIT {
        reading.unreadable("code that is too long");
        return reading;
    }
    match language {
        Language::Shell => {}
        Language::Awk => awk::read(&text, &mut reading),
        Language::Sed => sed::read(&text, &mut reading),
        Language::Sql => sql::read(&text, &mut reading),
        Language::Python => calls::read(&python::DIALECT, &text, arguments, depth, &mut reading),
        Language::Perl => calls::read(&perl::DIALECT, &text, arguments, depth, &mut reading),
        Language::Javascript => calls::read(&javascript::DIALECT, &text, arguments, depth, &mut reading),
        Language::Ruby => calls::read(&ruby::DIALECT, &text, arguments, depth, &mut reading),
        Language::Php => calls::read(&php::DIALECT, &text, arguments, depth, &mut reading),
        Language::Opaque => opaque::read(&text, &mut reading),
    }
    reading
}

/// What a language is called.
pub(crate) fn language_name(language: Language) -> &'static str {
    match language {
        Language::Shell => "shell",
        Language::Awk => "awk",
        Language::Sed => "sed",
        Language::Python => "python",
        Language::Perl => "perl",
        Language::Javascript => "javascript",
        Language::Ruby => "ruby",
        Language::Php => "php",
        Language::Sql => "SQL",
        Language::Opaque => "unknown",
    }
}

/// The known text, with a name in place of what is not known.
fn known_text(code: &Word) -> String {
    code.pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) | Piece::Glob(text) => text.as_str(),
            Piece::Name | Piece::Unknown { .. } => "unknown_value",
        })
        .collect()
}

/// A word that stands for any value.
fn unknown(source: &str) -> Word {
    Word { pieces: vec![Piece::Unknown { splits: false, source: source.to_owned() }], span: None }
}

#[cfg(test)]
mod tests;
