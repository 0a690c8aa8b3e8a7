//! Expressions that spell out a command, which a word pattern says better: it sees through wrappers, options and
//! quotes.

use super::super::tree::Value;
use super::{Linted, Subject};

pub(super) fn check(subject: &Subject<'_>) -> Option<Linted> {
    // The older form has no word patterns.
    if subject.is_seed {
        return None;
    }
    let (key, text, why) = ["command", "text"].into_iter().find_map(|key| {
        let Value::Scalar { text, .. } = &subject.entry(key)?.value.value else { return None };
        let why = if key == "text" {
            "`text` also matches what is only quoted or searched for, and no other spelling of the command"
        } else {
            "a word pattern knows the program's options and their other spellings"
        };
        Some((key, text, why))
    })?;
    let words = plain_words(text)?;
    let message = format!("`{key}` of rule `{}` spells out a command", subject.rule.id);
    Some(
        subject
            .finding("words-say-it", key, message, "words of a command")
            .help(format!("write `run: {words}`: {why}")),
    )
}

/// The words of an expression that is a command and nothing else.
fn plain_words(expression: &str) -> Option<String> {
    let mut text = expression;
    for start in ["^", r"\A", r"\b"] {
        text = text.strip_prefix(start).unwrap_or(text);
    }
    for end in ["(?: |$)", "( |$)", r"(\s|$)", r"(?:\s|$)", r"\b", "$", ".*"] {
        text = text.strip_suffix(end).unwrap_or(text).trim_end();
    }
    let text = text.replace(r"\s+", " ").replace(r"\s*", " ").replace(r"\s", " ").replace(" +", " ");
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_/:@".contains(c));
    let program = words.first()?;
    (words.len() > 1 && words.iter().all(is_plain) && crate::shell::program(program).is_some())
        .then(|| words.join(" "))
}
