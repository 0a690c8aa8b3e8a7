//! Simple commands: words, assignments, redirects, and what starts.

use std::rc::Rc;

use shuck_ast::{
    ArrayElem, Assignment as RawAssignment, AssignmentValue, BuiltinCommand, DeclClause, DeclOperand,
    Redirect as RawRedirect, RedirectKind, RedirectTarget, SimpleCommand, Span, Word as RawWord,
};

use super::super::command::{Assignment, Command, Directory, Input, Redirect};
use super::super::effect::{Access, Effect, EffectKind};
use super::super::invocation::Invocation;
use super::super::word::{Piece, Word};
use super::brace::{self, Braces};
use super::redirect::Output;
use super::scope::{Scope, Value};
use super::source::Source;
use super::{COMMANDS, Place, Reader, Stored, UnreadableKind};

/// A command whose words are known as far as they can be.
pub(super) struct Start {
    pub(super) words: Vec<Word>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) span: Option<(usize, usize)>,
    pub(super) lookup: Lookup,
}

/// What a command's name may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// Functions, builtins, programs.
    All,
    /// As `All`; the declaration that it is has been read.
    Declared,
    /// Builtins and programs (`command`, `builtin`).
    Builtins,
    /// Programs only.
    Program,
}

impl Reader<'_> {
    pub(super) fn simple(
        &mut self,
        command: &SimpleCommand,
        redirects: &[RawRedirect],
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        if command.assignments.is_empty() && source.slice(command.name.span) == Some("!") {
            return self.denied_again(command, redirects, source, scope, place);
        }
        let mut words = Vec::with_capacity(1 + command.args.len());
        let raws = std::iter::once(&command.name)
            .filter(|name| name.span.start.offset() != name.span.end.offset())
            .chain(command.args.iter().filter(|argument| {
                !redirects.iter().any(|redirect| is_descriptor_of(redirect, argument, source))
            }));
        let ends = redirects
            .iter()
            .filter_map(|redirect| match &redirect.target {
                RedirectTarget::Word(word) if word.span.start.offset() < word.span.end.offset() => {
                    Some(word.span.end.offset())
                }
                RedirectTarget::Word(_) => None,
                RedirectTarget::Heredoc(_) => None,
            })
            .chain(command.assignments.iter().map(|assignment| assignment.span.end.offset()));
        let is_substituted =
            |raw: &RawWord| source.slice(raw.span).is_some_and(|text| text.starts_with("<("));
        let ends = ends.filter(|_| !(command.args.is_empty() && is_substituted(&command.name)));
        self.certain_ends(ends, raws.clone().map(|raw| raw.span), source);
        let last = raws
            .clone()
            .map(|raw| raw.span)
            .chain(command.assignments.iter().map(|assignment| assignment.span))
            .chain(redirects.iter().map(|redirect| redirect.span))
            .map(|span| span.end.offset())
            .max();
        let end = command.span.end.offset();
        let has_document =
            redirects.iter().any(|redirect| matches!(redirect.target, RedirectTarget::Heredoc(_)));
        let rest = last.and_then(|last| source.text.get(last..end)).unwrap_or_default();
        let rest = rest.trim_start_matches(|next: char| next.is_whitespace() || matches!(next, '\\' | ';'));
        if !has_document && !rest.starts_with('#') && rest.contains(|next: char| next.is_alphanumeric()) {
            let what = "the parser left a part of this command out".to_owned();
            self.unreadable(UnreadableKind::Syntax, what, source.place_of(command.span));
        }
        self.words(raws, source, scope, place, &mut words);
        self.begin(words, &command.assignments, redirects, (command.span, Lookup::All), source, scope, place)
    }

    /// `! ! command`: the parser takes the second one for a program's name, where bash goes on to the command.
    fn denied_again(
        &mut self,
        command: &SimpleCommand,
        redirects: &[RawRedirect],
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        let end = command.args.last().map_or(command.name.span.end, |last| last.span.end).offset();
        let mut start = command.name.span.start.offset();
        while let Some(rest) = source.text.get(start..end) {
            let Some(after) =
                rest.strip_prefix('!').filter(|after| !after.starts_with(|c: char| !c.is_whitespace()))
            else {
                break;
            };
            start = end - after.trim_start().len();
        }
        let mut inside = place.clone();
        self.redirects(redirects, source, scope, &mut inside, None);
        let text = source.text.get(start..end)?;
        let base = source.base.map(|base| base + start);
        let rest = Source { text, base, span: source.span, holes: source.holes.clone() };
        self.text_statements(&rest, scope, &inside)
    }

    /// Where a word ends to the parser, there must stand what ends a word to bash.
    pub(super) fn certain_end(&mut self, end: usize, source: &Source<'_>) {
        let Some((before, after)) = source.text.split_at_checked(end) else { return };
        let slashes = before.len() - before.trim_end_matches('\\').len();
        let is_end = |next: char| matches!(next, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')');
        if slashes % 2 == 1 || after.chars().next().is_some_and(|next| !is_end(next)) {
            let what = "where this word ends is not certain".to_owned();
            self.unreadable(UnreadableKind::Syntax, what, source.place(end.saturating_sub(1), end));
        }
    }

    /// What is no word by itself to the parser must not end right where a word begins: bash takes both for one.
    fn certain_ends(
        &mut self,
        ends: impl Iterator<Item = usize>,
        raws: impl Iterator<Item = Span> + Clone,
        source: &Source<'_>,
    ) {
        for end in ends {
            self.certain_end(end, source);
            if let Some(span) = raws.clone().find(|span| span.start.offset() == end) {
                let what = "where the word before this one ends is not certain".to_owned();
                self.unreadable(UnreadableKind::Syntax, what, source.place_of(span));
            }
        }
    }

    /// `export`, `declare` and their kin.
    pub(super) fn declaration(
        &mut self,
        clause: &DeclClause,
        redirects: &[RawRedirect],
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        let mut words =
            vec![Word { span: source.place_of(clause.variant_span), ..Word::known(clause.variant.as_str()) }];
        let spans = clause.operands.iter().map(|operand| match operand {
            DeclOperand::Flag(raw) | DeclOperand::Dynamic(raw) => raw.span,
            DeclOperand::Name(reference) => reference.span,
            DeclOperand::Assignment(assignment) => assignment.span,
        });
        self.certain_ends(spans.clone().map(|span| span.end.offset()), spans, source);
        let mut declared = Vec::new();
        let mut flags = String::new();
        for operand in &clause.operands {
            match operand {
                DeclOperand::Flag(raw) | DeclOperand::Dynamic(raw) => {
                    let first = words.len();
                    self.word(raw, source, scope, place, &mut words);
                    for word in words.iter().skip(first) {
                        match word.value() {
                            Some(text) if text.starts_with(['-', '+']) => flags.push_str(text),
                            Some(text) => match text.split_once('=') {
                                Some((name, value)) => {
                                    declared.push((name.to_owned(), Some(Value::Text(Word::known(value)))));
                                }
                                None => declared.push((text.to_owned(), None)),
                            },
                            None => {
                                let what =
                                    format!("{} declares a variable that is not known", clause.variant);
                                let name =
                                    word.known_prefix().split_once('=').map(|(name, _)| name.to_owned());
                                match name {
                                    Some(name) => declared.push((name, Some(Value::Unknown))),
                                    None => self.unreadable(UnreadableKind::Words, what, word.span),
                                }
                            }
                        }
                    }
                }
                DeclOperand::Name(reference) => {
                    if let Some(subscript) = &reference.subscript {
                        self.subscript(subscript, source, scope, place);
                    }
                    words.push(Word {
                        span: source.place_of(reference.span),
                        ..Word::known(reference.name.as_str())
                    });
                    declared.push((reference.name.as_str().to_owned(), None));
                }
                DeclOperand::Assignment(assignment)
                    if source
                        .slice(assignment.span)
                        .is_some_and(|text| !matches!(brace::expand(text, 64), Braces::None))
                        && !matches!(assignment.value, AssignmentValue::Compound(_)) =>
                {
                    // Braces make several assignments of it.
                    let (name, _) = self.assignment(assignment, source, scope, place);
                    let mut word =
                        super::expand::unknown(source.slice(assignment.span).unwrap_or_default(), true);
                    word.span = source.place_of(assignment.span);
                    words.push(word);
                    declared.push((name, Some(Value::Unknown)));
                }
                DeclOperand::Assignment(assignment) => {
                    let (name, value) = self.assignment(assignment, source, scope, place);
                    let mut word = Word::known(format!("{name}="));
                    if let Value::Text(text) = &value {
                        for piece in &text.pieces {
                            super::field::push(&mut word.pieces, piece.clone());
                        }
                    }
                    word.span = source.place_of(assignment.span);
                    words.push(word);
                    declared.push((name, Some(value)));
                }
            }
        }
        let printed = self.begin(
            words,
            &clause.assignments,
            redirects,
            (clause.span, Lookup::Declared),
            source,
            scope,
            place,
        );
        let is_export = clause.variant.as_str() == "export" || flags.contains('x');
        let is_unexport = is_export && flags.contains('n');
        let is_local = clause.variant.as_str() == "local"
            || (matches!(clause.variant.as_str(), "declare" | "typeset") && !flags.contains('g'));
        if flags.contains(['f', 'F']) {
            if is_export {
                for (name, _) in &declared {
                    scope.export_function(name);
                }
            }
            return printed;
        }
        if flags.contains('n') && !is_export {
            // A reference to another variable.
            for (name, _) in &declared {
                scope.set(name, Value::Unknown);
            }
            return printed;
        }
        for (name, value) in declared {
            if is_local {
                let before = scope.variable(&name).cloned();
                if let Some(frame) = self.frames.iter_mut().rev().find(|frame| frame.function.is_some()) {
                    frame.locals.push((name.clone(), before));
                    if value.is_none() {
                        scope.set(&name, Value::Unset);
                    }
                }
            }
            if let Some(value) = value {
                // Attributes that change what is assigned: integer, upper and lower case.
                let changes = flags.contains(['i', 'u', 'l', 'c']);
                scope.set(&name, if changes { Value::Unknown } else { value });
            } else if is_export && scope.variable(&name).is_none() {
                let value = self.lookup(scope, &name);
                if !matches!(value, Value::Unknown) {
                    scope.set(&name, value);
                }
            }
            if is_export && !is_unexport {
                scope.export(&name);
            }
        }
        printed
    }

    /// `exit`, `return`, `break`, `continue`.
    pub(super) fn jump(
        &mut self,
        command: &BuiltinCommand,
        redirects: &[RawRedirect],
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        let (name, operand, extra, assignments, span): (_, &Option<RawWord>, _, _, _) = match command {
            BuiltinCommand::Break(it) => ("break", &it.depth, &it.extra_args, &it.assignments, it.span),
            BuiltinCommand::Continue(it) => ("continue", &it.depth, &it.extra_args, &it.assignments, it.span),
            BuiltinCommand::Return(it) => ("return", &it.code, &it.extra_args, &it.assignments, it.span),
            BuiltinCommand::Exit(it) => ("exit", &it.code, &it.extra_args, &it.assignments, it.span),
        };
        let mut words = Vec::new();
        match source.slice(span).and_then(|text| text.find(name)) {
            Some(at) => {
                let start = span.start.offset() + at;
                words.push(Word { span: source.place(start, start + name.len()), ..Word::known(name) });
            }
            None => words.push(Word::known(name)),
        }
        for raw in operand.iter().chain(extra) {
            self.word(raw, source, scope, place, &mut words);
        }
        let printed =
            self.begin(words, assignments, redirects, (span, Lookup::Declared), source, scope, place);
        self.jumped(name, scope);
        printed
    }

    /// What follows `exit`, `return`, `break` and `continue`.
    pub(super) fn jumped(&mut self, name: &str, scope: &mut Scope) {
        if name == "exit" && !scope.is_inner && !scope.has_ended {
            let state = scope.clone();
            self.run_traps(&state);
        }
        if name != "exit" {
            let wanted = |function: bool| if name == "return" { function } else { !function };
            let frame = self.frames.iter_mut().rev().find(|frame| wanted(frame.function.is_some()));
            match frame {
                Some(frame) => {
                    let mut state = scope.clone();
                    state.has_ended = false;
                    match &mut frame.escaped {
                        Some(escaped) => escaped.join(&state),
                        None => frame.escaped = Some(state),
                    }
                }
                None => return,
            }
        }
        scope.has_ended = true;
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    fn begin(
        &mut self,
        words: Vec<Word>,
        assignments: &[RawAssignment],
        redirects: &[RawRedirect],
        (span, lookup): (Span, Lookup),
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        let span = source.place_of(span);
        let mut own = Vec::new();
        if redirects.is_empty() && assignments.is_empty() {
            let start = Start { words, assignments: Vec::new(), redirects: own, span, lookup };
            return self.start(start, scope, place);
        }
        let mut inside = place.clone();
        let first = self.reading.commands.len();
        let directory = scope.directory.clone();
        let output = self.redirects(redirects, source, scope, &mut inside, Some(&mut own));
        inside.is_captured |= output.is_some();
        let mut given = Vec::with_capacity(assignments.len());
        let is_bare = words.is_empty();
        for assignment in assignments {
            let (name, value) = self.assignment(assignment, source, scope, place);
            if is_bare {
                // In order: a later assignment sees an earlier one.
                if is_inherited(&name)
                    && let Value::Text(word) = &value
                {
                    given.push(Assignment { name: name.clone(), value: word.clone() });
                }
                scope.set(&name, value);
            } else {
                let value = match value {
                    Value::Text(word) => word,
                    Value::Unset | Value::List(_) | Value::Unknown => super::expand::unknown("(…)", false),
                };
                given.push(Assignment { name, value });
            }
        }
        let printed = if is_bare {
            if !own.is_empty() || !given.is_empty() {
                self.push_bare(own, given, scope, place, span);
            }
            match &inside.input {
                // `$(<file)` is the file's content.
                Input::File(path) => self.content(path, &directory),
                _ => inside.is_captured.then(Word::default),
            }
        } else {
            let start = Start { words, assignments: given, redirects: own, span, lookup };
            self.start(start, scope, &inside)
        };
        if let Some(Output::File(path, _)) = &output
            && path.value().is_none()
        {
            return place.is_captured.then(Word::default);
        }
        self.store(output, printed, &directory, place.is_captured, first)
    }

    /// A command without words, that holds redirects.
    pub(super) fn push_bare(
        &mut self,
        redirects: Vec<Redirect>,
        assignments: Vec<Assignment>,
        scope: &Scope,
        place: &Place,
        span: Option<(usize, usize)>,
    ) {
        let start = Start { words: Vec::new(), assignments, redirects, span, lookup: Lookup::All };
        self.push(start, Invocation::default(), scope, place);
    }

    /// The name and the value of an assignment.
    fn assignment(
        &mut self,
        assignment: &RawAssignment,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> (String, Value) {
        let name = assignment.target.name.as_str().to_owned();
        let mut has_subscript = false;
        if let Some(subscript) = &assignment.target.subscript {
            has_subscript = true;
            self.subscript(subscript, source, scope, place);
        }
        let value = match &assignment.value {
            AssignmentValue::Scalar(raw) => {
                let word = self.value(raw, source, scope, place);
                if has_subscript {
                    Value::Unknown
                } else if assignment.append {
                    match self.lookup(scope, &name) {
                        Value::Unset => Value::Text(word),
                        Value::Text(mut before) => {
                            self.spend(before.pieces.len() + before.known_prefix().len() / 8);
                            for piece in word.pieces {
                                super::field::push(&mut before.pieces, piece);
                            }
                            Value::Text(before)
                        }
                        Value::List(_) | Value::Unknown => Value::Unknown,
                    }
                } else {
                    Value::Text(word)
                }
            }
            AssignmentValue::Compound(list) => {
                let mut words = Vec::new();
                let mut is_list = true;
                let whole = source.slice(assignment.span).unwrap_or_default();
                let open = whole.find('(').map(|at| assignment.span.start.offset() + at + 1);
                let close = open.and_then(|open| super::skip::parenthesis(source.text, open));
                if close != Some(assignment.span.end.offset()) {
                    let what = "where this list ends is not certain".to_owned();
                    self.unreadable(UnreadableKind::Syntax, what, source.place_of(assignment.span));
                }
                let has_lost = list.elements.is_empty()
                    && whole.split_once('(').is_some_and(|(_, rest)| {
                        rest.split_once(')').is_none_or(|(first, _)| !first.trim().is_empty())
                            && !rest.trim_start().starts_with('#')
                    });
                if has_lost {
                    let what = "the elements of this list are not certain".to_owned();
                    self.unreadable(UnreadableKind::Syntax, what, source.place_of(assignment.span));
                }
                let spans = list.elements.iter().map(|element| match element {
                    ArrayElem::Sequential(raw) => raw.word.span,
                    ArrayElem::Keyed { value, .. } | ArrayElem::KeyedAppend { value, .. } => value.word.span,
                });
                self.certain_ends(spans.clone().map(|span| span.end.offset()), spans, source);
                for element in &list.elements {
                    match element {
                        ArrayElem::Sequential(raw) => {
                            self.element(&raw.word, source, scope, place, &mut words)
                        }
                        ArrayElem::Keyed { key, value } | ArrayElem::KeyedAppend { key, value } => {
                            is_list = false;
                            self.subscript(key, source, scope, place);
                            self.word(&value.word, source, scope, place, &mut words);
                        }
                    }
                }
                let before = if assignment.append { self.lookup(scope, &name) } else { Value::Unset };
                match before {
                    _ if !is_list || has_subscript => Value::Unknown,
                    Value::Unset => Value::List(words),
                    Value::List(mut before) => {
                        self.spend(before.len());
                        before.extend(words);
                        Value::List(before)
                    }
                    Value::Text(first) => Value::List(std::iter::once(first).chain(words).collect()),
                    Value::Unknown => Value::Unknown,
                }
            }
        };
        if name == "BASH_ENV" {
            let what = "BASH_ENV names code that every shell runs first".to_owned();
            self.unreadable(UnreadableKind::Code, what, source.place_of(assignment.span));
        }
        (name, value)
    }

    /// Starts what the words say. Answers with what it prints, if that is known.
    pub(super) fn start(&mut self, start: Start, scope: &mut Scope, place: &Place) -> Option<Word> {
        let Some(first) = start.words.first() else {
            if !start.redirects.is_empty() {
                let span = start.span;
                self.push_bare(start.redirects, start.assignments, scope, place, span);
            }
            return place.is_captured.then(Word::default);
        };
        if !self.spend(32 + start.words.len()) {
            return None;
        }
        if self.reading.commands.len() >= COMMANDS {
            if !self.is_limited {
                self.is_limited = true;
                self.limit("the line starts more commands than are read", start.span);
            }
            self.fuel = 0;
            return None;
        }
        let Some(name) = first.value().map(str::to_owned) else {
            return self.start_unknown(start, scope, place);
        };
        if matches!(start.lookup, Lookup::All | Lookup::Declared) {
            if let Some(bodies) = scope.functions(&name) {
                let arguments = start.words.iter().skip(1).cloned().collect();
                let span = start.span;
                for assignment in &start.assignments {
                    scope.set(&assignment.name, Value::Text(assignment.value.clone()));
                }
                let mut inside = place.clone();
                inside.redirects.extend(start.redirects.iter().cloned());
                let invocation = Invocation { program: Some(name.clone()), ..Invocation::default() };
                self.push(start, invocation, scope, place);
                if !self.enter() {
                    return None;
                }
                let printed = self.call(&name, &bodies, arguments, span, scope, &inside);
                self.leave();
                return printed;
            }
            if let Some(text) = scope.alias_of(&name).cloned() {
                self.alias_call(&text, &start, scope, place);
            }
        }
        if start.lookup != Lookup::Program && super::builtin::is_builtin(&name) {
            return self.builtin(&name, start, scope, place);
        }
        let invocation = Invocation::parse(&start.words);
        let printed = if place.is_captured { self.printed(&name, &start, scope, place) } else { None };
        let runs_file = !self.files.is_empty() && name.contains('/');
        let starts_more = !invocation.nested.is_empty()
            || invocation.program.as_deref().is_some_and(super::nested::is_shell);
        if !runs_file && !starts_more {
            // By far the most: nothing needs a second look at its words.
            let index = self.push(start, invocation, scope, place);
            self.written(index, scope, place);
            return printed;
        }
        let words = if runs_file { start.words.clone() } else { Vec::new() };
        let (assignments, span) = (start.assignments.clone(), start.span);
        let mut inside = place.clone();
        inside.redirects.extend(start.redirects.iter().cloned());
        let index = self.push(start, invocation, scope, place);
        self.run_file(&name, &words, index, scope, &inside);
        self.nested(index, &assignments, span, scope, &inside);
        self.written(index, scope, place);
        printed
    }

    /// A command whose program is not known.
    fn start_unknown(&mut self, start: Start, scope: &mut Scope, place: &Place) -> Option<Word> {
        let shown = start.words.first().map(|word| word.shown().into_owned()).unwrap_or_default();
        let may_vanish = matches!(
            start.words.first().map(|word| word.pieces.as_slice()),
            Some([Piece::Unknown { splits: true, .. }])
        );
        let rest: Vec<Word> =
            if may_vanish { start.words.iter().skip(1).cloned().collect() } else { Vec::new() };
        let (assignments, span) = (start.assignments.clone(), start.span);
        let word_span = start.words.first().and_then(|word| word.span);
        let mut invocation = Invocation::parse(&start.words);
        invocation.program = None;
        let index = self.push(start, invocation, scope, place);
        let what = format!("which program {shown} starts is not known");
        self.unreadable_of(UnreadableKind::Program, what, word_span.or(span), Some(index));
        if rest.first().is_some_and(|word| !word.known_prefix().starts_with('-')) && self.enter() {
            // The first word may be empty: then the next one is the program.
            let next = Start { words: rest, assignments, redirects: Vec::new(), span, lookup: Lookup::All };
            let inside = Place { is_captured: false, ..place.clone() };
            self.start(next, scope, &inside);
            self.leave();
        }
        None
    }

    /// Adds a command and its effects.
    pub(super) fn push(
        &mut self,
        start: Start,
        invocation: Invocation,
        scope: &Scope,
        place: &Place,
    ) -> usize {
        let index = self.reading.commands.len();
        let Start { words, assignments, redirects: own, span, .. } = start;
        if let Some(character) = words.first().and_then(|word| odd_character(word.known_prefix())) {
            let what = format!(
                "the program's name holds U+{:04X}, which is not what it looks like",
                u32::from(character)
            );
            let place = words.first().and_then(|word| word.span).or(span);
            self.unreadable_of(UnreadableKind::Words, what, place, Some(index));
        }
        // In another folder than the line's own, git changes a repository that no word names.
        if invocation.program.as_deref() == Some("git")
            && matches!(&scope.directory, Directory::Known(directory) if directory != ".")
            && super::super::parse::git::touch(&invocation.subcommand) == Some(Access::Write)
        {
            self.reading.effects.push(Effect {
                command: index,
                kind: EffectKind::Path { access: Access::Write, recursive: false },
                word: Word::known("."),
                directory: scope.directory.clone(),
                redirect: false,
            });
        }
        for (kind, word) in &invocation.effects {
            if !self.spend(8) {
                break;
            }
            if let EffectKind::Path { access, .. } = kind {
                if word.value().is_some_and(super::redirect::is_device) {
                    continue;
                }
                if *access != Access::Read {
                    self.note_unknown_path(word, *access, span, Some(index));
                }
            }
            self.reading.effects.push(Effect {
                command: index,
                kind: kind.clone(),
                word: word.clone(),
                directory: scope.directory.clone(),
                redirect: false,
            });
        }
        for redirect in &own {
            self.redirect_effect(redirect, &scope.directory, index);
        }
        let redirects = if place.redirects.is_empty() {
            own
        } else {
            self.spend(place.redirects.len());
            place.redirects.iter().cloned().chain(own).collect()
        };
        self.reading.commands.push(Command {
            words,
            assignments,
            redirects,
            directory: scope.directory.clone(),
            via: place.via.to_vec(),
            pipeline: place.pipeline,
            input: place.input.clone(),
            invocation,
            span: span.unwrap_or((0, 0)),
        });
        index
    }

    /// An alias stands for this name where aliases are expanded: what it says counts as well.
    fn alias_call(&mut self, text: &Word, start: &Start, scope: &mut Scope, place: &Place) {
        let mut code = text.clone();
        for word in start.words.iter().skip(1) {
            super::field::push(&mut code.pieces, Piece::Text(" ".to_owned()));
            for piece in &word.pieces {
                // What was expanded once stays as it is.
                let piece = match piece {
                    Piece::Text(text) if !super::expand::stands_for_itself(text) => {
                        Piece::Text(super::builtin::quoted(text))
                    }
                    other => other.clone(),
                };
                super::field::push(&mut code.pieces, piece);
            }
            if word.pieces.is_empty() {
                super::field::push(&mut code.pieces, Piece::Text("''".to_owned()));
            }
        }
        let mut inner = self.subshell(scope);
        if let Some(Some(name)) = start.words.first().map(Word::value) {
            inner.forget_alias(name);
        }
        let inside = Place { is_captured: false, ..place.clone() };
        self.code(&code, start.span, &mut inner, &inside, "an alias");
    }

    /// Files that a command fills with something that is not known.
    fn written(&mut self, index: usize, scope: &Scope, place: &Place) {
        let Some(command) = self.reading.commands.get(index) else { return };
        if command.invocation.effects.is_empty() {
            return;
        }
        let Some(program) = command.invocation.program.clone() else { return };
        let contacts = command.invocation.effects.iter().any(|(kind, _)| *kind == EffectKind::Contact);
        let decodes =
            matches!(program.as_str(), "base64" | "openssl" | "xxd" | "gpg" | "uudecode" | "gunzip" | "dd");
        let is_tee = program == "tee";
        if !(contacts || decodes || is_tee) || matches!(program.as_str(), "git" | "npm" | "pip" | "cargo") {
            return;
        }
        let stored = match &place.input {
            Input::Text(text) if is_tee => Stored::Text(text.clone()),
            _ => Stored::Foreign(program, index..index + 1),
        };
        let written: Vec<Word> = command
            .invocation
            .effects
            .iter()
            .filter(|(kind, _)| matches!(kind, EffectKind::Path { access: Access::Write, .. }))
            .map(|(_, word)| word.clone())
            .collect();
        for path in written {
            self.remember(&path, &scope.directory, stored.clone(), false);
        }
    }

    /// `via` with one more program.
    pub(super) fn via(&mut self, place: &Place, program: &str) -> Place {
        let mut via = place.via.to_vec();
        via.push(program.to_owned());
        self.spend(via.len());
        Place { via: Rc::new(via), pipeline: place.pipeline, ..place.clone() }
    }
}

/// Whether a word is the descriptor in front of a `<<`, which the parser takes for a word.
fn is_descriptor_of(redirect: &RawRedirect, word: &RawWord, source: &Source<'_>) -> bool {
    matches!(redirect.kind, RedirectKind::HereDoc | RedirectKind::HereDocStrip | RedirectKind::HereString)
        && word.span.end.offset() == redirect.span.start.offset()
        && source.slice(word.span).is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether programs started later are given the variable without an `export`, since the environment has it.
fn is_inherited(name: &str) -> bool {
    name == "PATH" || name.starts_with("LD_")
}

/// A character in a program's name that is not seen, or is taken for another.
fn odd_character(name: &str) -> Option<char> {
    if name.is_ascii() {
        return None;
    }
    name.chars().find(|character| super::expand::is_odd_blank(*character))
}
