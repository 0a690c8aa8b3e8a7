//! Stands in for inline languages until they are read.

use super::super::effect::EffectKind;
use super::super::invocation::Language;
use super::super::word::Word;

#[derive(Default)]
pub(super) struct CodeReading {
    pub(super) effects: Vec<(EffectKind, Word)>,
    pub(super) shell: Vec<Word>,
    pub(super) commands: Vec<Vec<Word>>,
    pub(super) unreadable: Vec<String>,
}

pub(super) fn read_code(_: Language, _: &Word, _: &[Word]) -> CodeReading {
    CodeReading::default()
}

pub(in crate::shell) fn parse(words: &[Word]) -> super::super::invocation::Invocation {
    use super::super::invocation::{Invocation, Nested};
    let Some(name) = words.first().and_then(Word::value) else { return Invocation::default() };
    let name = name.rsplit('/').next().unwrap_or(name).to_owned();
    let rest = words.get(1..).unwrap_or_default();
    let mut nested = Vec::new();
    let skip = |count: usize| rest.get(count..).unwrap_or_default().to_vec();
    let options = rest.iter().take_while(|word| word.known_prefix().starts_with('-')).count();
    let command = |words: Vec<Word>, takes_input: bool| Nested::Command {
        words,
        assignments: Vec::new(),
        directory: None,
        takes_input,
    };
    match name.as_str() {
        "sh" | "bash" | "dash" | "zsh" => {
            let code = rest.iter().position(|word| {
                word.value().is_some_and(|text| {
                    text.starts_with('-') && !text.starts_with("--") && text.contains('c')
                })
            });
            match code {
                Some(at) => nested.push(Nested::Code {
                    language: Language::Shell,
                    code: rest.get(at + 1).cloned().unwrap_or_default(),
                    arguments: rest.get(at + 3..).unwrap_or_default().to_vec(),
                }),
                None if options == rest.len() || rest.iter().any(|word| word.value() == Some("-s")) => {
                    nested.push(Nested::Input { language: Language::Shell, input: None })
                }
                None => nested.push(Nested::Script {
                    language: Language::Shell,
                    path: rest.get(options).cloned().unwrap_or_default(),
                    arguments: skip(options + 1),
                    in_this_shell: false,
                }),
            }
        }
        "env" => {
            let at = rest
                .iter()
                .take_while(|word| word.known_prefix().starts_with('-') || word.known_prefix().contains('='))
                .count();
            nested.push(command(skip(at), false));
        }
        "sudo" | "nice" | "nohup" | "setsid" | "doas" => nested.push(command(skip(options), false)),
        "timeout" => nested.push(command(skip(options + 1), false)),
        "xargs" => {
            let mut words = skip(options);
            words.push(super::expand::unknown("…", true));
            nested.push(command(words, true));
        }
        "find" => {
            if let Some(at) =
                rest.iter().position(|word| matches!(word.value(), Some("-exec" | "-execdir" | "-ok")))
            {
                nested.push(command(
                    rest.get(at + 1..)
                        .unwrap_or_default()
                        .iter()
                        .take_while(|word| !matches!(word.value(), Some(";" | "+")))
                        .cloned()
                        .collect(),
                    false,
                ));
            }
        }
        _ => {}
    }
    Invocation { program: Some(name), nested, ..Invocation::default() }
}
