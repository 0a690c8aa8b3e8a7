//! sed: the commands `w`, `W`, `r`, `R`, `e` and the flags `w` and `e` of `s`.

use super::super::effect::Access;
use super::super::word::Word;
use super::CodeReading;

/// Reads a sed script.
pub(super) fn read(text: &str, reading: &mut CodeReading) {
    let mut scan = Scan { chars: text.chars().collect(), at: 0 };
    while scan.at < scan.chars.len() {
        if scan.command(reading).is_none() {
            reading.unreadable("sed code that ends in the middle of a command");
            return;
        }
    }
}

struct Scan {
    chars: Vec<char>,
    at: usize,
}

impl Scan {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn command(&mut self, reading: &mut CodeReading) -> Option<()> {
        self.address()?;
        let Some(command) = self.next() else { return Some(()) };
        match command {
            '#' => {
                self.line();
            }
            's' => {
                let delimiter = self.next()?;
                self.delimited(delimiter)?;
                let replacement_from = self.at;
                self.delimited(delimiter)?;
                let replacement: String =
                    self.chars.get(replacement_from..self.at.saturating_sub(1))?.iter().collect();
                self.flags(&replacement, reading);
            }
            'y' => {
                let delimiter = self.next()?;
                self.delimited(delimiter)?;
                self.delimited(delimiter)?;
            }
            'w' | 'W' => {
                let path = self.line();
                write(&path, reading);
            }
            'r' | 'R' => {
                let path = self.line();
                reading.path(Access::Read, false, Word::known(path));
            }
            'e' => {
                let line = self.line();
                if line.is_empty() {
                    reading.unreadable("sed code that gives its input to a shell");
                } else {
                    reading.shell.push(Word::known(line));
                }
            }
            'a' | 'i' | 'c' => {
                // The text goes on over lines that end in a backslash.
                while let Some(c) = self.next() {
                    match c {
                        '\\' => {
                            self.next();
                        }
                        '\n' => break,
                        _ => {}
                    }
                }
            }
            'b' | 't' | 'T' | ':' => {
                while self.peek().is_some_and(|c| !matches!(c, '\n' | ';' | '}')) {
                    self.at += 1;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn address(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some(c)
                    if c.is_whitespace()
                        || matches!(c, ';' | '{' | '}' | ',' | '!' | '~' | '+' | '$')
                        || c.is_ascii_digit() =>
                {
                    self.at += 1;
                }
                Some('/') => {
                    self.at += 1;
                    self.delimited('/')?;
                    self.modifiers();
                }
                Some('\\') => {
                    self.at += 1;
                    let delimiter = self.next()?;
                    self.delimited(delimiter)?;
                    self.modifiers();
                }
                _ => return Some(()),
            }
        }
    }

    fn modifiers(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, 'I' | 'M')) {
            self.at += 1;
        }
    }

    fn delimited(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn flags(&mut self, replacement: &str, reading: &mut CodeReading) {
        loop {
            match self.peek() {
                Some('w') => {
                    self.at += 1;
                    let path = self.line();
                    write(&path, reading);
                    return;
                }
                Some('e') => {
                    self.at += 1;
                    // What is run is the line after the replacement; known only if it replaces all of it.
                    reading.unreadable(format!("sed code that gives a shell the line `{replacement}`"));
                }
                Some(c) if c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M') => {
                    self.at += 1
                }
                _ => return,
            }
        }
    }

    /// The rest of the line, blanks in front taken away.
    fn line(&mut self) -> String {
        let mut line = String::new();
        while let Some(c) = self.next() {
            if c == '\n' {
                break;
            }
            line.push(c);
        }
        line.trim_start().to_owned()
    }
}

fn write(path: &str, reading: &mut CodeReading) {
    if !matches!(path, "/dev/stdout" | "/dev/stderr" | "/dev/null") {
        reading.path(Access::Write, false, Word::known(path));
    }
}
