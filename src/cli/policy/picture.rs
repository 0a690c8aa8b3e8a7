//! A call as the gate sees it, drawn for people.

use std::io;

use crate::call::{PathTarget, Targets, mask_secrets};
use crate::cli::screen::{Screen, harmless, plural};
use crate::gate::Judged;
use crate::policy::{Explanation, Rule, Speaking};
use crate::shell::{Access, Command, Directory, Piece, Unreadable, UnreadableKind, Word};
use crate::verdict::{Decision, Origin, Verdict, Vote};

/// Columns of a line.
const WIDTH: usize = 100;
/// Most characters of one word that are shown.
const WORD: usize = 60;
/// Rules in doubt beyond these are folded into one line.
const DOUBTS: usize = 2;
/// Rules that nearly spoke, shown with why.
const NEAR: usize = 4;
/// Those of the rest that are named.
const NEAR_NAMED: usize = 12;
/// From this distance on a rule shares no more than the program.
const FAR: u8 = 5;

/// Draws the picture.
pub(super) fn draw(judged: &Judged, explanation: &Explanation<'_>, screen: &mut Screen) -> io::Result<()> {
    headline(&judged.decision, screen)?;
    let targets = &judged.targets;
    line_of_call(targets, screen)?;
    if targets.command.is_some() {
        commands(targets, explanation, screen)?;
    } else {
        effects(targets, None, "  ", screen)?;
    }
    unreadable(targets, screen)?;
    votes(&judged.decision, screen)?;
    near(explanation, screen)
}

fn word_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

fn headline(decision: &Decision, screen: &mut Screen) -> io::Result<()> {
    let word = screen.verdict(decision.verdict);
    let meaning = match decision.verdict {
        Verdict::Allow => "the call goes ahead",
        Verdict::Ask => "the call needs a person; with nobody there it does not happen",
        Verdict::Deny => "the call does not happen",
    };
    screen.line(&format!("{}: {meaning}", word.trim_end()))?;
    match decision.deciding_vote() {
        Some(vote) => {
            paragraph("  because ", &vote.reason, screen)?;
            if let Some(hint) = vote.hint.as_ref().filter(|_| decision.verdict > Verdict::Allow) {
                paragraph("  instead ", hint, screen)?;
            }
            screen.line(&format!("  says     {}", harmless(&voter(&vote.origin))))
        }
        None => screen.line("  because no rule speaks about it"),
    }
}

/// Who votes, with where that is written.
fn voter(origin: &Origin) -> String {
    match origin {
        Origin::Rule { id, place, .. } => format!("rule {id}, {place}"),
        Origin::Unreadable { rule: Some(rule), place } => format!("rule {rule} in doubt, {place}"),
        Origin::Unreadable { rule: None, place } => format!("`unreadable` of the policy, {place}"),
        Origin::Default { place } => format!("`default` of the policy, {place}"),
        Origin::Hook { name, .. } => format!("hook {name}"),
        Origin::Plugin { name } => format!("plugin {name}"),
        Origin::Core { check } | Origin::Outcome { check } => format!("check {check}"),
        Origin::Protected { path } => format!("protected path {path}"),
        Origin::Class { tool } => format!("class of {tool}"),
        Origin::Control => "control".to_owned(),
    }
}

fn line_of_call(targets: &Targets, screen: &mut Screen) -> io::Result<()> {
    screen.line("")?;
    let Some(line) = &targets.command else {
        return screen.line(&format!("The call of {}", harmless(&targets.tool)));
    };
    screen.line("The line")?;
    for part in mask_secrets(line).lines() {
        screen.line(&format!("  | {}", harmless(part)))?;
    }
    Ok(())
}

fn commands(targets: &Targets, explanation: &Explanation<'_>, screen: &mut Screen) -> io::Result<()> {
    let commands = targets.commands();
    screen.line("")?;
    if commands.is_empty() {
        return screen.line("It would start nothing that could be read");
    }
    let has_unknown = commands
        .iter()
        .flat_map(|command| &command.words)
        .any(|word| word.pieces.iter().any(|piece| !matches!(piece, Piece::Text(_))));
    let legend = if has_unknown {
        " (= is known, * stands for names that exist, ? is not known beforehand, ^ is what a rule goes by)"
    } else {
        " (= is known, ^ is what a rule goes by)"
    };
    screen.line(&format!("It would start{legend}"))?;
    for (index, command) in commands.iter().enumerate() {
        one_command(targets, index, command, explanation, screen)?;
    }
    Ok(())
}

fn one_command(
    targets: &Targets,
    index: usize,
    command: &Command,
    explanation: &Explanation<'_>,
    screen: &mut Screen,
) -> io::Result<()> {
    let drawn: Vec<(String, String)> = command.words.iter().map(drawn).collect();
    let indent = " ".repeat(5);
    let row = |cells: Vec<&str>| cells.join(" ").trim_end().to_owned();
    let texts = row(drawn.iter().map(|(text, _)| text.as_str()).collect());
    screen.line(&format!("{:>3}  {texts}", index + 1))?;
    screen.line(&format!("{indent}{}", row(drawn.iter().map(|(_, mark)| mark.as_str()).collect())))?;
    let about: Vec<(&Speaking<'_>, &[usize])> = explanation
        .speaking
        .iter()
        .filter(|speaking| speaking.is_certain)
        .filter_map(|speaking| {
            let (_, words) = speaking.marks.iter().find(|(at, _)| *at == index)?;
            Some((speaking, words.as_slice()))
        })
        .collect();
    for (speaking, words) in about {
        let marks: Vec<String> = drawn
            .iter()
            .enumerate()
            .map(|(at, (text, _))| {
                let is_marked = words.is_empty() || words.contains(&at);
                if is_marked { "^" } else { " " }.repeat(text.chars().count())
            })
            .collect();
        let marks = row(marks.iter().map(String::as_str).collect());
        let rule = speaking.rule;
        screen.line(&format!("{indent}{marks}  {} {}", word_of(rule.verdict()), harmless(rule.id())))?;
    }
    if !command.via.is_empty() {
        screen.line(&format!("{indent}started by {}", harmless(&command.via.join(", then "))))?;
    }
    match &command.directory {
        Directory::Known(folder) if folder == "." => {}
        Directory::Known(folder) => screen.line(&format!("{indent}in {}", harmless(folder)))?,
        Directory::Unknown => screen.line(&format!("{indent}in a folder that is not known beforehand"))?,
    }
    effects(targets, Some(index), &indent, screen)
}

/// A word as it is shown, and its underline of the same width.
fn drawn(word: &Word) -> (String, String) {
    let shown = word.shown();
    let masked = mask_secrets(&shown);
    let pieces: Vec<(String, char)> = if *masked == *shown {
        word.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => (harmless(text).into_owned(), '='),
                Piece::Glob(text) => (harmless(text).into_owned(), '*'),
                Piece::Name => ("…".to_owned(), '?'),
                Piece::Unknown { source, .. } => (harmless(source).into_owned(), '?'),
            })
            .collect()
    } else {
        vec![(harmless(&masked).into_owned(), '=')]
    };
    let text: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
    let mut signs: Vec<(char, char)> =
        pieces.iter().flat_map(|(text, mark)| text.chars().map(|c| (c, *mark))).collect();
    if text.is_empty() || text.contains(' ') {
        let quote = if text.contains('\'') { '"' } else { '\'' };
        signs.insert(0, (quote, '='));
        signs.push((quote, '='));
    }
    if signs.len() > WORD {
        let tail = signs.split_off(signs.len() - WORD / 3);
        signs.truncate(WORD - WORD / 3 - 1);
        signs.push(('…', '='));
        signs.extend(tail);
    }
    signs.into_iter().unzip()
}

fn effects(targets: &Targets, command: Option<usize>, indent: &str, screen: &mut Screen) -> io::Result<()> {
    let mut said: Vec<String> = Vec::new();
    for path in targets.paths.iter().filter(|path| path.command == command) {
        said.push(effect(path, targets));
    }
    for host in targets.hosts.iter().filter(|host| host.command == command) {
        let shown = if host.shown == "?" { "a host that is not known" } else { host.shown.as_str() };
        said.push(format!("contacts {shown}"));
    }
    let mut kept: Vec<&String> = Vec::new();
    for text in &said {
        if !kept.contains(&text) {
            kept.push(text);
            screen.line(&format!("{indent}{}", harmless(text)))?;
        }
    }
    Ok(())
}

fn effect(path: &PathTarget, targets: &Targets) -> String {
    let act = match path.access {
        Access::Read => "reads",
        Access::Write => "writes",
        Access::Delete => "deletes",
    };
    let shown = mask_secrets(&path.shown);
    let full = path.lexical.shown();
    let mut text = format!("{act} {shown}");
    if path.recursive {
        text.push_str(" and all below it");
    }
    let mut notes: Vec<String> = Vec::new();
    if *full != *shown && !path.lexical.has_unknown() {
        notes.push(full.into_owned());
    }
    if path.is_outside(&targets.root) {
        notes.push("outside the repository".to_owned());
    }
    if path.lexical.has_unknown() {
        notes.push("not known beforehand".to_owned());
    }
    if path.redirect {
        notes.push("by a redirect".to_owned());
    }
    if !notes.is_empty() {
        text.push_str(&format!(" ({})", notes.join(", ")));
    }
    text
}

fn unreadable(targets: &Targets, screen: &mut Screen) -> io::Result<()> {
    let mut all: Vec<&Unreadable> = Vec::new();
    let of_reading = targets.reading.iter().flat_map(|reading| &reading.unreadable);
    for item in of_reading.chain(&targets.unreadable) {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    if all.is_empty() {
        return Ok(());
    }
    screen.line("")?;
    screen.line("What could not be read")?;
    for item in all {
        let harmless_kind = matches!(item.kind, UnreadableKind::Path(Access::Read));
        let note = if harmless_kind { " (only read: no vote)" } else { "" };
        paragraph("  - ", &format!("{}{note}", item.what), screen)?;
        where_in_line(targets, item.span, screen)?;
    }
    Ok(())
}

/// The physical line that a span begins in, with the span underlined.
fn where_in_line(targets: &Targets, span: Option<(usize, usize)>, screen: &mut Screen) -> io::Result<()> {
    let (Some(line), Some((start, end))) = (&targets.command, span) else { return Ok(()) };
    let (Some(before), Some(_)) = (line.get(..start), line.get(start..end)) else { return Ok(()) };
    if *mask_secrets(line) != **line {
        return Ok(());
    }
    let first = before.rfind('\n').map_or(0, |at| at + 1);
    let last = line[start..].find('\n').map_or(line.len(), |at| start + at);
    let lead = harmless(&line[first..start]).chars().count();
    let length = harmless(&line[start..end.min(last)]).chars().count().max(1);
    screen.line(&format!("    | {}", harmless(&line[first..last])))?;
    screen.line(&format!("    | {}{}", " ".repeat(lead), "?".repeat(length)))
}

fn votes(decision: &Decision, screen: &mut Screen) -> io::Result<()> {
    if decision.votes.is_empty() {
        return Ok(());
    }
    screen.line("")?;
    screen.line("Votes; the strictest decides")?;
    let is_doubt = |vote: &&Vote| matches!(vote.origin, Origin::Unreadable { rule: Some(_), .. });
    let doubts: Vec<&Vote> = decision.votes.iter().filter(is_doubt).collect();
    let folds = doubts.len() > DOUBTS;
    for vote in &decision.votes {
        if !(folds && is_doubt(&vote)) {
            one_vote(vote, screen)?;
        }
    }
    if !folds {
        return Ok(());
    }
    for verdict in [Verdict::Deny, Verdict::Ask] {
        let ids: Vec<&str> = doubts
            .iter()
            .filter(|vote| vote.verdict == verdict)
            .filter_map(|vote| match &vote.origin {
                Origin::Unreadable { rule: Some(rule), .. } => Some(rule.as_str()),
                _ => None,
            })
            .collect();
        if !ids.is_empty() {
            let count = plural(ids.len() as u64, "rule", "rules");
            let text = format!("{count} that hold for some values of what is not known: {}", ids.join(", "));
            paragraph(&format!("  {:<6} ", word_of(verdict)), &text, screen)?;
        }
    }
    Ok(())
}

fn one_vote(vote: &Vote, screen: &mut Screen) -> io::Result<()> {
    let lead = format!("  {:<6} ", word_of(vote.verdict));
    paragraph(&lead, &format!("{}: {}", voter(&vote.origin), vote.reason), screen)?;
    if let Some(subject) = &vote.subject {
        let cut: String = mask_secrets(subject).chars().take(WIDTH - 15).collect();
        screen.line(&format!("         for {}", harmless(&cut)))?;
    }
    Ok(())
}

fn near(explanation: &Explanation<'_>, screen: &mut Screen) -> io::Result<()> {
    let (close, far): (Vec<_>, Vec<_>) =
        explanation.near.iter().enumerate().partition(|(at, near)| *at < NEAR && near.distance < FAR);
    if explanation.near.is_empty() {
        return Ok(());
    }
    screen.line("")?;
    screen.line("Rules about the same programs or paths that do not speak")?;
    let lead = |rule: &Rule| format!("  {} ", rule.id());
    for (_, near) in &close {
        paragraph(&lead(near.rule), &format!("{} [{}]", near.why, near.rule.place()), screen)?;
    }
    if !far.is_empty() {
        let mut ids: Vec<&str> = far.iter().map(|(_, near)| near.rule.id()).collect();
        let count = ids.len();
        ids.truncate(NEAR_NAMED);
        let dots = if count > NEAR_NAMED { ", …" } else { "" };
        let more = if close.is_empty() { "" } else { " more" };
        paragraph("  ", &format!("{count}{more}: {}{dots}", ids.join(", ")), screen)?;
    }
    Ok(())
}

/// A text behind a lead, broken at blanks; later lines stand below its beginning.
fn paragraph(lead: &str, text: &str, screen: &mut Screen) -> io::Result<()> {
    let text = harmless(text).into_owned();
    let indent = lead.chars().count().min(12);
    let mut row = harmless(lead).into_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && row.chars().count() + 1 + word.chars().count() > WIDTH {
            screen.line(row.trim_end())?;
            row = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            row.push(' ');
        }
        row.push_str(word);
        is_empty = false;
    }
    screen.line(row.trim_end())
}
