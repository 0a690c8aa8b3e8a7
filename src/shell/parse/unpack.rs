//! Where programs put what they take out of an archive.

use super::super::effect::{Access, EffectKind};
use super::super::word::Word;
use super::options::Scan;
use super::words::{base_name, under};

/// Members that are named land under their names; without any, something may land anywhere below the folder.
pub(super) fn apply(scan: &mut Scan<'_>) {
    let program = scan.chain.first().map_or("", |program| program.name);
    let has_any = |names: &[&str]| names.iter().any(|name| scan.has(name));
    let (folder, members) = match program {
        "unzip" => {
            if has_any(&["-l", "-t", "-p", "-Z", "-z", "-v"]) {
                return;
            }
            // What stands behind `-x` is left out.
            let left_out = scan.invocation.options.iter().find(|option| option.name == "-x");
            let end = left_out.map_or(usize::MAX, |option| option.word);
            let members = words(scan, 1).filter(|(index, _)| *index < end).map(|(_, word)| word).collect();
            (scan.value("-d").cloned(), members)
        }
        "7z" if has_any(&["-so"]) => return,
        "7z" => (scan.value("-o").cloned(), words(scan, 1).map(|(_, word)| word).collect()),
        // A last operand may be the folder or a member, which only its slash tells: both are taken.
        "rar" => {
            let mut members: Vec<Word> = words(scan, 1).map(|(_, word)| word).collect();
            let is_folder = |word: &Word| word.value().is_none_or(|text| text.ends_with('/'));
            let folder = members.pop_if(|word| is_folder(word));
            (folder, members)
        }
        "cpio" if has_any(&["--extract"]) && !has_any(&["--list", "--to-stdout"]) => {
            (None, words(scan, 0).map(|(_, word)| word).collect())
        }
        "jar" if has_any(&["--extract"]) => {
            let is_archive = usize::from(!has_any(&["--file"]));
            (None, words(scan, is_archive).map(|(_, word)| word).collect())
        }
        _ => return,
    };
    let place = folder.clone().unwrap_or_else(|| Word::known("."));
    if let Some(at) = scan.invocation.effects.iter().position(|(kind, word)| {
        matches!(kind, EffectKind::Path { access: Access::Write, .. }) && folder.as_ref() == Some(word)
    }) {
        scan.invocation.effects.remove(at);
    }
    let are_names = members.iter().all(|word: &Word| word.value().is_some_and(is_name));
    if members.is_empty() || !are_names {
        scan.path(Access::Write, !is_own_folder(&place), &place);
        return;
    }
    let is_flat = matches!(program, "unzip" if scan.has("-j")) || scan.current().name == "e";
    for member in members {
        let named = if is_flat { base_name(&member) } else { None };
        let landed = match &folder {
            Some(folder) => under(Some(folder), named.as_ref().unwrap_or(&member)),
            None => named.unwrap_or(member),
        };
        scan.path(Access::Write, true, &landed);
    }
}

/// Whether a folder is one of its own, by its name: a place that was chosen for what comes out of the archive. Hidden
/// folders steer tools, so it matters what lands in them; a way that goes up may end anywhere.
fn is_own_folder(place: &Word) -> bool {
    let is_plain = |part: &str| !part.starts_with('.');
    place.value().is_some_and(|text| {
        let mut parts = text.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
        (!text.starts_with('/') || text.starts_with("/tmp/")) && parts.peek().is_some() && parts.all(is_plain)
    })
}

/// Whether a member is a name and no pattern of the program's own.
fn is_name(text: &str) -> bool {
    !text.contains(['*', '?', '[', '@'])
}

/// Operands but for the first ones, each with its index among the words.
fn words<'s>(scan: &'s Scan<'_>, skipped: usize) -> impl Iterator<Item = (usize, Word)> + 's {
    scan.invocation.operands.iter().skip(skipped).map(|operand| (operand.index, operand.word.clone()))
}
