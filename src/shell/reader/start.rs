//! What the words of a command start: functions, builtins, aliases, programs.

use std::rc::Rc;

use super::super::command::{Assignment, Command, Directory, Input, Redirect};
use super::super::effect::{Access, Effect, EffectKind};
use super::super::invocation::Invocation;
use super::super::word::{Piece, Word};
use super::scope::{Scope, Value};
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

/// Whether programs started later are given the variable without an `export`, since the environment has it.
pub(super) fn is_inherited(name: &str) -> bool {
    name == "PATH" || name.starts_with("LD_")
}

/// A character in a program's name that is not seen, or is taken for another.
fn odd_character(name: &str) -> Option<char> {
    if name.is_ascii() {
        return None;
    }
    name.chars().find(|character| super::expand::is_odd_blank(*character))
}
