//! Builtins that change what the shell knows, or run code in it.

use std::rc::Rc;

use super::super::command::{Directory, Input};
use super::super::effect::{Access, Effect, EffectKind};
use super::super::invocation::{Invocation, Language};
use super::super::word::{Piece, Word};
use super::scope::{Function, Scope, Value, join_path};
use super::start::{Lookup, Start};
use super::{Place, Reader, Trap, UnreadableKind};

/// Whether a builtin is one that is followed.
pub(super) fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "cd" | "pushd"
            | "popd"
            | "unset"
            | "set"
            | "shift"
            | "read"
            | "mapfile"
            | "readarray"
            | "getopts"
            | "printf"
            | "eval"
            | "source"
            | "."
            | "trap"
            | "exec"
            | "command"
            | "builtin"
            | "alias"
            | "unalias"
            | "let"
            | "test"
            | "["
            | "hash"
            | "enable"
            | "export"
            | "declare"
            | "typeset"
            | "local"
            | "readonly"
            | "exit"
            | "return"
            | "break"
            | "continue"
            | "compgen"
            | "complete"
    )
}

impl Reader<'_> {
    /// A builtin: the command itself, and what it does to the state.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        start: Start,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        let printed = if place.is_captured { self.printed(name, &start, scope, place) } else { None };
        let span = start.span;
        let is_declared = start.lookup == Lookup::Declared;
        let assignments = start.assignments.clone();
        let arguments: Vec<Word> = start.words.iter().skip(1).cloned().collect();
        let mut invocation = Invocation::parse(&start.words);
        // What it starts is followed here, in this shell.
        invocation.nested.clear();
        let mut inside = place.clone();
        inside.redirects.extend(start.redirects.iter().cloned());
        let index = self.push(start, invocation, scope, place);
        self.spend(arguments.len());
        match name {
            "cd" => self.cd(&arguments, scope),
            "pushd" => {
                let here = scope.directory.clone();
                match arguments.iter().find(|word| word.value() != Some("-n")) {
                    Some(word) if word.known_prefix().starts_with(['+', '-']) => {
                        scope.change_directory(Directory::Unknown);
                    }
                    Some(word) => {
                        let to = directory(word, scope);
                        scope.change_directory(to);
                    }
                    None => {
                        let to = scope.stack.pop().unwrap_or(Directory::Unknown);
                        scope.change_directory(to);
                    }
                }
                if scope.stack.len() < 64 {
                    scope.stack.push(here);
                }
            }
            "popd" => {
                let to = scope.stack.pop().unwrap_or(Directory::Unknown);
                scope.change_directory(if arguments.is_empty() { to } else { Directory::Unknown });
            }
            "unset" => self.unset(&arguments, scope, place),
            "set" => {
                self.is_strict |= arguments.iter().filter_map(Word::value).any(|text| {
                    text == "nounset" || text.strip_prefix('-').is_some_and(|flags| flags.contains('u'))
                });
                set(&arguments, scope);
            }
            "shift" => shift(&arguments, scope),
            "read" => self.assign_unknown(&arguments, "adinNptu", "REPLY", scope, place),
            "mapfile" | "readarray" => {
                if let Some(mut callback) = option_value(&arguments, "-C") {
                    callback.pieces.push(Piece::Unknown { splits: true, source: " …".to_owned() });
                    self.code(&callback, span, &mut scope.clone(), &inside, name);
                }
                self.assign_unknown(&arguments, "dnOsuCc", "MAPFILE", scope, place);
            }
            "getopts" => {
                if let Some(variable) = arguments.get(1).and_then(Word::value) {
                    scope.set(variable, Value::Text(Word { pieces: vec![Piece::Name], span: None }));
                }
                scope.set("OPTARG", Value::Unknown);
            }
            "printf" => self.printf_variable(&arguments, scope, place),
            "eval" => {
                let words = if arguments.first().and_then(Word::value) == Some("--") { 1 } else { 0 };
                let code = joined(arguments.get(words..).unwrap_or_default());
                for assignment in &assignments {
                    scope.set(&assignment.name, Value::Text(assignment.value.clone()));
                }
                let inside = self.via(&inside, name);
                return self.code(&code, span, scope, &inside, name);
            }
            "source" | "." => {
                let skipped = usize::from(arguments.first().and_then(Word::value) == Some("--"));
                if let Some(path) = arguments.get(skipped).cloned() {
                    let rest: Vec<Word> = arguments.into_iter().skip(skipped + 1).collect();
                    self.source_file(&path, rest, index, span, scope, &inside);
                }
            }
            "trap" => {
                let code = arguments.iter().find(|word| word.value() != Some("--"));
                if let Some(code) = code
                    && arguments.len() > 1
                    && !matches!(code.value(), Some("-" | "" | "-l" | "-p"))
                {
                    let at_end = arguments
                        .iter()
                        .skip(1)
                        .all(|word| !matches!(word.value(), None | Some("DEBUG" | "ERR" | "RETURN")));
                    let is_followed = at_end && !scope.is_inner;
                    let state = if is_followed { scope.clone() } else { scope.forgotten() };
                    let mut inner = self.subshell(&state);
                    let inside = self.via(&Place { is_captured: false, ..inside }, name);
                    self.code(code, span, &mut inner, &inside, name);
                    let is_kept = self.traps.iter().any(|trap| trap.code == *code);
                    if is_followed && !is_kept && self.traps.len() < 16 {
                        let code = code.clone();
                        self.traps.push(Trap { code, place: inside, span, seen: scope.clone() });
                    }
                }
            }
            "exec" => {
                let rest = skip_options(&arguments, "cl", "a");
                if rest.is_empty() {
                    if inside.input != Input::Inherited {
                        scope.input = Some(inside.input);
                    }
                } else {
                    let inside = self.via(&inside, name);
                    let lookup = Lookup::Program;
                    let next =
                        Start { words: rest.to_vec(), assignments, redirects: Vec::new(), span, lookup };
                    let printed = self.start_below(next, scope, &inside);
                    scope.has_ended = true;
                    return printed;
                }
            }
            "command" | "builtin" => {
                let is_question = name == "command"
                    && arguments
                        .iter()
                        .take_while(|word| word.known_prefix().starts_with('-'))
                        .any(|word| word.value().is_some_and(|text| text.contains(['v', 'V'])));
                let rest = skip_options(&arguments, "p", "");
                if !is_question && !rest.is_empty() {
                    let inside = self.via(&inside, name);
                    let lookup = Lookup::Builtins;
                    let next =
                        Start { words: rest.to_vec(), assignments, redirects: Vec::new(), span, lookup };
                    return self.start_below(next, scope, &inside);
                }
            }
            "alias" => {
                for word in &arguments {
                    let (text, holes) = super::source::with_holes(&word.pieces);
                    if let Some((alias, value)) = text.split_once('=') {
                        if is_reserved(alias) || value.ends_with([' ', '\t']) {
                            // Where aliases are expanded, these change what the rest of the line means.
                            let what = format!("the alias {alias} may change how the line is read");
                            self.unreadable_of(UnreadableKind::Syntax, what, word.span.or(span), Some(index));
                        }
                        let value = if holes.is_empty() {
                            Word { span: word.span, ..Word::known(value) }
                        } else {
                            Word { span: word.span, ..super::expand::unknown(value, true) }
                        };
                        scope.alias(alias, value);
                    }
                }
            }
            "unalias" => {
                for word in &arguments {
                    if let Some(alias) = word.value() {
                        scope.forget_alias(alias);
                    }
                }
            }
            "let" => {
                for word in &arguments {
                    self.evaluated_text(word, span, scope, place);
                }
            }
            "test" | "[" => {
                for word in &arguments {
                    if let Some(text) = word.value().map(str::to_owned) {
                        self.subscript_text(&text, word.span.or(span), scope, place);
                    }
                }
            }
            "hash" => {
                if let (Some(path), Some(alias)) =
                    (option_value(&arguments, "-p"), arguments.last().and_then(Word::value))
                {
                    let text = format!("{} \"$@\"", quoted(&path.shown()));
                    scope.define(alias, Function { text, base: None, holes: Rc::default() });
                }
            }
            "enable" if option_value(&arguments, "-f").is_some() => {
                let what = "enable loads a builtin from a file".to_owned();
                self.unreadable_of(UnreadableKind::Code, what, span, Some(index));
            }
            "compgen" | "complete" => {
                if let Some(mut code) = option_value(&arguments, "-C") {
                    code.pieces.push(Piece::Unknown { splits: true, source: " …".to_owned() });
                    let mut inner = self.subshell(scope);
                    self.code(&code, span, &mut inner, &inside, name);
                }
            }
            "export" | "declare" | "typeset" | "local" | "readonly" if is_declared => {}
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for word in &arguments {
                    self.declare_word(word, name == "export", scope, place);
                }
            }
            "exit" | "return" | "break" | "continue" if is_declared => {}
            "exit" | "return" | "break" | "continue" => self.jumped(name, scope),
            _ => {}
        }
        printed
    }

    fn start_below(&mut self, start: Start, scope: &mut Scope, place: &Place) -> Option<Word> {
        if !self.enter() {
            return None;
        }
        let printed = self.start(start, scope, place);
        self.leave();
        printed
    }

    fn cd(&mut self, arguments: &[Word], scope: &mut Scope) {
        let target = arguments
            .iter()
            .find(|word| !matches!(word.value(), Some("-L" | "-P" | "-e" | "-@" | "--" | "-LP" | "-Pe")));
        let to = match target {
            None => match self.lookup(scope, "HOME") {
                Value::Text(home) => directory(&home, scope),
                Value::Unset => return,
                Value::List(_) | Value::Unknown => Directory::Unknown,
            },
            Some(word) => match word.value() {
                Some("") => return,
                Some("-") => scope.previous.clone(),
                // `CDPATH` may take a bare name elsewhere.
                Some(path) if !path.starts_with(['/', '.']) && scope.variable("CDPATH").is_some() => {
                    Directory::Unknown
                }
                _ => directory(word, scope),
            },
        };
        scope.change_directory(to);
    }

    fn unset(&mut self, arguments: &[Word], scope: &mut Scope, place: &Place) {
        let mut functions_only = false;
        for word in arguments {
            match word.value().map(str::to_owned).as_deref() {
                Some("-f") => functions_only = true,
                Some("-v" | "-n" | "--") => {}
                Some(name) => {
                    self.subscript_text(name, word.span, scope, place);
                    let is_element = name.contains('[');
                    let name = name.split('[').next().unwrap_or_default();
                    if !functions_only {
                        scope.set(name, if is_element { Value::Unknown } else { Value::Unset });
                    }
                    scope.undefine(name);
                }
                None => {
                    let what = "unset removes a variable that is not known".to_owned();
                    self.unreadable(UnreadableKind::Words, what, word.span);
                }
            }
        }
    }

    /// Variables that get a value nobody knows.
    fn assign_unknown(
        &mut self,
        arguments: &[Word],
        valued: &str,
        default: &str,
        scope: &mut Scope,
        place: &Place,
    ) {
        let mut rest = arguments.iter();
        let mut count = 0;
        while let Some(word) = rest.next() {
            let Some(text) = word.value().map(str::to_owned) else {
                count += 1;
                continue;
            };
            if let Some(flags) = text.strip_prefix('-').filter(|flags| !flags.is_empty()) {
                if let Some(at) = flags.find(|flag| valued.contains(flag)) {
                    let is_array = flags.get(at..=at) == Some("a");
                    let inline = flags.get(at + 1..).unwrap_or_default();
                    let value =
                        if inline.is_empty() { rest.next().and_then(Word::value) } else { Some(inline) };
                    if is_array && let Some(name) = value {
                        count += 1;
                        scope.set(name, Value::Unknown);
                    }
                }
                continue;
            }
            count += 1;
            self.subscript_text(&text, word.span, scope, place);
            scope.set(text.split('[').next().unwrap_or_default(), Value::Unknown);
        }
        if count == 0 {
            scope.set(default, Value::Unknown);
        }
    }

    fn printf_variable(&mut self, arguments: &[Word], scope: &mut Scope, place: &Place) {
        let Some(target) = option_value(arguments, "-v") else { return };
        let Some(name) = target.value().map(str::to_owned) else { return };
        self.subscript_text(&name, target.span, scope, place);
        let value = super::printed::printf(arguments.get(2..).unwrap_or_default());
        let is_plain = super::expand::is_name(&name);
        let name = name.split('[').next().unwrap_or_default();
        match value {
            Some(text) if is_plain => scope.set(name, Value::Text(text)),
            _ => scope.set(name, Value::Unknown),
        }
    }

    fn evaluated_text(
        &mut self,
        word: &Word,
        span: Option<(usize, usize)>,
        scope: &mut Scope,
        place: &Place,
    ) {
        let text = word.shown().into_owned();
        self.subscript_text(&text, word.span.or(span), scope, place);
        self.evaluated(&text, scope, place, word.span.or(span), 0);
        super::arithmetic::assigned(&text, &mut |name| scope.set(name, Value::Unknown));
    }

    fn source_file(
        &mut self,
        path: &Word,
        arguments: Vec<Word>,
        index: usize,
        span: Option<(usize, usize)>,
        scope: &mut Scope,
        place: &Place,
    ) {
        let inside = self.via(&Place { is_captured: false, ..place.clone() }, "source");
        let outer = scope.parameters.clone();
        if !arguments.is_empty() {
            scope.parameters = Some(Rc::new(arguments.clone()));
        }
        if path.value().is_some_and(|path| matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")) {
            match inside.input.clone() {
                Input::Text(text) => {
                    self.code(&text, span, scope, &inside, "source");
                }
                Input::File(file) => {
                    self.script(Language::Shell, &file, &arguments, index, span, scope, &inside)
                }
                Input::Pipe => {
                    let what = "source runs as code what another command prints".to_owned();
                    self.unreadable_of(UnreadableKind::Code, what, span, Some(index));
                }
                Input::Inherited => {}
            }
        } else if self.enter() {
            if !path.value().is_some_and(super::redirect::is_device) {
                // Its text becomes that of this shell.
                self.reading.effects.push(Effect {
                    command: index,
                    kind: EffectKind::Path { access: Access::Read, recursive: false },
                    word: path.clone(),
                    directory: scope.directory.clone(),
                    redirect: false,
                });
            }
            self.script(Language::Shell, path, &arguments, index, span, scope, &inside);
            self.leave();
        }
        scope.parameters = outer;
    }

    fn declare_word(&mut self, word: &Word, is_export: bool, scope: &mut Scope, place: &Place) {
        let Some(text) = word.value().map(str::to_owned) else {
            match word.known_prefix().split_once('=') {
                Some((name, _)) => scope.set(name, Value::Unknown),
                None => {
                    let what = "declares a variable that is not known".to_owned();
                    self.unreadable(UnreadableKind::Words, what, word.span);
                }
            }
            return;
        };
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim_end_matches('+'), Some(value)),
            None => (text.as_str(), None),
        };
        self.subscript_text(name, word.span, scope, place);
        if super::expand::is_name(name) {
            if let Some(value) = value {
                scope.set(name, Value::Text(Word::known(value)));
            }
            if is_export {
                scope.export(name);
            }
        }
    }
}

/// Words that the grammar of the shell knows.
fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "if" | "then"
            | "else"
            | "elif"
            | "fi"
            | "do"
            | "done"
            | "case"
            | "esac"
            | "while"
            | "until"
            | "for"
            | "in"
    ) || matches!(word, "function" | "select" | "time" | "coproc" | "[[" | "]]" | "{" | "}" | "!")
}

/// The directory that a word names.
fn directory(word: &Word, scope: &Scope) -> Directory {
    match word.value() {
        Some(path) => join_path(&scope.directory, path),
        None => Directory::Unknown,
    }
}

/// The words as one text, with blanks between them.
pub(super) fn joined(words: &[Word]) -> Word {
    let mut all = Word { pieces: Vec::new(), span: words.first().and_then(|word| word.span) };
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            super::field::push(&mut all.pieces, Piece::Text(" ".to_owned()));
            if let (Some((_, end)), Some((_, last))) = (&mut all.span, word.span) {
                *end = last;
            }
        }
        for piece in &word.pieces {
            super::field::push(&mut all.pieces, piece.clone());
        }
    }
    all
}

fn set(arguments: &[Word], scope: &mut Scope) {
    let mut rest = arguments.iter();
    let mut taken = 0;
    while let Some(word) = rest.next() {
        match word.value() {
            Some("--") => {
                taken += 1;
                let words = arguments.get(taken..).unwrap_or_default();
                scope.parameters = Some(Rc::new(words.to_vec()));
                return;
            }
            Some("-") => taken += 1,
            Some("-o" | "+o") => {
                rest.next();
                taken += 2;
            }
            Some(text) if text.starts_with(['-', '+']) && text.len() > 1 => {
                taken += 1;
                if text.ends_with('o') {
                    rest.next();
                    taken += 1;
                }
            }
            _ => {
                let words = arguments.get(taken..).unwrap_or_default();
                scope.parameters = Some(Rc::new(words.to_vec()));
                return;
            }
        }
    }
}

fn shift(arguments: &[Word], scope: &mut Scope) {
    let count = match arguments.first() {
        None => Some(1),
        Some(word) => word.value().and_then(|text| text.parse::<usize>().ok()),
    };
    scope.parameters = match (scope.parameters.take(), count) {
        (Some(words), Some(count)) if words.iter().take(count.max(1)).any(Word::may_split) && count > 0 => {
            None
        }
        (Some(words), Some(count)) if count <= words.len() => {
            Some(Rc::new(words.iter().skip(count).cloned().collect()))
        }
        (Some(words), Some(_)) => Some(words),
        _ => None,
    };
}

/// The value of an option that takes one, also written in one word.
fn option_value(arguments: &[Word], option: &str) -> Option<Word> {
    for (index, word) in arguments.iter().enumerate() {
        let text = word.known_prefix();
        if text == option && word.value().is_some() {
            return arguments.get(index + 1).cloned();
        }
        if let Some(value) = text.strip_prefix(option).filter(|value| !value.is_empty()) {
            let rest = word.pieces.iter().skip(1).cloned();
            let pieces = std::iter::once(Piece::Text(value.to_owned())).chain(rest).collect();
            return Some(Word { pieces, span: word.span });
        }
    }
    None
}

/// The words after options: flags, and options with a value.
fn skip_options<'w>(words: &'w [Word], flags: &str, valued: &str) -> &'w [Word] {
    let mut index = 0;
    while let Some(text) = words.get(index).and_then(Word::value) {
        if text == "--" {
            return words.get(index + 1..).unwrap_or_default();
        }
        let Some(given) = text.strip_prefix('-').filter(|given| !given.is_empty()) else { break };
        if !given.chars().all(|flag| flags.contains(flag) || valued.contains(flag)) {
            break;
        }
        index += 1;
        if given.ends_with(|flag| valued.contains(flag)) && !valued.is_empty() {
            index += 1;
        }
    }
    words.get(index..).unwrap_or_default()
}

pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
