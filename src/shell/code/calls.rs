//! Finds the calls in a text that start programs, touch files or contact hosts.

use std::collections::{HashMap, HashSet};

use super::super::effect::{Access, EffectKind};
use super::super::invocation::Language;
use super::super::word::{Piece, Word};
use super::lexer::{Lexis, Token, tokens};
use super::{CodeReading, language_name, read_nested, unknown};

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
enum Value {
    Text(Word),
    List(Vec<Word>),
    Unknown,
}

struct Argument {
    keyword: Option<String>,
    value: Value,
    /// The tokens it is made of, for flags such as `recursive: true`.
    words: Vec<String>,
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

struct Scan<'a> {
    dialect: &'a Dialect,
    tokens: &'a [Token],
    aliases: HashMap<String, String>,
    constants: HashMap<String, Value>,
    depth: usize,
    reading: &'a mut CodeReading,
}

impl Scan<'_> {
    fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn name(&self, at: usize) -> Option<&str> {
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

    fn is_mark(&self, at: usize, mark: char) -> bool {
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

    fn resolved(&self, name: &str) -> String {
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
        if full.starts_with('.') && self.is_mark(at.wrapping_sub(1), ')') {
            if let (
                Some("require" | "__import__" | "import_module" | "importlib.import_module"),
                Some(Token::Text(word)),
            ) = (
                at.checked_sub(4).and_then(|back| self.name(back)),
                at.checked_sub(2).and_then(|back| self.token(back)),
            ) && let Some(module) = word.value()
            {
                full = format!("{}{full}", module.trim_start_matches("node:"));
            }
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

    fn arguments(&self, from: usize, in_brackets: bool) -> Vec<Argument> {
        let mut arguments = Vec::new();
        let mut at = if in_brackets { from + 1 } else { from };
        let mut start = at;
        let mut depth = 0_usize;
        loop {
            let end = match self.token(at) {
                None => true,
                Some(Token::Mark(')')) if depth == 0 => true,
                Some(Token::Mark('\n' | '}')) if depth == 0 && !in_brackets => true,
                Some(Token::Name(word)) if depth == 0 && !in_brackets => {
                    matches!(
                        word.as_str(),
                        "or" | "and" | "if" | "unless" | "while" | "do" | "for" | "foreach"
                    )
                }
                Some(Token::Mark('|' | '&')) if depth == 0 && !in_brackets => true,
                Some(_) => false,
            };
            let comma = depth == 0 && self.is_mark(at, ',');
            if end || comma {
                if at > start {
                    arguments.push(self.argument(start, at));
                }
                if end {
                    return arguments;
                }
                start = at + 1;
            }
            match self.token(at) {
                Some(Token::Mark('(' | '[' | '{')) => depth += 1,
                Some(Token::Mark(')' | ']' | '}')) => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
    }

    fn argument(&self, start: usize, end: usize) -> Argument {
        let mut from = start;
        while from < end && self.is_mark(from, '\n') {
            from += 1;
        }
        let mut keyword = None;
        if let Some(name) = self.name(from)
            && self.is_mark(from + 1, '=')
            && !self.is_mark(from + 2, '=')
        {
            keyword = Some(name.to_owned());
            from += 2;
        }
        // Perl's `my $x`.
        if matches!(self.name(from), Some("my" | "local" | "our" | "new" | "await")) {
            from += 1;
        }
        let words = (from..end)
            .filter_map(|at| match self.token(at) {
                Some(Token::Name(name)) => Some(name.clone()),
                Some(Token::Mark(mark)) => Some(mark.to_string()),
                Some(Token::Text(word)) => Some(word.shown().into_owned()),
                _ => None,
            })
            .collect();
        let (value, next) = self.value(from);
        let rest_is_blank = (next..end).all(|at| self.is_mark(at, '\n'));
        let value = match value {
            value if rest_is_blank => value,
            _ => Value::Unknown,
        };
        Argument { keyword, value, words }
    }

    /// The value that begins at `at`, and where it ends.
    fn value(&self, at: usize) -> (Value, usize) {
        let (mut value, mut at) = self.operand(at);
        loop {
            let joins = match self.token(at) {
                Some(Token::Text(_)) => true,
                Some(Token::Mark('+' | '.' | '/')) if !self.is_mark(at + 1, '=') => {
                    at += 1;
                    true
                }
                _ => false,
            };
            if !joins {
                return (value, at);
            }
            let is_division = self.is_mark(at.wrapping_sub(1), '/');
            let (more, next) = self.operand(at);
            value = match (value, more) {
                (Value::Text(mut one), Value::Text(other)) => {
                    if is_division {
                        append(&mut one, &Word::known("/"));
                    }
                    append(&mut one, &other);
                    Value::Text(one)
                }
                (Value::Text(mut one), Value::Unknown) => {
                    append(&mut one, &unknown("value"));
                    Value::Text(one)
                }
                (Value::Unknown, Value::Text(other)) => {
                    let mut one = unknown("value");
                    append(&mut one, &other);
                    Value::Text(one)
                }
                (value, _) => value,
            };
            if next <= at {
                return (value, at + 1);
            }
            at = next;
        }
    }

    fn operand(&self, at: usize) -> (Value, usize) {
        match self.token(at) {
            Some(Token::Text(word)) => (Value::Text(word.clone()), at + 1),
            Some(Token::Mark('(')) => {
                let (value, next) = self.value(at + 1);
                if self.is_mark(next, ',') {
                    return self.list(at, ')');
                }
                (value, if self.is_mark(next, ')') { next + 1 } else { self.after_group(at) })
            }
            Some(Token::Mark('[')) => self.list(at, ']'),
            Some(Token::Name(name)) => {
                let full = self.resolved(name);
                if self.is_mark(at + 1, '(') {
                    let end = self.after_group(at + 1);
                    if !self.dialect.transparent.contains(&full.as_str()) {
                        return (Value::Unknown, end);
                    }
                    let joins = full.ends_with("join");
                    let mut whole = Word::default();
                    for (index, argument) in self.arguments(at + 1, true).iter().enumerate() {
                        if index > 0 {
                            append(
                                &mut whole,
                                &Word::known(if joins || full.ends_with("Path") { "/" } else { "" }),
                            );
                        }
                        match &argument.value {
                            Value::Text(word) => append(&mut whole, word),
                            Value::List(_) | Value::Unknown => append(&mut whole, &unknown("value")),
                        }
                    }
                    return (Value::Text(whole), end);
                }
                (self.constants.get(name.as_str()).cloned().unwrap_or(Value::Unknown), at + 1)
            }
            _ => (Value::Unknown, at + 1),
        }
    }

    fn list(&self, open: usize, close: char) -> (Value, usize) {
        let mut words = Vec::new();
        let mut at = open + 1;
        loop {
            match self.token(at) {
                None => return (Value::Unknown, at),
                Some(Token::Mark(c)) if *c == close => return (Value::List(words), at + 1),
                Some(Token::Mark(',' | '\n')) => at += 1,
                Some(_) => {
                    let (value, next) = self.value(at);
                    words.push(match value {
                        Value::Text(word) => word,
                        Value::List(_) | Value::Unknown => splitting("value"),
                    });
                    at = if next > at { next } else { at + 1 };
                    while !matches!(self.token(at), None | Some(Token::Mark(',' | ']' | ')'))) {
                        at += 1;
                    }
                }
            }
        }
    }

    fn after_group(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = open;
        while let Some(token) = self.token(at) {
            match token {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(')' | ']' | '}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// The path that a method at `at` is called on.
    fn receiver(&self, at: usize, full: &str) -> Value {
        if let Some(name) = full.strip_prefix('.') {
            let _ = name;
            let Some(close) = at.checked_sub(1) else { return Value::Unknown };
            if let Some(Token::Text(word)) = self.token(close) {
                return Value::Text(word.clone());
            }
            if self.is_mark(close, ')') {
                let mut depth = 0_usize;
                let mut back = close;
                loop {
                    match self.token(back) {
                        Some(Token::Mark(')')) => depth += 1,
                        Some(Token::Mark('(')) => {
                            depth = depth.saturating_sub(1);
                            if depth == 0 {
                                break;
                            }
                        }
                        _ => {}
                    }
                    let Some(next) = back.checked_sub(1) else { return Value::Unknown };
                    back = next;
                }
                let start = match back.checked_sub(1) {
                    Some(name) if self.name(name).is_some() => name,
                    _ => back,
                };
                return self.operand(start).0;
            }
            if let Some(name) = self.name(close) {
                return self.constants.get(name).cloned().unwrap_or(Value::Unknown);
            }
            return Value::Unknown;
        }
        let receiver = full.rsplit_once('.').map_or("", |(receiver, _)| receiver);
        self.constants.get(receiver).cloned().unwrap_or(Value::Unknown)
    }

    fn shell_line(&mut self, line: Word) {
        if line.has_unknown() {
            let language = language_name(self.dialect.language);
            self.reading.unreadable(format!("{language} code that gives a shell a line that is not known"));
        }
        self.reading.shell.push(line);
    }

    fn start(&mut self, words: Vec<Word>) {
        if words.first().is_none_or(Word::has_unknown) {
            let language = language_name(self.dialect.language);
            self.reading.unreadable(format!("{language} code that starts a program that is not known"));
            return;
        }
        self.reading.commands.push(words);
    }

    fn touch(&mut self, value: Option<&Value>, access: Access, recursive: bool) {
        match value {
            Some(Value::Text(word)) => self.reading.path(access, recursive, word.clone()),
            Some(Value::List(words)) => {
                for word in words {
                    self.reading.path(access, recursive, word.clone());
                }
            }
            // Reading what is not known is shown nowhere here: it counts as little as in the shell.
            Some(Value::Unknown) | None if access == Access::Read => {}
            Some(Value::Unknown) | None => {
                let language = language_name(self.dialect.language);
                let does = if access == Access::Write { "writes" } else { "deletes" };
                self.reading.unreadable(format!("{language} code that {does} a path that is not known"));
            }
        }
    }

    fn act(&mut self, action: Action, full: &str, at: usize, arguments: &[Argument]) {
        let language = language_name(self.dialect.language);
        let positional: Vec<&Argument> =
            arguments.iter().filter(|argument| argument.keyword.is_none()).collect();
        let named = |names: &[&str]| {
            arguments
                .iter()
                .find(|argument| argument.keyword.as_deref().is_some_and(|name| names.contains(&name)))
        };
        let value = |index: usize| positional.get(index).map(|argument| &argument.value);
        match action {
            Action::Shell => match value(0)
                .or_else(|| named(&["cmd", "command"]).map(|argument| &argument.value))
            {
                Some(Value::Text(line)) => {
                    let words: Vec<Word> = positional
                        .iter()
                        .map(|argument| match &argument.value {
                            Value::Text(word) => word.clone(),
                            Value::List(_) | Value::Unknown => splitting("value"),
                        })
                        .collect();
                    if words.len() > 1 && self.dialect.bare_calls {
                        self.start(words);
                    } else {
                        let line = line.clone();
                        self.shell_line(line);
                    }
                }
                Some(Value::List(words)) => {
                    let words = words.clone();
                    self.start(words);
                }
                Some(Value::Unknown) | None => {
                    self.reading
                        .unreadable(format!("{language} code that gives a shell a line that is not known"));
                }
            },
            Action::Program => {
                let by_shell = named(&["shell"]).is_some_and(|argument| {
                    !matches!(argument.words.first().map(String::as_str), Some("False" | "None"))
                });
                match value(0).or_else(|| named(&["args"]).map(|argument| &argument.value)) {
                    Some(Value::List(words)) if !by_shell => {
                        let words = words.clone();
                        self.start(words);
                    }
                    Some(Value::List(words)) => match words.first() {
                        Some(line) => {
                            let line = line.clone();
                            self.shell_line(line);
                        }
                        None => {}
                    },
                    Some(Value::Text(word)) => {
                        let word = word.clone();
                        if by_shell { self.shell_line(word) } else { self.start(vec![word]) }
                    }
                    Some(Value::Unknown) | None => {
                        self.reading
                            .unreadable(format!("{language} code that starts a program that is not known"));
                    }
                }
            }
            Action::ProgramWithList => {
                let mut words = Vec::new();
                for argument in &positional {
                    match &argument.value {
                        Value::Text(word) => words.push(word.clone()),
                        Value::List(list) => words.extend(list.iter().cloned()),
                        Value::Unknown if argument.words.first().is_some_and(|word| word == "{") => {}
                        Value::Unknown => words.push(splitting("value")),
                    }
                }
                self.start(words);
            }
            Action::Open => {
                let mode = named(&["mode"]).or(positional.get(1).copied());
                let access = mode.map_or(Access::Read, open_access);
                self.touch(
                    value(0).or_else(|| named(&["file", "path"]).map(|argument| &argument.value)),
                    access,
                    false,
                );
            }
            Action::PerlOpen => self.perl_open(&positional),
            Action::Path(index, access, recursive) => {
                let deep = recursive
                    || arguments.iter().any(|argument| argument.words.iter().any(|word| word == "recursive"));
                self.touch(value(index), access, deep);
            }
            Action::Paths(access, recursive) => {
                if positional.is_empty() {
                    self.touch(None, access, recursive);
                }
                for argument in &positional {
                    let is_options = argument.words.first().is_some_and(|word| word == "{");
                    if !is_options {
                        self.touch(Some(&argument.value), access, recursive);
                    }
                }
            }
            Action::Move => {
                self.touch(value(0), Access::Delete, true);
                self.touch(value(1), Access::Write, false);
            }
            Action::Copy => {
                self.touch(value(0), Access::Read, true);
                self.touch(value(1), Access::Write, false);
            }
            Action::Link => {
                self.touch(value(1), Access::Write, false);
                if let (Some(Value::Text(target)), Some(Value::Text(link))) = (value(0), value(1)) {
                    self.reading.effects.push((EffectKind::Link { target: target.clone() }, link.clone()));
                }
            }
            Action::Receiver(access, recursive) => {
                let receiver = self.receiver(at, full);
                self.touch(Some(&receiver), access, recursive);
            }
            Action::ReceiverMove => {
                // `"text".replace(a, b)` is no move.
                if positional.len() != 1 {
                    return;
                }
                let receiver = self.receiver(at, full);
                self.touch(Some(&receiver), Access::Delete, true);
                self.touch(value(0), Access::Write, false);
            }
            Action::ReceiverOpen => {
                let mode = named(&["mode"]).or(positional.first().copied());
                let access = mode.map_or(Access::Read, open_access);
                let receiver = self.receiver(at, full);
                self.touch(Some(&receiver), access, false);
            }
            Action::Contact(index) => {
                match value(index).or_else(|| named(&["url"]).map(|argument| &argument.value)) {
                    Some(Value::Text(word)) => self.reading.contact(word.clone()),
                    Some(Value::List(words)) if !words.is_empty() => {
                        if let Some(word) = words.first() {
                            self.reading.contact(word.clone());
                        }
                    }
                    Some(_) => self
                        .reading
                        .unreadable(format!("{language} code that contacts a host that is not known")),
                    None => {}
                }
            }
            Action::Eval => match value(0) {
                Some(Value::Text(code)) => {
                    let inner = read_nested(self.dialect.language, code, &[], self.depth + 1);
                    self.reading.effects.extend(inner.effects);
                    self.reading.shell.extend(inner.shell);
                    self.reading.commands.extend(inner.commands);
                    for what in inner.unreadable {
                        self.reading.unreadable(what);
                    }
                }
                Some(_) => {
                    self.reading.unreadable(format!("{language} code that evaluates what is not known"))
                }
                None => {}
            },
            Action::Opaque => self.reading.unreadable(format!("{language} code that calls `{full}`")),
        }
    }

    fn perl_open(&mut self, positional: &[&Argument]) {
        let mode = positional.get(1).map(|argument| &argument.value);
        let Some(Value::Text(mode)) = mode else {
            if mode.is_some() {
                self.reading.unreadable("perl code that opens what is not known");
            }
            return;
        };
        let shown = mode.shown().trim().to_owned();
        let path = positional.get(2).map(|argument| argument.value.clone());
        let in_one = |prefix: usize| {
            Value::Text(Word::known(shown.get(prefix..).unwrap_or_default().trim().to_owned()))
        };
        match path {
            Some(_) if shown.contains('|') => {
                let words: Vec<Word> = positional
                    .iter()
                    .skip(2)
                    .map(|argument| match &argument.value {
                        Value::Text(word) => word.clone(),
                        Value::List(_) | Value::Unknown => splitting("value"),
                    })
                    .collect();
                match words.as_slice() {
                    [line] => self.shell_line(line.clone()),
                    _ => self.start(words),
                }
            }
            Some(path) => {
                let access = if shown.contains(['>', '+']) { Access::Write } else { Access::Read };
                self.touch(Some(&path), access, false);
            }
            None if mode.has_unknown() => self.reading.unreadable("perl code that opens what is not known"),
            None if shown.starts_with('|') => {
                self.shell_line(Word::known(shown.trim_start_matches('|').to_owned()))
            }
            None if shown.ends_with('|') => {
                self.shell_line(Word::known(shown.trim_end_matches('|').to_owned()))
            }
            None if shown.starts_with(">>") => self.touch(Some(&in_one(2)), Access::Write, false),
            None if shown.starts_with('>') => self.touch(Some(&in_one(1)), Access::Write, false),
            None if shown.starts_with('+') => self.touch(Some(&in_one(2)), Access::Write, false),
            None => self.touch(Some(&in_one(usize::from(shown.starts_with('<')))), Access::Read, false),
        }
    }
}

fn open_access(mode: &Argument) -> Access {
    match &mode.value {
        Value::Text(mode) if mode.value().is_some_and(|mode| !mode.contains(['w', 'a', 'x', '+', 'c'])) => {
            Access::Read
        }
        // A mode that is not known may write; a block or options in its place says nothing.
        Value::Unknown if mode.words.first().is_some_and(|word| word == "{" || word == "|") => Access::Read,
        Value::Text(_) | Value::List(_) | Value::Unknown => Access::Write,
    }
}

/// A word that stands for any number of words.
fn splitting(source: &str) -> Word {
    Word { pieces: vec![Piece::Unknown { splits: true, source: source.to_owned() }], span: None }
}

fn append(word: &mut Word, more: &Word) {
    for piece in &more.pieces {
        match (word.pieces.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(text),
            _ => word.pieces.push(piece.clone()),
        }
    }
}
