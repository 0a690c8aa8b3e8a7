//! From a line to the commands that bash would start.

mod ansi;
mod arithmetic;
mod assignment;
mod brace;
mod builtin;
mod compound;
mod expand;
mod field;
mod listed;
mod matching;
mod nested;
mod parameter;
mod parts;
mod printed;
mod redirect;
mod scope;
mod simple;
mod skip;
mod source;
mod start;
mod statements;
mod substitution;
#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::command::{Command, Directory, Input, Pipeline, Redirect};
use super::effect::{Access, Effect};
use super::word::{Piece, Word};
use scope::{Scope, Value, Variable, join_path};
use source::Source;

/// What is known before the line starts.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// Variables whose values are known: `HOME`, `PWD`, `TMPDIR`, `USER`.
    pub variables: BTreeMap<String, String>,
    /// What `git rev-parse --show-toplevel` would print, if the line starts in a repository.
    pub toplevel: Option<String>,
}

/// A line as bash would read it.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Every command the line would start, in reading order; wrappers before what they start.
    pub commands: Vec<Command>,
    /// What they do to files and hosts, redirects included, in order.
    pub effects: Vec<Effect>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
    /// Commands whose output other commands run as code by way of a file (`curl -o a.sh …; sh a.sh`,
    /// `source <(curl …)`).
    pub flows: Vec<Flow>,
}

/// One command runs what another one wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Index of the command that writes.
    pub from: usize,
    /// Index of the command that runs it.
    pub to: usize,
}

/// Something that could not be read with certainty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// What kind of thing.
    pub kind: UnreadableKind,
    /// For people: what and why, one line (`runs the output of curl as shell code`).
    pub what: String,
    /// Byte range in the line.
    pub span: Option<(usize, usize)>,
    /// Index of the command it belongs to.
    pub command: Option<usize>,
}

/// Kinds of what could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableKind {
    /// The line is no shell that bash would take, or the parser gave up.
    Syntax,
    /// Too long or too deep.
    Limit,
    /// The name of a program is not known.
    Program,
    /// Code given to an interpreter is not known, or is in a language that is not looked into.
    Code,
    /// A path is not known.
    Path(Access),
    /// Words that decide what happens are not known.
    Words,
}

/// Longest line that is read, in bytes.
const LONGEST: usize = 256 * 1024;
/// Openers of nested text that a line may hold in a row of depth before it is read on a stack of its own.
const SHALLOW: usize = 10;
/// Openers beyond which nothing is read.
const DEEP: usize = 90;
/// Levels of reading that the caller's stack is good for.
const LEVELS: usize = 14;
/// Levels of reading on a stack of its own.
const DEEP_LEVELS: usize = 150;
/// Size of that stack.
const STACK: usize = 64 * 1024 * 1024;
/// Commands that one line may start.
const COMMANDS: usize = 4096;

/// Reads a line.
///
/// Never panics and never fails: what is too long, too deep or no shell at all is in
/// [`Reading::unreadable`].
pub fn read(line: &str, setting: &Setting) -> Reading {
    if line.len() > LONGEST {
        let what = format!("the line is longer than {} KiB", LONGEST / 1024);
        return refused(UnreadableKind::Limit, what);
    }
    let depth = depth(line);
    if depth > DEEP {
        return refused(UnreadableKind::Limit, format!("the line is nested more than {DEEP} levels deep"));
    }
    if depth <= SHALLOW
        && let Some(reading) = read_here(line, setting, LEVELS)
    {
        return reading;
    }
    let deep = std::thread::scope(|scope| {
        let work = || read_here(line, setting, DEEP_LEVELS);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok()?;
        thread.join().ok().flatten()
    });
    deep.unwrap_or_else(|| {
        refused(UnreadableKind::Limit, "the line needs more room than is given to it".to_owned())
    })
}

/// Reads on this stack; `None` if it takes more levels than that is good for.
fn read_here(line: &str, setting: &Setting, levels: usize) -> Option<Reading> {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut reader = Reader::new(setting, line.len(), levels);
        reader.patterns_vanish = line.contains("nullglob");
        reader.line(line);
        (reader.reading, reader.is_too_deep)
    }));
    match outcome {
        Ok((_, true)) if levels < DEEP_LEVELS => None,
        Ok((mut reading, is_too_deep)) => {
            if is_too_deep {
                let what = "commands within commands go deeper than is read".to_owned();
                reading.unreadable.push(Unreadable {
                    kind: UnreadableKind::Limit,
                    what,
                    span: None,
                    command: None,
                });
            }
            Some(reading)
        }
        Err(_) => Some(refused(UnreadableKind::Syntax, "the reader gave up on the line".to_owned())),
    }
}

fn refused(kind: UnreadableKind, what: String) -> Reading {
    let unreadable = vec![Unreadable { kind, what, span: None, command: None }];
    Reading { unreadable, ..Reading::default() }
}

/// An upper bound for how deep the text nests, counted without understanding it.
fn depth(line: &str) -> usize {
    let mut open = 0_usize;
    let mut deepest = 0_usize;
    let mut back_quotes = 0_usize;
    let mut words = 0_usize;
    let (mut row, mut longest_row) = (0_usize, 0_usize);
    let mut previous = b' ';
    for byte in line.bytes() {
        match byte {
            b'(' | b'{' | b'[' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b')' | b'}' | b']' => open = open.saturating_sub(1),
            b'`' if previous == b'\\' => back_quotes += 1,
            _ => {}
        }
        previous = byte;
    }
    // Compound commands nest by words.
    for word in line.split(|character: char| !character.is_ascii_lowercase()) {
        if matches!(
            word,
            "if" | "while" | "until" | "for" | "case" | "select" | "time" | "coproc" | "function"
        ) {
            words += 1;
        }
        // The parser goes down for each prefix in a row, however many there are.
        match word {
            "time" | "coproc" => {
                row += 1;
                longest_row = longest_row.max(row);
            }
            "" | "p" | "if" | "while" | "until" | "then" | "do" | "else" => {}
            _ => row = 0,
        }
    }
    deepest + longest_row + words.min(DEEP * 4) / 4 + back_quotes / 4
}

/// Where a command stands: what the commands around it give to it.
#[derive(Debug, Clone)]
struct Place {
    /// Programs that start it.
    via: Rc<Vec<String>>,
    /// Redirects of the groups around it.
    redirects: Vec<Redirect>,
    input: Input,
    pipeline: Option<Pipeline>,
    /// Whether somebody takes what it prints.
    is_captured: bool,
}

/// What a file that the line writes holds.
#[derive(Debug, Clone)]
enum Stored {
    Text(Word),
    /// Something that these commands made: a range of their indices, and their names for people.
    Foreign(String, std::ops::Range<usize>),
}

/// What a loop or a function collects while it is read.
#[derive(Debug, Default)]
struct Frame {
    /// The state at `break`, `continue` and `return`.
    escaped: Option<Scope>,
    /// Variables to be put back.
    locals: Vec<(String, Option<Variable>)>,
    /// Name of the function, for its recursion.
    function: Option<String>,
    /// What the function was called with.
    arguments: Option<Rc<Vec<Word>>>,
}

/// A line in the course of being read.
struct Reader<'s> {
    setting: &'s Setting,
    reading: Reading,
    /// Work that may still be done.
    fuel: usize,
    is_limited: bool,
    levels: usize,
    depth: usize,
    is_too_deep: bool,
    pipelines: usize,
    substitutions: usize,
    frames: Vec<Frame>,
    files: BTreeMap<String, Vec<Stored>>,
    /// Expansions so far that may be an error to bash, which ends the command around them.
    errors: usize,
    /// Whether a variable that is not set may be such an error (`set -u`).
    is_strict: bool,
    /// Whether a file name pattern may stand for nothing at all (`shopt -s nullglob`).
    patterns_vanish: bool,
    /// What runs at the end of the line.
    traps: Vec<Trap>,
}

/// Code that `trap` keeps for the end of the shell.
#[derive(Debug)]
struct Trap {
    code: Word,
    place: Place,
    span: Option<(usize, usize)>,
    /// The state that the code was read in.
    seen: Scope,
}

impl<'s> Reader<'s> {
    fn new(setting: &'s Setting, length: usize, levels: usize) -> Self {
        Self {
            setting,
            reading: Reading::default(),
            fuel: 200_000 + length * 16,
            is_limited: false,
            levels,
            depth: 0,
            is_too_deep: false,
            pipelines: 0,
            substitutions: 0,
            frames: Vec::new(),
            files: BTreeMap::new(),
            errors: 0,
            is_strict: false,
            patterns_vanish: false,
            traps: Vec::new(),
        }
    }

    /// The line's own shell ends in this state: what `trap` kept runs now.
    fn run_traps(&mut self, scope: &Scope) {
        let mut traps = std::mem::take(&mut self.traps);
        for trap in &mut traps {
            if !trap.seen.equals(scope) && self.enter() {
                let mut inner = self.subshell(scope);
                self.code(&trap.code, trap.span, &mut inner, &trap.place, "trap");
                self.leave();
                trap.seen = scope.clone();
            }
        }
        // Whatever was added meanwhile was set while a trap ran.
        traps.append(&mut self.traps);
        self.traps = traps;
    }

    fn line(&mut self, line: &str) {
        let mut scope = Scope::new();
        let place = Place {
            via: Rc::default(),
            redirects: Vec::new(),
            input: Input::Inherited,
            pipeline: None,
            is_captured: false,
        };
        let source = Source { text: line, base: Some(0), span: None, holes: Rc::default() };
        self.text_statements(&source, &mut scope, &place);
        if !scope.has_ended {
            self.run_traps(&scope);
        }
        let commands = self.reading.commands.len();
        if self.reading.effects.iter().any(|effect| effect.command >= commands) {
            // A redirect of a group that starts nothing.
            self.push_bare(Vec::new(), Vec::new(), &scope, &place, None);
        }
    }

    /// Takes `work` from what may still be done; `false` if nothing is left.
    fn spend(&mut self, work: usize) -> bool {
        match self.fuel.checked_sub(work) {
            Some(fuel) => {
                self.fuel = fuel;
                true
            }
            None => {
                self.fuel = 0;
                if !self.is_limited {
                    self.is_limited = true;
                    self.limit("the line expands to more than is read", None);
                }
                false
            }
        }
    }

    fn limit(&mut self, what: &str, span: Option<(usize, usize)>) {
        self.unreadable(UnreadableKind::Limit, what.to_owned(), span);
    }

    fn unreadable(&mut self, kind: UnreadableKind, what: String, span: Option<(usize, usize)>) {
        self.unreadable_of(kind, what, span, None);
    }

    fn unreadable_of(
        &mut self,
        kind: UnreadableKind,
        what: String,
        span: Option<(usize, usize)>,
        command: Option<usize>,
    ) {
        if self.reading.unreadable.len() < 200 {
            // Source text in it may have line breaks.
            let what =
                if what.contains(char::is_control) { what.replace(char::is_control, " ") } else { what };
            let entry = Unreadable { kind, what, span, command };
            if self.reading.unreadable.last() != Some(&entry) {
                self.reading.unreadable.push(entry);
            }
        }
    }

    fn flow(&mut self, from: usize, to: usize) {
        if self.reading.flows.len() < 200 {
            self.reading.flows.push(Flow { from, to });
        }
    }

    /// Goes one level down; `false` if that is too deep.
    fn enter(&mut self) -> bool {
        if self.depth >= self.levels {
            self.is_too_deep = true;
            return false;
        }
        self.depth += 1;
        true
    }

    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The state that a subshell begins with.
    fn subshell(&mut self, scope: &Scope) -> Scope {
        self.spend(4 + scope.size());
        let mut inner = scope.clone();
        inner.has_ended = false;
        inner.is_inner = true;
        inner
    }

    /// The value of a variable.
    fn lookup(&self, scope: &Scope, name: &str) -> Value {
        if let Some(variable) = scope.variable(name) {
            return variable.value.clone();
        }
        let number = Value::Text(Word { pieces: vec![Piece::Name], span: None });
        match name {
            "HOME" | "TMPDIR" | "USER" | "LOGNAME" => match self.setting.variables.get(name) {
                Some(value) => Value::Text(Word::known(value.as_str())),
                None => Value::Unknown,
            },
            "PWD" => self.directory_value(&scope.directory),
            "OLDPWD" => self.directory_value(&scope.previous),
            "IFS" => Value::Text(Word::known(" \t\n")),
            "0" => scope.name.clone().map_or(Value::Unknown, Value::Text),
            "#" => match &scope.parameters {
                Some(words) if words.iter().any(Word::may_split) => number,
                Some(words) => Value::Text(Word::known(words.len().to_string())),
                None => number,
            },
            "?" | "$" | "!" | "RANDOM" | "SRANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID"
            | "BASHPID" | "EPOCHSECONDS" | "EPOCHREALTIME" | "SHLVL" | "BASH_SUBSHELL" => number,
            _ => match name.parse::<usize>() {
                Ok(position) => match &scope.parameters {
                    Some(words) => Value::element(words, position.saturating_sub(1), self.patterns_vanish),
                    None => Value::Unknown,
                },
                Err(_) => match self.setting.variables.get(name) {
                    Some(value) => Value::Text(Word::known(value.as_str())),
                    None => Value::Unknown,
                },
            },
        }
    }

    fn directory_value(&self, directory: &Directory) -> Value {
        match self.known_directory(directory) {
            Directory::Known(path) => Value::Text(Word::known(path)),
            Directory::Unknown => Value::Unknown,
        }
    }

    /// The absolute path of a directory.
    fn known_directory(&self, directory: &Directory) -> Directory {
        let Directory::Known(path) = directory else { return Directory::Unknown };
        if path.starts_with('/') {
            return directory.clone();
        }
        match self.setting.variables.get("PWD") {
            Some(start) if start.starts_with('/') => join_path(&Directory::Known(start.clone()), path),
            _ => Directory::Unknown,
        }
    }
}
