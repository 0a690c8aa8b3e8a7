//! Walks over the words once: options with their values, subcommands, operands.

use super::super::command::Assignment;
use super::super::invocation::{GivenOption, Invocation, Operand};
use super::super::table::{OptionRow, Program, Role, Style, Value};
use super::super::word::Word;
use super::words::{is_variable_name, split_once, without_prefix};

/// Words on their way to an invocation.
pub(super) struct Scan<'a> {
    /// All words of the command.
    pub(super) words: &'a [Word],
    /// Whether they are those of a pattern.
    pub(super) is_pattern: bool,
    /// The program's table, then that of each subcommand.
    pub(super) chain: Vec<&'static Program>,
    /// What came of it so far.
    pub(super) invocation: Invocation,
    /// Roles of the values of `invocation.options`, by index.
    pub(super) roles: Vec<Role>,
    /// `NAME=value` operands of `env` and its like.
    pub(super) assignments: Vec<Assignment>,
    /// Directory that the program changes to before it acts.
    pub(super) directory: Option<Word>,
    /// How many operands stood before `--`.
    pub(super) operands_before_dashes: Option<usize>,
    /// Index of the last word that was an option unknown to the tables, whose value may follow it.
    unsure: Option<usize>,
    /// Indices of options that may be the value of an unknown option before them.
    doubtful: Vec<usize>,
    options_open: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(table: &'static Program, words: &'a [Word], is_pattern: bool) -> Self {
        Self {
            words,
            is_pattern,
            chain: vec![table],
            invocation: Invocation::default(),
            roles: Vec::new(),
            assignments: Vec::new(),
            directory: None,
            operands_before_dashes: None,
            unsure: None,
            doubtful: Vec::new(),
            options_open: true,
        }
        .with_style()
    }

    /// Programs without options have none from their first word on.
    fn with_style(mut self) -> Self {
        if !self.has_options() {
            self.invocation.options_end = Some(1);
        }
        self
    }

    /// The table of the innermost subcommand so far.
    pub(super) fn current(&self) -> &'static Program {
        // INVARIANT: the chain starts with one entry and only grows.
        self.chain[self.chain.len() - 1]
    }

    /// Whether an option of that canonical name was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.invocation.options.iter().any(|option| option.name == name)
    }

    /// The value of the last option of that canonical name.
    pub(super) fn value(&self, name: &str) -> Option<&Word> {
        self.invocation.options.iter().rev().find(|option| option.name == name)?.value.as_ref()
    }

    /// Adds an option that other words amount to (`git push +main` is a `--force`).
    pub(super) fn derive(&mut self, name: &str, word: usize) {
        self.invocation.options.push(GivenOption { name: name.to_owned(), value: None, word });
        self.roles.push(Role::Data);
    }

    /// Walks over all words.
    pub(super) fn run(&mut self) {
        let mut at = 1;
        if self.current().bundled {
            at = self.bundle();
        }
        while let Some(word) = self.words.get(at) {
            if self.options_open && self.has_options() {
                if word.value() == Some("--") {
                    self.close_options(at);
                    self.operands_before_dashes = Some(self.invocation.operands.len());
                    at += 1;
                    continue;
                }
                let prefix = word.known_prefix();
                let is_dashed = prefix.starts_with('-') && (prefix.len() > 1 || word.pieces.len() > 1);
                let is_plus = prefix.starts_with('+') && self.find(prefix).is_some();
                if is_dashed || is_plus {
                    at = self.option(at);
                    continue;
                }
            }
            self.operand(at);
            at += 1;
        }
    }

    /// The invocation, with what its options say about it as a whole.
    pub(super) fn finish(mut self) -> Invocation {
        let (mut is_dry_run, mut is_help) = (false, false);
        for (at, option) in self.invocation.options.iter().enumerate() {
            let is_off = option.value.as_ref().is_some_and(|value| {
                value.has_unknown() || matches!(value.value(), Some("false" | "none" | "no" | "0" | "off"))
            });
            let counts = !self.doubtful.contains(&at);
            let positive = option.name.strip_prefix("--no-").map(|rest| format!("--{rest}"));
            for program in &self.chain {
                if program.dry_run.contains(&option.name.as_str()) {
                    is_dry_run = counts && !is_off;
                } else if positive.as_deref().is_some_and(|name| program.dry_run.contains(&name)) {
                    is_dry_run = false;
                }
                // `--version 1.2` of a subcommand is no question.
                let takes_value =
                    self.current().option(&option.name).is_some_and(|row| row.value == Value::Required);
                if program.help.contains(&option.name.as_str()) && counts && !is_off && !takes_value {
                    is_help = true;
                }
            }
        }
        self.invocation.is_dry_run = is_dry_run;
        self.invocation.is_help = is_help;
        self.invocation
    }

    /// The option with this spelling, of the innermost subcommand or of what stands above it.
    fn find(&self, spelling: &str) -> Option<&'static OptionRow> {
        for (depth, program) in self.chain.iter().rev().enumerate() {
            if depth > 0 && !program.globals_anywhere {
                break;
            }
            if let Some(row) = program.option(spelling) {
                return Some(row);
            }
        }
        None
    }

    /// The only option that a long name can be the beginning of.
    fn complete(&self, beginning: &str) -> Option<&'static OptionRow> {
        let mut found: Option<&'static OptionRow> = None;
        for (depth, program) in self.chain.iter().rev().enumerate() {
            if depth > 0 && !program.globals_anywhere {
                break;
            }
            if !program.abbreviate {
                continue;
            }
            for (_, row) in program.options_beginning(beginning) {
                if found.is_some_and(|other| other.name != row.name) {
                    return None;
                }
                found = Some(row);
            }
        }
        found
    }

    /// `tar xzf FILE`: letters without a dash, their values in the words that follow.
    fn bundle(&mut self) -> usize {
        let Some(letters) = self.words.get(1).and_then(Word::value).filter(|text| {
            !text.is_empty() && !text.starts_with('-') && text.chars().all(|c| c.is_ascii_alphabetic())
        }) else {
            return 1;
        };
        if !letters.chars().all(|letter| self.find(&format!("-{letter}")).is_some()) {
            return 1;
        }
        let mut next = 2;
        for letter in letters.chars() {
            let Some(row) = self.find(&format!("-{letter}")) else { continue };
            let mut value = None;
            if row.value == Value::Required {
                value = self.words.get(next).cloned();
                next += 1;
            }
            self.give(row, value, 1);
        }
        next
    }

    /// Reads the option at `at`; answers where the next word begins.
    fn option(&mut self, at: usize) -> usize {
        let word = &self.words[at];
        let prefix = word.known_prefix();
        if prefix.starts_with('+') {
            return match self.find(prefix) {
                Some(row) => self.with_value(row, None, at),
                None => at + 1,
            };
        }
        if self.current().style == Style::Single {
            return self.single(at, word);
        }
        if prefix.starts_with("--") { self.long(at, word) } else { self.cluster(at, word) }
    }

    fn long(&mut self, at: usize, word: &Word) -> usize {
        let (name, attached) = match split_once(word, '=') {
            Some((name, value)) => (name.to_owned(), Some(value)),
            None if word.value().is_none() => {
                // Which option it is depends on what is not known.
                self.unknown_option(word.shown().into_owned(), None, at);
                return at + 1;
            }
            None => (word.known_prefix().to_owned(), None),
        };
        let row = self.find(&name).or_else(|| self.complete(&name));
        if let Some(row) = row {
            return self.with_value(row, attached, at);
        }
        let positive = name.strip_prefix("--no-").map(|rest| format!("--{rest}"));
        if let Some(row) = positive.and_then(|name| self.find(&name).or_else(|| self.complete(&name))) {
            let name = format!("--no-{}", row.name.trim_start_matches('-'));
            self.push(name, attached, Role::Data, at);
            return at + 1;
        }
        self.unknown_option(name, attached, at);
        at + 1
    }

    /// Options with one dash and long names.
    fn single(&mut self, at: usize, word: &Word) -> usize {
        let (name, attached) = match split_once(word, '=') {
            Some((name, value)) => (name.to_owned(), Some(value)),
            None => (word.known_prefix().to_owned(), None),
        };
        let short = name.strip_prefix('-').filter(|rest| rest.starts_with('-'));
        let row = self.find(&name).or_else(|| short.and_then(|name| self.find(name)));
        if let Some(row) = row.filter(|_| attached.is_some() || word.value().is_some()) {
            return self.with_value(row, attached, at);
        }
        // `-I/usr/include`: a letter and its value.
        let letter: String = word.known_prefix().chars().take(2).collect();
        if let Some(row) =
            self.find(&letter).filter(|row| row.value != Value::None && !name.starts_with("--"))
        {
            let value = without_prefix(word, letter.len());
            self.give(row, Some(value), at);
            return at + 1;
        }
        // What is derived from statements has one spelling in every style.
        let name = if self.is_pattern && name.starts_with("--sql-") {
            name
        } else if attached.is_none() && word.value().is_none() {
            word.shown().into_owned()
        } else {
            short.unwrap_or(&name).to_owned()
        };
        self.unknown_option(name, attached, at);
        at + 1
    }

    fn cluster(&mut self, at: usize, word: &Word) -> usize {
        let prefix = word.known_prefix();
        // Whole spellings first: `-std=c11`, `-print`.
        if prefix.chars().count() > 2 {
            let (name, attached) = match split_once(word, '=') {
                Some((name, value)) => (name, Some(value)),
                None => (prefix, None),
            };
            if let Some(row) =
                self.find(name).filter(|_| name.len() > 2 && (attached.is_some() || word.value().is_some()))
            {
                return self.with_value(row, attached, at);
            }
        }
        let letters = prefix.get(1..).unwrap_or_default();
        let is_number = !letters.is_empty() && letters.chars().all(|c| c.is_ascii_digit());
        if let Some(row) = self.find("-#").filter(|_| is_number) {
            self.give(row, Some(without_prefix(word, 1)), at);
            return at + 1;
        }
        for (offset, letter) in letters.char_indices() {
            let end = 1 + offset + letter.len_utf8();
            let has_rest = prefix.len() > end || word.pieces.len() > 1;
            let name = format!("-{letter}");
            match self.find(&name) {
                Some(row) if row.value == Value::None => self.give(row, None, at),
                Some(row) if row.value == Value::Optional => {
                    let value = has_rest.then(|| without_prefix(word, end));
                    self.give(row, value, at);
                    return at + 1;
                }
                Some(row) => {
                    if !has_rest {
                        return self.with_value(row, None, at);
                    }
                    let mut value = without_prefix(word, end);
                    // A pattern writes every value with `=`.
                    if (self.is_pattern || !self.current().abbreviate)
                        && value.known_prefix().starts_with('=')
                    {
                        value = without_prefix(&value, 1);
                    }
                    self.give(row, Some(value), at);
                    return at + 1;
                }
                None => self.unknown_option(name, None, at),
            }
        }
        if word.pieces.len() > 1 {
            // Letters that are not known.
            self.unknown_option(word.shown().into_owned(), None, at);
        }
        at + 1
    }

    /// Gives an option the value that is attached, or the next word.
    fn with_value(&mut self, row: &'static OptionRow, attached: Option<Word>, at: usize) -> usize {
        if row.value == Value::Required && attached.is_none() {
            let next = self.words.get(at + 1);
            let takes = next.is_some_and(|next| {
                !self.is_pattern || !(next.known_prefix().starts_with('-') || next.value() == Some("..."))
            });
            if takes {
                self.give(row, next.cloned(), at);
                return at + 2;
            }
        }
        self.give(row, attached, at);
        at + 1
    }

    fn give(&mut self, row: &'static OptionRow, value: Option<Word>, at: usize) {
        if row.expands.is_empty() {
            self.push(row.name.to_owned(), value, row.role, at);
        }
        for name in row.expands {
            self.push((*name).to_owned(), None, Role::Data, at);
        }
        if row.role == Role::Dir
            && self.invocation.options.last().is_some_and(|option| option.value.is_some())
        {
            let value = self.invocation.options.last().and_then(|option| option.value.clone());
            if let Some(value) = value {
                self.directory = Some(super::words::under(self.directory.as_ref(), &value));
            }
        }
        if row.last {
            self.close_options(at + 1);
        }
    }

    fn unknown_option(&mut self, name: String, value: Option<Word>, at: usize) {
        let has_value = value.is_some();
        self.push(name, value, Role::Data, at);
        if !has_value {
            self.unsure = Some(at);
        }
    }

    fn push(&mut self, name: String, value: Option<Word>, role: Role, at: usize) {
        if self.unsure.is_some_and(|unsure| unsure + 1 == at) {
            self.doubtful.push(self.invocation.options.len());
        }
        self.invocation.options.push(GivenOption { name, value, word: at });
        self.roles.push(role);
    }

    fn operand(&mut self, at: usize) {
        let word = &self.words[at];
        let current = self.current();
        let may_assign = current.assignments && self.invocation.operands.is_empty();
        let assigned = split_once(word, '=').filter(|(name, _)| may_assign && is_variable_name(name));
        if let Some((name, value)) = assigned {
            self.assignments.push(Assignment { name: name.to_owned(), value });
            return;
        }
        let is_first = self.options_open
            && self.invocation.operands.iter().all(|operand| operand.word.may_split())
            && !current.commands.is_empty();
        if is_first && let Some(name) = word.value() {
            if let Some(program) = current.command(name) {
                self.invocation.subcommand.push(program.name.to_owned());
                self.chain.push(program);
                return;
            }
            if current.dispatches && !(self.is_pattern && name == "...") {
                static OTHER: Program = Program {
                    name: "",
                    style: Style::Gnu,
                    abbreviate: false,
                    posix: false,
                    globals_anywhere: true,
                    bundled: false,
                    assignments: false,
                    dispatches: false,
                    options: &[],
                    spellings: &[],
                    commands: &[],
                    shapes: &[],
                    dry_run: &[],
                    help: &[],
                    recursive: &[],
                    always_recursive: false,
                    special: super::Special::None,
                };
                self.invocation.subcommand.push(name.to_owned());
                self.chain.push(&OTHER);
                return;
            }
        }
        self.invocation.operands.push(Operand { word: word.clone(), index: at, access: None });
        if current.posix || self.is_greedy() {
            self.close_options(at);
        }
    }

    fn close_options(&mut self, at: usize) {
        self.options_open = false;
        self.invocation.options_end.get_or_insert(at);
    }

    /// Whether the operand just read begins words that are not this program's own.
    fn is_greedy(&self) -> bool {
        let Some(shape) = self.current().shape(|name| self.has(name)) else { return false };
        let mut left = self.invocation.operands.len();
        let mut present = shape
            .args
            .iter()
            .filter(|argument| !argument.unless.iter().any(|name| self.has(name)))
            .peekable();
        while let Some(argument) = present.next() {
            let starts =
                matches!(argument.role, Role::Command | Role::Script(_) | Role::ShellWords | Role::Rest);
            if starts {
                return true;
            }
            if left <= 1 {
                // What is handed on whole has no options of this program in it (`yarn deploy -v`).
                return left == 1 && present.peek().is_some_and(|next| next.role == Role::Rest);
            }
            if argument.repeats {
                return false;
            }
            left -= 1;
        }
        false
    }
}
