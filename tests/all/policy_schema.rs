//! The schema of policy files against the policies there are: what loads, the schema takes; an unknown key it does
//! not. The checker knows the words that the schema uses and refuses others.

use std::fs;
use std::path::Path;

use gatewright::policy::schema;
use serde_json::{Value, json};

fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(name) => &root["$defs"][name.strip_prefix("#/$defs/").unwrap()],
        None => schema,
    }
}

/// Why `value` does not fit, if it does not.
fn fault(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let schema = resolve(root, schema);
    for word in schema.as_object().unwrap().keys() {
        assert!(
            [
                "$schema",
                "$defs",
                "title",
                "description",
                "anyOf",
                "type",
                "enum",
                "properties",
                "required",
                "additionalProperties",
                "items",
                "minItems",
                "format",
            ]
            .contains(&word.as_str()),
            "the checker does not know {word}"
        );
    }
    if let Some(all) = schema.get("anyOf").and_then(Value::as_array) {
        let faults: Vec<String> = all.iter().map_while(|one| fault(root, one, value, at)).collect();
        if faults.len() == all.len() {
            return Some(faults.join(" / "));
        }
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(value)
    {
        return Some(format!("{at}: {value} is none of the words"));
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_kind = match schema.get("type") {
        None => true,
        Some(Value::String(wanted)) => wanted == kind,
        Some(wanted) => wanted.as_array().unwrap().contains(&json!(kind)),
    };
    if !is_kind {
        return Some(format!("{at}: is {kind}"));
    }
    if let Value::Array(items) = value {
        let fewest = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if (items.len() as u64) < fewest {
            return Some(format!("{at}: has too few items"));
        }
        let of = schema.get("items")?;
        return items
            .iter()
            .enumerate()
            .find_map(|(index, item)| fault(root, of, item, &format!("{at}[{index}]")));
    }
    let Value::Object(fields) = value else { return None };
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !fields.contains_key(name.as_str().unwrap()) {
            return Some(format!("{at}: lacks {name}"));
        }
    }
    fields.iter().find_map(|(name, field)| {
        let inner = format!("{at}.{name}");
        match (schema.get("properties").and_then(|own| own.get(name)), schema.get("additionalProperties")) {
            (Some(own), _) => fault(root, own, field, &inner),
            (None, Some(Value::Bool(false))) => Some(format!("{inner}: is not known")),
            (None, Some(other)) if other.is_object() => fault(root, other, field, &inner),
            (None, _) => None,
        }
    })
}

fn yaml(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
}

#[test]
fn policies_that_load_fit_the_schema() {
    let schema = schema();
    let mut seen = 0;
    for folder in ["fixtures/policies/valid", "fixtures/policies/lint", "policies"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|ending| ending != "yml") {
                continue;
            }
            let value = yaml(&fs::read_to_string(&path).unwrap());
            assert_eq!(fault(&schema, &schema, &value, "policy"), None, "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn unknown_keys_and_words_do_not_fit() {
    let schema = schema();
    for text in [
        "version: 1\nrule: []\n",
        "version: 1\nrules: [{id: a, verdict: deny, pattern: x, reason: r}]\n",
        "version: 1\nrules: [{id: a, verdict: block, run: x, reason: r}]\n",
        "version: 1\nrules: [{id: a, verdict: deny, after: {verdict: deny}, reason: r}]\n",
        "version: 1\nrules: [{verdict: deny, run: x, reason: r}]\n",
        "version: 1\nunreadable: allow\n",
        "version: 1\nrules: [{id: a, verdict: deny, run: x, reason: r, except: [{run: x y}]}]\n",
        "guardrails: {rules: [{id: a, tool: shell, verdict: deny, run: x, reason: r}]}\n",
    ] {
        assert!(fault(&schema, &schema, &yaml(text), "policy").is_some(), "{text}");
    }
}
