//! A command's words taken apart: program, subcommand, options, operands, and what it starts in turn.

use super::command::{Assignment, Input};
use super::effect::{Access, EffectKind};
use super::word::Word;

/// Words of one command, taken apart by the table of its program, or by general habit where there is none.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// Base name of the program (`/usr/bin/git` is `git`, `git.exe` is `git`); `None` when it is not known.
    pub program: Option<String>,
    /// Whether a program table exists for it.
    pub is_tabled: bool,
    /// Subcommand words (`["remote", "set-url"]`), canonical names of the table.
    pub subcommand: Vec<String>,
    /// Options in order, canonical: clusters taken apart, abbreviations completed, aliases replaced.
    pub options: Vec<GivenOption>,
    /// Operands after the subcommand, in order.
    pub operands: Vec<Operand>,
    /// Whether an option makes it change nothing outside the process (`--dry-run`), as the table says.
    pub is_dry_run: bool,
    /// Whether it only prints help or version.
    pub is_help: bool,
    /// What it starts or evaluates in turn.
    pub nested: Vec<Nested>,
    /// What it does to files and hosts, by table (without redirects and without its nested parts).
    pub effects: Vec<(EffectKind, Word)>,
    /// Index of the first word from which on nothing is an option any more, if there is such a word.
    pub(crate) options_end: Option<usize>,
}

impl Invocation {
    /// Whether it hands variables on to whatever is started later.
    pub(super) fn exports(&self) -> bool {
        matches!(self.program.as_deref(), Some("export" | "declare" | "typeset" | "readonly"))
    }
}

/// One option that was given.
#[derive(Debug, Clone)]
pub struct GivenOption {
    /// Canonical name with dashes: `--force`, `-r`; as written where no table knows it.
    pub name: String,
    /// Its value, if it has one.
    pub value: Option<Word>,
    /// Index of the word it stands in.
    pub word: usize,
}

/// One operand.
#[derive(Debug, Clone)]
pub struct Operand {
    /// The word.
    pub word: Word,
    /// Index among the command's words.
    pub index: usize,
    /// How the path it names is touched, if the table says that it names one.
    pub access: Option<Access>,
}

/// Languages that code given to a program may be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// sh, bash, dash, zsh, ksh
    Shell,
    /// awk, gawk, mawk
    Awk,
    /// sed
    Sed,
    /// python
    Python,
    /// perl
    Perl,
    /// node, deno, bun
    Javascript,
    /// ruby
    Ruby,
    /// php
    Php,
    /// SQL of a database client
    Sql,
    /// Anything that is not looked into
    Opaque,
}

/// What a command starts or evaluates.
#[derive(Debug, Clone)]
pub enum Nested {
    /// Another command given as words (`sudo rm x`, `find -exec rm {} ;`, `xargs rm`).
    Command {
        /// Its words.
        words: Vec<Word>,
        /// Assignments given to it (`env A=1 cmd`).
        assignments: Vec<Assignment>,
        /// Directory it is started in, if the wrapper says so (`env -C`, `sudo -D`).
        directory: Option<Word>,
        /// Whether further words come from standard input (`xargs`); where they go is marked by an unknown word.
        takes_input: bool,
    },
    /// Code in an argument (`sh -c CODE`, `python -c CODE`, `awk CODE`).
    Code {
        /// Its language.
        language: Language,
        /// The text.
        code: Word,
        /// Positional parameters (`sh -c CODE NAME A B`).
        arguments: Vec<Word>,
    },
    /// A script file that is run (`bash build.sh`, `source env.sh`, `python tool.py`).
    Script {
        /// Its language.
        language: Language,
        /// The file.
        path: Word,
        /// Its arguments.
        arguments: Vec<Word>,
        /// Whether it runs in the shell that reads the line (`source`).
        in_this_shell: bool,
    },
    /// Code on standard input (`bash`, `bash -s`, `python -`, `psql`); the reader fills in what that is.
    Input {
        /// Its language.
        language: Language,
        /// What comes in, as far as known.
        input: Option<Input>,
    },
}
