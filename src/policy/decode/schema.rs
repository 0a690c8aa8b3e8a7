//! The JSON Schema of policy files, written from the lists of keys that the decoder goes by.
//!
//! A schema helps while a policy is written; whether a policy is right is decided when it loads.

use serde_json::{Map, Value as Json, json};

use super::matcher::ARGUMENT_KEYS;
use super::rule::{
    AFTER_KEYS, EXAMPLE_KEYS, EXAMPLES_KEYS, EXCEPTION_KEYS, RULE_KEYS, SEED_RULE_KEYS, tool_names,
};
use super::{POLICY_KEYS, SECTION_KEYS};

/// The schema, draft 2020-12.
pub fn schema() -> Json {
    let rules = |of: &str| json!({"type": "array", "items": {"$ref": format!("#/$defs/{of}")}});
    let mut policy = object(POLICY_KEYS, &["version"], policy_key);
    set(&mut policy, "rules", described(rules("rule"), "The rules; their order does not matter."));
    let mut section = object(SECTION_KEYS, &[], policy_key);
    set(&mut section, "rules", described(rules("seedRule"), "The rules."));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gatewright policy",
        "description": "Rules for the tool calls of coding agents. The strictest rule that speaks about a call wins.",
        "anyOf": [
            {"$ref": "#/$defs/policy"},
            {"$ref": "#/$defs/config"},
            {"$ref": "#/$defs/bundle"},
        ],
        "$defs": {
            "policy": policy,
            "config": {
                "type": "object",
                "description": "A config; its section `guardrails` is policy.",
                "properties": {"guardrails": {"$ref": "#/$defs/guardrails"}},
                "required": ["guardrails"],
            },
            "guardrails": section,
            "bundle": {
                "type": "object",
                "description": "A file with rules of the older form and nothing else.",
                "properties": {"rules": rules("seedRule")},
                "required": ["rules"],
                "additionalProperties": false,
            },
            "rule": object(RULE_KEYS, &["id", "verdict"], key),
            "seedRule": object(SEED_RULE_KEYS, &["id", "tool", "verdict", "reason"], seed_key),
            "exception": object(EXCEPTION_KEYS, &["reason"], key),
            "after": object(AFTER_KEYS, &[], key),
            "examples": object(EXAMPLES_KEYS, &[], example_key),
            "example": {
                "anyOf": [
                    {"type": ["string", "number", "boolean"], "description": "A shell line."},
                    {"$ref": "#/$defs/call"},
                    {
                        "type": "array",
                        "description": "Calls in order, of which the last is judged.",
                        "minItems": 2,
                        "items": {"anyOf": [
                            {"type": ["string", "number", "boolean"]},
                            {"$ref": "#/$defs/call"},
                        ]},
                    },
                ],
            },
            "call": object(EXAMPLE_KEYS, &["tool"], call_key),
            "argument": {
                "anyOf": [
                    {"type": ["string", "number", "boolean"]},
                    {"$ref": "#/$defs/argumentPattern"},
                ],
            },
            "argumentPattern": object(ARGUMENT_KEYS, &[], argument_key),
        },
    })
}

/// An object that knows these keys and no others.
fn object(keys: &[&str], required: &[&str], of: fn(&str) -> Json) -> Json {
    let properties: Map<String, Json> = keys.iter().map(|key| ((*key).to_owned(), of(key))).collect();
    let mut object = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn set(object: &mut Json, key: &str, value: Json) {
    object["properties"][key] = value;
}

fn described(mut schema: Json, text: &str) -> Json {
    schema["description"] = json!(text);
    schema
}

/// One text or a list of texts. Numbers and booleans are text as they are written.
fn texts(text: &str) -> Json {
    let one = json!({"type": ["string", "number", "boolean"]});
    described(json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]}), text)
}

fn one_of(words: &[&str], text: &str) -> Json {
    described(json!({"enum": words}), text)
}

fn one_or_more_of(words: &[&str], text: &str) -> Json {
    let one = json!({"enum": words});
    described(json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]}), text)
}

fn text(text: &str) -> Json {
    described(json!({"type": "string"}), text)
}

fn policy_key(key: &str) -> Json {
    let names = |text: &str| described(json!({"type": "array", "items": {"type": "string"}}), text);
    match key {
        "version" => described(json!({"enum": [1, "1"]}), "Version of the language."),
        "default" => one_of(&["allow", "ask", "deny"], "For calls that no rule speaks about."),
        "unreadable" => one_of(&["ask", "deny"], "For what cannot be read with certainty."),
        "include" => names("Other policies: `builtin:NAME`, or files."),
        "disable" => names("Rules that are not in force: `id`, or `source:id`."),
        "enabled" => described(json!({"type": "boolean"}), "Whether the rules are in force."),
        other => key_without_text(other),
    }
}

fn key(key: &str) -> Json {
    match key {
        "id" => text("One word that names the danger."),
        "tool" => {
            let names: Vec<&str> = tool_names().collect();
            let one = json!({"anyOf": [{"enum": names}, {"type": "string"}]});
            described(
                json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]}),
                "Tools by canonical name or glob; `shell` is the group of shell tools.",
            )
        }
        "run" => texts("Word patterns: `git push`. One of the commands that would start fits."),
        "command" => text("Regular expression over a command, from its program's name on."),
        "text" => text("Regular expression over the raw text of the call."),
        "path" => texts("Path globs, measured from the repository's root; `outside_repo` is all outside."),
        "access" => {
            one_or_more_of(&["read", "write", "delete"], "How `path` is touched; without it, anyhow.")
        }
        "host" => texts("Hosts that are contacted: `example.com`, `*.example.com`, `*`."),
        "args" => {
            let one = json!({"$ref": "#/$defs/argument"});
            described(
                json!({
                    "type": "object",
                    "additionalProperties": {"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]},
                }),
                "Arguments by dotted path.",
            )
        }
        "after" => json!({
            "$ref": "#/$defs/after",
            "description": "What an earlier call of the run, or an earlier part of the line, must have fitted.",
        }),
        "when" => text("A condition in CEL over `call`, `targets` and `run`."),
        "verdict" => one_of(&["allow", "ask", "deny"], "What the rule says; the strictest rule wins."),
        "reason" => text("Why, in a few words; the agent is told."),
        "hint" => text("What to do instead."),
        "scopes" => one_or_more_of(&["once", "session", "repo", "rule"], "Scopes that an answer may have."),
        "except" => described(
            json!({"type": "array", "items": {"$ref": "#/$defs/exception"}}),
            "What the rule does not hold for.",
        ),
        "until" => {
            described(json!({"type": "string", "format": "date"}), "Last day on which the exception holds.")
        }
        "examples" => json!({
            "$ref": "#/$defs/examples",
            "description": "Calls that are tried whenever the policy loads.",
        }),
        other => key_without_text(other),
    }
}

fn seed_key(name: &str) -> Json {
    match name {
        "command" => text("Regular expression over the text of the command line."),
        "verdict" => one_of(&["ask", "deny"], "What the rule says."),
        other => key(other),
    }
}

fn example_key(key: &str) -> Json {
    let examples = json!({
        "anyOf": [
            {"type": ["string", "number", "boolean"]},
            {"type": "array", "items": {"$ref": "#/$defs/example"}},
        ],
    });
    match key {
        "match" => described(examples, "Calls that the rule matches."),
        "pass" => described(examples, "Calls that it lets pass."),
        other => key_without_text(other),
    }
}

fn call_key(key: &str) -> Json {
    match key {
        "tool" => text("The tool."),
        "args" => described(json!({"type": "object"}), "Its arguments."),
        other => key_without_text(other),
    }
}

fn argument_key(key: &str) -> Json {
    let bound = json!({"type": ["number", "string"]});
    match key {
        "regex" => text("Regular expression over the argument's text."),
        "min" => described(bound, "Smallest number, or shortest text in bytes (`10KiB`)."),
        "max" => described(bound, "Largest number, or longest text in bytes (`10KiB`)."),
        other => key_without_text(other),
    }
}

/// A key that was added to the decoder and not here: known all the same. A test asks for its description.
fn key_without_text(_key: &str) -> Json {
    json!({})
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_decoder_is_in_the_schema_and_described() {
        let schema = schema();
        for (name, keys) in [
            ("policy", POLICY_KEYS),
            ("guardrails", SECTION_KEYS),
            ("rule", RULE_KEYS),
            ("seedRule", SEED_RULE_KEYS),
            ("exception", EXCEPTION_KEYS),
            ("after", AFTER_KEYS),
            ("examples", EXAMPLES_KEYS),
            ("call", EXAMPLE_KEYS),
            ("argumentPattern", ARGUMENT_KEYS),
        ] {
            let properties = schema["$defs"][name]["properties"].as_object().unwrap();
            assert_eq!(properties.len(), keys.len(), "{name}");
            for key in keys {
                assert!(properties[*key]["description"].is_string(), "{name}.{key} is not described");
            }
        }
    }

    #[test]
    fn what_is_referred_to_is_defined() {
        let schema = schema();
        let text = schema.to_string();
        for part in text.split("#/$defs/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(schema["$defs"][name].is_object(), "{name}");
        }
    }
}
