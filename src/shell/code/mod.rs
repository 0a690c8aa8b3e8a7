//! Short inline programs: what they do to files, processes and hosts, as far as that is certain.

mod awk;
mod javascript;
mod perl;
mod php;
mod python;
mod ruby;
mod scan;
mod sed;
mod sql;

use super::effect::EffectKind;
use super::invocation::Language;
use super::word::Word;

pub(crate) use sql::sql_verbs;

/// What a piece of code does.
#[derive(Debug, Clone, Default)]
pub struct CodeReading {
    /// Effects on files and hosts.
    pub effects: Vec<(EffectKind, Word)>,
    /// Shell code that it hands to a shell (`os.system("…")`).
    pub shell: Vec<Word>,
    /// Commands that it starts as words (`subprocess.run(["rm", "x"])`).
    pub commands: Vec<Vec<Word>>,
    /// Why it could not be read with certainty: one reason each, for people.
    pub unreadable: Vec<String>,
}

/// Longest code that is looked into, in bytes; more is unreadable.
const LONGEST: usize = 64 * 1024;

/// Reads code in `language`; `arguments` are what the program hands to it.
///
/// Shell code is not read here but by [`super::read`], and gives nothing.
pub fn read_code(language: Language, code: &Word, arguments: &[Word]) -> CodeReading {
    let mut reading = CodeReading::default();
    if language == Language::Shell {
        return reading;
    }
    let text = code.shown();
    if text.len() > LONGEST {
        reading.unreadable.push("code too long to look into".to_owned());
        return reading;
    }
    let mut unknown = code.value().is_none();
    match language {
        Language::Shell => {}
        Language::Awk => awk::read(&text, &mut reading),
        Language::Sed => sed::read(&text, &mut reading),
        Language::Python => python::read(&text, arguments, &mut reading),
        Language::Perl => perl::read(&text, &mut reading),
        Language::Javascript => javascript::read(&text, &mut reading),
        Language::Ruby => ruby::read(&text, &mut reading),
        Language::Php => php::read(&text, &mut reading),
        Language::Sql => {
            sql::read(&text, &mut reading);
            unknown = unknown && code.known_prefix().trim().is_empty();
        }
        Language::Opaque => {
            reading.unreadable.push("code that is not looked into".to_owned());
            unknown = false;
        }
    }
    if unknown {
        reading.unreadable.push("parts of the code are not known".to_owned());
    }
    reading
}
