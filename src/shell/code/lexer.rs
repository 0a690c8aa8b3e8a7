//! Tokens of the C-like and Ruby-like languages, as far as calls and their constant arguments need them.

use super::super::word::{Piece, Word};

/// Where comments, strings and patterns begin in a language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexis {
    /// `#` to the end of the line.
    pub(super) hash_comments: bool,
    /// `//` and `/* */`.
    pub(super) slash_comments: bool,
    /// `"""` and `'''`.
    pub(super) triple_quotes: bool,
    /// What makes `"..."` depend on values: `$name`, `#{..}`.
    pub(super) dollar_in_double: bool,
    /// `#{..}` in double quotes.
    pub(super) hash_brace_in_double: bool,
    /// Back-quotes run a shell; otherwise they are template strings.
    pub(super) back_quotes_run: bool,
    /// `/../` may be a pattern, and `s/../../`, `q(..)`, `%x(..)` are quote-like.
    pub(super) patterns: bool,
    /// Perl's and Ruby's quote-like words.
    pub(super) quote_words: bool,
    /// `$name` is a variable (perl, php).
    pub(super) sigils: bool,
}

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A dotted name: `os.path.join`, `fs.writeFileSync`, `File::Path.rmtree`, `.write_text`.
    Name(String),
    /// A string with what is known of it.
    Text(Word),
    /// A line for a shell in back-quotes or `qx`.
    Run(Word),
    /// One character of punctuation; `\n` ends a statement where that matters.
    Mark(char),
    /// A number or anything else with a constant value that is no text.
    Other,
}

/// Cuts text into tokens; `None` for one whose strings do not end.
pub(super) fn tokens(text: &str, lexis: &Lexis) -> Option<Vec<Token>> {
    let mut lexer = Lexer { chars: text.chars().collect(), at: 0, lexis, out: Vec::new() };
    lexer.all()?;
    Some(lexer.out)
}

struct Lexer<'a> {
    chars: Vec<char>,
    at: usize,
    lexis: &'a Lexis,
    out: Vec<Token>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn all(&mut self) -> Option<()> {
        while let Some(c) = self.peek(0) {
            match c {
                '\n' | ';' => self.mark('\n'),
                c if c.is_whitespace() => self.at += 1,
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '#' if self.lexis.hash_comments => self.skip_line(),
                '/' if self.lexis.slash_comments && self.peek(1) == Some('/') => self.skip_line(),
                '/' if self.lexis.slash_comments && self.peek(1) == Some('*') => self.skip_block(),
                '/' if self.lexis.patterns && self.expects_value() => {
                    self.at += 1;
                    self.until('/', '/')?;
                    self.flags();
                    self.out.push(Token::Other);
                }
                '"' | '\'' => {
                    let word = self.quoted(c, true, c == '"')?;
                    self.out.push(Token::Text(word));
                }
                '`' => {
                    self.at += 1;
                    let raw = self.until('`', '`')?;
                    let word = interpolated(
                        &raw,
                        true,
                        self.lexis.hash_brace_in_double,
                        self.lexis.dollar_in_double,
                    );
                    let token = if self.lexis.back_quotes_run { Token::Run(word) } else { Token::Text(word) };
                    self.out.push(token);
                }
                '%' if self.lexis.hash_brace_in_double
                    && self.expects_value()
                    && self.peek(1).is_some_and(|c| "qQwWx({[".contains(c)) =>
                {
                    self.percent()?;
                }
                c if c.is_ascii_digit() => {
                    while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_') {
                        self.at += 1;
                    }
                    self.out.push(Token::Other);
                }
                c if is_name_start(c) || (self.lexis.sigils && "$@%&".contains(c) && self.sigil_name()) => {
                    self.name()?
                }
                '.' if self.peek(1).is_some_and(is_name_start) => {
                    self.at += 1;
                    self.method()?;
                }
                '-' if self.peek(1) == Some('>') && self.peek(2).is_some_and(is_name_start) => {
                    self.at += 2;
                    self.method()?;
                }
                '?' if self.peek(1) == Some('.') && self.peek(2).is_some_and(is_name_start) => {
                    self.at += 2;
                    self.method()?;
                }
                c => self.mark(c),
            }
        }
        Some(())
    }

    fn mark(&mut self, c: char) {
        self.at += 1;
        self.out.push(Token::Mark(if c == ';' { '\n' } else { c }));
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_block(&mut self) {
        self.at += 2;
        while self.at < self.chars.len() && !(self.peek(0) == Some('*') && self.peek(1) == Some('/')) {
            self.at += 1;
        }
        self.at += 2;
    }

    /// Whether what comes next begins a value, so that a slash begins a pattern.
    fn expects_value(&self) -> bool {
        match self.out.last() {
            None => true,
            Some(Token::Mark(c)) => !matches!(c, ')' | ']' | '}'),
            Some(Token::Name(name)) => {
                matches!(
                    name.as_str(),
                    "return"
                        | "if"
                        | "unless"
                        | "and"
                        | "or"
                        | "not"
                        | "split"
                        | "grep"
                        | "print"
                        | "while"
                        | "when"
                )
            }
            Some(Token::Text(_) | Token::Run(_) | Token::Other) => false,
        }
    }

    fn sigil_name(&self) -> bool {
        self.peek(1).is_some_and(|c| is_name_start(c) || c == '{')
            && (self.peek(0) == Some('$') || self.expects_value())
    }

    fn name(&mut self) -> Option<()> {
        let start = self.at;
        if self.peek(0).is_some_and(|c| "$@%&".contains(c)) {
            self.at += 1;
        }
        while let Some(c) = self.peek(0) {
            let joins = match c {
                '.' => !self.lexis.sigils && self.peek(1).is_some_and(is_name_start),
                ':' => self.peek(1) == Some(':') && self.peek(2).is_some_and(is_name_start),
                c => c.is_alphanumeric() || c == '_',
            };
            if !joins {
                break;
            }
            self.at += if c == ':' { 2 } else { 1 };
        }
        let text: String = self.chars.get(start..self.at)?.iter().collect();
        if text.is_empty() {
            self.mark('$');
            return Some(());
        }
        // A string prefix of python: f"..", rb'..'.
        let quote = self.peek(0).filter(|c| matches!(c, '"' | '\''));
        if let Some(quote) = quote
            && self.lexis.triple_quotes
            && text.len() <= 2
            && text.chars().all(|c| "rRbBfFuU".contains(c))
        {
            let is_raw = text.contains(['r', 'R']);
            let word = self.quoted(quote, !is_raw, false)?;
            let is_format = text.contains(['f', 'F']);
            let word = if is_format { python_format(&word) } else { word };
            self.out.push(Token::Text(word));
            return Some(());
        }
        if self.lexis.quote_words && self.quote_word(&text)? {
            return Some(());
        }
        self.out.push(Token::Name(text));
        Some(())
    }

    /// A name after a dot or an arrow: kept with its dot, joined to nothing before it but a name.
    fn method(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '?' | '!')) {
            self.at += 1;
        }
        let text: String = self.chars.get(start..self.at)?.iter().collect();
        self.out.push(Token::Name(format!(".{text}")));
        Some(())
    }

    /// Perl's `q qq qw qx m s y tr`; whether the name was one.
    fn quote_word(&mut self, name: &str) -> Option<bool> {
        if !matches!(name, "q" | "qq" | "qw" | "qx" | "m" | "qr" | "s" | "y" | "tr") {
            return Some(false);
        }
        let Some(open) = self
            .peek(0)
            .filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && !matches!(c, ',' | ';' | ')' | '='))
        else {
            return Some(false);
        };
        if matches!(self.out.last(), Some(Token::Mark('>' | '{' | '$'))) && open != '{' && open != '(' {
            return Some(false);
        }
        self.at += 1;
        let close = closing(open);
        let first = self.until(open, close)?;
        match name {
            "q" | "qq" | "qw" => {
                let word = interpolated(&first, name == "qq", false, name == "qq");
                self.out.push(Token::Text(word));
            }
            "qx" => self.out.push(Token::Run(interpolated(&first, true, false, true))),
            "m" | "qr" => {
                self.flags();
                self.out.push(Token::Other);
            }
            _ => {
                if close != open {
                    while self.peek(0).is_some_and(char::is_whitespace) {
                        self.at += 1;
                    }
                    self.at += 1;
                }
                let replacement = self.until(open, close)?;
                let flags = self.flags();
                if name == "s" && flags.contains('e') {
                    // The replacement is code of its own.
                    self.out.push(Token::Name("eval".to_owned()));
                    self.out.push(Token::Mark('('));
                    self.out.push(Token::Text(Word::known(replacement)));
                    self.out.push(Token::Mark(')'));
                } else {
                    self.out.push(Token::Other);
                }
            }
        }
        Some(true)
    }

    /// Ruby's `%w[..]`, `%x(..)`, `%q{..}`.
    fn percent(&mut self) -> Option<()> {
        self.at += 1;
        let mut kind = 'Q';
        if let Some(c) = self.peek(0).filter(|c| c.is_alphabetic()) {
            kind = c;
            self.at += 1;
        }
        let Some(open) = self.peek(0).filter(|c| !c.is_alphanumeric() && !c.is_whitespace()) else {
            self.out.push(Token::Mark('%'));
            return Some(());
        };
        self.at += 1;
        let raw = self.until(open, closing(open))?;
        let word = interpolated(&raw, true, kind != 'q' && kind != 'w', false);
        self.out.push(if kind == 'x' { Token::Run(word) } else { Token::Text(word) });
        Some(())
    }

    fn flags(&mut self) -> String {
        let mut flags = String::new();
        while let Some(c) = self.peek(0).filter(char::is_ascii_alphabetic) {
            flags.push(c);
            self.at += 1;
        }
        flags
    }

    /// Raw text up to an unescaped `close`, which is consumed; brackets nest.
    fn until(&mut self, open: char, close: char) -> Option<String> {
        let mut raw = String::new();
        let mut depth = 0_usize;
        loop {
            let c = self.peek(0)?;
            self.at += 1;
            if c == '\\' {
                raw.push(c);
                raw.push(self.peek(0)?);
                self.at += 1;
                continue;
            }
            if c == close {
                if depth == 0 {
                    return Some(raw);
                }
                depth -= 1;
            } else if c == open {
                depth += 1;
            }
            raw.push(c);
        }
    }

    fn quoted(&mut self, quote: char, escapes: bool, is_double: bool) -> Option<Word> {
        if self.lexis.triple_quotes && self.peek(1) == Some(quote) && self.peek(2) == Some(quote) {
            self.at += 3;
            let mut raw = String::new();
            while !(self.peek(0) == Some(quote) && self.peek(1) == Some(quote) && self.peek(2) == Some(quote))
            {
                raw.push(self.peek(0)?);
                self.at += 1;
            }
            self.at += 3;
            return Some(Word::known(raw));
        }
        self.at += 1;
        let raw = self.until(quote, quote)?;
        let values = is_double && (self.lexis.dollar_in_double || self.lexis.hash_brace_in_double);
        if !values {
            return Some(Word::known(if escapes { unescape(&raw) } else { raw }));
        }
        Some(interpolated(&raw, true, self.lexis.hash_brace_in_double, self.lexis.dollar_in_double))
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

/// Text with backslash escapes taken away; numeric ones are decoded.
fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(next) = chars.next() else { break };
        match next {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            '\n' => {}
            'x' | 'u' => {
                let braces = chars.next_if_eq(&'{').is_some();
                let most = if braces {
                    8
                } else if next == 'x' {
                    2
                } else {
                    4
                };
                let mut value = 0_u32;
                for _ in 0..most {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) else { break };
                    value = value.wrapping_mul(16).wrapping_add(digit);
                    chars.next();
                }
                if braces {
                    chars.next_if_eq(&'}');
                }
                out.extend(char::from_u32(value));
            }
            '0'..='7' => {
                let mut value = next.to_digit(8).unwrap_or_default();
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    chars.next();
                }
                out.extend(char::from_u32(value));
            }
            other => out.push(other),
        }
    }
    out
}

/// A double-quoted text whose values are not known.
fn interpolated(raw: &str, escapes: bool, hash_brace: bool, dollar: bool) -> Word {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut text = String::new();
    let mut chars = raw.chars().peekable();
    let flush = |text: &mut String, pieces: &mut Vec<Piece>| {
        if !text.is_empty() {
            pieces.push(Piece::Text(unescape(&std::mem::take(text))));
        }
    };
    while let Some(c) = chars.next() {
        if c == '\\' && escapes {
            text.push(c);
            text.extend(chars.next());
            continue;
        }
        let braces = (c == '#' && hash_brace || c == '$') && chars.peek() == Some(&'{');
        let name = dollar && matches!(c, '$' | '@') && chars.peek().is_some_and(|next| is_name_start(*next));
        if !(braces || name) {
            text.push(c);
            continue;
        }
        flush(&mut text, &mut pieces);
        let mut source = String::from(c);
        if braces {
            let mut depth = 0_usize;
            for c in chars.by_ref() {
                source.push(c);
                match c {
                    '{' => depth += 1,
                    '}' if depth <= 1 => break,
                    '}' => depth -= 1,
                    _ => {}
                }
            }
        } else {
            while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                source.push(c);
            }
        }
        pieces.push(Piece::Unknown { splits: false, source });
    }
    flush(&mut text, &mut pieces);
    Word { pieces, span: None }
}

/// A python format string: what stands in braces is not known.
fn python_format(word: &Word) -> Word {
    let Some(text) = word.value() else { return word.clone() };
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut plain = String::new();
    while let Some(at) = rest.find(['{', '}']) {
        let (before, after) = rest.split_at(at);
        plain.push_str(before);
        if after.starts_with("{{") || after.starts_with("}}") {
            plain.push_str(after.get(..1).unwrap_or_default());
            rest = after.get(2..).unwrap_or_default();
        } else if after.starts_with('{') {
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            let end = after.find('}').map_or(after.len(), |end| end + 1);
            let source = after.get(..end).unwrap_or_default().to_owned();
            pieces.push(Piece::Unknown { splits: false, source });
            rest = after.get(end..).unwrap_or_default();
        } else {
            rest = after.get(1..).unwrap_or_default();
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Word { pieces, span: None }
}
