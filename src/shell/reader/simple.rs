//! Simple commands: words, assignments, redirects, and what starts.

use shuck_ast::{
    Assignment as RawAssignment, BuiltinCommand, Redirect as RawRedirect, RedirectKind, RedirectTarget,
    SimpleCommand, Span, Word as RawWord,
};

use super::super::command::{Assignment, Input, Redirect};
use super::super::invocation::Invocation;
use super::super::word::Word;
use super::redirect::Output;
use super::scope::{Scope, Value};
use super::source::Source;
use super::start::{Lookup, Start, is_inherited};
use super::{Place, Reader, UnreadableKind};

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
    pub(super) fn certain_ends(
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
    pub(super) fn begin(
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
}

/// Whether a word is the descriptor in front of a `<<`, which the parser takes for a word.
fn is_descriptor_of(redirect: &RawRedirect, word: &RawWord, source: &Source<'_>) -> bool {
    matches!(redirect.kind, RedirectKind::HereDoc | RedirectKind::HereDocStrip | RedirectKind::HereString)
        && word.span.end.offset() == redirect.span.start.offset()
        && source.slice(word.span).is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
}
