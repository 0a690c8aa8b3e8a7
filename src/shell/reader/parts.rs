//! Finds what the parser saw at a position of a word.

use shuck_ast::{
    BourneParameterExpansion, HeredocBodyPart, HeredocBodyPartNode, ParameterExpansion,
    ParameterExpansionSyntax, Span, StmtSeq, Word, WordPart, WordPartNode,
};

/// The parser's view of the text that is expanded.
#[derive(Clone, Copy)]
pub(super) enum Parts<'a> {
    /// It did not look into it.
    None,
    Word(&'a [WordPartNode]),
    Heredoc(&'a [HeredocBodyPartNode]),
}

/// What stands at a position.
pub(super) enum Part<'a> {
    /// `$(…)`, back-quotes, `<(…)`
    Commands(&'a StmtSeq, Span),
    /// `${…}`, `$((…))`
    Other(Span),
}

impl<'a> Parts<'a> {
    /// What begins at `offset`.
    pub(super) fn at(self, offset: usize) -> Option<Part<'a>> {
        match self {
            Self::None => None,
            Self::Word(parts) => in_word(parts, offset),
            Self::Heredoc(parts) => {
                let after = parts.partition_point(|part| part.span.start.offset() <= offset);
                let node = parts.get(after.checked_sub(1)?)?;
                let is_here = node.span.start.offset() == offset;
                match &node.kind {
                    HeredocBodyPart::CommandSubstitution { body, .. } if is_here => {
                        Some(Part::Commands(body, node.span))
                    }
                    HeredocBodyPart::Parameter(_) | HeredocBodyPart::ArithmeticExpansion { .. }
                        if is_here =>
                    {
                        Some(Part::Other(node.span))
                    }
                    HeredocBodyPart::Parameter(parameter) => in_parameter(parameter, offset),
                    HeredocBodyPart::ArithmeticExpansion { expression_word_ast, .. } => {
                        in_word(&expression_word_ast.parts, offset)
                    }
                    HeredocBodyPart::Literal(_)
                    | HeredocBodyPart::Variable(_)
                    | HeredocBodyPart::CommandSubstitution { .. } => None,
                }
            }
        }
    }
}

fn in_word(parts: &[WordPartNode], offset: usize) -> Option<Part<'_>> {
    let after = parts.partition_point(|part| part.span.start.offset() <= offset);
    let node = parts.get(after.checked_sub(1)?)?;
    if offset >= node.span.end.offset() {
        return None;
    }
    let is_here = node.span.start.offset() == offset;
    match &node.kind {
        WordPart::CommandSubstitution { body, .. } | WordPart::ProcessSubstitution { body, .. }
            if is_here =>
        {
            Some(Part::Commands(body, node.span))
        }
        WordPart::Parameter(_) | WordPart::ArithmeticExpansion { .. } if is_here => {
            Some(Part::Other(node.span))
        }
        WordPart::DoubleQuoted { parts, .. } => in_word(parts, offset),
        WordPart::Parameter(parameter) => in_parameter(parameter, offset),
        WordPart::ArithmeticExpansion { expression_word_ast, .. } => {
            in_word(&expression_word_ast.parts, offset)
        }
        _ => None,
    }
}

fn in_parameter(parameter: &ParameterExpansion, offset: usize) -> Option<Part<'_>> {
    let ParameterExpansionSyntax::Bourne(expansion) = &parameter.syntax else { return None };
    let (reference, words): (_, [Option<&Word>; 2]) = match expansion {
        BourneParameterExpansion::Access { reference }
        | BourneParameterExpansion::Length { reference }
        | BourneParameterExpansion::Indices { reference }
        | BourneParameterExpansion::Transformation { reference, .. } => (reference, [None, None]),
        BourneParameterExpansion::Indirect { reference, operand_word_ast, operator, .. } => {
            let replacement = operator.as_deref().and_then(|operator| operator.replacement_word_ast());
            (reference, [operand_word_ast.as_deref(), replacement])
        }
        BourneParameterExpansion::Slice { reference, offset_word_ast, length_word_ast, .. } => {
            (reference, [Some(offset_word_ast), length_word_ast.as_deref()])
        }
        BourneParameterExpansion::Operation { reference, operator, operand_word_ast, .. } => {
            (reference, [operand_word_ast.as_deref(), operator.replacement_word_ast()])
        }
        BourneParameterExpansion::PrefixMatch { .. } => return None,
    };
    let subscript = reference.subscript.as_deref().and_then(|subscript| subscript.word_ast());
    words.into_iter().chain([subscript]).flatten().find_map(|word| in_word(&word.parts, offset))
}
