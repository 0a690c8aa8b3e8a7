//! A decision as one line of `check` and `dry-run`: versioned, apart from our own types, secrets masked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::{PathTarget, Targets, ToolCall};
use crate::shell::{Access, Command, Piece};
use crate::verdict::{Decision, Origin, Verdict, Vote};

use super::mask::mask_secrets_of;
use super::mask_secrets;

/// One decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionLine {
    /// Version of this shape.
    pub v: u32,
    /// The call's id in its log, if it has one.
    pub id: Option<String>,
    /// The tool as the agent wrote it.
    pub tool: String,
    /// What happens to the call.
    #[schemars(with = "VerdictWord")]
    pub verdict: Verdict,
    /// The rule that decides.
    pub rule: Option<String>,
    /// Where that is written: `file:line`.
    pub source: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What to do instead.
    pub hint: Option<String>,
    /// All votes.
    pub votes: Vec<VoteLine>,
    /// What the call acts on.
    pub targets: TargetsLine,
    /// Where the call stands in its log: `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// The verdict that the log expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<VerdictWord>")]
    pub expect: Option<Verdict>,
}

/// The words for verdicts, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code, reason = "stands for the verdict in the published schema only")]
pub(crate) enum VerdictWord {
    /// Goes ahead.
    Allow,
    /// Needs a person.
    Ask,
    /// Does not happen.
    Deny,
}

/// One vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VoteLine {
    /// What it says.
    #[schemars(with = "VerdictWord")]
    pub verdict: Verdict,
    /// Who: `rule git-push`, `unreadable`, `default`, `hook lint`.
    pub by: String,
    /// The rule, if one votes or is in doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where that is written: `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why.
    pub reason: String,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The part of the call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// What a call acts on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetsLine {
    /// Commands that a shell line would start, written canonically.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Paths with how they are touched.
    #[serde(default)]
    pub paths: Vec<PathLine>,
    /// Hosts that are contacted, as written.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// What could not be read with certainty.
    #[serde(default)]
    pub unreadable: Vec<String>,
}

/// A path and how it is touched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathLine {
    /// Absolute; unknown parts as they were written.
    pub path: String,
    /// How.
    #[schemars(with = "AccessWord")]
    pub access: Access,
    /// Whether everything below is touched too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
    /// Where links lead to, if elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real: Option<String>,
}

/// The words for accesses, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code, reason = "stands for the access in the published schema only")]
enum AccessWord {
    /// Its content is read.
    Read,
    /// It is made or changed.
    Write,
    /// It is removed.
    Delete,
}

impl DecisionLine {
    /// The line for a judged call.
    pub fn new(call: &ToolCall, targets: &Targets, decision: &Decision) -> Self {
        let mut votes: Vec<VoteLine> = decision.votes.iter().map(VoteLine::new).collect();
        let mut targets = TargetsLine::new(targets);
        // A secret may stand in a path or a subject without the words that gave it away in the call.
        let mut texts: Vec<&mut String> = Vec::new();
        texts.extend(targets.commands.iter_mut().chain(&mut targets.hosts).chain(&mut targets.unreadable));
        for path in &mut targets.paths {
            texts.push(&mut path.path);
            texts.extend(path.real.as_mut());
        }
        texts.extend(
            votes.iter_mut().flat_map(|vote| [Some(&mut vote.reason), vote.subject.as_mut()]).flatten(),
        );
        mask_secrets_of(&call.args, &mut texts);
        let deciding = decision.deciding.and_then(|index| votes.get(index));
        Self {
            v: 1,
            id: call.id.clone(),
            tool: call.tool.clone(),
            verdict: decision.verdict,
            rule: deciding.and_then(|vote| vote.rule.clone()),
            source: deciding.and_then(|vote| vote.source.clone()),
            reason: deciding.map(|vote| vote.reason.clone()),
            hint: deciding.and_then(|vote| vote.hint.clone()),
            votes,
            targets,
            log: None,
            expect: None,
        }
    }
}

impl VoteLine {
    /// The line for a vote.
    pub fn new(vote: &Vote) -> Self {
        let masked = |text: &String| mask_secrets(text).into_owned();
        Self {
            verdict: vote.verdict,
            by: by(&vote.origin),
            rule: rule(&vote.origin).map(str::to_owned),
            source: source(&vote.origin),
            reason: masked(&vote.reason),
            hint: vote.hint.as_ref().map(masked),
            subject: vote.subject.as_ref().map(masked),
        }
    }
}

impl TargetsLine {
    /// The line for targets.
    pub fn new(targets: &Targets) -> Self {
        let masked = |text: &str| mask_secrets(text).into_owned();
        let commands = targets.reading.iter().flat_map(|reading| &reading.commands);
        let read_unreadable = targets.reading.iter().flat_map(|reading| &reading.unreadable);
        let mut unreadable: Vec<String> = Vec::new();
        for item in read_unreadable.chain(&targets.unreadable) {
            let what = masked(&item.what);
            if !unreadable.contains(&what) {
                unreadable.push(what);
            }
        }
        Self {
            commands: commands.map(|command| masked(&command_text(command))).collect(),
            paths: targets.paths.iter().map(path_line).collect(),
            hosts: targets.hosts.iter().map(|host| masked(&host.shown)).collect(),
            unreadable,
        }
    }
}

fn path_line(target: &PathTarget) -> PathLine {
    PathLine {
        path: mask_secrets(&pieces_text(target.lexical.pieces())).into_owned(),
        access: target.access,
        recursive: target.recursive,
        real: target.real.as_ref().map(|real| mask_secrets(&pieces_text(real.pieces())).into_owned()),
    }
}

fn pieces_text(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) | Piece::Glob(text) => text.as_str(),
            Piece::Name => "…",
            Piece::Unknown { source, .. } => source.as_str(),
        })
        .collect()
}

/// The command as it could be written in a shell: words with blanks or quotes in them are quoted.
fn command_text(command: &Command) -> String {
    let mut text = String::new();
    for word in &command.words {
        if !text.is_empty() {
            text.push(' ');
        }
        let shown = word.shown();
        let is_plain = !shown.is_empty()
            && (word.value().is_none()
                || !shown.contains(|character: char| {
                    character.is_whitespace() || "'\"\\$`|&;<>()*?[#".contains(character)
                }));
        if is_plain {
            text.push_str(&shown);
        } else {
            text.push('\'');
            text.push_str(&shown.replace('\'', r"'\''"));
            text.push('\'');
        }
    }
    text
}

/// Who votes, for people.
pub(crate) fn by(origin: &Origin) -> String {
    match origin {
        Origin::Hook { name, bundle } => with_bundle(format!("hook {name}"), bundle.as_deref()),
        Origin::Plugin { name } => format!("plugin {name}"),
        Origin::Core { check } => check.clone(),
        Origin::Protected { path } => format!("protected path {path}"),
        Origin::Rule { id, bundle, .. } => with_bundle(format!("rule {id}"), bundle.as_deref()),
        Origin::Unreadable { rule: Some(rule), .. } => format!("unreadable, in doubt of rule {rule}"),
        Origin::Unreadable { rule: None, .. } => "unreadable".to_owned(),
        Origin::Default { .. } => "default".to_owned(),
        Origin::Control => "control".to_owned(),
        Origin::Class { tool } => format!("gate of {tool}"),
        Origin::Outcome { check } => format!("outcome {check}"),
    }
}

fn with_bundle(text: String, bundle: Option<&str>) -> String {
    match bundle {
        Some(bundle) => format!("{text}, bundle {bundle}"),
        None => text,
    }
}

/// The rule that votes or is in doubt.
pub(crate) fn rule(origin: &Origin) -> Option<&str> {
    match origin {
        Origin::Rule { id, .. } => Some(id),
        Origin::Unreadable { rule, .. } => rule.as_deref(),
        Origin::Hook { .. }
        | Origin::Plugin { .. }
        | Origin::Core { .. }
        | Origin::Protected { .. }
        | Origin::Default { .. }
        | Origin::Control
        | Origin::Class { .. }
        | Origin::Outcome { .. } => None,
    }
}

/// Where the vote is written, `file:line`.
pub(crate) fn source(origin: &Origin) -> Option<String> {
    match origin {
        Origin::Rule { place, .. } | Origin::Unreadable { place, .. } | Origin::Default { place } => {
            Some(place.to_string())
        }
        Origin::Hook { .. }
        | Origin::Plugin { .. }
        | Origin::Core { .. }
        | Origin::Protected { .. }
        | Origin::Control
        | Origin::Class { .. }
        | Origin::Outcome { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{Directory, Input, Invocation, Word};

    #[test]
    fn commands_are_written_so_that_a_shell_reads_the_same_words() {
        let words = ["git", "commit", "-m", "it's done", ""];
        let command = Command {
            words: words.map(Word::known).to_vec(),
            assignments: Vec::new(),
            redirects: Vec::new(),
            directory: Directory::Known(".".into()),
            via: Vec::new(),
            pipeline: None,
            input: Input::Inherited,
            invocation: Invocation::default(),
            span: (0, 0),
        };
        assert_eq!(command_text(&command), r"git commit -m 'it'\''s done' ''");
    }

    #[test]
    fn secrets_do_not_reach_the_line() {
        let vote = Vote {
            verdict: Verdict::Deny,
            reason: "no".into(),
            origin: Origin::Control,
            hint: None,
            scopes: Vec::new(),
            part: None,
            subject: Some("curl https://a:s3cret@example.org".into()),
        };
        assert_eq!(VoteLine::new(&vote).subject.as_deref(), Some("curl https://a:xxxxxx@example.org"));
    }
}
