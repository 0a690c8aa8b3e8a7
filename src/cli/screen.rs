//! The two streams: stdout is the answer, stderr everything else.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use crate::verdict::Verdict;

/// When colour is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Where a command writes.
pub(super) struct Screen {
    out: io::BufWriter<io::Stdout>,
    has_colour: bool,
    has_colour_on_err: bool,
    is_quiet: bool,
    /// How much more than usual is told on stderr.
    pub verbose: u8,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("has_colour", &self.has_colour).finish_non_exhaustive()
    }
}

impl Screen {
    /// Looks at the streams.
    pub(super) fn new(when: ColorWhen, is_quiet: bool, verbose: u8) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let choose = |is_terminal: bool| match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => is_terminal && !no_color,
        };
        Self {
            has_colour: choose(io::stdout().is_terminal()),
            has_colour_on_err: choose(io::stderr().is_terminal()),
            out: io::BufWriter::with_capacity(64 * 1024, io::stdout()),
            is_quiet,
            verbose,
        }
    }

    /// Whether the answer has colour.
    pub(super) fn has_colour(&self) -> bool {
        self.has_colour
    }

    /// Whether the rest has colour.
    pub(super) fn has_colour_on_err(&self) -> bool {
        self.has_colour_on_err
    }

    /// A part of the answer.
    ///
    /// # Errors
    /// When nobody reads it, or the disk is full.
    pub(super) fn answer(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// A line of the answer.
    ///
    /// # Errors
    /// Like [`Self::answer`].
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        self.answer(text)?;
        self.out.write_all(b"\n")
    }

    /// Writes out what is held back.
    ///
    /// # Errors
    /// Like [`Self::answer`].
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// A line of status, unless quiet. Never fails a command.
    pub(super) fn status(&self, text: &str) {
        if !self.is_quiet {
            let _ = writeln!(io::stderr(), "{}", harmless(text));
        }
    }

    /// A warning, quiet or not.
    pub(super) fn warn(&self, text: &str) {
        let _ = writeln!(io::stderr(), "warning: {}", harmless(text));
    }

    /// Text for stderr as it is, quiet or not.
    pub(super) fn error(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// A verdict as a word of five letters, coloured when that is wanted.
    pub(super) fn verdict(&self, verdict: Verdict) -> String {
        let (word, color) = match verdict {
            Verdict::Allow => ("allow", AnsiColor::Green),
            Verdict::Ask => ("ask  ", AnsiColor::Yellow),
            Verdict::Deny => ("deny ", AnsiColor::Red),
        };
        self.painted(word, Style::new().fg_color(Some(color.into())).bold())
    }

    /// Text in a style, when colour is wanted.
    pub(super) fn painted(&self, text: &str, style: Style) -> String {
        if self.has_colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// `text` without control characters and without marks that reorder it; line breaks become spaces.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => out.push(' '),
            other if is_harmful(other) => out.push_str(&format!("<{:02x}>", u32::from(other))),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// `count` things, spelled right.
pub(super) fn plural(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
