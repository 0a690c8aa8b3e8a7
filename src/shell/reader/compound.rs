//! Compound commands: loops, choices, groups, functions.

use std::rc::Rc;

use shuck_ast::{
    ArithmeticExprNode, CaseCommand, CaseTerminator, Command as Syntax, CompoundCommand, ConditionalExpr,
    ForCommand, FunctionDef, Pattern as RawPattern, PatternPart, Span, StmtSeq, Subscript,
};

use super::super::word::{Piece, Word};
use super::expand::{Expansion, Quote, unknown};
use super::matching::Pattern;
use super::parts::Parts;
use super::scope::{Function, Scope, Value};
use super::source::Source;
use super::{Frame, Place, Reader, UnreadableKind};

/// Rounds of a loop over known words that are read one by one.
const ROUNDS: usize = 64;
/// Calls of functions within functions.
const CALLS: usize = 12;
/// Calls of a function by itself that are read one by one.
const ROUNDS_OF_CALLS: usize = 3;

impl Reader<'_> {
    pub(super) fn compound(
        &mut self,
        compound: &CompoundCommand,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        match compound {
            CompoundCommand::Subshell(body) => {
                let mut inner = self.subshell(scope);
                self.statements(body, source, &mut inner, place)
            }
            CompoundCommand::BraceGroup(body) => self.statements(body, source, scope, place),
            CompoundCommand::If(command) => {
                self.statements(&command.condition, source, scope, place);
                let mut ways = Vec::new();
                let mut way = scope.clone();
                self.statements(&command.then_branch, source, &mut way, place);
                ways.push(way);
                for (condition, branch) in &command.elif_branches {
                    self.statements(condition, source, scope, place);
                    let mut way = scope.clone();
                    self.statements(branch, source, &mut way, place);
                    ways.push(way);
                }
                if let Some(branch) = &command.else_branch {
                    self.statements(branch, source, scope, place);
                }
                for way in &ways {
                    scope.join(way);
                }
                None
            }
            CompoundCommand::For(command) => self.for_loop(command, source, scope, place),
            CompoundCommand::Select(command) => {
                let mut words = Vec::new();
                self.words(&command.words, source, scope, place, &mut words);
                self.rounds(command.variable.as_str(), words, &command.body, source, scope, place);
                None
            }
            CompoundCommand::Foreach(command) => {
                let mut words = Vec::new();
                self.words(&command.words, source, scope, place, &mut words);
                self.rounds(command.variable.as_str(), words, &command.body, source, scope, place)
            }
            CompoundCommand::Repeat(command) => {
                let mut words = Vec::new();
                self.word(&command.count, source, scope, place, &mut words);
                self.repeated(scope, |reader, scope| {
                    reader.statements(&command.body, source, scope, place);
                });
                None
            }
            CompoundCommand::ArithmeticFor(command) => {
                self.arithmetic_part(command.init_span, command.init_ast.as_ref(), source, scope, place);
                self.repeated(scope, |reader, scope| {
                    let condition = command.condition_ast.as_ref();
                    reader.arithmetic_part(command.condition_span, condition, source, scope, place);
                    reader.statements(&command.body, source, scope, place);
                    reader.arithmetic_part(
                        command.step_span,
                        command.step_ast.as_ref(),
                        source,
                        scope,
                        place,
                    );
                });
                None
            }
            CompoundCommand::While(command) => {
                self.repeated(scope, |reader, scope| {
                    reader.statements(&command.condition, source, scope, place);
                    reader.statements(&command.body, source, scope, place);
                });
                None
            }
            CompoundCommand::Until(command) => {
                self.repeated(scope, |reader, scope| {
                    reader.statements(&command.condition, source, scope, place);
                    reader.statements(&command.body, source, scope, place);
                });
                None
            }
            CompoundCommand::Case(command) => {
                self.case(command, source, scope, place);
                None
            }
            CompoundCommand::Arithmetic(command) => {
                self.arithmetic_part(command.expr_span, command.expr_ast.as_ref(), source, scope, place);
                place.is_captured.then(Word::default)
            }
            CompoundCommand::Time(command) => match &command.command {
                Some(statement) => self.statement(statement, source, scope, place),
                None => None,
            },
            CompoundCommand::Conditional(command) => {
                self.condition(&command.expression, source, scope, place);
                place.is_captured.then(Word::default)
            }
            CompoundCommand::Coproc(command) => {
                let mut inner = self.subshell(scope);
                self.statement(&command.body, source, &mut inner, place);
                place.is_captured.then(Word::default)
            }
            CompoundCommand::Always(command) => {
                self.statements(&command.body, source, scope, place);
                self.statements(&command.always_body, source, scope, place)
            }
        }
    }

    fn for_loop(
        &mut self,
        command: &ForCommand,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        let mut words = Vec::new();
        match &command.words {
            Some(raws) => self.words(raws, source, scope, place, &mut words),
            None => match &scope.parameters {
                Some(parameters) => words.extend(parameters.iter().cloned()),
                None => words.push(unknown("$@", true)),
            },
        }
        let Some(name) = command.targets.first().and_then(|target| target.name.as_ref()) else {
            let span = source.place_of(command.span);
            self.unreadable(UnreadableKind::Syntax, "a loop without a variable".to_owned(), span);
            return None;
        };
        self.rounds(name.as_str(), words, &command.body, source, scope, place)
    }

    /// A loop over words.
    fn rounds(
        &mut self,
        name: &str,
        words: Vec<Word>,
        body: &StmtSeq,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        let is_known = words.iter().all(|word| !word.may_split());
        if is_known && words.len() <= ROUNDS {
            let mut printed = place.is_captured.then(Word::default);
            for word in words {
                scope.set(name, Value::Text(Word { span: None, ..word }));
                self.frames.push(Frame::default());
                let text = self.statements(body, source, scope, place);
                self.end_frame(scope);
                printed = self.append(printed, text);
                if !self.spend(16) {
                    return None;
                }
            }
            return printed;
        }
        let values: Vec<Value> = if words.len() > ROUNDS {
            // Too many to follow: names if that is all they are.
            let is_name = |word: &Word| {
                word.value().is_some_and(|text| {
                    !text.is_empty()
                        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte))
                })
            };
            if words.iter().all(is_name) {
                vec![Value::Text(Word { pieces: vec![Piece::Name], span: None })]
            } else {
                vec![Value::Unknown]
            }
        } else {
            words
                .into_iter()
                .map(|word| {
                    let splits = |piece: &Piece| matches!(piece, Piece::Unknown { splits: true, .. });
                    if word.pieces.len() > 1 && word.pieces.iter().any(splits) {
                        // The text around it is part of the first and of the last round only.
                        return Value::Unknown;
                    }
                    let pieces = word.pieces.into_iter().map(|piece| match piece {
                        Piece::Unknown { source, .. } => Piece::Unknown { splits: false, source },
                        other => other,
                    });
                    Value::Text(Word { pieces: pieces.collect(), span: None })
                })
                .collect()
        };
        for value in values {
            self.repeated(scope, |reader, scope| {
                scope.set(name, value.clone());
                reader.statements(body, source, scope, place);
            });
        }
        None
    }

    /// Reads what runs an unknown number of times: a second reading starts from what the first one may have
    /// changed.
    fn repeated(&mut self, scope: &mut Scope, mut round: impl FnMut(&mut Self, &mut Scope)) {
        let before = scope.clone();
        let commands = self.reading.commands.len();
        let effects = self.reading.effects.len();
        let unreadable = self.reading.unreadable.len();
        self.frames.push(Frame::default());
        round(self, scope);
        self.end_frame(scope);
        scope.join(&before);
        if !scope.equals(&before) && !self.is_limited {
            self.reading.commands.truncate(commands);
            self.reading.effects.truncate(effects);
            self.reading.unreadable.truncate(unreadable);
            let again = scope.clone();
            self.frames.push(Frame::default());
            round(self, scope);
            self.end_frame(scope);
            scope.join(&again);
        }
    }

    /// Joins what left a loop or a function early.
    pub(super) fn end_frame(&mut self, scope: &mut Scope) {
        if let Some(frame) = self.frames.pop() {
            for (name, variable) in frame.locals.into_iter().rev() {
                scope.restore(&name, variable);
            }
            if let Some(escaped) = frame.escaped {
                scope.has_ended = false;
                scope.join(&escaped);
            }
        }
    }

    fn case(&mut self, command: &CaseCommand, source: &Source<'_>, scope: &mut Scope, place: &Place) {
        let word = self.value(&command.word, source, scope, place);
        let known = word.value();
        let mut ways: Vec<Scope> = Vec::new();
        let mut is_decided = false;
        let mut falls: Option<Scope> = None;
        for item in &command.cases {
            let mut may_match = false;
            for raw in &item.patterns {
                let pattern = self.case_pattern(raw, source, scope, place);
                match (known, pattern) {
                    (Some(text), Some(pattern)) => {
                        if pattern.fits(text) {
                            may_match = true;
                            is_decided = true;
                            break;
                        }
                    }
                    _ => may_match = true,
                }
            }
            let mut way = match falls.take() {
                Some(way) => way,
                None if may_match => scope.clone(),
                None => continue,
            };
            if !self.spend(8 + scope.size()) {
                return;
            }
            self.statements(&item.body, source, &mut way, place);
            match item.terminator {
                CaseTerminator::FallThrough => falls = Some(way),
                CaseTerminator::Continue | CaseTerminator::ContinueMatching => {
                    // What follows may see what this branch did.
                    scope.join(&way);
                    ways.push(way);
                    is_decided = false;
                }
                CaseTerminator::Break => {
                    ways.push(way);
                    if is_decided {
                        break;
                    }
                }
            }
        }
        ways.extend(falls);
        let mut ways = ways.into_iter();
        if is_decided && let Some(first) = ways.next() {
            *scope = first;
        }
        for way in ways {
            scope.join(&way);
        }
    }

    fn case_pattern(
        &mut self,
        raw: &RawPattern,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Pattern> {
        let (start, end) = (raw.span.start.offset(), raw.span.end.offset());
        source.text.get(start..end)?;
        if !self.spend(8 + (end - start)) {
            return None;
        }
        // The parser's view of a pattern has another shape: substitutions in it are found anew.
        let has_words = raw
            .parts
            .iter()
            .any(|part| matches!(part.kind, PatternPart::Word(_) | PatternPart::Group { .. }));
        let mut expansion = Expansion::new(source, Parts::None, false);
        self.scan(&mut expansion, scope, place, start, end, Quote::None, None);
        let words = expansion.fields.into_words();
        match words.as_slice() {
            [] => Pattern::new(&Word::default()),
            [word] if !has_words || !word.has_unknown() => Pattern::new(word),
            _ => None,
        }
    }

    /// The commands within `[[ … ]]`.
    fn condition(
        &mut self,
        expression: &ConditionalExpr,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) {
        if !self.enter() {
            return;
        }
        match expression {
            ConditionalExpr::Binary(binary) => {
                self.condition(&binary.left, source, scope, place);
                self.condition(&binary.right, source, scope, place);
            }
            ConditionalExpr::Unary(unary) => self.condition(&unary.expr, source, scope, place),
            ConditionalExpr::Parenthesized(inner) => self.condition(&inner.expr, source, scope, place),
            ConditionalExpr::Regex(word) => {
                let range = (word.span.start.offset(), word.span.end.offset());
                if source.slice(word.span).is_some() && self.spend(range.1 - range.0) {
                    let mut expansion = Expansion::new(source, Parts::Word(&word.parts), false);
                    self.scan(&mut expansion, scope, place, range.0, range.1, Quote::None, None);
                }
            }
            ConditionalExpr::Word(word) => {
                let span = source.place_of(word.span);
                let value = self.value(word, source, scope, place);
                if let Some(text) = value.value().map(str::to_owned) {
                    // `-eq` and `-v` evaluate what they are given.
                    self.subscript_text(&text, span, scope, place);
                    self.evaluated(&text, scope, place, span, 0);
                }
            }
            ConditionalExpr::Pattern(pattern) => {
                self.case_pattern(pattern, source, scope, place);
            }
            ConditionalExpr::VarRef(reference) => {
                if let Some(subscript) = &reference.subscript {
                    self.subscript(subscript, source, scope, place);
                }
            }
        }
        self.leave();
    }

    /// The commands within a subscript.
    pub(super) fn subscript(
        &mut self,
        subscript: &Subscript,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<i64> {
        let span = subscript.syntax_source_text().span();
        let range = (span.start.offset(), span.end.offset());
        source.text.get(range.0..range.1)?;
        let parts = subscript.word_ast().map_or(Parts::None, |word| Parts::Word(&word.parts));
        self.arithmetic(source, parts, range, scope, place)
    }

    fn arithmetic_part(
        &mut self,
        span: Option<Span>,
        _tree: Option<&ArithmeticExprNode>,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) {
        let Some(span) = span else { return };
        let range = (span.start.offset(), span.end.offset());
        if source.text.get(range.0..range.1).is_some() {
            self.arithmetic(source, Parts::None, range, scope, place);
        }
    }

    /// A function is defined: its body counts when it is called.
    pub(super) fn define(&mut self, function: &FunctionDef, source: &Source<'_>, scope: &mut Scope) {
        let end = function.body.span.end.offset();
        let mut start = function.body.span.start.offset();
        if matches!(&function.body.command, Syntax::Compound(CompoundCommand::Subshell(_)))
            && !source.text.get(start..end).is_some_and(|text| text.starts_with('('))
        {
            // The parser leaves the parenthesis out.
            start = source.text.get(..start).and_then(|text| text.rfind('(')).unwrap_or(start);
        }
        let Some(text) = source.text.get(start..end) else { return };
        self.spend(8 + text.len() / 8);
        for name in function.header.static_names() {
            scope.define(
                name.as_str(),
                Function {
                    text: text.to_owned(),
                    base: source.base.map(|base| base + start),
                    holes: Rc::clone(&source.holes),
                },
            );
        }
        if function.header.static_names().next().is_none() {
            let span = source.place_of(function.span);
            self.unreadable(UnreadableKind::Syntax, "a function whose name is not known".to_owned(), span);
        }
    }

    /// Calls a function.
    pub(super) fn call(
        &mut self,
        name: &str,
        bodies: &[Rc<Function>],
        arguments: Vec<Word>,
        span: Option<(usize, usize)>,
        scope: &mut Scope,
        place: &Place,
    ) -> Option<Word> {
        let calls = self.frames.iter().filter(|frame| frame.function.is_some()).count();
        let mut same = self.frames.iter().filter(|frame| frame.function.as_deref() == Some(name));
        let mut arguments = Some(Rc::new(arguments));
        if same.clone().count() >= ROUNDS_OF_CALLS {
            // Whatever it calls itself with from here on.
            arguments = None;
        }
        if same.any(|frame| frame.arguments == arguments) {
            return None;
        }
        if calls >= CALLS {
            self.limit("functions call each other more often than is read", span);
            return None;
        }
        let outer = std::mem::replace(&mut scope.parameters, arguments.clone());
        let before = scope.clone();
        let mut printed = None;
        for (index, body) in bodies.iter().enumerate() {
            let mut way = before.clone();
            let arguments = arguments.clone();
            self.frames.push(Frame { function: Some(name.to_owned()), arguments, ..Frame::default() });
            let source = Source { text: &body.text, base: body.base, span, holes: Rc::clone(&body.holes) };
            printed = self.text_statements(&source, &mut way, place);
            self.end_frame(&mut way);
            if index == 0 {
                *scope = way;
            } else {
                scope.join(&way);
                printed = None;
            }
        }
        scope.parameters = outer;
        printed
    }
}
