//! Reads a command line the way bash reads it.
//!
//! [`read`] takes a line and answers with every command that bash would start for it, each with its words as
//! far as they are known, its directory, its redirects, and what it does to files and hosts. What could not be
//! read is part of the answer ([`Reading::unreadable`]); there is no silence.

mod code;
mod command;
mod effect;
mod invocation;
mod parse;
mod pattern;
mod reader;
mod table;
mod word;

pub use command::{
    Assignment, Command, Directory, Input, Pipeline, Redirect, RedirectKind, canonical_pipeline,
};
pub use effect::{Access, Effect, EffectKind};
pub use invocation::{GivenOption, Invocation, Language, Nested, Operand};
pub use pattern::{Fit, Needs, WordPattern, WordPatternError};
pub use reader::{Flow, Reading, Setting, Unreadable, UnreadableKind, read};
pub use table::{Program, program, programs};
pub use word::{Piece, Word};
