//! Claude Code sessions: `~/.claude/projects/<folder>/<session>.jsonl` and the files of its sub-agents.
//!
//! Calls are `tool_use` blocks of assistant records, and of the assistant records inside `agent_progress`.

use std::path::PathBuf;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::ToolCall;

use super::json::{Text, arguments, hides_text, repaired, value, values_of};
use super::{Found, Head, Outcome, Reader, Recorded};

/// Kinds of records that never hold a call.
const SILENT: &[&str] = &[
    "user",
    "system",
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "mode",
    "permission-mode",
    "attachment",
    "last-prompt",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "pr-link",
    "tag",
    "x-error",
    "progress",
];

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    cwd: Option<Text<'a>>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

/// The data of a progress record.
#[derive(Deserialize)]
struct Progress<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Option<Text<'a>>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

struct ClaudeCodeSession {
    tool_use: memmem::Finder<'static>,
    is_error: memmem::Finder<'static>,
    /// The directory of the newest record that told one.
    cwd: Option<PathBuf>,
}

pub(super) fn open() -> Box<dyn Reader> {
    Box::new(ClaudeCodeSession {
        tool_use: memmem::Finder::new("tool_use\""),
        is_error: memmem::Finder::new("is_error"),
        cwd: None,
    })
}

pub(super) fn looks_like(head: &Head) -> bool {
    let is_one = |record: &serde_json::Value| {
        let has = |key: &str| record.get(key).is_some();
        let kind = record.get("type").and_then(|kind| kind.as_str());
        match kind {
            Some("user" | "assistant") => {
                has("message") && !has("session_id") && (has("uuid") || has("sessionId") || has("cwd"))
            }
            Some("summary") => has("leafUuid"),
            Some("file-history-snapshot") => has("messageId"),
            Some("queue-operation" | "permission-mode" | "progress") => has("sessionId"),
            _ => false,
        }
    };
    head.records.iter().any(is_one)
        || (head.records.is_empty() && head.has_text("\"sessionId\"") && head.has_text("\"parentUuid\""))
}

impl Reader for ClaudeCodeSession {
    fn wants(&self, line: &[u8]) -> bool {
        self.tool_use.find(line).is_some()
            || self.is_error.find_iter(line).any(|index| is_true(&line[index + "is_error".len()..]))
            || hides_text(line)
    }

    fn line(&mut self, line: &[u8], found: &mut Found<'_>) {
        for record in values_of::<Record<'_>>(line) {
            match record {
                Ok(record) => self.record(&record, found),
                Err(error) => {
                    // The second try costs a copy, so only lines that need it pay.
                    let text = repaired(line);
                    match serde_json::from_str::<Record<'_>>(&text) {
                        Ok(record) => self.record(&record, found),
                        Err(_) => found.problem(format!("no record ({error})")),
                    }
                    return;
                }
            }
        }
    }
}

impl ClaudeCodeSession {
    fn record(&mut self, record: &Record<'_>, found: &mut Found<'_>) {
        let cwd = record.cwd.as_ref().map(|cwd| PathBuf::from(cwd.as_str()));
        let at = cwd.clone().or_else(|| self.cwd.clone());
        let kind = record.kind.as_ref().map_or("", Text::as_str);
        match (kind, record.message, record.data) {
            ("assistant" | "user", Some(message), _) => self.message(message, at, found),
            ("progress", _, Some(data)) => self.progress(data, at, found),
            (kind, _, _) if SILENT.contains(&kind) => {}
            (kind, _, _) => found.unknown(if kind.is_empty() { "(no type)" } else { kind }),
        }
        if cwd.is_some() {
            self.cwd = cwd;
        }
    }

    fn progress(&mut self, data: &RawValue, cwd: Option<PathBuf>, found: &mut Found<'_>) {
        let Ok(progress) = serde_json::from_str::<Progress<'_>>(data.get()) else { return };
        if progress.kind.as_ref().map(Text::as_str) != Some("agent_progress") {
            return;
        }
        let Some(Ok(record)) =
            progress.message.map(|message| serde_json::from_str::<Record<'_>>(message.get()))
        else {
            return;
        };
        let cwd = record.cwd.as_ref().map(|cwd| PathBuf::from(cwd.as_str())).or(cwd);
        if let Some(message) = record.message {
            self.message(message, cwd, found);
        }
    }

    fn message(&mut self, message: &RawValue, cwd: Option<PathBuf>, found: &mut Found<'_>) {
        let Ok(Message { content: Some(content) }) = serde_json::from_str::<Message<'_>>(message.get())
        else {
            return;
        };
        // A text instead of blocks holds no call.
        let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(content.get()) else { return };
        for raw in blocks {
            match serde_json::from_str::<Block<'_>>(raw.get()) {
                Ok(block) => Self::block(&block, cwd.as_ref(), found),
                Err(_) if !raw.get().starts_with('{') => {}
                Err(error) => found.problem(format!("block of an unknown shape ({error})")),
            }
        }
    }

    fn block(block: &Block<'_>, cwd: Option<&PathBuf>, found: &mut Found<'_>) {
        match block.kind.as_ref().map(Text::as_str) {
            Some("tool_use") => {
                let Some(name) = &block.name else {
                    found.problem("tool_use without a name");
                    return;
                };
                let (args, opaque) = arguments(block.input.map_or("null", RawValue::get));
                let call = ToolCall {
                    id: block.id.as_ref().map(|id| id.as_str().to_owned()),
                    tool: name.as_str().to_owned(),
                    args,
                    cwd: cwd.cloned(),
                };
                found.call(Recorded { opaque, ..Recorded::new(found.place.clone(), call) });
            }
            Some("tool_result") if block.is_error == Some(true) => {
                let text = block
                    .content
                    .and_then(|content| value(content.get()))
                    .map(|content| first_text(&content));
                if let (Some(id), Some(text)) = (&block.tool_use_id, text) {
                    found.outcome(id.as_str().to_owned(), outcome(&text));
                }
            }
            _ => {}
        }
    }
}

fn is_true(after: &[u8]) -> bool {
    let rest = after.strip_prefix(b"\"").unwrap_or(after).trim_ascii_start();
    rest.strip_prefix(b":").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"true"))
}

/// The text of a result, which is a text or a list of blocks.
fn first_text(content: &serde_json::Value) -> String {
    let text = match content {
        serde_json::Value::Array(blocks) => blocks.iter().find_map(|block| block.get("text")),
        other => Some(other),
    };
    text.and_then(|text| text.as_str()).unwrap_or_default().to_owned()
}

fn outcome(text: &str) -> Outcome {
    const BEGINNINGS: &[(&str, Outcome)] = &[
        ("The user doesn't want to proceed with this tool use", Outcome::DeniedByUser),
        ("The user doesn't want to take this action", Outcome::DeniedByUser),
        ("Permission for this tool use was denied", Outcome::DeniedOtherwise),
        ("Permission prompt was aborted", Outcome::Aborted),
        ("[Request interrupted by user", Outcome::Aborted),
        ("<tool_use_error>Sibling tool call errored", Outcome::Aborted),
    ];
    if text.starts_with("Permission to use") && text.contains("has been denied") {
        return Outcome::DeniedByPolicy;
    }
    BEGINNINGS
        .iter()
        .find(|(beginning, _)| text.starts_with(beginning))
        .map_or(Outcome::Failed, |found| found.1)
}
