//! What data cannot say about programs that copy, pack and link.

use super::super::effect::{Access, EffectKind};
use super::super::invocation::{Language, Nested};
use super::super::table::Special;
use super::super::word::Word;
use super::options::Scan;
use super::words::{base_name, join, split_once, under};

/// Applies one of the specials of this file.
pub(super) fn apply(special: Special, scan: &mut Scan<'_>) {
    match special {
        Special::Dd => dd(scan),
        Special::Ln => ln(scan),
        Special::Tar => tar(scan),
        Special::Compress => compress(scan),
        Special::Rsync => rsync(scan),
        _ => {}
    }
}

/// `if=` and `of=`.
fn dd(scan: &mut Scan<'_>) {
    for at in 0..scan.invocation.operands.len() {
        let Some(word) = scan.invocation.operands.get(at).map(|operand| operand.word.clone()) else { break };
        let Some((key, value)) = split_once(&word, '=') else { continue };
        let access = match key {
            "if" => Access::Read,
            "of" => Access::Write,
            _ => continue,
        };
        if let Some(operand) = scan.invocation.operands.get_mut(at) {
            operand.access = Some(access);
        }
        scan.path(access, false, &value);
    }
}

/// A link, seen from its place.
fn ln(scan: &mut Scan<'_>) {
    let operands: Vec<Word> = scan.invocation.operands.iter().map(|operand| operand.word.clone()).collect();
    let folder = scan.value("--target-directory").cloned();
    let (targets, place): (&[Word], Word) = match (folder, operands.as_slice()) {
        (Some(folder), all) => (all, folder),
        (None, [only]) => (std::slice::from_ref(only), Word::known(".")),
        (None, [targets @ .., place]) => (targets, place.clone()),
        (None, []) => return,
    };
    let is_symbolic = scan.has("--symbolic");
    for target in targets {
        let inside = base_name(target).map(|name| under(Some(&place), &name));
        let mut places = vec![place.clone()];
        if place.value() == Some(".") {
            places.clear();
        }
        places.extend(inside);
        for place in places {
            scan.path(Access::Write, false, &place);
            let place = under(scan.directory.as_ref(), &place);
            // A hard link is the file itself under another name: seen from here, not from the link's folder.
            let target = if is_symbolic { target.clone() } else { from_link(&place, target) };
            scan.invocation.effects.push((EffectKind::Link { target }, place));
        }
    }
}

/// A path relative to here, written relative to the folder of `place`.
fn from_link(place: &Word, target: &Word) -> Word {
    let Some(text) = place.value() else { return target.clone() };
    if target.known_prefix().starts_with('/') || text.starts_with('/') {
        return target.clone();
    }
    let depth = text.split('/').filter(|part| !part.is_empty() && *part != ".").count().saturating_sub(1);
    join(&[Word::known("../".repeat(depth)), target.clone()], "")
}

fn tar(scan: &mut Scan<'_>) {
    let archive = scan.value("--file").cloned();
    let is_extract = scan.has("--extract");
    let writes =
        ["--create", "--append", "--update", "--concatenate", "--delete"].iter().any(|name| scan.has(name));
    if let Some(archive) = &archive {
        if super::roles::is_remote(archive) && !scan.has("--force-local") {
            scan.contact(archive);
        } else {
            // `-f` is seen from where tar starts, whatever `-C` says.
            let access = if writes { Access::Write } else { Access::Read };
            if archive.value() != Some("-") {
                scan.invocation
                    .effects
                    .push((EffectKind::Path { access, recursive: false }, archive.clone()));
            }
        }
    }
    if is_extract && !scan.has("--to-stdout") {
        let operands: Vec<Word> =
            scan.invocation.operands.iter().map(|operand| operand.word.clone()).collect();
        if operands.is_empty() || scan.has("--absolute-names") {
            scan.path(Access::Write, true, &Word::known("."));
        }
        for word in operands {
            scan.path(Access::Write, true, &word);
        }
    }
    let actions: Vec<Word> = scan
        .invocation
        .options
        .iter()
        .filter(|option| option.name == "--checkpoint-action")
        .filter_map(|option| option.value.clone())
        .collect();
    for action in actions {
        if let Some(("exec", code)) = split_once(&action, '=') {
            scan.nest(Nested::Code { language: Language::Shell, code, arguments: Vec::new() });
        } else if action.value().is_none() {
            scan.nest(Nested::Code { language: Language::Shell, code: action, arguments: Vec::new() });
        }
    }
}

/// `gzip f` makes `f.gz` and removes `f`.
fn compress(scan: &mut Scan<'_>) {
    if scan.has("--stdout") || scan.has("--list") || scan.has("--test") {
        return;
    }
    let keeps = scan.has("--keep");
    let operands: Vec<Word> = scan.invocation.operands.iter().map(|operand| operand.word.clone()).collect();
    for word in operands {
        scan.path(if keeps { Access::Write } else { Access::Delete }, scan.has("--recursive"), &word);
    }
}

fn rsync(scan: &mut Scan<'_>) {
    if scan
        .invocation
        .options
        .iter()
        .any(|option| option.name.starts_with("--delete") || option.name == "--del")
    {
        let last = scan.invocation.operands.last().map(|operand| operand.word.clone());
        let is_place = |place: &Word| scan.invocation.operands.len() > 1 && !super::roles::is_remote(place);
        if let Some(place) = last.filter(is_place) {
            scan.path(Access::Delete, true, &place);
        }
    }
    if scan.has("--remove-source-files") {
        let sources: Vec<Word> =
            scan.invocation.operands.iter().rev().skip(1).map(|o| o.word.clone()).collect();
        for source in sources.iter().filter(|source| !super::roles::is_remote(source)) {
            scan.path(Access::Delete, true, source);
        }
    }
}
