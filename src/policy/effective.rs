//! What a policy comes to after includes, disabled rules and dates: as a canonical text for its digest, and as a
//! policy file that stands alone.
//!
//! Both hold what decides verdicts and what an agent is told, and nothing else: examples, disabled rules and
//! exceptions that are over are left out.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::load::Policy;
use super::rule::{
    ArgumentPattern, Exception, Matcher, Rule, ToolPattern, access_word, scope_word, verdict_word,
};

/// Version of the canonical text; changes when its meaning does.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    default: &'a str,
    unreadable: &'a str,
    rules: Vec<WrittenRule<'a>>,
}

#[derive(Serialize)]
struct WrittenRule<'a> {
    id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool: Vec<&'a str>,
    #[serde(flatten)]
    matcher: WrittenMatcher<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<WrittenAfter<'a>>,
    verdict: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    except: Vec<WrittenException<'a>>,
}

#[derive(Serialize)]
struct WrittenMatcher<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    run: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    path: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    access: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    host: Vec<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    args: BTreeMap<&'a str, Vec<serde_json::Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<&'a str>,
}

#[derive(Serialize)]
struct WrittenAfter<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool: Vec<&'a str>,
    #[serde(flatten)]
    matcher: WrittenMatcher<'a>,
}

#[derive(Serialize)]
struct WrittenException<'a> {
    #[serde(flatten)]
    matcher: WrittenMatcher<'a>,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

/// The canonical text.
pub(super) fn canonical(policy: &Policy) -> String {
    serde_json::to_string(&written(policy)).unwrap_or_default()
}

/// A policy file with the same meaning; a comment before each rule says where it came from.
pub(super) fn to_yaml(policy: &Policy) -> String {
    let written = written(policy);
    let mut text = format!(
        "# Effective policy, sha256:{}\nversion: 1\ndefault: {}\nunreadable: {}\n",
        policy.digest(),
        written.default,
        written.unreadable
    );
    if written.rules.is_empty() {
        text.push_str("rules: []\n");
        return text;
    }
    text.push_str("rules:\n");
    for (rule, origin) in written.rules.iter().zip(rules(policy)) {
        text.push_str(&format!("  # {}\n", one_line(&origin.place.to_string())));
        let own = serde_yaml::to_string(rule).unwrap_or_default();
        for (index, line) in own.lines().enumerate() {
            match (index, line) {
                (0, line) => text.push_str(&format!("  - {line}\n")),
                (_, "") => text.push('\n'),
                (_, line) => text.push_str(&format!("    {line}\n")),
            }
        }
    }
    text
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Rules in force; none when they are switched off.
fn rules(policy: &Policy) -> impl Iterator<Item = &Rule> {
    policy.in_force().filter(|_| policy.is_enabled())
}

fn written(policy: &Policy) -> Written<'_> {
    let mut ids = HashSet::new();
    let rules = rules(policy)
        .map(|rule| {
            // An id that two sources use becomes `source:id`, and a number is added where that is taken too.
            let mut id = rule.id.clone();
            let mut number = 1;
            while !ids.insert(id.clone()) {
                id = format!("{}:{}", rule.source, rule.id);
                if number > 1 {
                    id.push_str(&format!(":{number}"));
                }
                number += 1;
            }
            written_rule(rule, id)
        })
        .collect();
    Written {
        version: VERSION,
        default: verdict_word(policy.default.verdict),
        unreadable: verdict_word(policy.unreadable.verdict),
        rules,
    }
}

fn written_rule(rule: &Rule, id: String) -> WrittenRule<'_> {
    WrittenRule {
        id,
        tool: rule.tools.iter().map(ToolPattern::text).collect(),
        matcher: written_matcher(&rule.matcher),
        after: rule.after.as_ref().map(|after| WrittenAfter {
            tool: after.tools.iter().map(ToolPattern::text).collect(),
            matcher: written_matcher(&after.matcher),
        }),
        verdict: verdict_word(rule.verdict),
        reason: &rule.reason,
        hint: rule.hint.as_deref(),
        scopes: rule.scopes.iter().map(|scope| scope_word(*scope)).collect(),
        except: rule
            .exceptions
            .iter()
            .filter(|exception| !exception.is_over)
            .map(written_exception)
            .collect(),
    }
}

fn written_exception(exception: &Exception) -> WrittenException<'_> {
    WrittenException {
        matcher: written_matcher(&exception.matcher),
        reason: &exception.reason,
        until: exception.until.map(|date| date.to_string()),
    }
}

fn written_matcher(matcher: &Matcher) -> WrittenMatcher<'_> {
    WrittenMatcher {
        run: matcher.run_texts.iter().map(String::as_str).collect(),
        command: matcher.command.as_ref().map(|expression| expression.text.as_str()),
        text: matcher.text.as_ref().map(|expression| expression.text.as_str()),
        path: matcher.paths.iter().map(|(text, _)| text.as_str()).collect(),
        access: matcher.access.iter().map(|access| access_word(*access)).collect(),
        host: matcher.hosts.iter().map(|(text, _)| text.as_str()).collect(),
        args: matcher
            .args
            .iter()
            .map(|(path, patterns)| (path.as_str(), patterns.iter().map(written_argument).collect()))
            .collect(),
        when: matcher.when.as_ref().map(|when| when.text.as_str()),
    }
}

fn written_argument(pattern: &ArgumentPattern) -> serde_json::Value {
    match pattern {
        ArgumentPattern::Glob(glob) => serde_json::Value::String(glob.text.clone()),
        ArgumentPattern::Expression(expression) => serde_json::json!({ "regex": expression.text }),
        ArgumentPattern::Value(value) => value.clone(),
        ArgumentPattern::Bounds(bounds) => {
            let bound =
                |(name, bound): (&str, Option<f64>)| Some((name.to_owned(), serde_json::json!(bound?)));
            [("min", bounds.min), ("max", bounds.max)].into_iter().filter_map(bound).collect()
        }
    }
}
