//! What data cannot say about git: configuration that runs programs, refspecs, remotes, paths of checkout.

use super::super::effect::{Access, EffectKind};
use super::super::invocation::{Language, Nested};
use super::super::word::{Piece, Word};
use super::options::Scan;
use super::words::{base_name, split_once, split_words, under, without_prefix};

/// Keys whose value git hands to a shell or starts, in lower case; `*` stands for a middle part.
const PROGRAMS: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.askpass",
    "core.gitproxy",
    "core.alternaterefscommand",
    "sequence.editor",
    "pager.*",
    "diff.external",
    "diff.*.command",
    "diff.*.textconv",
    "difftool.*.cmd",
    "mergetool.*.cmd",
    "merge.*.driver",
    "filter.*.clean",
    "filter.*.smudge",
    "filter.*.process",
    "gpg.program",
    "gpg.*.program",
    "gpg.ssh.defaultkeycommand",
    "browser.*.cmd",
    "man.*.cmd",
    "remote.*.uploadpack",
    "remote.*.receivepack",
    "uploadpack.packobjectshook",
    "interactive.difffilter",
    "web.browser",
    "sendemail.smtpserver",
    "trailer.*.command",
    "trailer.*.cmd",
    "imap.tunnel",
    "receive.procreceiverefs",
];

/// Whether a configuration key names a program that git starts.
pub(super) fn runs_program(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    PROGRAMS.iter().any(|known| match known.split_once('*') {
        None => *known == key,
        Some((head, tail)) => {
            key.len() > head.len() + tail.len() && key.starts_with(head) && key.ends_with(tail)
        }
    })
}

/// Configuration on the command line, and aliases that it defines.
pub(super) fn globals(scan: &mut Scan<'_>) {
    let name = scan.invocation.subcommand.first().cloned();
    let mut rewritten: Option<Nested> = None;
    let options = scan.invocation.options.clone();
    for option in options.iter().filter(|option| matches!(option.name.as_str(), "-c" | "--config")) {
        let Some(setting) = &option.value else { continue };
        let Some((key, value)) = split_once(setting, '=') else { continue };
        if let Some(alias) = key.strip_prefix("alias.") {
            if name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(alias)) {
                rewritten = alias_call(scan, &value).or(rewritten);
            }
        } else if key == "credential.helper" || (key.starts_with("credential.") && key.ends_with(".helper")) {
            if value.known_prefix().starts_with('!') {
                scan.nest(shell(without_prefix(&value, 1)));
            } else if value.known_prefix().contains('/') || value.has_unknown() {
                scan.nest(shell(value));
            }
        } else if runs_program(key) && !is_harmless(key, &value) {
            scan.nest(shell(value));
        }
    }
    if let Some(nested) = rewritten {
        scan.nest(nested);
    }
    elsewhere(scan);
}

/// Subcommands that only look; all others may change the repository that they are pointed at.
const LOOKING: &[&str] = &[
    "annotate",
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-ref-format",
    "cherry",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "fsck",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "range-diff",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "status",
    "var",
    "verify-commit",
    "verify-tag",
    "version",
    "whatchanged",
];

/// How a git command touches the repository that it works on; `None` without a subcommand.
pub(in crate::shell) fn touch(subcommand: &[String]) -> Option<Access> {
    let name = subcommand.first()?;
    Some(if LOOKING.contains(&name.as_str()) { Access::Read } else { Access::Write })
}

/// A repository that options name is read or changed itself.
fn elsewhere(scan: &mut Scan<'_>) {
    let Some(access) = touch(&scan.invocation.subcommand) else { return };
    let mut places: Vec<Word> = scan.directory.iter().cloned().collect();
    for name in ["--git-dir", "--work-tree"] {
        places.extend(scan.value(name).map(|place| under(scan.directory.as_ref(), place)));
    }
    for place in places {
        scan.invocation.effects.push((EffectKind::Path { access, recursive: false }, place));
    }
}

fn is_harmless(key: &str, value: &Word) -> bool {
    let words = matches!(
        value.value(),
        Some("" | "true" | "false" | "cat" | ":" | "less" | "more" | "less -R" | "less -F")
    );
    words && (key != "core.fsmonitor" || matches!(value.value(), Some("" | "true" | "false")))
}

fn shell(code: Word) -> Nested {
    Nested::Code { language: Language::Shell, code, arguments: Vec::new() }
}

/// What `git -c alias.x=VALUE x …` runs.
fn alias_call(scan: &Scan<'_>, value: &Word) -> Option<Nested> {
    let depth = scan.words.iter().filter(|word| word.known_prefix().starts_with("alias.")).count();
    if depth > super::REWRITES {
        return None;
    }
    // The subcommand is the first word that is neither a global option nor the value of one.
    let taken: Vec<usize> = scan.invocation.options.iter().map(|option| option.word).collect();
    let name = scan.invocation.subcommand.first()?;
    let at = (1..scan.words.len()).find(|at| {
        let word = scan.words.get(*at).and_then(Word::value);
        word.is_some_and(|word| word.eq_ignore_ascii_case(name))
            && !taken.contains(at)
            && !follows_value(scan, *at)
    })?;
    let arguments = scan.words.get(at + 1..).unwrap_or_default().to_vec();
    if value.known_prefix().starts_with('!') {
        return Some(Nested::Code { language: Language::Shell, code: without_prefix(value, 1), arguments });
    }
    let Some(words) = value.value().and_then(split_words) else {
        return Some(Nested::Code { language: Language::Shell, code: value.clone(), arguments });
    };
    if words.first().is_some_and(|first| first == name) {
        return None; // git does not expand an alias of its own name
    }
    let mut call: Vec<Word> = scan.words.get(..at).unwrap_or_default().to_vec();
    call.extend(words.into_iter().map(Word::known));
    call.extend(arguments);
    Some(Nested::Command { words: call, assignments: Vec::new(), directory: None, takes_input: false })
}

/// Whether the word at `at` is the detached value of the option before it.
fn follows_value(scan: &Scan<'_>, at: usize) -> bool {
    let word = scan.words.get(at);
    scan.invocation.options.iter().any(|option| option.word + 1 == at && option.value.as_ref() == word)
}

/// A remote: a URL or a path is contacted or read, `ext::…` starts a program, a plain name is neither.
pub(super) fn repository(scan: &mut Scan<'_>, word: &Word) {
    let prefix = word.known_prefix();
    if prefix.starts_with("ext::") {
        scan.nest(shell(without_prefix(word, "ext::".len())));
    } else if let Some((_, rest)) =
        prefix.split_once("::").filter(|(scheme, _)| scheme.chars().all(char::is_alphanumeric))
    {
        let _ = rest;
        scan.contact(word);
    } else if prefix.starts_with("file://") {
        scan.path(Access::Read, true, &without_prefix(word, "file://".len()));
    } else if super::roles::is_remote(word) {
        scan.contact(word);
    } else if prefix.starts_with(['/', '.', '~']) {
        scan.path(Access::Read, true, word);
    } else if word.value().is_none() && !word.pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
        scan.contact(word);
    }
}

/// `+ref` is a forced push, `:ref` a deletion.
pub(super) fn push(scan: &mut Scan<'_>) {
    let operands = scan.invocation.operands.clone();
    // The first operand is the remote, unless `--repo` names it.
    let skip = usize::from(!scan.has("--repo"));
    for operand in operands.iter().skip(skip) {
        let prefix = operand.word.known_prefix();
        if prefix.starts_with('+') {
            scan.derive("--force", operand.index);
        }
        if prefix.starts_with(':') && prefix.len() + operand.word.pieces.len() > 2 {
            scan.derive("--delete", operand.index);
        }
        if prefix.starts_with("+:") {
            scan.derive("--delete", operand.index);
        }
    }
}

/// Paths that a checkout overwrites: those after `--`, and those that look like paths.
pub(super) fn checkout(scan: &mut Scan<'_>) {
    if scan.has("-b") || scan.has("-B") || scan.has("--orphan") {
        return;
    }
    let operands = scan.invocation.operands.clone();
    let dashes = scan.operands_before_dashes;
    for (at, operand) in operands.iter().enumerate() {
        let is_path = match dashes {
            Some(before) => at >= before,
            None => at > 0 || looks_like_path(&operand.word),
        };
        if is_path {
            if let Some(operand) = scan.invocation.operands.get_mut(at) {
                operand.access = Some(Access::Write);
            }
            scan.path(Access::Write, true, &operand.word);
        }
    }
}

fn looks_like_path(word: &Word) -> bool {
    let prefix = word.known_prefix();
    let ending = word.value().and_then(|text| text.rsplit('/').next()?.rsplit_once('.'));
    prefix.starts_with('.')
        || word.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
        || ending.is_some_and(|(stem, ending)| {
            !stem.is_empty() && ending.len() <= 5 && ending.chars().all(|c| c.is_ascii_alphabetic())
        })
}

/// The folder that a clone makes when none is named.
pub(super) fn clone(scan: &mut Scan<'_>) {
    let operands = scan.invocation.operands.clone();
    if let [source] = operands.as_slice()
        && let Some(name) = base_name(&source.word)
    {
        let name =
            match name.value().map(|text| text.trim_end_matches(".git").rsplit(':').next().unwrap_or(text)) {
                Some(text) => Word::known(text),
                None => name,
            };
        scan.path(Access::Write, true, &name);
    }
}
