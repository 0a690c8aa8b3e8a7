//! From a line to the commands that bash would start.

use std::collections::BTreeMap;

use super::command::Command;
use super::effect::{Access, Effect};

/// What is known before the line starts.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// Variables whose values are known: `HOME`, `PWD`, `TMPDIR`, `USER`.
    pub variables: BTreeMap<String, String>,
}

/// A line as bash would read it.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Every command the line would start, in reading order; wrappers before what they start.
    pub commands: Vec<Command>,
    /// What they do to files and hosts, redirects included, in order.
    pub effects: Vec<Effect>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// Something that could not be read with certainty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// What kind of thing.
    pub kind: UnreadableKind,
    /// For people: what and why, one line (`runs the output of curl as shell code`).
    pub what: String,
    /// Byte range in the line.
    pub span: Option<(usize, usize)>,
    /// Index of the command it belongs to.
    pub command: Option<usize>,
}

/// Kinds of what could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableKind {
    /// The line is no shell that bash would take, or the parser gave up.
    Syntax,
    /// Too long or too deep.
    Limit,
    /// The name of a program is not known.
    Program,
    /// Code given to an interpreter is not known, or is in a language that is not looked into.
    Code,
    /// A path is not known.
    Path(Access),
    /// Words that decide what happens are not known.
    Words,
}

/// Reads a line.
pub fn read(line: &str, setting: &Setting) -> Reading {
    let _ = (line, setting);
    Reading::default()
}
