//! What commands start in turn: wrapped commands, code in arguments, scripts, code on standard input.

use std::rc::Rc;

use super::super::code::{read_code, sql_verbs};
use super::super::command::{Assignment, Directory, Input};
use super::super::effect::{Access, Effect, EffectKind};
use super::super::invocation::{GivenOption, Language, Nested};
use super::super::word::{Piece, Word};
use super::scope::{Scope, Value, join_path};
use super::source::{Source, has_private, with_holes};
use super::start::{Lookup, Start};
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
        let mut nested = command.invocation.nested.clone();
        let program = command.invocation.program.clone().unwrap_or_default();
        if is_shell(&program)
            && command.invocation.options.iter().any(|option| option.name == "-s")
            && !nested.iter().any(|part| matches!(part, Nested::Code { .. }))
        {
            // Operands of `-s` are parameters, not a script.
            nested = vec![Nested::Input { language: Language::Shell, input: None }];
        }
        if nested.is_empty() {
            return;
        }
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
                let is_single = self.reading.commands.get(index).is_some_and(|command| {
                    let is_per_item = |name: &str| {
                        matches!(
                            name,
                            "-n" | "-L" | "-l" | "-I" | "-i" | "--replace" | "--max-args" | "--max-lines"
                        )
                    };
                    command.invocation.options.iter().any(|option| is_per_item(&option.name))
                });
                let calls =
                    if takes_input { with_input(words, &place.input, is_single) } else { vec![words] };
                let inside = Place { input, is_captured: false, ..place.clone() };
                for words in calls {
                    let span = words.first().and_then(|word| word.span).or(span);
                    let (assignments, redirects) = (assignments.clone(), Vec::new());
                    let start = Start { words, assignments, redirects, span, lookup: Lookup::Program };
                    self.start(start, &mut inner, &inside);
                }
            }
            Nested::Code { language: Language::Shell, code, mut arguments } => {
                let name = (is_shell(program) && !arguments.is_empty()).then(|| arguments.remove(0));
                if let Some(name) = name.as_ref().filter(|name| name.may_split()) {
                    if !arguments.is_empty() {
                        let what =
                            format!("which words $0 and $1 are depends on how many {} becomes", name.shown());
                        self.unreadable(UnreadableKind::Words, what, span);
                    }
                    arguments.insert(0, name.clone());
                }
                let mut inner = self.process(scope, arguments);
                inner.name = name;
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
                let operands = self.reading.commands.get(index).map(|command| &command.invocation.operands);
                let arguments = operands.into_iter().flatten().map(|operand| operand.word.clone()).collect();
                self.code_from_input(language, input, arguments, index, program, span, scope, place);
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
        if language == Language::Sql
            && let Some(command) = self.reading.commands.get_mut(index)
        {
            // The same derived options as for statements that stand in an argument.
            for verb in sql_verbs(&code.shown()) {
                let name = format!("--sql-{verb}");
                if !command.invocation.options.iter().any(|option| option.name == name) {
                    command.invocation.options.push(GivenOption { name, value: None, word: 0 });
                }
            }
        }
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
            let start = Start {
                words,
                assignments: Vec::new(),
                redirects: Vec::new(),
                span,
                lookup: Lookup::Program,
            };
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
        if !path.value().is_some_and(super::redirect::is_device) {
            let kind = EffectKind::Path { access: Access::Read, recursive: false };
            let directory = scope.directory.clone();
            self.reading.effects.push(Effect {
                command: index,
                kind,
                word: path.clone(),
                directory,
                redirect: false,
            });
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

/// Puts the patterns of a list where the mark of further words stands.
fn with_items(words: Vec<Word>, items: &[Word], is_single: bool) -> Vec<Vec<Word>> {
    let is_mark =
        |piece: &Piece| matches!(piece, Piece::Unknown { source, .. } if source.starts_with("input of"));
    if !is_single {
        let Some(at) = words.iter().position(|word| word.pieces.first().is_some_and(is_mark)) else {
            return vec![words];
        };
        let (before, after) = words.split_at(at);
        return vec![
            before
                .iter()
                .cloned()
                .chain(items.iter().cloned())
                .chain(after.iter().skip(1).cloned())
                .collect(),
        ];
    }
    if items.len() > 32 {
        return vec![words];
    }
    let put = |word: &Word, item: &Word| {
        let mut put = Word { pieces: Vec::new(), span: word.span };
        for piece in &word.pieces {
            let given = if is_mark(piece) { item.pieces.as_slice() } else { std::slice::from_ref(piece) };
            given.iter().for_each(|piece| super::field::push(&mut put.pieces, piece.clone()));
        }
        put
    };
    items.iter().map(|item| words.iter().map(|word| put(word, item)).collect()).collect()
}

/// Puts the words of a known input where the marks of further words stand: one call for all, or one for each.
fn with_input(words: Vec<Word>, input: &Input, is_single: bool) -> Vec<Vec<Word>> {
    let Input::Text(text) = input else { return vec![words] };
    if let Some(items) = super::listed::items(text) {
        return with_items(words, &items, is_single);
    }
    // Quotes mean something to `xargs`; such input stays a mark.
    let is_plain = |text: &&str| text.len() < 65_536 && !text.contains(['\'', '"', '\\', '\0']);
    let Some(text) = text.value().filter(is_plain) else { return vec![words] };
    let is_mark =
        |piece: &Piece| matches!(piece, Piece::Unknown { source, .. } if source.starts_with("input of"));
    if !is_single {
        let Some(at) = words.iter().position(|word| word.pieces.first().is_some_and(is_mark)) else {
            return vec![words];
        };
        let given = text.split_whitespace().map(Word::known);
        let (before, after) = words.split_at(at);
        return vec![before.iter().cloned().chain(given).chain(after.iter().skip(1).cloned()).collect()];
    }
    let items: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_one_word = |item: &&str| !item.contains(char::is_whitespace);
    if items.is_empty()
        || items.len() > 32
        || !items.iter().all(is_one_word) && words.iter().any(Word::may_split)
    {
        return vec![words];
    }
    let put = |word: &Word, item: &str| {
        let mut put = Word { pieces: Vec::new(), span: word.span };
        for piece in &word.pieces {
            let piece = if is_mark(piece) { Piece::Text(item.to_owned()) } else { piece.clone() };
            super::field::push(&mut put.pieces, piece);
        }
        put
    };
    items.iter().map(|item| words.iter().map(|word| put(word, item)).collect()).collect()
}

/// Shells whose first word after the code is `$0`.
pub(super) fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "rbash")
}

fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}
