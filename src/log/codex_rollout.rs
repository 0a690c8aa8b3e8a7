//! Codex rollouts: `~/.codex/sessions/…/rollout-<time>-<thread>.jsonl`.
//!
//! Calls are response items. `item_completed` events echo them under the same id and count only where a script of
//! code mode made the call, which has no response item of its own.

use std::path::PathBuf;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::call::ToolCall;

use super::json::{Text, arguments, hides_text, owned, repaired, value, values_of};
use super::{Found, Head, Outcome, Reader, Recorded};

/// Types of lines.
const LINE_TYPES: [&str; 6] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];

/// Types of lines and response items that never hold a call.
const SILENT: &[&str] = &[
    "compacted",
    "world_state",
    "token_usage_record",
    "realtime_item",
    "security_risk_score",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "message",
    "agent_message",
    "reasoning",
    "compaction",
    "compaction_trigger",
    "context_compaction",
    "additional_tools",
    "ghost_snapshot",
    "tool_search_output",
    "function_call_output",
    "custom_tool_call_output",
    "event_msg",
    "state",
];

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
    #[serde(borrow, default)]
    record_type: Option<Text<'a>>,
}

/// What a payload may hold; which fields it has depends on its type.
#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    call_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow, default)]
    namespace: Option<Text<'a>>,
    #[serde(borrow, default)]
    cwd: Option<Text<'a>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    action: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
}

/// What an `item_completed` event says happened.
#[derive(Deserialize)]
struct CompletedItem {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    command: Option<Value>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    changes: Option<Map<String, Value>>,
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
}

struct CodexRollout {
    needles: [memmem::Finder<'static>; 6],
    /// The directory of the newest turn.
    cwd: Option<PathBuf>,
    /// Whether a turn has told its directory; a copied session header does not change it.
    has_turn: bool,
    /// The call whose script runs: completed items before its output belong to it.
    script: Option<String>,
}

pub(super) fn open() -> Box<dyn Reader> {
    Box::new(CodexRollout {
        needles: [
            "_call\"",
            "\"session_meta\"",
            "\"turn_context\"",
            "ejected",
            "reject command",
            "aborted by user",
        ]
        .map(memmem::Finder::new),
        cwd: None,
        has_turn: false,
        script: None,
    })
}

pub(super) fn looks_like(head: &Head) -> bool {
    let is_one = |record: &Value| {
        let kind = record.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_line = LINE_TYPES.contains(&kind) && record.get("payload").is_some_and(Value::is_object);
        let is_bare_call = kind.ends_with("_call") && record.get("call_id").is_some();
        is_line || is_bare_call || record.get("record_type").is_some_and(Value::is_string)
    };
    head.records.iter().any(is_one)
        || (head.records.is_empty() && head.has_text("\"session_meta\"") && head.has_text("\"payload\""))
}

impl Reader for CodexRollout {
    fn wants(&self, line: &[u8]) -> bool {
        self.script.is_some()
            || self.needles.iter().any(|needle| needle.find(line).is_some())
            || hides_text(line)
    }

    fn line(&mut self, line: &[u8], found: &mut Found<'_>) {
        for record in values_of::<&RawValue>(line) {
            match record {
                Ok(raw) => self.record(raw.get(), found),
                Err(error) => {
                    let text = repaired(line);
                    match serde_json::from_str::<&RawValue>(&text) {
                        Ok(raw) => self.record(raw.get(), found),
                        Err(_) => found.problem(format!("no record ({error})")),
                    }
                    return;
                }
            }
        }
    }
}

impl CodexRollout {
    fn record(&mut self, raw: &str, found: &mut Found<'_>) {
        let record = match serde_json::from_str::<Record<'_>>(raw) {
            Ok(record) => record,
            Err(error) => {
                found.problem(format!("record of an unknown shape ({error})"));
                return;
            }
        };
        let kind = record.kind.as_ref().map_or("", Text::as_str);
        match (kind, record.payload) {
            ("session_meta" | "turn_context" | "response_item" | "event_msg", Some(payload)) => {
                match serde_json::from_str::<Payload<'_>>(payload.get()) {
                    Ok(payload) => self.payload(kind, &payload, found),
                    Err(error) => {
                        // The text of a message may be broken where the call is not; only calls are worth a second try.
                        let text = repaired(payload.get().as_bytes());
                        match serde_json::from_str::<Payload<'_>>(&text) {
                            Ok(payload) => self.payload(kind, &payload, found),
                            Err(_) => found.problem(format!("{kind} of an unknown shape ({error})")),
                        }
                    }
                }
            }
            // The oldest layout: items without an envelope after a header without a type.
            (kind, None) if !SILENT.contains(&kind) => match serde_json::from_str::<Payload<'_>>(raw) {
                Ok(item) if !kind.is_empty() => self.payload("response_item", &item, found),
                Ok(_) if record.record_type.is_some() => {}
                Ok(header) if header.id.is_some() => {}
                Ok(_) => found.unknown("(no type)"),
                Err(error) => found.problem(format!("item of an unknown shape ({error})")),
            },
            (kind, _) if SILENT.contains(&kind) => {}
            (kind, _) => found.unknown(kind),
        }
    }

    fn payload(&mut self, line_kind: &str, payload: &Payload<'_>, found: &mut Found<'_>) {
        let kind = payload.kind.as_ref().map_or("", Text::as_str);
        let cwd = payload.cwd.as_ref().map(|cwd| PathBuf::from(cwd.as_str()));
        match (line_kind, kind) {
            ("turn_context", _) => {
                if cwd.is_some() {
                    self.cwd = cwd;
                    self.has_turn = true;
                }
            }
            ("session_meta", _) => {
                if !self.has_turn && self.cwd.is_none() {
                    self.cwd = cwd;
                }
            }
            ("event_msg", "item_completed") => self.completed(payload, found),
            ("event_msg", _) => {}
            (_, "function_call") => self.call(payload, payload.arguments, found),
            (_, "custom_tool_call") => self.call(payload, payload.input, found),
            (_, "local_shell_call") => self.action(payload, "local_shell", found),
            (_, "web_search_call") => self.action(payload, "web_search", found),
            (_, "tool_search_call") => self.action(payload, "tool_search", found),
            (_, "image_generation_call") => self.action(payload, "image_generation", found),
            (_, "function_call_output" | "custom_tool_call_output") => self.output(payload, found),
            (_, kind) if SILENT.contains(&kind) => {}
            (_, kind) => found.unknown(&format!("response_item {kind}")),
        }
    }

    fn call(&mut self, payload: &Payload<'_>, raw: Option<&RawValue>, found: &mut Found<'_>) {
        let Some(name) = payload.name.as_ref().map(Text::as_str) else {
            found.problem("call without a name");
            return;
        };
        let name = name.strip_prefix("functions.").unwrap_or(name);
        let tool = match payload.namespace.as_ref().map(Text::as_str) {
            Some(namespace) if namespace.starts_with("mcp__") => format!("{namespace}__{name}"),
            Some(_) | None => name.to_owned(),
        };
        let (mut args, mut opaque) = arguments(raw.map_or("null", RawValue::get));
        if let Value::String(text) = args {
            // Free text is what patches and scripts are given in.
            let takes_text = payload.kind.as_ref().is_some_and(|kind| kind.as_str() == "custom_tool_call");
            (args, opaque) = (json!({ "input": text }), if takes_text { None } else { opaque });
        }
        let id = id_of(payload);
        let is_script = name == "exec" && args.get("command").is_none();
        if is_script {
            opaque = Some("a script of code mode");
        }
        let call = ToolCall { id: id.clone(), tool, args, cwd: self.cwd.clone() };
        found.call(Recorded { opaque, ..Recorded::new(found.place.clone(), call) });
        if is_script {
            self.script = id;
        }
    }

    /// A call whose arguments stand under `action`.
    fn action(&self, payload: &Payload<'_>, tool: &str, found: &mut Found<'_>) {
        let raw = payload.action.or(payload.arguments);
        let (mut args, opaque) = arguments(raw.map_or("null", RawValue::get));
        if let Value::Object(map) = &mut args
            && let Some(directory) = map.remove("working_directory")
        {
            map.insert("workdir".to_owned(), directory);
        }
        let call = ToolCall { id: id_of(payload), tool: tool.to_owned(), args, cwd: self.cwd.clone() };
        found.call(Recorded { opaque, ..Recorded::new(found.place.clone(), call) });
    }

    fn output(&mut self, payload: &Payload<'_>, found: &mut Found<'_>) {
        let Some(id) = payload.call_id.as_ref().map(Text::as_str) else { return };
        if self.script.as_deref() == Some(id) {
            self.script = None;
        }
        let Some(output) = payload.output.and_then(|output| value(output.get())) else { return };
        if let Some(outcome) = outcome(&output_text(&output)) {
            found.outcome(id.to_owned(), outcome);
        }
    }

    /// Calls that a script of code mode made.
    fn completed(&mut self, payload: &Payload<'_>, found: &mut Found<'_>) {
        let (Some(within), Some(raw)) = (&self.script, payload.item) else { return };
        let Some(item) = owned::<CompletedItem>(raw.get()) else { return };
        let cwd = item
            .cwd
            .as_deref()
            .map(|cwd| PathBuf::from(cwd.strip_prefix("file://").unwrap_or(cwd)))
            .or_else(|| self.cwd.clone());
        let mut nested = |id: Option<String>, tool: String, args: Value| {
            let call = ToolCall { id, tool, args, cwd: cwd.clone() };
            let recorded = Recorded::new(found.place.clone(), call);
            found.call(Recorded { within: Some(within.clone()), ..recorded });
        };
        if let Some(command) = item.command {
            nested(item.id, "exec_command".to_owned(), json!({ "command": command }));
        } else if let Some(changes) = item.changes {
            for (index, (path, change)) in changes.into_iter().enumerate() {
                let id = item.id.as_ref().map(|id| format!("{id}/{index}"));
                let tool = match change.get("type").and_then(Value::as_str) {
                    Some("delete") => "delete_file",
                    Some("add") => "write_file",
                    _ => "edit_file",
                };
                let moved = change.get("move_path").and_then(Value::as_str).map(str::to_owned);
                nested(id.clone(), tool.to_owned(), json!({ "path": path }));
                if let Some(moved) = moved {
                    nested(
                        id.map(|id| format!("{id}/to")),
                        "write_file".to_owned(),
                        json!({ "path": moved }),
                    );
                }
            }
        } else if let (Some(server), Some(tool)) = (item.server, item.tool) {
            nested(item.id, format!("mcp__{server}__{tool}"), item.arguments.unwrap_or_else(|| json!({})));
        }
    }
}

fn id_of(payload: &Payload<'_>) -> Option<String> {
    payload.call_id.as_ref().or(payload.id.as_ref()).map(|id| id.as_str().to_owned())
}

/// The text of an output: a text, a list of texts, or a text or object that holds one under `output`.
fn output_text(output: &Value) -> String {
    match output {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(object)) => object.get("output").map(output_text).unwrap_or_default(),
            _ => text.clone(),
        },
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Object(object) => {
            object.get("output").or_else(|| object.get("content")).map(output_text).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

fn outcome(text: &str) -> Option<Outcome> {
    let beginning: String = text.chars().take(400).collect();
    let has = |part: &str| beginning.contains(part);
    if has("aborted by user") {
        return Some(Outcome::Aborted);
    }
    if has("rejected by user") {
        return Some(Outcome::DeniedByUser);
    }
    if has("AskForApproval is set to Never") || has("approval policy is Never; reject command") {
        return Some(Outcome::DeniedOtherwise);
    }
    (has("failed: CreateProcess") && has("Rejected(")).then_some(Outcome::DeniedByPolicy)
}
