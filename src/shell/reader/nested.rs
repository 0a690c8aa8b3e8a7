//! What commands start in turn: wrapped commands, code in arguments, scripts, code on standard input.

use std::rc::Rc;

use super::super::code::read_code;
use super::super::command::{Assignment, Directory, Input};
use super::super::effect::{Access, Effect, EffectKind};
use super::super::invocation::{Language, Nested};
use super::super::word::{Piece, Word};
use super::scope::{Scope, Value, join_path};
use super::simple::{Lookup, Start};
use super::source::{Source, has_private, with_holes};
use super::{Place, Reader, Stored, UnreadableKind};

impl Reader<'_> {
    /// Reads what the command with this index starts.
    pub(super) fn nested(
        &mut self,
        index: usize,
        assignments: &[Assignment],
        span: Option<(usize, usize)>,
        scope: &Scope,
        place: &Place,
    ) {
        let Some(command) = self.reading.commands.get(index) else { return };
        if command.invocation.nested.is_empty() {
            return;
        }
        let nested = command.invocation.nested.clone();
        let program = command.invocation.program.clone().unwrap_or_default();
        if !self.enter() {
            return;
        }
        let place = self.via(place, &program);
        let mut scope = scope.clone();
        for assignment in assignments {
            scope.set(&assignment.name, Value::Text(assignment.value.clone()));
            scope.export(&assignment.name);
        }
        for part in nested {
            self.nested_part(part, index, &program, span, &scope, &place);
        }
        self.leave();
    }

    fn nested_part(
        &mut self,
        part: Nested,
        index: usize,
        program: &str,
        span: Option<(usize, usize)>,
        scope: &Scope,
        place: &Place,
    ) {
        match part {
            Nested::Command { words, assignments, directory, takes_input } => {
                let mut inner = self.subshell(scope);
                for assignment in &assignments {
                    inner.set(&assignment.name, Value::Text(assignment.value.clone()));
                    inner.export(&assignment.name);
                }
                if let Some(directory) = directory {
                    inner.directory = match directory.value() {
                        Some(path) => join_path(&scope.directory, path),
                        None => Directory::Unknown,
                    };
                }
                let input = if takes_input { Input::Inherited } else { place.input.clone() };
                let words = if takes_input { with_input(words, &place.input) } else { words };
                let inside = Place { input, is_captured: false, ..place.clone() };
                let span = words.first().and_then(|word| word.span).or(span);
                let start =
                    Start { words, assignments, redirects: Vec::new(), span, lookup: Lookup::Program };
                self.start(start, &mut inner, &inside);
            }
            Nested::Code { language: Language::Shell, code, arguments } => {
                let mut inner = self.process(scope, arguments);
                self.code(&code, span, &mut inner, place, program);
            }
            Nested::Code { language, code, arguments } => {
                self.foreign(language, &code, &arguments, index, span, scope, place);
            }
            Nested::Script { language, path, arguments, in_this_shell: _ } => {
                if path.value().is_some_and(|path| matches!(path, "-" | "/dev/stdin" | "/dev/fd/0")) {
                    self.code_from_input(language, None, arguments, index, program, span, scope, place);
                } else {
                    let mut inner = self.process(scope, arguments.clone());
                    self.script(language, &path, &arguments, index, span, &mut inner, place);
                }
            }
            Nested::Input { language, input } => {
                self.code_from_input(language, input, Vec::new(), index, program, span, scope, place);
            }
        }
    }

    /// The state of a new shell with these parameters.
    fn process(&mut self, scope: &Scope, arguments: Vec<Word>) -> Scope {
        self.spend(8 + scope.size() + arguments.len());
        let mut inner = scope.process();
        inner.parameters = Some(Rc::new(arguments));
        inner
    }

    /// Reads shell code that a word holds.
    pub(super) fn code(
        &mut self,
        code: &Word,
        span: Option<(usize, usize)>,
        scope: &mut Scope,
        place: &Place,
        who: &str,
    ) -> Option<Word> {
        let span = code.span.or(span);
        let is_unknown =
            code.pieces.iter().any(|piece| matches!(piece, Piece::Unknown { .. } | Piece::Glob(_)));
        if is_unknown {
            let command = self.reading.commands.len().checked_sub(1);
            let what = format!("{who} runs code that is not known: {}", shorten(&code.shown()));
            self.unreadable_of(UnreadableKind::Code, what, span, command);
        }
        let (text, holes) = with_holes(&code.pieces);
        if holes.is_empty() && has_private(&text) {
            self.unreadable(UnreadableKind::Words, "code with characters of private use".to_owned(), span);
        }
        if text.chars().all(|character| character.is_whitespace() || character >= '\u{E000}') {
            return None;
        }
        if !self.enter() {
            return None;
        }
        let source = Source { text: &text, base: None, span, holes: Rc::new(holes) };
        let printed = self.text_statements(&source, scope, place);
        self.leave();
        printed
    }

    /// Reads code in another language.
    #[expect(clippy::too_many_arguments, reason = "where the code stands")]
    fn foreign(
        &mut self,
        language: Language,
        code: &Word,
        arguments: &[Word],
        index: usize,
        span: Option<(usize, usize)>,
        scope: &Scope,
        place: &Place,
    ) {
        if !self.spend(64 + code.known_prefix().len()) || !self.enter() {
            return;
        }
        let reading = read_code(language, code, arguments);
        for (kind, word) in reading.effects {
            if !self.spend(8) {
                break;
            }
            if let EffectKind::Path { access, .. } = kind {
                if word.value().is_some_and(super::redirect::is_device) {
                    continue;
                }
                if access != Access::Read {
                    self.note_unknown_path(&word, access, span, Some(index));
                }
            }
            let directory = scope.directory.clone();
            self.reading.effects.push(Effect { command: index, kind, word, directory, redirect: false });
        }
        let inside = Place { input: Input::Inherited, is_captured: false, ..place.clone() };
        for line in reading.shell {
            let mut inner = self.process(scope, Vec::new());
            self.code(&line, span, &mut inner, &inside, "inline code");
        }
        for words in reading.commands {
            let mut inner = self.subshell(scope);
            let start =
                Start { words, assignments: Vec::new(), redirects: Vec::new(), span, lookup: Lookup::Program };
            self.start(start, &mut inner, &inside);
        }
        for what in reading.unreadable {
            self.unreadable_of(UnreadableKind::Code, what, code.span.or(span), Some(index));
        }
        self.leave();
    }

    /// Reads a script file, as far as the line itself wrote it.
    #[expect(clippy::too_many_arguments, reason = "where the script stands")]
    pub(super) fn script(
        &mut self,
        language: Language,
        path: &Word,
        arguments: &[Word],
        index: usize,
        span: Option<(usize, usize)>,
        scope: &mut Scope,
        place: &Place,
    ) {
        let span = path.span.or(span);
        if path.has_unknown() {
            let what = format!("runs a script that is not known: {}", shorten(&path.shown()));
            self.unreadable_of(UnreadableKind::Code, what, span, Some(index));
            return;
        }
        let Some(stored) = key(path, &scope.directory).and_then(|key| self.files.get(&key).cloned()) else {
            return;
        };
        for entry in stored {
            match entry {
                Stored::Foreign(program, makers) => {
                    for from in makers.filter(|from| *from != index).take(16) {
                        self.flow(from, index);
                    }
                    let what = format!("runs as code what {program} wrote to {}", shorten(&path.shown()));
                    self.unreadable_of(UnreadableKind::Code, what, span, Some(index));
                }
                Stored::Text(text) => {
                    let text = Word { span, ..text };
                    if language == Language::Shell {
                        let mut inner = scope.clone();
                        self.code(&text, span, &mut inner, place, "a script");
                        scope.join(&inner);
                    } else {
                        let outer = scope.clone();
                        self.foreign(language, &text, arguments, index, span, &outer, place);
                    }
                }
            }
        }
    }

    /// A program named by its path that the line wrote before: its text runs.
    pub(super) fn run_file(
        &mut self,
        name: &str,
        words: &[Word],
        index: usize,
        scope: &Scope,
        place: &Place,
    ) {
        if self.files.is_empty() || !name.contains('/') {
            return;
        }
        let Some(path) = words.first() else { return };
        let Some(stored) = key(path, &scope.directory).and_then(|key| self.files.get(&key)) else { return };
        let first = stored.iter().find_map(|entry| match entry {
            Stored::Text(text) => text.known_prefix().lines().next(),
            Stored::Foreign(..) => None,
        });
        let language = match first.filter(|line| line.starts_with("#!")) {
            Some(line) => language_of(line),
            None => Language::Shell,
        };
        let arguments: Vec<Word> = words.iter().skip(1).cloned().collect();
        let mut inner = self.process(scope, arguments.clone());
        let place = self.via(place, name.rsplit('/').next().unwrap_or(name));
        if self.enter() {
            self.script(language, path, &arguments, index, path.span, &mut inner, &place);
            self.leave();
        }
    }

    /// Code on standard input.
    #[expect(clippy::too_many_arguments, reason = "where the code stands")]
    fn code_from_input(
        &mut self,
        language: Language,
        input: Option<Input>,
        arguments: Vec<Word>,
        index: usize,
        program: &str,
        span: Option<(usize, usize)>,
        scope: &Scope,
        place: &Place,
    ) {
        let input = match (input, &place.input, &scope.input) {
            (Some(input), ..) => input,
            (None, Input::Inherited, Some(input)) => input.clone(),
            (None, input, _) => input.clone(),
        };
        match input {
            Input::Inherited => {}
            Input::Text(text) => {
                let inside = Place { input: Input::Inherited, ..place.clone() };
                if language == Language::Shell {
                    let mut inner = self.process(scope, arguments);
                    self.code(&text, span, &mut inner, &inside, program);
                } else {
                    self.foreign(language, &text, &arguments, index, span, scope, &inside);
                }
            }
            Input::File(path) => {
                let mut inner = self.process(scope, arguments.clone());
                let inside = Place { input: Input::Inherited, ..place.clone() };
                self.script(language, &path, &arguments, index, span, &mut inner, &inside);
            }
            Input::Pipe => {
                let what = format!("{program} runs as code what {} prints", self.before(index));
                self.unreadable_of(UnreadableKind::Code, what, span, Some(index));
            }
        }
    }

    /// The program before this command in its pipeline, for people.
    fn before(&self, index: usize) -> String {
        let Some(pipeline) = self.reading.commands.get(index).and_then(|command| command.pipeline) else {
            return "another command".to_owned();
        };
        let mut names: Vec<&str> = Vec::new();
        for command in self.reading.commands.iter().take(index) {
            if let (Some(other), Some(name)) = (command.pipeline, command.invocation.program.as_deref())
                && other.id == pipeline.id
                && other.position < pipeline.position
                && names.len() < 4
            {
                names.push(name);
            }
        }
        if names.is_empty() { "another command".to_owned() } else { names.join(" | ") }
    }
}

/// Where a file that the line writes is kept.
pub(super) fn key(path: &Word, directory: &Directory) -> Option<String> {
    if path.pieces.is_empty()
        || path.pieces.iter().any(|piece| matches!(piece, Piece::Unknown { .. } | Piece::Glob(_)))
    {
        return None;
    }
    match join_path(directory, &path.shown()) {
        Directory::Known(path) => Some(path),
        Directory::Unknown => None,
    }
}

/// The language of a script that begins with this line.
fn language_of(line: &str) -> Language {
    let has = |name: &str| line.contains(name);
    if has("python") {
        Language::Python
    } else if has("perl") {
        Language::Perl
    } else if has("node") || has("deno") || has("bun") {
        Language::Javascript
    } else if has("ruby") {
        Language::Ruby
    } else if has("php") {
        Language::Php
    } else if has("awk") {
        Language::Awk
    } else if has("sh") {
        Language::Shell
    } else {
        Language::Opaque
    }
}

/// Puts the words of a known input where the marker of further words stands.
fn with_input(words: Vec<Word>, input: &Input) -> Vec<Word> {
    let Input::Text(text) = input else { return words };
    let Some(text) = text.value().filter(|text| text.len() < 65_536) else { return words };
    // Quotes mean something to `xargs`; such input stays a marker.
    if text.contains(['\'', '"', '\\']) {
        return words;
    }
    let is_marker = |word: &Word| matches!(word.pieces.as_slice(), [Piece::Unknown { splits: true, .. }]);
    match words.iter().position(is_marker) {
        Some(at) if words.iter().filter(|word| word.has_unknown()).count() == 1 => {
            let given = text.split_whitespace().map(Word::known);
            let (before, after) = words.split_at(at);
            before.iter().cloned().chain(given).chain(after.iter().skip(1).cloned()).collect()
        }
        _ => words,
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}
