//! Finds the calls in a text that start programs, touch files or contact hosts.

use std::collections::{HashMap, HashSet};

use super::super::effect::Access;
use super::super::invocation::Language;
use super::super::word::Word;
use super::lexer::{Lexis, Token, tokens};
use super::{CodeReading, language_name};

/// What a language needs to be scanned.
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) language: Language,
    pub(super) lexis: Lexis,
    /// Calls by resolved name; `*.name` is a method of any receiver.
    pub(super) actions: &'static [(&'static str, Action)],
    /// Functions whose value is that of their arguments put together (`Path`, `str`, `os.path.join`).
    pub(super) transparent: &'static [&'static str],
    /// Whether a call needs no brackets (`system "x"`).
    pub(super) bare_calls: bool,
    /// Names that reach other names: with them the text can call what it does not spell.
    pub(super) reflection: &'static [&'static str],
}

/// What a call does with its arguments, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Gives argument 0 to a shell.
    Shell,
    /// Starts argument 0: a list is a program with its arguments; a text is a line for a shell if the call says so
    /// (`shell=True`) or the language does.
    Program,
    /// Starts argument 0 with argument 1 as the list of its arguments, or all arguments as words.
    ProgramWithList,
    /// Opens argument 0 in the mode of argument 1.
    Open,
    /// Perl's `open HANDLE, MODE, PATH`.
    PerlOpen,
    /// Touches argument N.
    Path(usize, Access, bool),
    /// Touches every argument.
    Paths(Access, bool),
    /// Takes argument 0 away and makes argument 1.
    Move,
    /// Reads argument 0 and makes argument 1.
    Copy,
    /// Makes a link at argument 1 to argument 0.
    Link,
    /// Touches the path that is the method's receiver.
    Receiver(Access, bool),
    /// Moves the receiver to argument 0.
    ReceiverMove,
    /// Opens the receiver in the mode of argument 0.
    ReceiverOpen,
    /// Contacts argument N.
    Contact(usize),
    /// Evaluates argument 0 as code of the same language.
    Eval,
    /// Cannot be looked into.
    Opaque,
}

/// A value in a text, as far as it is constant.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(Word),
    List(Vec<Word>),
    Unknown,
}

pub(super) struct Argument {
    pub(super) keyword: Option<String>,
    pub(super) value: Value,
    /// The tokens it is made of, for flags such as `recursive: true`.
    pub(super) words: Vec<String>,
}

/// Reads `text` in the language of `dialect`.
pub(super) fn read(
    dialect: &Dialect,
    text: &str,
    _arguments: &[Word],
    depth: usize,
    reading: &mut CodeReading,
) {
    let Some(tokens) = tokens(text, &dialect.lexis) else {
        reading.unreadable(format!("{} code whose quotes do not close", language_name(dialect.language)));
        return;
    };
    let mut scan =
        Scan { dialect, tokens: &tokens, aliases: HashMap::new(), constants: HashMap::new(), depth, reading };
    scan.collect_names();
    scan.calls();
}

pub(super) struct Scan<'a> {
    pub(super) dialect: &'a Dialect,
    pub(super) tokens: &'a [Token],
    pub(super) aliases: HashMap<String, String>,
    pub(super) constants: HashMap<String, Value>,
    pub(super) depth: usize,
    pub(super) reading: &'a mut CodeReading,
}

impl Scan<'_> {
    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    pub(super) fn name(&self, at: usize) -> Option<&str> {
        match self.token(at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether the name stands on the left of `{a: b} = …`, which gives a name and hands nothing on.
    fn is_named_by_pattern(&self, at: usize) -> bool {
        let mut end = at;
        while let Some(token) = self.token(end) {
            if matches!(token, Token::Mark('}')) {
                return matches!(self.token(end + 1), Some(Token::Mark('=')));
            }
            if matches!(token, Token::Mark('{' | '(' | ')' | ';')) {
                return false;
            }
            end += 1;
        }
        false
    }

    pub(super) fn is_mark(&self, at: usize, mark: char) -> bool {
        matches!(self.token(at), Some(Token::Mark(c)) if *c == mark)
    }

    /// Imports and simple assignments.
    fn collect_names(&mut self) {
        let mut assigned: HashSet<String> = HashSet::new();
        let mut at = 0;
        while at < self.tokens.len() {
            match self.name(at) {
                Some("import") if self.dialect.language == Language::Python => at = self.import(at + 1, None),
                Some("from") if self.dialect.language == Language::Python => {
                    let module = self.name(at + 1).unwrap_or_default().to_owned();
                    at += 2;
                    if self.name(at) == Some("import") {
                        at = self.import(at + 1, Some(&module));
                    }
                }
                Some("require") => {
                    self.required(at);
                    at += 1;
                }
                Some(name) if self.is_mark(at + 1, '=') && !self.is_mark(at + 2, '=') => {
                    let name = name.to_owned();
                    let (value, _) = self.value(at + 2);
                    // A name that is set twice has no one value.
                    if assigned.insert(name.clone()) {
                        self.constants.insert(name, value);
                    } else {
                        self.constants.insert(name, Value::Unknown);
                    }
                    at += 2;
                }
                // `x += ..`, `x .= ..` and the like.
                Some(name)
                    if matches!(self.token(at + 1), Some(Token::Mark('+' | '.' | '-' | '*' | '|')))
                        && self.is_mark(at + 2, '=') =>
                {
                    let name = name.to_owned();
                    assigned.insert(name.clone());
                    self.constants.insert(name, Value::Unknown);
                    at += 1;
                }
                Some("for") => {
                    if let Some(name) = self.name(at + 1).map(str::to_owned) {
                        assigned.insert(name.clone());
                        self.constants.insert(name, Value::Unknown);
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    fn import(&mut self, mut at: usize, module: Option<&str>) -> usize {
        loop {
            if self.is_mark(at, '(') {
                at += 1;
            }
            let Some(name) = self.name(at).map(str::to_owned) else { return at + 1 };
            let full = module.map_or_else(|| name.clone(), |module| format!("{module}.{name}"));
            at += 1;
            let mut local =
                if module.is_some() { name } else { name.split('.').next().unwrap_or_default().to_owned() };
            let mut target = if module.is_some() { full.clone() } else { local.clone() };
            if self.name(at) == Some("as") {
                if let Some(alias) = self.name(at + 1) {
                    local = alias.to_owned();
                    target = full;
                }
                at += 2;
            }
            self.aliases.insert(local, target);
            if !self.is_mark(at, ',') {
                return at;
            }
            at += 1;
        }
    }

    /// `const x = require("m")`, `const {a, b: c} = require("m")`.
    fn required(&mut self, at: usize) {
        let Some(Token::Text(word)) = self.token(at + 2) else { return };
        let Some(module) = word.value().map(|text| text.trim_start_matches("node:").to_owned()) else {
            return;
        };
        let Some(equals) = at.checked_sub(1).filter(|before| self.is_mark(*before, '=')) else { return };
        let Some(before) = equals.checked_sub(1) else { return };
        if let Some(name) = self.name(before).map(str::to_owned) {
            self.aliases.insert(name, module);
            return;
        }
        if !self.is_mark(before, '}') {
            return;
        }
        let mut back = before;
        while let Some(next) = back.checked_sub(1) {
            back = next;
            if self.is_mark(back, '{') {
                break;
            }
            if let Some(name) = self.name(back).map(str::to_owned) {
                let original = match back.checked_sub(2).filter(|_| self.is_mark(back - 1, ':')) {
                    Some(first) => self.name(first).unwrap_or(&name).to_owned(),
                    None => name.clone(),
                };
                self.aliases.entry(name).or_insert_with(|| format!("{module}.{original}"));
            }
        }
    }

    pub(super) fn resolved(&self, name: &str) -> String {
        let (first, rest) = match name.split_once('.') {
            Some((first, rest)) if !first.is_empty() => (first, Some(rest)),
            _ => (name, None),
        };
        match (self.aliases.get(first), rest) {
            (Some(target), Some(rest)) => format!("{target}.{rest}"),
            (Some(target), None) => target.clone(),
            (None, _) => name.to_owned(),
        }
    }

    fn calls(&mut self) {
        for at in 0..self.tokens.len() {
            match self.token(at) {
                Some(Token::Run(line)) => {
                    let line = line.clone();
                    self.shell_line(line);
                }
                Some(Token::Name(name)) => {
                    let name = name.clone();
                    self.call(at, &name);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, at: usize, name: &str) {
        let mut full = self.resolved(name);
        // `require("fs").writeFileSync`
        let importer = at.checked_sub(4).and_then(|back| self.name(back));
        let imported = at.checked_sub(2).and_then(|back| self.token(back));
        if full.starts_with('.')
            && self.is_mark(at.wrapping_sub(1), ')')
            && matches!(
                importer,
                Some("require" | "__import__" | "import_module" | "importlib.import_module")
            )
            && let Some(Token::Text(word)) = imported
            && let Some(module) = word.value()
        {
            full = format!("{}{full}", module.trim_start_matches("node:"));
        }
        let language = language_name(self.dialect.language);
        let last = full.rsplit_once(['.', ':']).map(|(_, last)| last);
        if self.dialect.reflection.contains(&full.as_str())
            || last.is_some_and(|last| {
                self.dialect.reflection.iter().any(|name| name.strip_prefix("*.") == Some(last))
            })
        {
            let constant = matches!(self.token(at + 2), Some(Token::Text(word)) if word.value().is_some());
            if !(constant && matches!(full.as_str(), "__import__" | "importlib.import_module" | "require")) {
                self.reading.unreadable(format!("{language} code that reaches names by `{full}`"));
            }
            return;
        }
        let action = self.action(&full);
        let Some(action) = action else { return };
        let is_called = self.is_mark(at + 1, '(');
        if !is_called && !self.dialect.bare_calls {
            // A function that is handed on can be called out of sight.
            let handed_on =
                !matches!(action, Action::Receiver(..) | Action::ReceiverMove | Action::ReceiverOpen)
                    && matches!(
                        self.token(at.wrapping_sub(1)),
                        Some(Token::Mark('=' | '(' | ',' | '[' | ':'))
                    )
                    && !matches!(self.token(at + 1), Some(Token::Mark('=')))
                    && !self.is_named_by_pattern(at);
            if handed_on && !matches!(action, Action::Open | Action::Path(_, Access::Read, _)) {
                self.reading.unreadable(format!("{language} code that hands on `{full}`"));
            }
            return;
        }
        if !is_called
            && matches!(
                self.token(at + 1),
                None | Some(Token::Mark('\n' | ')' | '=' | ',' | '.' | ':' | '}' | ']'))
            )
        {
            let is_receiver = matches!(action, Action::Receiver(..));
            if !is_receiver {
                return;
            }
        }
        let arguments = self.arguments(at + 1, is_called);
        self.act(action, &full, at, &arguments);
    }

    fn action(&self, full: &str) -> Option<Action> {
        let exact = self.dialect.actions.iter().find(|(name, _)| *name == full);
        let found = exact.or_else(|| {
            let last = full.rsplit_once(['.', ':']).map(|(_, last)| last)?;
            self.dialect.actions.iter().find(|(name, _)| name.strip_prefix("*.") == Some(last))
        });
        found.map(|(_, action)| *action)
    }
}
