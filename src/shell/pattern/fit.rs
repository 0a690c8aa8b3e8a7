//! How far a command fits one form of a pattern.

use super::super::command::Command;
use super::super::invocation::{Invocation, Operand};
use super::super::parse::words::split_once;
use super::super::word::{Piece, Word};
use super::glob::Glob;
use super::{Fit, Form};

/// Most ways to hand out unknown words that are tried; with more, a command may fit.
const TRIES: usize = 64;

/// Whether the program of a command is the one that a pattern names.
pub(super) fn fits_program(pattern: &Glob, invocation: &Invocation) -> bool {
    let Some(program) = &invocation.program else { return false };
    pattern.fits(program)
        || (invocation.is_tabled
            && program.chars().any(char::is_uppercase)
            && pattern.fits(&program.to_ascii_lowercase()))
}

impl Form {
    /// How far `command` fits.
    pub(super) fn fit(&self, command: &Command) -> Fit {
        let invocation = &command.invocation;
        let given = self.assignments.iter().map(|(name, value)| given(command, name, value)).min();
        if given == Some(Fit::No) || self.is_any_program {
            return given.unwrap_or(Fit::No);
        }
        if !fits_program(&self.program, invocation) {
            return Fit::No;
        }
        // Whatever else is not known, a subcommand that is known is what it is.
        if self.subcommand.iter().zip(&invocation.subcommand).any(|(pattern, word)| !pattern.fits(word)) {
            return Fit::No;
        }
        let supply = Supply::of(command);
        let harmless =
            (invocation.is_dry_run && !self.names_dry_run) || (invocation.is_help && !self.names_help);
        // What a variable does, it does to a command that prints its version as well.
        let harmless = harmless && self.assignments.is_empty();
        if harmless && !supply.options_without_end {
            return Fit::No;
        }
        let mut fit = if harmless { Fit::Maybe } else { Fit::Yes };
        fit = fit.min(given.unwrap_or(Fit::Yes));

        // Subcommand.
        let missing = self.subcommand.get(invocation.subcommand.len()..).unwrap_or_default();
        if !missing.is_empty() {
            // Only a word that is not known can be the subcommand.
            let first = invocation.operands.first();
            if !supply.without_end && !first.is_some_and(|operand| operand.word.has_unknown()) {
                return Fit::No;
            }
            fit = Fit::Maybe;
        }
        if supply.before_subcommand {
            fit = Fit::Maybe;
        }

        // Options.
        let mut absent = 0;
        for (name, value) in &self.options {
            match self.option(command, name, value.as_ref()) {
                Fit::Yes => {}
                Fit::Maybe => fit = Fit::Maybe,
                // What is derived from statements is no word that could still come.
                Fit::No if name.literal().is_some_and(|name| name.starts_with("--sql-")) => return Fit::No,
                Fit::No => absent += 1,
            }
        }
        if absent > 0 {
            fit = Fit::Maybe;
            if !supply.options_without_end && absent > supply.option_words.len() {
                return Fit::No;
            }
        }

        // Operands, of which an unknown one cannot be an option at the same time.
        let wanted: Vec<&Glob> = missing.iter().chain(&self.operands).collect();
        if absent == 0 || supply.options_without_end {
            return fit.min(in_order(&wanted, &invocation.operands, &[], supply.without_end));
        }
        let mut best = Fit::No;
        for (tries, taken) in combinations(&supply.option_words, absent).into_iter().enumerate() {
            if tries >= TRIES {
                return fit;
            }
            best = best.max(in_order(&wanted, &invocation.operands, &taken, supply.without_end));
            if best != Fit::No {
                break;
            }
        }
        fit.min(best)
    }

    fn option(&self, command: &Command, name: &Glob, value: Option<&Glob>) -> Fit {
        let mut best = Fit::No;
        let options = &command.invocation.options;
        for option in options.iter().filter(|option| name.fits(&option.name)) {
            let fit = match (value, &option.value) {
                (None, _) => Fit::Yes,
                (Some(glob), Some(value)) => glob.fit(value),
                (Some(_), None) => Fit::No,
            };
            best = best.max(fit);
        }
        if best == Fit::No && value.is_none() && !command.invocation.is_tabled {
            // A cluster that no table could take apart: each letter somewhere.
            let letters = name.literal().and_then(|name| {
                let letters = name.strip_prefix('-')?.to_owned();
                (letters.len() > 1 && letters.chars().all(|c| c.is_ascii_alphanumeric())).then_some(letters)
            });
            if letters.is_some_and(|letters| {
                letters.chars().all(|c| options.iter().any(|o| o.name == format!("-{c}")))
            }) {
                best = Fit::Yes;
            }
        }
        best
    }
}

/// How far a command is given a variable of that name and value, or hands one on.
fn given(command: &Command, name: &Glob, value: &Glob) -> Fit {
    let assigned = command.assignments.iter();
    let in_front = assigned
        .filter(|assignment| name.fits(&assignment.name))
        .map(|assignment| value.fit(&assignment.value));
    let exports = command.invocation.exports();
    let handed_on = command.invocation.operands.iter().filter(|_| exports).filter_map(|operand| {
        let (before, after) = split_once(&operand.word, '=')?;
        name.fits(before).then(|| value.fit(&after))
    });
    in_front.chain(handed_on).max().unwrap_or(Fit::No)
}

/// Words of a command that are not known and could be words of the pattern.
struct Supply {
    /// A word that may become any number of words.
    without_end: bool,
    /// Such a word where options are still options.
    options_without_end: bool,
    /// Such a word before the subcommand.
    before_subcommand: bool,
    /// Indices of words that may be one option each.
    option_words: Vec<usize>,
}

impl Supply {
    fn of(command: &Command) -> Self {
        let end = command.invocation.options_end.unwrap_or(usize::MAX);
        let splits = |word: &Word| {
            word.pieces.iter().any(|piece| matches!(piece, Piece::Unknown { splits: true, .. }))
        };
        let first_sub = command.invocation.subcommand.first();
        let sub = first_sub
            .and_then(|name| command.words.iter().skip(1).position(|word| word.value() == Some(name)))
            .map_or(0, |at| at + 1);
        let mut supply = Self {
            without_end: false,
            options_without_end: false,
            before_subcommand: false,
            option_words: Vec::new(),
        };
        for (at, word) in command.words.iter().enumerate().skip(1) {
            if splits(word) {
                supply.without_end = true;
                supply.options_without_end |= at < end;
                supply.before_subcommand |= at < sub;
            } else if at < end && may_be_option(word) && !is_value(command, at) {
                supply.option_words.push(at);
            }
        }
        supply
    }
}

/// Whether a word that is not known may turn out as an option.
fn may_be_option(word: &Word) -> bool {
    let is_open = word.known_prefix().is_empty() || word.known_prefix().starts_with('-');
    is_open
        && word.has_unknown()
        && word.pieces.iter().all(|piece| match piece {
            Piece::Text(text) => {
                !text.contains('=') && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            }
            Piece::Unknown { .. } => true,
            Piece::Glob(_) | Piece::Name => false,
        })
}

/// Whether the word at `at` is the value of the option before it.
fn is_value(command: &Command, at: usize) -> bool {
    let options = &command.invocation.options;
    let word = command.words.get(at);
    options
        .iter()
        .any(|option| option.word + 1 == at && option.value.is_some() && option.value.as_ref() == word)
}

/// Whether the wanted words occur in this order among the operands, others between them.
fn in_order(wanted: &[&Glob], operands: &[Operand], taken: &[usize], without_end: bool) -> Fit {
    // best[n]: how surely the first n wanted words have been met.
    let mut best = vec![Fit::No; wanted.len() + 1];
    best[0] = Fit::Yes;
    for operand in operands.iter().filter(|operand| !taken.contains(&operand.index)) {
        let splits =
            operand.word.pieces.iter().any(|piece| matches!(piece, Piece::Unknown { splits: true, .. }));
        for n in (0..wanted.len()).rev() {
            if best[n] == Fit::No {
                continue;
            }
            let met = best[n].min(fit_operand(wanted[n], operand));
            best[n + 1] = best[n + 1].max(met);
        }
        if splits {
            // It may be all the words that are left.
            if let Some(first) = best.iter().position(|fit| *fit != Fit::No) {
                for fit in best.iter_mut().skip(first + 1) {
                    *fit = (*fit).max(Fit::Maybe);
                }
            }
        }
    }
    let met = best[wanted.len()];
    if met == Fit::No && without_end { Fit::Maybe } else { met }
}

pub(super) fn fit_operand(wanted: &Glob, operand: &Operand) -> Fit {
    let fit = wanted.fit(&operand.word);
    if fit == Fit::Yes || operand.access.is_none() {
        return fit;
    }
    // `//` and `/./` are other spellings of `/`.
    match operand.word.value() {
        Some(text) if wanted.fits(&shortest(text)) => Fit::Yes,
        _ => fit,
    }
}

/// A path without doubled slashes, `.` parts, trailing slashes, and with `..` at the root gone.
fn shortest(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let is_absolute = path.starts_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if is_absolute => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    if is_absolute {
        format!("/{joined}")
    } else if joined.is_empty() {
        ".".to_owned()
    } else {
        joined
    }
}

/// All ways to take `count` of `items`, in order.
fn combinations(items: &[usize], count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, item) in items.iter().enumerate() {
        for mut rest in combinations(&items[at + 1..], count - 1) {
            rest.insert(0, *item);
            all.push(rest);
            if all.len() > TRIES {
                return all;
            }
        }
    }
    all
}
