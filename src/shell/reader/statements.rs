//! Walks lists of statements: `;`, `&`, `&&`, `||`, pipelines.

use shuck_ast::{BinaryCommand, BinaryOp, Command as Syntax, Stmt, StmtSeq, StmtTerminator};

use super::super::command::{Input, Pipeline};
use super::super::word::Word;
use super::scope::Scope;
use super::source::{Source, parse};
use super::{Place, Reader, UnreadableKind};

impl Reader<'_> {
    /// Parses text and reads it as part of the shell whose state `scope` is. Answers with what it prints, if
    /// that is known.
    pub(super) fn text_statements(
        &mut self,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        if !self.spend(32 + source.text.len()) || !self.enter() {
            return None;
        }
        let (file, problem) = parse(source.text);
        if let Some(problem) = problem {
            let span = source.place(0, source.text.len());
            self.unreadable(UnreadableKind::Syntax, problem, span);
        } else if !reaches_end(&file.body, source.text) {
            let span = source.place(0, source.text.len());
            self.unreadable(UnreadableKind::Syntax, "the line is not read to its end".to_owned(), span);
        }
        let printed = self.lines(&file.body, source, scope, place, true);
        self.leave();
        printed
    }

    /// Reads statements in order.
    pub(super) fn statements(
        &mut self,
        list: &StmtSeq,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        self.lines(list, source, scope, place, false)
    }

    /// As [`Self::statements`]; `resumes` where an error ends only the line of text that it stands in.
    fn lines(
        &mut self,
        list: &StmtSeq,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
        resumes: bool,
    ) -> Option<Word> {
        let mut printed = place.is_captured.then(Word::default);
        // The state at an error, and where the statement with it begins.
        let mut broken: Option<(Scope, usize)> = None;
        for statement in list.iter() {
            if let Some((state, from)) = &broken
                && source
                    .text
                    .get(*from..statement.span.start.offset())
                    .is_some_and(|between| between.contains('\n'))
            {
                scope.join(state);
                broken = None;
            }
            let before = (resumes && broken.is_none()).then(|| scope.clone());
            let errors = self.errors;
            let text = if matches!(statement.terminator, Some(StmtTerminator::Background(_))) {
                let mut inner = self.subshell(scope);
                self.statement(statement, source, &mut inner, place)
            } else {
                self.statement(statement, source, scope, place)
            };
            printed = self.append(printed, text);
            if let Some(before) = before.filter(|_| self.errors != errors) {
                broken = Some((before, statement.span.start.offset()));
            }
        }
        printed
    }

    /// What is printed when both are.
    pub(super) fn append(&mut self, first: Option<Word>, second: Option<Word>) -> Option<Word> {
        let (mut first, second) = (first?, second?);
        self.spend(second.pieces.len() + 1);
        for piece in second.pieces {
            super::field::push(&mut first.pieces, piece);
        }
        Some(first)
    }

    /// Reads one statement.
    pub(super) fn statement(
        &mut self,
        statement: &Stmt,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        if !self.spend(8) {
            return None;
        }
        match &statement.command {
            Syntax::Simple(command) => self.simple(command, &statement.redirects, source, scope, place),
            Syntax::Binary(binary) => {
                if !self.enter() {
                    return None;
                }
                let printed = self.binary(binary, source, scope, place);
                self.leave();
                printed
            }
            Syntax::Decl(clause) => self.declaration(clause, &statement.redirects, source, scope, place),
            Syntax::Builtin(command) => self.jump(command, &statement.redirects, source, scope, place),
            Syntax::Function(function) => {
                for redirects in [&statement.redirects, &function.body.redirects] {
                    if !redirects.is_empty() {
                        // They happen at each call; what is in them counts once.
                        self.redirects(redirects, source, scope, &mut place.clone(), None);
                    }
                }
                self.define(function, source, scope);
                place.is_captured.then(Word::default)
            }
            Syntax::Compound(compound) => {
                if !self.enter() {
                    return None;
                }
                let mut inside = place.clone();
                let first = self.reading.commands.len();
                let directory = scope.directory.clone();
                let output = self.redirects(&statement.redirects, source, scope, &mut inside, None);
                inside.is_captured |= output.is_some();
                let printed = self.compound(compound, source, scope, &inside);
                let printed = self.store(output, printed, &directory, place.is_captured, first);
                self.leave();
                printed
            }
            Syntax::AnonymousFunction(function) => {
                if !self.enter() {
                    return None;
                }
                self.statement(&function.body, source, scope, place);
                self.leave();
                None
            }
        }
    }

    fn binary(
        &mut self,
        binary: &BinaryCommand,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        // Chains lean to the left and may be long: walk them without recursion.
        let is_pipe = |op: BinaryOp| matches!(op, BinaryOp::Pipe | BinaryOp::PipeAll);
        let mut links = vec![(binary.op, &*binary.right)];
        let mut first = &*binary.left;
        while let Syntax::Binary(inner) = &first.command {
            if is_pipe(inner.op) != is_pipe(binary.op) || !first.redirects.is_empty() {
                break;
            }
            links.push((inner.op, &*inner.right));
            first = &*inner.left;
        }
        links.reverse();
        if is_pipe(binary.op) {
            return self.pipeline(
                first,
                links.into_iter().map(|(_, statement)| statement),
                source,
                scope,
                place,
            );
        }
        let mut before = scope.clone();
        // The state where a right side of `&&` was left out.
        let mut left_out: Option<Scope> = None;
        let mut is_sure = succeeds(first, source);
        let mut printed = self.statement(first, source, scope, place);
        for (op, statement) in links {
            let left = scope.clone();
            match op {
                BinaryOp::Or => {
                    // The right side runs if the left one failed: then a `cd` in it did not happen.
                    let mut right = before.clone();
                    right.join(&left);
                    if let Some(state) = left_out.take() {
                        right.join(&state);
                    }
                    right.directory.clone_from(&before.directory);
                    right.has_ended = false;
                    self.statement(statement, source, &mut right, place);
                    scope.join(&right);
                    printed = None;
                    before = left;
                }
                _ => {
                    let text = self.statement(statement, source, scope, place);
                    printed = if is_sure { self.append(printed, text) } else { None };
                    if !is_sure && !left.has_ended {
                        match &mut left_out {
                            Some(state) => state.join(&left),
                            None => left_out = Some(left.clone()),
                        }
                    }
                    if scope.has_ended && !left.has_ended {
                        // What follows runs only if the left side failed.
                        *scope = left.clone();
                        scope.join(&before);
                    }
                    before = left;
                }
            }
            is_sure &= op != BinaryOp::Or && succeeds(statement, source);
        }
        if let Some(state) = left_out {
            // A folder that could not be gone to ends the plan of nearly every line: it counts as reached.
            let (directory, previous, stack) =
                (scope.directory.clone(), scope.previous.clone(), scope.stack.clone());
            scope.join(&state);
            (scope.directory, scope.previous, scope.stack) = (directory, previous, stack);
        }
        printed
    }

    fn pipeline<'a>(
        &mut self,
        first: &'a Stmt,
        rest: impl Iterator<Item = &'a Stmt>,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        self.pipelines += 1;
        let id = self.pipelines - 1;
        let mut input = place.input.clone();
        let mut printed = None;
        let mut rest = rest.peekable();
        let mut current = Some(first);
        let mut position = 0;
        while let Some(statement) = current {
            let is_last = rest.peek().is_none();
            let inside = Place {
                input,
                pipeline: Some(Pipeline { id, position }),
                is_captured: !is_last || place.is_captured,
                ..place.clone()
            };
            let mut inner = self.subshell(scope);
            printed = self.statement(statement, source, &mut inner, &inside);
            input = match &printed {
                Some(text) => Input::Text(text.clone()),
                None => Input::Pipe,
            };
            position += 1;
            current = rest.next();
        }
        printed.filter(|_| place.is_captured)
    }
}

/// Whether the statements of a text reach its end. Here-documents lie behind the statement that they belong to.
fn reaches_end(list: &StmtSeq, text: &str) -> bool {
    let from = list.iter().last().map_or(0, |last| {
        let redirects = last.redirects.iter().map(|redirect| redirect.span.end.offset());
        redirects.fold(last.span.end.offset(), usize::max)
    });
    let Some(rest) = text.get(from..) else { return false };
    // The parser leaves the closing half of a subshell out.
    let rest = rest.trim_start().trim_start_matches([')', '}']);
    text.contains("<<")
        || rest.split('\n').all(|line| {
            let rest =
                line.trim_start_matches(|next: char| next.is_whitespace() || matches!(next, ';' | '&'));
            rest.is_empty() || rest.starts_with('#') || rest == "\\"
        })
}

/// Whether a statement cannot fail: an assignment that starts nothing, `true`, what only prints.
///
/// A `cd` counts too: whoever writes one plans for the folder that it goes to.
fn succeeds(statement: &Stmt, source: &Source<'_>) -> bool {
    match &statement.command {
        Syntax::Simple(command) => {
            let (start, end) = (command.name.span.start.offset(), command.name.span.end.offset());
            let is_inert = |word: &shuck_ast::Word| {
                word.parts.iter().all(|part| matches!(part.kind, shuck_ast::WordPart::Literal(_)))
            };
            let is_plain = statement.redirects.is_empty() && !statement.negated;
            if start == end {
                return is_plain
                    && command.assignments.iter().all(|assignment| match &assignment.value {
                        shuck_ast::AssignmentValue::Scalar(word) => is_inert(word),
                        shuck_ast::AssignmentValue::Compound(_) => false,
                    });
            }
            is_plain && matches!(source.text.get(start..end), Some("true" | ":" | "echo" | "cd" | "pushd"))
        }
        _ => false,
    }
}
