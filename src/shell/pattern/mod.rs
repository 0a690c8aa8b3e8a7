//! Word patterns: what a rule's `run` key says.
//!
//! A pattern is read with the table of its program, so that `rm -rf /` and `rm --force -R /` are one pattern, and
//! so that the words of a command and those of a pattern are compared in the same canonical form.

mod fit;
mod glob;
mod marks;

use std::sync::OnceLock;

use super::command::Command;
use super::invocation::Invocation;
use super::table::{self, Program};
use super::word::Word;
use glob::Glob;

/// Most forms that the choices of one pattern may multiply to.
const FORMS: usize = 512;

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
    /// The choices of each of its words.
    words: Vec<Vec<String>>,
    /// Asked first: most patterns are about other programs than the command's, and their forms are never needed.
    subject: Subject,
    /// One for each combination of the choices, made when a command's program fits.
    forms: OnceLock<Vec<Form>>,
}

/// What each form of a pattern asks for before anything else.
#[derive(Debug, Clone)]
enum Subject {
    /// One of these programs.
    Programs(Vec<Glob>),
    /// A variable that is given to a command.
    Variable,
    /// Some forms ask for the one, some for the other.
    Either,
}

/// What a command must have for a pattern to fit it; see [`WordPattern::needs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needs {
    /// One of these programs, each with the canonical subcommand that is asked for, if one certainly is. Sorted.
    Programs(Vec<(String, Option<String>)>),
    /// A variable that is given to it; see [`Command::gives_variables`].
    Variable,
    /// Nothing that could be told beforehand.
    Anything,
}

/// A pattern without choices.
#[derive(Debug, Clone)]
struct Form {
    /// Variables that are given to the command, by name and value (`env LD_PRELOAD=*`), whatever gives them: words
    /// in front of it, `env`, `export`.
    assignments: Vec<(Glob, Glob)>,
    /// Whether it speaks about variables alone, and so about every program.
    is_any_program: bool,
    program: Glob,
    subcommand: Vec<Glob>,
    options: Vec<(Glob, Option<Glob>)>,
    operands: Vec<Glob>,
    /// Whether it names an option that makes the command harmless.
    names_dry_run: bool,
    /// Whether it names an option that only prints help.
    names_help: bool,
}

/// What is wrong with a word pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    /// Empty patterns, unclosed braces and quotes, a pattern that begins with an option, too many choices.
    pub fn parse(text: &str) -> Result<Self, WordPatternError> {
        let words = pattern_words(text)?;
        let Some((_, first)) = words.first() else { return Err(fault("the pattern is empty", 0)) };
        if first.starts_with('-') {
            return Err(fault("a pattern begins with a program, not with an option", words[0].0));
        }
        if first == "..." {
            return Err(fault("a pattern begins with a program; `*` is any", words[0].0));
        }
        let mut all = Vec::new();
        let mut forms = 1;
        for (offset, word) in &words {
            let choices = choices(word, *offset)?;
            forms *= choices.len();
            if forms > FORMS {
                return Err(fault("more than 512 combinations of choices", *offset));
            }
            all.push(choices);
        }
        let subject = Subject::of(&all);
        Ok(Self { text: text.to_owned(), words: all, subject, forms: OnceLock::new() })
    }

    fn forms(&self) -> &[Form] {
        self.forms.get_or_init(|| {
            let mut lines: Vec<Vec<String>> = vec![Vec::new()];
            for choices in &self.words {
                lines = lines
                    .iter()
                    .flat_map(|line| {
                        choices.iter().map(|choice| line.iter().cloned().chain([choice.clone()]).collect())
                    })
                    .collect();
            }
            lines.iter().map(|line| Form::new(line)).collect()
        })
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Base names of the programs it speaks about; `None` when it speaks about any.
    pub fn programs(&self) -> Option<Vec<String>> {
        let Needs::Programs(heads) = self.needs() else { return None };
        let mut names: Vec<String> = heads.into_iter().map(|(name, _)| name).collect();
        names.dedup();
        Some(names)
    }

    /// What a command must have to fit.
    ///
    /// Found without the forms: they are many, and most are never needed.
    pub fn needs(&self) -> Needs {
        let programs = match &self.subject {
            Subject::Programs(programs) => programs,
            Subject::Variable => return Needs::Variable,
            Subject::Either => return Needs::Anything,
        };
        let mut heads = Vec::new();
        for name in programs {
            let Some(name) = name.literal() else { return Needs::Anything };
            let commands: Option<Vec<String>> = match (table::program(name), self.words.get(1)) {
                (Some(program), Some(choices)) => {
                    choices.iter().map(|word| subcommand(program, word)).collect()
                }
                _ => None,
            };
            match commands {
                Some(commands) => {
                    heads.extend(commands.into_iter().map(|command| (name.to_owned(), Some(command))));
                }
                None => heads.push((name.to_owned(), None)),
            }
        }
        heads.sort();
        heads.dedup();
        Needs::Programs(heads)
    }

    /// Whether `command` fits.
    pub fn fit(&self, command: &Command) -> Fit {
        let may_fit = match &self.subject {
            Subject::Programs(programs) => {
                programs.iter().any(|program| fit::fits_program(program, &command.invocation))
            }
            Subject::Variable => command.gives_variables(),
            Subject::Either => true,
        };
        if !may_fit {
            return Fit::No;
        }
        let mut best = Fit::No;
        for form in self.forms() {
            best = best.max(form.fit(command));
            if best == Fit::Yes {
                break;
            }
        }
        best
    }
}

impl Subject {
    fn of(words: &[Vec<String>]) -> Self {
        let choices = |at: usize| words.get(at).map(Vec::as_slice).unwrap_or_default();
        let is_env = |program: &String| program == "env";
        if !choices(0).iter().any(is_env) {
            return Self::Programs(
                choices(0).iter().map(|program| Glob::parse(base_name(program))).collect(),
            );
        }
        let has_variable = words.len() > 1 && choices(1).iter().all(|word| variable(word).is_some());
        if choices(0).iter().all(is_env) && has_variable { Self::Variable } else { Self::Either }
    }
}

/// The canonical subcommand that `word` asks for directly behind its program, if it certainly asks for one.
fn subcommand(program: &Program, word: &str) -> Option<String> {
    if program.bundled || program.commands.is_empty() {
        return None;
    }
    if let Some(command) = program.command(word) {
        return Some(command.name.to_owned());
    }
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    (program.dispatches && is_plain && !word.starts_with('-')).then(|| word.to_owned())
}

/// `/usr/bin/git` is `git`.
fn base_name(program: &str) -> &str {
    match program.rfind('/') {
        Some(at) if !program.ends_with('/') => &program[at + 1..],
        _ => program,
    }
}

impl Form {
    fn new(line: &[String]) -> Self {
        let given = if line.first().is_some_and(|program| program == "env") {
            line.iter().skip(1).map_while(|word| variable(word)).collect()
        } else {
            Vec::new()
        };
        let line = if given.is_empty() { line } else { line.get(1 + given.len()..).unwrap_or_default() };
        let words: Vec<Word> = line.iter().map(Word::known).collect();
        let program = line.first().map_or("", String::as_str);
        let name = base_name(program);
        let invocation = Invocation::parse_as(&words, true);
        let shown = |word: &Word| Glob::parse(&word.shown());
        Self {
            assignments: given,
            is_any_program: line.is_empty(),
            program: Glob::parse(name),
            subcommand: invocation.subcommand.iter().map(|word| Glob::parse(word)).collect(),
            options: invocation
                .options
                .iter()
                .map(|option| (Glob::parse(&option.name), option.value.as_ref().map(shown)))
                .collect(),
            operands: invocation
                .operands
                .iter()
                .filter(|operand| operand.word.value() != Some("..."))
                .map(|operand| shown(&operand.word))
                .collect(),
            names_dry_run: invocation.is_dry_run,
            names_help: invocation.is_help,
        }
    }
}

/// `NAME=VALUE` of a pattern, both with wildcards.
fn variable(word: &str) -> Option<(Glob, Glob)> {
    let (name, value) = word.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '*' | '?');
    (!name.is_empty() && name.chars().all(is_name)).then(|| (Glob::parse(name), Glob::parse(value)))
}

fn fault(message: &str, offset: usize) -> WordPatternError {
    WordPatternError { message: message.to_owned(), offset }
}

/// The words with their offsets; quotes keep blanks inside a word.
fn pattern_words(text: &str) -> Result<Vec<(usize, String)>, WordPatternError> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut in_word = false;
    let mut depth = 0usize;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if let Some((_, quote)) = open {
            if c == quote {
                open = None;
            } else if let Some((_, word)) = words.last_mut() {
                if "*?[]{},\\".contains(c) && quote == '\'' {
                    word.push('\\');
                }
                word.push(c);
            }
            continue;
        }
        if c.is_whitespace() && depth == 0 {
            in_word = false;
            continue;
        }
        if !in_word {
            in_word = true;
            words.push((at, String::new()));
        }
        let Some((_, word)) = words.last_mut() else { continue };
        match c {
            '\'' | '"' => open = Some((at, c)),
            '\\' => {
                word.push('\\');
                if let Some((_, next)) = chars.next() {
                    word.push(next);
                }
            }
            _ => {
                if c == '{' {
                    depth += 1;
                } else if c == '}' {
                    depth = depth.saturating_sub(1);
                }
                word.push(c);
            }
        }
    }
    if let Some((at, _)) = open {
        return Err(fault("this quote is not closed", at));
    }
    if depth > 0 {
        let at = text.rfind('{').unwrap_or(0);
        return Err(fault("this `{` is not closed", at));
    }
    Ok(words)
}

/// `a{b,c}d` is `abd` and `acd`; braces without a comma are themselves.
fn choices(word: &str, offset: usize) -> Result<Vec<String>, WordPatternError> {
    let mut depth = 0usize;
    let mut start = None;
    let mut cuts: Vec<usize> = Vec::new();
    let mut escaped = false;
    for (at, c) in word.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match c {
            '\\' => escaped = true,
            '{' => {
                if depth == 0 {
                    start = Some(at);
                    cuts.clear();
                }
                depth += 1;
            }
            ',' if depth == 1 => cuts.push(at),
            '}' if depth > 0 => {
                depth -= 1;
                if let (0, Some(open), false) = (depth, start, cuts.is_empty()) {
                    let (head, tail) = (&word[..open], choices(&word[at + 1..], offset)?);
                    let mut bounds = vec![open];
                    bounds.extend(&cuts);
                    bounds.push(at);
                    let mut all = Vec::new();
                    for pair in bounds.windows(2) {
                        for middle in choices(&word[pair[0] + 1..pair[1]], offset)? {
                            all.extend(tail.iter().map(|tail| format!("{head}{}{tail}", middle.trim())));
                        }
                    }
                    if all.len() > FORMS {
                        return Err(fault("more than 512 combinations of choices", offset));
                    }
                    return Ok(all);
                }
            }
            _ => {}
        }
    }
    Ok(vec![word.to_owned()])
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
