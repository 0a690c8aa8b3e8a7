//! What a call does with its arguments.

use super::super::effect::{Access, EffectKind};
use super::super::word::Word;
use super::calls::{Action, Argument, Scan, Value};
use super::values::splitting;
use super::{language_name, read_nested};

impl Scan<'_> {
    pub(super) fn shell_line(&mut self, line: Word) {
        if line.has_unknown() {
            let language = language_name(self.dialect.language);
            self.reading.unreadable(format!("{language} code that gives a shell a line that is not known"));
        }
        self.reading.shell.push(line);
    }

    pub(super) fn start(&mut self, words: Vec<Word>) {
        if words.first().is_none_or(Word::has_unknown) {
            let language = language_name(self.dialect.language);
            self.reading.unreadable(format!("{language} code that starts a program that is not known"));
            return;
        }
        self.reading.commands.push(words);
    }

    pub(super) fn touch(&mut self, value: Option<&Value>, access: Access, recursive: bool) {
        match value {
            Some(Value::Text(word)) => self.reading.path(access, recursive, word.clone()),
            Some(Value::List(words)) => {
                for word in words {
                    self.reading.path(access, recursive, word.clone());
                }
            }
            // Reading what is not known is shown nowhere here: it counts as little as in the shell.
            Some(Value::Unknown) | None if access == Access::Read => {}
            Some(Value::Unknown) | None => {
                let language = language_name(self.dialect.language);
                let does = if access == Access::Write { "writes" } else { "deletes" };
                self.reading.unreadable(format!("{language} code that {does} a path that is not known"));
            }
        }
    }

    pub(super) fn act(&mut self, action: Action, full: &str, at: usize, arguments: &[Argument]) {
        let language = language_name(self.dialect.language);
        let positional: Vec<&Argument> =
            arguments.iter().filter(|argument| argument.keyword.is_none()).collect();
        let named = |names: &[&str]| {
            arguments
                .iter()
                .find(|argument| argument.keyword.as_deref().is_some_and(|name| names.contains(&name)))
        };
        let value = |index: usize| positional.get(index).map(|argument| &argument.value);
        match action {
            Action::Shell => match value(0)
                .or_else(|| named(&["cmd", "command"]).map(|argument| &argument.value))
            {
                Some(Value::Text(line)) => {
                    let words: Vec<Word> = positional
                        .iter()
                        .map(|argument| match &argument.value {
                            Value::Text(word) => word.clone(),
                            Value::List(_) | Value::Unknown => splitting("value"),
                        })
                        .collect();
                    if words.len() > 1 && self.dialect.bare_calls {
                        self.start(words);
                    } else {
                        let line = line.clone();
                        self.shell_line(line);
                    }
                }
                Some(Value::List(words)) => {
                    let words = words.clone();
                    self.start(words);
                }
                Some(Value::Unknown) | None => {
                    self.reading
                        .unreadable(format!("{language} code that gives a shell a line that is not known"));
                }
            },
            Action::Program => {
                let by_shell = named(&["shell"]).is_some_and(|argument| {
                    !matches!(argument.words.first().map(String::as_str), Some("False" | "None"))
                });
                match value(0).or_else(|| named(&["args"]).map(|argument| &argument.value)) {
                    Some(Value::List(words)) if !by_shell => {
                        let words = words.clone();
                        self.start(words);
                    }
                    Some(Value::List(words)) => {
                        if let Some(line) = words.first() {
                            let line = line.clone();
                            self.shell_line(line);
                        }
                    }
                    Some(Value::Text(word)) => {
                        let word = word.clone();
                        if by_shell { self.shell_line(word) } else { self.start(vec![word]) }
                    }
                    Some(Value::Unknown) | None => {
                        self.reading
                            .unreadable(format!("{language} code that starts a program that is not known"));
                    }
                }
            }
            Action::ProgramWithList => {
                let mut words = Vec::new();
                for argument in &positional {
                    match &argument.value {
                        Value::Text(word) => words.push(word.clone()),
                        Value::List(list) => words.extend(list.iter().cloned()),
                        Value::Unknown if argument.words.first().is_some_and(|word| word == "{") => {}
                        Value::Unknown => words.push(splitting("value")),
                    }
                }
                self.start(words);
            }
            Action::Open => {
                let mode = named(&["mode"]).or(positional.get(1).copied());
                let access = mode.map_or(Access::Read, open_access);
                self.touch(
                    value(0).or_else(|| named(&["file", "path"]).map(|argument| &argument.value)),
                    access,
                    false,
                );
            }
            Action::PerlOpen => self.perl_open(&positional),
            Action::Path(index, access, recursive) => {
                let deep = recursive
                    || arguments.iter().any(|argument| argument.words.iter().any(|word| word == "recursive"));
                self.touch(value(index), access, deep);
            }
            Action::Paths(access, recursive) => {
                if positional.is_empty() {
                    self.touch(None, access, recursive);
                }
                for argument in &positional {
                    let is_options = argument.words.first().is_some_and(|word| word == "{");
                    if !is_options {
                        self.touch(Some(&argument.value), access, recursive);
                    }
                }
            }
            Action::Move => {
                self.touch(value(0), Access::Delete, true);
                self.touch(value(1), Access::Write, false);
            }
            Action::Copy => {
                self.touch(value(0), Access::Read, true);
                self.touch(value(1), Access::Write, false);
            }
            Action::Link => {
                self.touch(value(1), Access::Write, false);
                if let (Some(Value::Text(target)), Some(Value::Text(link))) = (value(0), value(1)) {
                    self.reading.effects.push((EffectKind::Link { target: target.clone() }, link.clone()));
                }
            }
            Action::Receiver(access, recursive) => {
                let receiver = self.receiver(at, full);
                self.touch(Some(&receiver), access, recursive);
            }
            Action::ReceiverMove => {
                // `"text".replace(a, b)` is no move.
                if positional.len() != 1 {
                    return;
                }
                let receiver = self.receiver(at, full);
                self.touch(Some(&receiver), Access::Delete, true);
                self.touch(value(0), Access::Write, false);
            }
            Action::ReceiverOpen => {
                let mode = named(&["mode"]).or(positional.first().copied());
                let access = mode.map_or(Access::Read, open_access);
                let receiver = self.receiver(at, full);
                self.touch(Some(&receiver), access, false);
            }
            Action::Contact(index) => {
                match value(index).or_else(|| named(&["url"]).map(|argument| &argument.value)) {
                    Some(Value::Text(word)) => self.reading.contact(word.clone()),
                    Some(Value::List(words)) if !words.is_empty() => {
                        if let Some(word) = words.first() {
                            self.reading.contact(word.clone());
                        }
                    }
                    Some(_) => self
                        .reading
                        .unreadable(format!("{language} code that contacts a host that is not known")),
                    None => {}
                }
            }
            Action::Eval => match value(0) {
                Some(Value::Text(code)) => {
                    let inner = read_nested(self.dialect.language, code, &[], self.depth + 1);
                    self.reading.effects.extend(inner.effects);
                    self.reading.shell.extend(inner.shell);
                    self.reading.commands.extend(inner.commands);
                    for what in inner.unreadable {
                        self.reading.unreadable(what);
                    }
                }
                Some(_) => {
                    self.reading.unreadable(format!("{language} code that evaluates what is not known"))
                }
                None => {}
            },
            Action::Opaque => self.reading.unreadable(format!("{language} code that calls `{full}`")),
        }
    }

    pub(super) fn perl_open(&mut self, positional: &[&Argument]) {
        let mode = positional.get(1).map(|argument| &argument.value);
        let Some(Value::Text(mode)) = mode else {
            if mode.is_some() {
                self.reading.unreadable("perl code that opens what is not known");
            }
            return;
        };
        let shown = mode.shown().trim().to_owned();
        let path = positional.get(2).map(|argument| argument.value.clone());
        let in_one = |prefix: usize| {
            Value::Text(Word::known(shown.get(prefix..).unwrap_or_default().trim().to_owned()))
        };
        match path {
            Some(_) if shown.contains('|') => {
                let words: Vec<Word> = positional
                    .iter()
                    .skip(2)
                    .map(|argument| match &argument.value {
                        Value::Text(word) => word.clone(),
                        Value::List(_) | Value::Unknown => splitting("value"),
                    })
                    .collect();
                match words.as_slice() {
                    [line] => self.shell_line(line.clone()),
                    _ => self.start(words),
                }
            }
            Some(path) => {
                let access = if shown.contains(['>', '+']) { Access::Write } else { Access::Read };
                self.touch(Some(&path), access, false);
            }
            None if mode.has_unknown() => self.reading.unreadable("perl code that opens what is not known"),
            None if shown.starts_with('|') => {
                self.shell_line(Word::known(shown.trim_start_matches('|').to_owned()))
            }
            None if shown.ends_with('|') => {
                self.shell_line(Word::known(shown.trim_end_matches('|').to_owned()))
            }
            None if shown.starts_with(">>") => self.touch(Some(&in_one(2)), Access::Write, false),
            None if shown.starts_with('>') => self.touch(Some(&in_one(1)), Access::Write, false),
            None if shown.starts_with('+') => self.touch(Some(&in_one(2)), Access::Write, false),
            None => self.touch(Some(&in_one(usize::from(shown.starts_with('<')))), Access::Read, false),
        }
    }
}

fn open_access(mode: &Argument) -> Access {
    match &mode.value {
        Value::Text(mode) if mode.value().is_some_and(|mode| !mode.contains(['w', 'a', 'x', '+', 'c'])) => {
            Access::Read
        }
        // A mode that is not known may write; a block or options in its place says nothing.
        Value::Unknown if mode.words.first().is_some_and(|word| word == "{" || word == "|") => Access::Read,
        Value::Text(_) | Value::List(_) | Value::Unknown => Access::Write,
    }
}
