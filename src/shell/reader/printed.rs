//! What simple commands print, when that is certain.

use super::super::command::{Directory, Input};
use super::super::word::{Piece, Word};
use super::nested::key;
use super::scope::{Scope, Value};
use super::start::Start;
use super::{Place, Reader, Stored, ansi};

impl Reader<'_> {
    /// What a command prints; `None` if that is not known.
    pub(super) fn printed(
        &mut self,
        name: &str,
        start: &Start,
        scope: &Scope,
        place: &Place,
    ) -> Option<Word> {
        let arguments = start.words.get(1..).unwrap_or_default();
        if !self.spend(8 + arguments.len() * 4) {
            return None;
        }
        let base = name.rsplit('/').next().unwrap_or(name);
        match base {
            "echo" => {
                // Other shells than bash read backslashes in what `echo` prints.
                let is_plain =
                    place.via.iter().any(|via| matches!(via.as_str(), "sh" | "dash" | "ash" | "busybox"));
                echo(arguments, is_plain)
            }
            "printf" if arguments.first().and_then(Word::value) == Some("-v") => Some(Word::default()),
            "printf" => printf(arguments),
            "cat" => self.cat(arguments, &scope.directory, place),
            "pwd" => match self.lookup(scope, "PWD") {
                // Links on the way are followed by whoever resolves paths.
                Value::Text(path)
                    if arguments.iter().all(|word| matches!(word.value(), Some("-L" | "-P"))) =>
                {
                    Some(path)
                }
                _ => None,
            },
            "git" => self.git_place(arguments),
            "tee" => match &place.input {
                Input::Text(text) => Some(text.clone()),
                _ => None,
            },
            "basename" => {
                let [path] = arguments else { return None };
                let path = path.value()?.trim_end_matches('/');
                Some(Word::known(format!("{}\n", path.rsplit('/').next().unwrap_or_default())))
            }
            "dirname" => {
                let [path] = arguments else { return None };
                let parent = match path.value()?.trim_end_matches('/').rsplit_once('/') {
                    Some(("", _)) => "/",
                    Some((parent, _)) => parent.trim_end_matches('/'),
                    None => ".",
                };
                Some(Word::known(format!("{parent}\n")))
            }
            "mktemp" => mktemp(arguments, self.setting.variables.get("TMPDIR").map(String::as_str)),
            "base64" => {
                let decodes =
                    arguments.iter().any(|word| matches!(word.value(), Some("-d" | "-D" | "--decode")));
                let Input::Text(text) = &place.input else { return None };
                if !decodes || arguments.len() > 1 {
                    return None;
                }
                base64(text.value()?).map(Word::known)
            }
            "rev" => {
                let Input::Text(text) = &place.input else { return None };
                let lines: Vec<String> =
                    text.value()?.lines().map(|line| line.chars().rev().collect()).collect();
                Some(Word::known(lines.join("\n") + "\n"))
            }
            "cd" | ":" | "true" | "false" | "export" | "set" | "unset" | "mkdir" | "rm" | "touch" | "cp"
            | "mv" | "chmod" | "sleep" | "test" | "[" | "shift" | "read" | "alias" | "trap" | "ln"
            | "let" => Some(Word::default()),
            _ => self.listed(base, start, place),
        }
    }

    /// Places that `git rev-parse` tells.
    fn git_place(&self, arguments: &[Word]) -> Option<Word> {
        let words: Vec<&str> = arguments.iter().map(Word::value).collect::<Option<_>>()?;
        let top = self.setting.toplevel.as_deref();
        let folder =
            || top.map_or_else(|| ".git".to_owned(), |top| format!("{}/.git", top.trim_end_matches('/')));
        let path = match words.as_slice() {
            ["rev-parse", "--show-toplevel"] => top?.to_owned(),
            ["rev-parse", "--git-dir" | "--git-common-dir" | "--absolute-git-dir"] => folder(),
            ["rev-parse", "--git-path", name] => format!("{}/{name}", folder()),
            _ => return None,
        };
        Some(Word::known(path + "\n"))
    }

    fn cat(&self, arguments: &[Word], directory: &Directory, place: &Place) -> Option<Word> {
        let mut all = Word::default();
        let from_input = || match &place.input {
            Input::Text(text) => Some(text.clone()),
            Input::File(path) => self.content(path, directory),
            Input::Inherited | Input::Pipe => None,
        };
        if arguments.is_empty() {
            return from_input();
        }
        for argument in arguments {
            let text = if argument.value() == Some("-") {
                from_input()?
            } else {
                self.content(argument, directory)?
            };
            for piece in text.pieces {
                super::field::push(&mut all.pieces, piece);
            }
        }
        Some(all)
    }

    /// The content of a file that the line itself wrote, once.
    pub(super) fn content(&self, path: &Word, directory: &Directory) -> Option<Word> {
        match self.files.get(&key(path, directory)?)?.as_slice() {
            [Stored::Text(text)] => Some(text.clone()),
            _ => None,
        }
    }
}

fn echo(arguments: &[Word], reads_backslashes: bool) -> Option<Word> {
    let mut has_newline = true;
    let mut decodes = false;
    let mut rest = arguments;
    while let [first, others @ ..] = rest {
        let Some(flags) = first.value().and_then(|text| text.strip_prefix('-')) else { break };
        if flags.is_empty() || !flags.bytes().all(|flag| matches!(flag, b'n' | b'e' | b'E')) {
            break;
        }
        for flag in flags.bytes() {
            match flag {
                b'n' => has_newline = false,
                b'e' => decodes = true,
                _ => decodes = false,
            }
        }
        rest = others;
    }
    let vanishes = |word: &Word| {
        !word.pieces.is_empty()
            && word.pieces.iter().all(|piece| matches!(piece, Piece::Unknown { splits: true, .. }))
    };
    if rest.first().is_some_and(vanishes) && rest.iter().any(|word| word.known_prefix().starts_with('-')) {
        return None;
    }
    let mut all = Word::default();
    for (index, word) in rest.iter().enumerate() {
        // The blank beside a value that may be no word at all is part of what is not known.
        let before = index.checked_sub(1).and_then(|before| rest.get(before));
        if before.is_some_and(|before| !vanishes(before)) && !vanishes(word) {
            super::field::push(&mut all.pieces, Piece::Text(" ".to_owned()));
        }
        for piece in &word.pieces {
            super::field::push(&mut all.pieces, piece.clone());
        }
    }
    if has_newline {
        super::field::push(&mut all.pieces, Piece::Text("\n".to_owned()));
    }
    if decodes {
        for piece in &mut all.pieces {
            if let Piece::Text(text) = piece {
                if text.contains("\\c") {
                    return None;
                }
                *text = escapes(text);
            }
        }
    } else if reads_backslashes
        && all.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains('\\')))
    {
        return None;
    }
    Some(all)
}

/// Backslashes as `echo -e` and `printf` read them.
fn escapes(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    // `\0nnn` takes three digits after the zero; a quote is no escape.
    let text = text.replace("\\'", "\\\\'").replace("\\\"", "\\\\\"");
    // A zero byte does not survive a substitution.
    ansi::decode_all(&octal(&text))
}

fn octal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        out.push(character);
        if character != '\\' {
            continue;
        }
        let Some(next) = rest.next() else { break };
        out.push(next);
        if next == '0' && rest.peek().is_some_and(|digit| ('0'..='7').contains(digit)) {
            out.pop();
        }
    }
    out
}

/// What `printf` prints.
pub(super) fn printf(arguments: &[Word]) -> Option<Word> {
    let arguments = match arguments.first().and_then(Word::value) {
        Some("--") => arguments.get(1..)?,
        _ => arguments,
    };
    let format = arguments.first()?.value()?;
    let mut values = arguments.get(1..)?.iter();
    if arguments.iter().any(Word::may_split) || arguments.len() > 200 {
        return None;
    }
    let mut all = Word::default();
    loop {
        let left = values.len();
        let mut literal = String::new();
        let mut rest = format.chars();
        while let Some(character) = rest.next() {
            if character != '%' {
                literal.push(character);
                continue;
            }
            let kind = rest.next()?;
            if kind == '%' {
                literal.push('%');
                continue;
            }
            super::field::push(&mut all.pieces, Piece::Text(escapes(&std::mem::take(&mut literal))));
            let value = values.next();
            match (kind, value) {
                ('s' | 'b' | 'd' | 'i' | 'q', None) => {
                    let text = match kind {
                        'd' | 'i' => "0",
                        'q' => "''",
                        _ => "",
                    };
                    super::field::push(&mut all.pieces, Piece::Text(text.to_owned()));
                }
                ('s', Some(word)) => {
                    for piece in &word.pieces {
                        super::field::push(&mut all.pieces, piece.clone());
                    }
                }
                ('b', Some(word)) => super::field::push(&mut all.pieces, Piece::Text(escapes(word.value()?))),
                ('d' | 'i', Some(word)) => {
                    let number: i64 = word.value()?.parse().ok()?;
                    super::field::push(&mut all.pieces, Piece::Text(number.to_string()));
                }
                _ => return None,
            }
        }
        super::field::push(&mut all.pieces, Piece::Text(escapes(&literal)));
        if values.len() == 0 || values.len() == left {
            return Some(all);
        }
    }
}

/// The path that `mktemp` makes.
fn mktemp(arguments: &[Word], folder: Option<&str>) -> Option<Word> {
    let mut template = None;
    let mut in_folder = false;
    for word in arguments {
        match word.value()? {
            "-d" | "-q" | "-u" | "--directory" | "--quiet" | "-dq" | "-qd" => {}
            "-t" | "-dt" | "-td" => in_folder = true,
            text if text.starts_with('-') => return None,
            text => template = Some(text),
        }
    }
    let folder = folder.unwrap_or("/tmp");
    let (before, after) = match template {
        None => (format!("{folder}/tmp."), String::new()),
        Some(template) => {
            let end = template.rfind('X')? + 1;
            let start = template.get(..end)?.trim_end_matches('X').len();
            let before = template.get(..start)?;
            let before = if in_folder { format!("{folder}/{before}") } else { before.to_owned() };
            (before, template.get(end..)?.to_owned())
        }
    };
    let mut pieces = Vec::new();
    super::field::push(&mut pieces, Piece::Text(before));
    pieces.push(Piece::Name);
    super::field::push(&mut pieces, Piece::Text(after));
    super::field::push(&mut pieces, Piece::Text("\n".to_owned()));
    Some(Word { pieces, span: None })
}

fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            b'\n' | b'\r' => continue,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(bits.wrapping_shr(count).to_le_bytes()[0]);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Word, base64, echo, printf};

    fn known(texts: &[&str]) -> Vec<Word> {
        texts.iter().map(|text| Word::known(*text)).collect()
    }

    #[test]
    fn known_output_is_computed() {
        let value = |word: Option<Word>| word.and_then(|word| word.value().map(str::to_owned));
        assert_eq!(value(echo(&known(&["-n", "a", "b"]), false)).as_deref(), Some("a b"));
        assert_eq!(value(echo(&known(&["-e", "a\\tb\\0101"]), false)).as_deref(), Some("a\tbA\n"));
        assert_eq!(value(echo(&known(&["a\\n"]), true)), None);
        assert_eq!(value(printf(&known(&["%s\\n", "a", "b"]))).as_deref(), Some("a\nb\n"));
        assert_eq!(value(printf(&known(&["\\162m %d%%", "5"]))).as_deref(), Some("rm 5%"));
        assert_eq!(base64("cm0gLXJmIC8=").as_deref(), Some("rm -rf /"));
    }
}
