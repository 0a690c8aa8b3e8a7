//! Takes the words of a command apart with the table of its program, or by general habit without one.

mod container;
mod copy;
mod find;
pub(in crate::shell) mod git;
mod network;
mod options;
mod roles;
mod several;
mod unpack;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
pub(in crate::shell) mod tests;
pub(in crate::shell) mod words;

use super::command::Assignment;
use super::invocation::{GivenOption, Invocation, Operand};
use super::table::{Program, Special, Style, program};
use super::word::{Piece, Word};
use options::Scan;

/// How often one program's words may be rewritten into another call of it (`git -c alias.x=y x`).
const REWRITES: usize = 8;

impl Invocation {
    /// Takes words apart; the first is the program.
    pub fn parse(words: &[Word]) -> Self {
        Self::parse_as(words, false)
    }

    /// As [`Invocation::parse`]; in a pattern an option may stand without the value that it would take.
    pub(super) fn parse_as(words: &[Word], is_pattern: bool) -> Self {
        let Some(first) = words.first() else { return Self::default() };
        let Some(name) = words::program_name(first) else {
            let mut invocation = general(words, is_pattern);
            invocation.program = None;
            return invocation;
        };
        let table =
            program(&name).or_else(|| program(&name.to_ascii_lowercase()).filter(|_| is_windows(first)));
        let mut invocation = match table {
            Some(table) => with_table(table, words, is_pattern),
            None => general(words, is_pattern),
        };
        invocation.is_tabled = table.is_some();
        invocation.program = Some(name);
        invocation
    }
}

fn is_windows(word: &Word) -> bool {
    word.value().is_some_and(|text| text.len() > 4 && text.to_ascii_lowercase().ends_with(".exe"))
}

/// Reads words without a table: dashes make options, a single dash counts whole and letter by letter.
fn general(words: &[Word], is_pattern: bool) -> Invocation {
    let mut invocation = Invocation::default();
    let mut options_open = true;
    for (index, word) in words.iter().enumerate().skip(1) {
        let prefix = word.known_prefix();
        if options_open && word.value() == Some("--") {
            options_open = false;
            invocation.options_end = Some(index);
        } else if options_open && prefix.len() > 1 && prefix.starts_with('-') {
            let (name, value) = match words::split_once(word, '=') {
                Some((name, value)) => (name.to_owned(), Some(value)),
                None => (word.shown().into_owned(), None),
            };
            let letters = prefix.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            invocation.options.push(GivenOption { name: name.clone(), value, word: index });
            if let (Some(_), false) = (letters, is_pattern) {
                let letters: Vec<char> = name.chars().skip(1).collect();
                if letters.len() > 1 && letters.iter().all(char::is_ascii_alphanumeric) {
                    for letter in letters {
                        invocation.options.push(GivenOption {
                            name: format!("-{letter}"),
                            value: None,
                            word: index,
                        });
                    }
                }
            }
        } else {
            invocation.operands.push(Operand { word: word.clone(), index, access: None });
        }
    }
    invocation
}

/// Reads words with a table.
fn with_table(table: &'static Program, words: &[Word], is_pattern: bool) -> Invocation {
    if !is_pattern {
        // These read their words in an order of their own.
        match table.special {
            Special::Find => return find::parse(table, words),
            Special::Busybox if words.len() > 1 => return several::busybox(table, words),
            Special::Cmd => return several::windows_shell(words),
            _ => {}
        }
    }
    let mut scan = Scan::new(table, words, is_pattern);
    scan.run();
    if !is_pattern {
        roles::apply(&mut scan);
        let specials: Vec<Special> = scan.chain.iter().map(|program| program.special).collect();
        for special in specials {
            apply_special(special, &mut scan);
        }
    } else {
        roles::canonical_keys(&mut scan);
    }
    scan.finish()
}

fn apply_special(special: Special, scan: &mut Scan<'_>) {
    match special {
        Special::None | Special::Find | Special::Busybox | Special::Cmd | Special::Cargo => {}
        Special::Sql | Special::Wget | Special::Socat => network::apply(special, scan),
        Special::Dd | Special::Ln | Special::Tar | Special::Compress | Special::Rsync => {
            copy::apply(special, scan);
        }
        Special::Unpack => unpack::apply(scan),
        Special::Git => git::globals(scan),
        Special::GitPush => git::push(scan),
        Special::GitCheckout => git::checkout(scan),
        Special::GitClone => git::clone(scan),
        Special::Xargs => several::xargs(scan),
        Special::Parallel => several::parallel(scan),
        Special::Env => several::split_string(scan),
        Special::Vim => several::vim(scan),
        Special::Awk => several::awk(scan),
        Special::Ssh => network::ssh(scan),
        Special::Curl => network::curl(scan),
        Special::Openssl => network::openssl(scan),
        Special::GhApi => network::gh_api(scan),
        Special::Container => container::apply(scan),
        Special::AfterDashes => several::after_dashes(scan),
    }
}

impl Scan<'_> {
    /// The assignments that stand in front of the command it starts.
    fn taken_assignments(&mut self) -> Vec<Assignment> {
        std::mem::take(&mut self.assignments)
    }

    /// Whether words of this style are options at all.
    fn has_options(&self) -> bool {
        self.current().style != Style::Bare
    }
}
