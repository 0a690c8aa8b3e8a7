//! Wrappers whose words need more than data: `xargs`, `parallel`, `env -S`, `busybox`, `vim`, `awk`, `cmd`.

use super::super::effect::Access;
use super::super::invocation::{GivenOption, Invocation, Language, Nested, Operand};
use super::super::table::Program;
use super::super::word::{Piece, Word};
use super::options::Scan;
use super::words::{join, program_name, split_words, unknown, without_prefix};

/// Most words of a `parallel … ::: a b c` that are put in one by one.
const LISTED: usize = 32;

/// Marks where words from standard input go.
pub(super) fn xargs(scan: &mut Scan<'_>) {
    let replace = match (scan.value("-I").or_else(|| scan.value("--replace")), scan.has("--replace")) {
        (Some(text), _) => Some(text.shown().into_owned()),
        (None, true) => Some("{}".to_owned()),
        (None, false) => None,
    };
    let replace = replace.map(|text| if text.is_empty() { "{}".to_owned() } else { text });
    let mut found = false;
    for nested in &mut scan.invocation.nested {
        if let Nested::Command { words, takes_input, .. } = nested {
            found = true;
            *takes_input = true;
            match &replace {
                Some(mark) => {
                    for word in words.iter_mut() {
                        *word = marked(word, mark, &unknown("input of xargs", false));
                    }
                }
                None => words.push(unknown("input of xargs", true)),
            }
        }
    }
    if !found {
        // It echoes what it reads.
        let words = vec![Word::known("echo"), unknown("input of xargs", true)];
        scan.nest(Nested::Command { words, assignments: Vec::new(), directory: None, takes_input: true });
    }
}

/// `mark` replaced in the known text of a word.
fn marked(word: &Word, mark: &str, by: &Word) -> Word {
    let mut parts: Vec<Word> = Vec::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) if text.contains(mark) => {
                for (at, part) in text.split(mark).enumerate() {
                    if at > 0 {
                        parts.push(by.clone());
                    }
                    parts.push(Word::known(part));
                }
            }
            other => parts.push(Word { pieces: vec![other.clone()], span: None }),
        }
    }
    join(&parts, "")
}

/// The command is shell code that is read anew for each input.
pub(super) fn parallel(scan: &mut Scan<'_>) {
    scan.invocation.nested.clear();
    let operands: Vec<Word> = scan.invocation.operands.iter().map(|operand| operand.word.clone()).collect();
    let is_mark = |word: &Word| matches!(word.value(), Some(":::" | "::::" | ":::+" | "::::+"));
    let at = operands.iter().position(is_mark).unwrap_or(operands.len());
    let (command, inputs) = operands.split_at(at);
    let listed: Vec<Word> = match inputs.split_first() {
        Some((mark, words))
            if mark.value() == Some(":::") && words.len() <= LISTED && !words.iter().any(is_mark) =>
        {
            words.to_vec()
        }
        _ => vec![unknown("input of parallel", false)],
    };
    for input in listed {
        let code = if command.is_empty() {
            input
        } else {
            let has_mark =
                command.iter().any(|word| word.known_prefix().contains("{}") || word.shown().contains('{'));
            let mut words: Vec<Word> = command.to_vec();
            for mark in ["{}", "{.}", "{/}", "{//}", "{/.}", "{1}"] {
                words = words.iter().map(|word| marked(word, mark, &input)).collect();
            }
            if !has_mark {
                words.push(input);
            }
            join(&words, " ")
        };
        scan.nest(Nested::Code { language: Language::Shell, code, arguments: Vec::new() });
    }
}

/// `env -S 'A=1 prog arg' more`: the text is taken apart and read as words of `env`.
pub(super) fn split_string(scan: &mut Scan<'_>) {
    let Some(text) = scan.value("--split-string").cloned() else { return };
    let Some(option) = scan.invocation.options.iter().rev().find(|option| option.name == "--split-string")
    else {
        return;
    };
    // What follows the text: after the option's word, or after the next one where the text stands alone.
    let attached =
        scan.words.get(option.word).is_some_and(|word| word.shown().ends_with(text.shown().as_ref()));
    let after = option.word + if attached { 1 } else { 2 };
    let rest = scan.words.get(after..).unwrap_or_default().to_vec();
    let words = match text.value().and_then(split_words) {
        Some(words) if !text.shown().contains('$') => words.into_iter().map(Word::known).collect(),
        _ => vec![text],
    };
    scan.invocation.nested.clear();
    let mut call = vec![Word::known("env")];
    call.extend(words);
    call.extend(rest);
    let (assignments, directory) = (scan.taken_assignments(), scan.directory.clone());
    scan.nest(Nested::Command { words: call, assignments, directory, takes_input: false });
}

/// `mise exec node@22 -- rm -rf x`
pub(super) fn after_dashes(scan: &mut Scan<'_>) {
    let Some(at) = scan.operands_before_dashes else { return };
    let Some(from) = scan.invocation.operands.get(at).map(|operand| operand.index) else { return };
    let words = scan.words.get(from..).unwrap_or_default().to_vec();
    let directory = scan.directory.clone();
    scan.nest(Nested::Command { words, assignments: Vec::new(), directory, takes_input: false });
}

/// `busybox rm -rf x` is `rm -rf x`.
pub(super) fn busybox(_table: &'static Program, words: &[Word]) -> Invocation {
    let mut invocation = Invocation::default();
    for (index, word) in words.iter().enumerate().skip(1) {
        invocation.operands.push(Operand { word: word.clone(), index, access: None });
    }
    let words = words.get(1..).unwrap_or_default().to_vec();
    if words.first().is_some_and(|word| matches!(word.value(), Some("--help" | "--list" | "--list-full"))) {
        invocation.is_help = true;
    } else {
        invocation.nested.push(Nested::Command {
            words,
            assignments: Vec::new(),
            directory: None,
            takes_input: false,
        });
    }
    invocation
}

/// `cmd /c …` and its like: nobody looks into these.
pub(super) fn windows_shell(words: &[Word]) -> Invocation {
    let mut invocation = Invocation::default();
    let mut code = Vec::new();
    for (index, word) in words.iter().enumerate().skip(1) {
        let prefix = word.known_prefix();
        if code.is_empty() && (prefix.starts_with('/') && prefix.len() <= 3 || prefix.starts_with('-')) {
            let name = prefix.trim_start_matches('/').to_ascii_lowercase();
            invocation.options.push(GivenOption { name: format!("/{name}"), value: None, word: index });
        } else {
            code.push(word.clone());
            invocation.operands.push(Operand { word: word.clone(), index, access: None });
        }
    }
    if !code.is_empty() {
        invocation.nested.push(Nested::Code {
            language: Language::Opaque,
            code: join(&code, " "),
            arguments: Vec::new(),
        });
    }
    invocation
}

/// `-i inplace` writes back what would only be read.
pub(super) fn awk(scan: &mut Scan<'_>) {
    let is_in_place = scan.invocation.options.iter().any(|option| {
        let library = option.value.as_ref().map(Word::shown);
        option.name == "--include"
            && library.is_some_and(|name| name.trim_end_matches(".awk").ends_with("inplace"))
    });
    if !is_in_place {
        return;
    }
    let operands = scan.invocation.operands.iter().filter(|operand| operand.access.is_some());
    let files: Vec<Word> = operands.map(|operand| operand.word.clone()).collect();
    for file in &files {
        scan.path(Access::Write, false, file);
    }
}

/// Editor commands: `:!cmd` starts, `:w file` writes; without a screen they come from standard input.
pub(super) fn vim(scan: &mut Scan<'_>) {
    let program = scan.words.first().and_then(program_name);
    let is_ex =
        program.as_deref() == Some("ex") || ["-e", "-E", "-es", "-Es"].iter().any(|name| scan.has(name));
    if is_ex && (scan.has("-s") || scan.has("-es") || scan.has("-Es")) {
        // `-s` takes nothing here: what was taken for its value is the file.
        if let Some(file) = scan.value("-s").cloned() {
            scan.path(Access::Write, false, &file);
        }
        scan.nest(Nested::Input { language: Language::Opaque, input: None });
    }
    let mut commands: Vec<Word> = scan
        .invocation
        .options
        .iter()
        .filter(|option| matches!(option.name.as_str(), "-c" | "--cmd"))
        .filter_map(|option| option.value.clone())
        .collect();
    for operand in &scan.invocation.operands {
        if operand.word.known_prefix().starts_with('+') {
            commands.push(without_prefix(&operand.word, 1));
        }
    }
    for command in commands {
        let text = command.known_prefix().trim_start_matches([':', '%', ' ', '1', '$', ',', '.']);
        let skipped = command.known_prefix().len() - text.len();
        if let Some(rest) = text.strip_prefix("silent").map(|rest| rest.trim_start_matches(['!', ' '])) {
            let skipped = command.known_prefix().len() - rest.len();
            if rest.len() < text.len() && command.known_prefix().contains('!') {
                let code = without_prefix(&command, skipped);
                scan.nest(Nested::Code { language: Language::Shell, code, arguments: Vec::new() });
            }
        } else if text.starts_with('!') {
            let code = without_prefix(&command, skipped + 1);
            scan.nest(Nested::Code { language: Language::Shell, code, arguments: Vec::new() });
        } else if ["py", "lua", "perl", "ruby", "call ", "exe", "source", "so ", "term"]
            .iter()
            .any(|word| text.starts_with(word))
        {
            scan.nest(Nested::Code {
                language: Language::Opaque,
                code: command.clone(),
                arguments: Vec::new(),
            });
        } else if let Some(file) = text
            .strip_prefix("w ")
            .or_else(|| text.strip_prefix("w! "))
            .or_else(|| text.strip_prefix("saveas "))
        {
            scan.path(Access::Write, false, &Word::known(file.trim()));
        }
    }
}
