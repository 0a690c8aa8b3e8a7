//! Plain JSON lines: one call a line, in whatever of the usual names its fields have; also cases that hold a call
//! under `call` and the verdict they expect under `expect`.

use serde_json::{Map, Value};

use crate::call::ToolCall;
use crate::verdict::Verdict;

use super::json::{arguments, repaired, values_of};
use super::{Found, Head, Reader, Recorded};

const TOOL: [&str; 3] = ["tool", "name", "tool_name"];
const ARGS: [&str; 5] = ["args", "params", "arguments", "input", "tool_input"];

struct JsonLines;

pub(super) fn open() -> Box<dyn Reader> {
    Box::new(JsonLines)
}

pub(super) fn looks_like(head: &Head) -> bool {
    let is_call = |value: &Value| {
        TOOL.iter().any(|key| value.get(key).is_some_and(Value::is_string))
            && (ARGS.iter().any(|key| value.get(key).is_some()) || value.get("cwd").is_some())
    };
    head.records.iter().any(|record| is_call(record) || record.get("call").is_some_and(is_call))
        || (head.records.is_empty() && head.has_text("\"tool\"") && head.has_text("\"args\""))
}

impl Reader for JsonLines {
    fn line(&mut self, line: &[u8], found: &mut Found<'_>) {
        for record in values_of::<Value>(line) {
            match record {
                Ok(Value::Object(record)) => object(record, found),
                Ok(_) => found.problem("no JSON object"),
                Err(error) => {
                    match serde_json::from_str(&repaired(line)) {
                        Ok(record) => object(record, found),
                        Err(_) => found.problem(format!("no JSON ({error})")),
                    }
                    return;
                }
            }
        }
    }
}

fn object(mut record: Map<String, Value>, found: &mut Found<'_>) {
    let expect =
        match record.get("expect").map(|word| (word, serde_json::from_value::<Verdict>(word.clone()))) {
            None => None,
            Some((_, Ok(verdict))) => Some(verdict),
            Some((word, Err(_))) => {
                found.problem(format!("expect {word} is none of allow, ask, deny"));
                None
            }
        };
    let outer_id = text(record.get("id"));
    let result = record.get("result").cloned();
    if let Some(Value::Object(inner)) = record.remove("call") {
        record = inner;
    }
    let Some(tool) = TOOL.iter().find_map(|key| text(record.get(*key))) else {
        found.unknown("line without a tool");
        return;
    };
    let (args, opaque) = match ARGS.iter().find_map(|key| record.remove(*key)) {
        Some(Value::String(text)) => arguments(&Value::String(text).to_string()),
        Some(Value::Null) | None => (Value::Object(Map::new()), None),
        Some(args) => (args, None),
    };
    let id = text(record.get("id")).or(outer_id);
    let cwd = record.get("cwd").and_then(Value::as_str).map(Into::into);
    let recorded = Recorded::new(found.place.clone(), ToolCall { id, tool, args, cwd });
    // Every line is a call of its own, whatever its id.
    found.call_as_it_stands(Recorded { expect, opaque, result, ..recorded });
}

fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
