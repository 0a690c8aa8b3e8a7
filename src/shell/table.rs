//! The program tables, made into static data at build time from `policies/programs/*.yml`.
//!
//! `docs/programs.md` explains the schema. Nothing is parsed when gatewright starts, and a look-up allocates
//! nothing.

use super::invocation::Language;

/// What is known of one program, or of one of its subcommands.
#[derive(Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// How its options are written.
    pub(super) style: Style,
    /// Whether an unambiguous beginning of a long option stands for it.
    pub(super) abbreviate: bool,
    /// Whether options end at the first operand.
    pub(super) posix: bool,
    /// Whether its options are also taken after a subcommand.
    pub(super) globals_anywhere: bool,
    /// Whether the first word is a cluster of options even without a dash (`tar xzf`).
    pub(super) bundled: bool,
    /// Whether `NAME=value` operands in front are assignments for what it starts.
    pub(super) assignments: bool,
    /// Whether it does nothing but hand its first operand to a subcommand.
    pub(super) dispatches: bool,
    /// Options.
    pub(super) options: &'static [OptionRow],
    /// Spellings of the options, sorted, each with its index in `options`.
    pub(super) spellings: &'static [(&'static str, u16)],
    /// Subcommands by name, sorted.
    pub(super) commands: &'static [(&'static str, &'static Program)],
    /// Shapes of its operands; the first whose conditions hold counts.
    pub(super) shapes: &'static [Shape],
    /// Options that make it change nothing, canonical names.
    pub(super) dry_run: &'static [&'static str],
    /// Options that make it print help or its version, canonical names.
    pub(super) help: &'static [&'static str],
    /// Options that extend its path effects to all that lies below.
    pub(super) recursive: &'static [&'static str],
    /// Whether its path effects always extend to all that lies below.
    pub(super) always_recursive: bool,
    /// What data cannot say about it.
    pub(super) special: Special,
}

/// How options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `-abc --long=value`
    Gnu,
    /// `-long value`, `-long=value`, `--long`
    Single,
    /// There are none: all words are operands.
    Bare,
}

/// One option.
#[derive(Debug)]
pub(super) struct OptionRow {
    /// Canonical name: its first long spelling, or else its first one.
    pub(super) name: &'static str,
    /// Options that it stands for (`-D` is `--delete --force`).
    pub(super) expands: &'static [&'static str],
    /// Whether it takes a value.
    pub(super) value: Value,
    /// What the value is.
    pub(super) role: Role,
    /// Whether nothing after its value is an option any more (`python -c`).
    pub(super) last: bool,
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// It takes none.
    None,
    /// It takes one, attached or as the next word.
    Required,
    /// It takes one only when attached.
    Optional,
}

/// A shape of operands.
#[derive(Debug)]
pub(super) struct Shape {
    /// One of these options is given (or none is listed).
    pub(super) given: &'static [&'static str],
    /// None of these is given.
    pub(super) absent: &'static [&'static str],
    /// Operands in order.
    pub(super) args: &'static [Argument],
    /// Language read from standard input when there are no operands, or `-` alone.
    pub(super) input: Option<Language>,
}

/// One operand, or a run of them.
#[derive(Debug)]
pub(super) struct Argument {
    /// What it is.
    pub(super) role: Role,
    /// Whether it may occur any number of times.
    pub(super) repeats: bool,
    /// It is there only when none of these options is given.
    pub(super) unless: &'static [&'static str],
    /// It has its role only when one of these options is given; otherwise it is plain data.
    pub(super) only_if: &'static [&'static str],
}

/// What an operand or the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing that matters.
    Data,
    /// A path that is read.
    Read,
    /// A path that is written.
    Write,
    /// A path that is removed.
    Delete,
    /// The place that the other operands are copied to: a folder or a file.
    Target,
    /// The directory that the rest happens in.
    Dir,
    /// A host or URL that is contacted.
    Url,
    /// A path, or a remote place (`host:path`, a URL); read.
    RemoteRead,
    /// A path, or a remote place; written.
    RemoteWrite,
    /// A remote of version control: a name, a URL, a path, or a helper (`ext::…`).
    Repository,
    /// `@file` is read; anything else is data.
    AtFile,
    /// `name=@file` and `name=<file` are read.
    Form,
    /// `key=value` of a configuration, the key without regard to case.
    Config,
    /// A key of a configuration.
    ConfigKey,
    /// Code.
    Code(Language),
    /// A script file; the operands after it belong to it.
    Script(Language),
    /// A command: this operand is the program, the rest belong to it.
    Command,
    /// Words that are joined with blanks and read as shell code.
    ShellWords,
    /// Words for something that is started elsewhere; never options.
    Rest,
}

/// Programs and subcommands whose words need more than data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// None.
    None,
    /// `dd`
    Dd,
    /// `find`
    Find,
    /// `git` in front of its subcommand
    Git,
    /// `git push`
    GitPush,
    /// `git checkout`
    GitCheckout,
    /// `git clone`
    GitClone,
    /// `ln`
    Ln,
    /// `tar`
    Tar,
    /// `xargs`
    Xargs,
    /// `parallel`
    Parallel,
    /// `ssh`
    Ssh,
    /// `curl`
    Curl,
    /// `wget`
    Wget,
    /// `unzip` and others that unpack
    Unpack,
    /// `env -S`
    Env,
    /// `busybox`
    Busybox,
    /// programs whose only effects are in SQL given to them
    Sql,
    /// `docker run|exec`, `kubectl exec`: what is started sees other files
    Container,
    /// `openssl`: `file:` and `env:` values
    Openssl,
    /// `cmd.exe`
    Cmd,
    /// `gzip` and others that replace a file
    Compress,
    /// `vim`, `ex`: `+cmd` operands and `-c`
    Vim,
    /// `awk -i inplace`
    Awk,
    /// `rsync`
    Rsync,
    /// `socat`
    Socat,
    /// `gh api`
    GhApi,
    /// `cargo +toolchain`
    Cargo,
    /// programs that start what stands after `--`
    AfterDashes,
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The table of a program, by base name.
///
/// A version at the end of a name that has no table of its own is set aside: `python3.12` is `python3`.
pub fn program(name: &str) -> Option<&'static Program> {
    find(PROGRAMS, name).or_else(|| {
        let short = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let short = short.strip_suffix('-').unwrap_or(short);
        if short.is_empty() || short.len() == name.len() { None } else { find(PROGRAMS, short) }
    })
}

/// All programs that have a table, sorted by name; one entry per name.
pub fn programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, _)| *name)
}

fn find(table: &'static [(&'static str, &'static Program)], name: &str) -> Option<&'static Program> {
    let at = table.binary_search_by(|(key, _)| (*key).cmp(name)).ok()?;
    table.get(at).map(|(_, program)| *program)
}

impl Program {
    /// The subcommand of that name or alias.
    pub(super) fn command(&self, name: &str) -> Option<&'static Program> {
        find(self.commands, name)
    }

    /// The option with exactly this spelling.
    pub(super) fn option(&self, spelling: &str) -> Option<&'static OptionRow> {
        let spellings: &'static [(&'static str, u16)] = self.spellings;
        let at = spellings.binary_search_by(|(key, _)| (*key).cmp(spelling)).ok()?;
        let options: &'static [OptionRow] = self.options;
        options.get(usize::from(spellings.get(at)?.1))
    }

    /// Spellings that begin with `prefix`.
    pub(super) fn options_beginning(
        &self,
        prefix: &str,
    ) -> impl Iterator<Item = (&'static str, &'static OptionRow)> {
        let spellings: &'static [(&'static str, u16)] = self.spellings;
        let options: &'static [OptionRow] = self.options;
        let start = spellings.partition_point(|(key, _)| *key < prefix);
        let prefix = prefix.to_owned();
        spellings
            .iter()
            .skip(start)
            .take_while(move |(key, _)| key.starts_with(prefix.as_str()))
            .filter_map(|(key, at)| Some((*key, options.get(usize::from(*at))?)))
    }

    /// The operands' shape, given the options so far.
    pub(super) fn shape(&self, given: impl Fn(&str) -> bool) -> Option<&'static Shape> {
        let shapes: &'static [Shape] = self.shapes;
        shapes.iter().find(|shape| {
            (shape.given.is_empty() || shape.given.iter().any(|name| given(name)))
                && !shape.absent.iter().any(|name| given(name))
        })
    }
}
