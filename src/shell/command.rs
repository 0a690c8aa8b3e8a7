//! What bash would start: one [`Command`] per program, builtin or function call.

use super::invocation::Invocation;
use super::word::Word;

/// One command that the line would start.
///
/// A wrapper gives several: `sudo timeout 5 rm -rf x` is `sudo …`, `timeout …` and `rm …`.
#[derive(Debug, Clone)]
pub struct Command {
    /// Program and arguments; the first word is the program as written (`/usr/bin/git`, `\rm` read as `rm`).
    pub words: Vec<Word>,
    /// Assignments in front of it (`A=1 make`), and those of an `env` that started it.
    pub assignments: Vec<Assignment>,
    /// Redirects of this command and of the groups around it.
    pub redirects: Vec<Redirect>,
    /// Where it runs.
    pub directory: Directory,
    /// Base names of the programs that start it, outermost first: `["sudo", "timeout"]`.
    pub via: Vec<String>,
    /// Its place in a pipeline of two or more commands.
    pub pipeline: Option<Pipeline>,
    /// What it reads on standard input.
    pub input: Input,
    /// Words taken apart by the program table.
    pub invocation: Invocation,
    /// Byte range in the line that was read; for nested code, the range of the word that carries it.
    pub span: (usize, usize),
}

/// `NAME=value` in front of a command.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value as far as known.
    pub value: Word,
}

/// The directory a command runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Directory {
    /// Known: absolute, or relative to the directory the line starts in (`.` is that directory itself).
    Known(String),
    /// Not known, for example after `cd "$X"`.
    Unknown,
}

/// A redirect of a file; here-documents are [`Input::Text`].
#[derive(Debug, Clone)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The file.
    pub target: Word,
}

/// Kinds of redirects to and from files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`, `<>`
    Write,
    /// `>>`, `&>>`
    Append,
}

/// Place in a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipeline {
    /// Number of the pipeline in the line.
    pub id: usize,
    /// Position, from 0.
    pub position: usize,
}

/// Standard input of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// That of the line itself.
    Inherited,
    /// Known or partly known text: a here-document, a here-string, or what `echo`/`printf`/`cat <<` before it in
    /// the pipeline writes.
    Text(Word),
    /// A file.
    File(Word),
    /// The output of the commands before it in the pipeline, whose text is not known.
    Pipe,
}

impl Command {
    /// Whether variables are given to it, or handed on by it to whatever is started later.
    pub fn gives_variables(&self) -> bool {
        !self.assignments.is_empty() || self.invocation.exports()
    }

    /// The command as text from its program's base name on: words as far as known, quoted only where a shell
    /// would need it, one blank between them.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        for (at, word) in self.words.iter().enumerate() {
            if at > 0 {
                text.push(' ');
            }
            match &self.invocation.program {
                Some(name) if at == 0 => push_quoted(name, &mut text),
                _ => push_word(word, &mut text),
            }
        }
        text
    }
}

/// The commands of a pipeline as one text, joined with ` | `.
pub fn canonical_pipeline(commands: &[&Command]) -> String {
    commands.iter().map(|command| command.canonical()).collect::<Vec<_>>().join(" | ")
}

fn push_word(word: &Word, into: &mut String) {
    match word.value() {
        Some(text) => push_quoted(text, into),
        None => into.push_str(&word.shown()),
    }
}

fn push_quoted(text: &str, into: &mut String) {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%^~{}[]*?#!".contains(c);
    let starts_comment = text.starts_with('#');
    if !text.is_empty() && text.chars().all(is_plain) && !starts_comment {
        into.push_str(text);
    } else if text.contains('\'') {
        into.push('\'');
        into.push_str(&text.replace('\'', "'\\''"));
        into.push('\'');
    } else {
        into.push('\'');
        into.push_str(text);
        into.push('\'');
    }
}
