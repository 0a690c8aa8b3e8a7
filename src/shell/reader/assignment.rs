//! Assignments: in front of commands, of declarations, and by themselves.

use shuck_ast::{
    ArrayElem, Assignment as RawAssignment, AssignmentValue, DeclClause, DeclOperand, Redirect as RawRedirect,
};

use super::super::word::Word;
use super::brace::{self, Braces};
use super::scope::{Scope, Value};
use super::source::Source;
use super::start::Lookup;
use super::{Place, Reader, UnreadableKind};

impl Reader<'_> {
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

    /// The name and the value of an assignment.
    pub(super) fn assignment(
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
}
