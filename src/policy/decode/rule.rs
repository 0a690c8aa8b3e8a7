//! One rule, its tools and its examples.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Map, Number, Value as Json};

use crate::call::{ToolCall, canonical_tool};
use crate::verdict::{Scope, Verdict};

use super::super::finding::{PolicyError, nearest};
use super::super::rule::{Example, Exception, Glob, Matcher, Rule, ToolPattern, scope_word};
use super::super::tree::{Entry, Node, Value};
use super::{Decoder, Form, find};

pub(super) const RULE_KEYS: &[&str] = &[
    "id", "tool", "run", "command", "text", "path", "access", "host", "args", "after", "when", "verdict",
    "reason", "hint", "scopes", "except", "examples",
];
pub(super) const SEED_RULE_KEYS: &[&str] = &["id", "tool", "command", "path", "verdict", "reason", "scopes"];
/// Keys that a rule of the seed form does not know; one of them says that `version: 1` was forgotten.
pub(super) const LATER_KEYS: &[&str] =
    &["run", "text", "access", "host", "args", "after", "when", "hint", "except", "examples"];
pub(super) const EXCEPTION_KEYS: &[&str] =
    &["run", "command", "text", "path", "access", "host", "args", "when", "reason", "until"];
/// Keys of `after`.
pub(super) const AFTER_KEYS: &[&str] = &["tool", "run", "command", "text", "path", "access", "host", "args"];
/// Keys of `examples`.
pub(super) const EXAMPLES_KEYS: &[&str] = &["match", "pass"];
/// Keys of an example that is a call.
pub(super) const EXAMPLE_KEYS: &[&str] = &["tool", "args"];

/// Canonical tool names; the last row are the books that agents keep for themselves.
const TOOLS: &[&str] = &[
    "read",
    "list",
    "search",
    "write",
    "edit",
    "delete",
    "move",
    "execute",
    "run_tests",
    "git_commit",
    "task_create",
    "task_get",
    "task_list",
    "task_stop",
    "task_wait",
    "fetch_url",
    "web_search",
    "send_email",
    "memory_write",
    "delegate",
    "delegate_result",
    "todo",
    "think",
    "finish",
    "plan_mode",
    "question",
    "skill",
    "tool_search",
    "report_intent",
];
/// Names that agents use, for a hint at what a rule has to say instead.
const NAMES_OF_AGENTS: &[&str] =
    &["Bash", "Read", "Write", "Edit", "MultiEdit", "Grep", "Glob", "WebFetch", "WebSearch", "apply_patch"];
/// Tools of the group `shell`.
const SHELL_TOOLS: &[&str] = &["execute", "task_create"];
/// Other names that are accepted for canonical ones.
const TOOL_ALIASES: &[(&str, &str)] = &[
    ("read_file", "read"),
    ("list_directory", "list"),
    ("write_file", "write"),
    ("edit_file", "edit"),
    ("terminal", "execute"),
    ("run_shell_command", "execute"),
    ("web_fetch", "fetch_url"),
];

impl Decoder<'_> {
    pub(super) fn rule(&mut self, node: &Node, form: Form) -> Option<Rule> {
        let entries = self.map(node, "a rule")?;
        let before = self.findings.len();
        let known = if form == Form::Seed { SEED_RULE_KEYS } else { RULE_KEYS };
        self.known_keys(entries, "a rule", known);
        let has_unknown_key = self.findings.len() > before;

        let id = self.id(entries, node);
        let verdict = self.rule_verdict(entries, node, form);
        let reason = match find(entries, "reason") {
            Some(entry) => self.string(entry).unwrap_or_default(),
            None if verdict == Some(Verdict::Allow) => String::new(),
            None => {
                self.missing(
                    entries,
                    node,
                    "reason",
                    "say in a few words why the call is held: the agent is told",
                );
                String::new()
            }
        };
        let hint = find(entries, "hint").and_then(|entry| self.string(entry));
        let scopes = find(entries, "scopes").map(|entry| self.scopes(entry)).unwrap_or_default();

        let mut tools = find(entries, "tool").map(|entry| self.tools(entry, form)).unwrap_or_default();
        let matcher = match form {
            Form::Policy => self.matcher(entries),
            Form::Seed => self.seed_matcher(entries),
        };
        if form == Form::Seed && find(entries, "tool").is_none() {
            self.missing(entries, node, "tool", "name the tools it is about; `*` is every tool");
        }
        let after = find(entries, "after").and_then(|entry| self.after(entry));
        if matcher.is_empty()
            && after.is_none()
            && tools.is_empty()
            && !has_unknown_key
            && self.findings.len() == before
        {
            self.say(
                PolicyError::labelled(
                    self.text,
                    &self.rule_span(entries, node),
                    "the rule matches nothing in particular",
                    "no matcher",
                )
                .help("give it one of tool, run, command, text, path, host, args, after, when"),
            );
        }
        // What looks at commands can hold for shell tools only.
        let seed_command = (form == Form::Seed).then(|| find(entries, "command")).flatten();
        if let Some(entry) = seed_command {
            tools = self.shell_only(entry, tools);
        } else if matcher.has_command_part() && !tools.is_empty() && !tools.iter().any(is_shell_pattern) {
            let key = if matcher.run.is_empty() { "command" } else { "run" };
            if let (Some(entry), Some(tool)) = (find(entries, key), find(entries, "tool")) {
                self.never_holds(entry, tool);
            }
        }
        let exceptions = find(entries, "except").map(|entry| self.exceptions(entry)).unwrap_or_default();
        if verdict == Some(Verdict::Allow) {
            self.check_allow(entries);
        }
        let examples = find(entries, "examples").map(|entry| self.examples(entry)).unwrap_or_default();

        let id_span = find(entries, "id")
            .map_or_else(|| self.rule_span(entries, node), |entry| entry.value.span.clone());
        Some(Rule {
            id: id?,
            place: self.text.place(id_span.start),
            source: Arc::clone(&self.label),
            tools,
            matcher,
            after,
            verdict: verdict?,
            reason,
            hint,
            scopes,
            exceptions,
            examples,
            id_span,
        })
    }

    /// What an earlier call must have fitted.
    fn after(&mut self, entry: &Entry) -> Option<Box<Rule>> {
        let entries = self.map(&entry.value, "`after`")?;
        let before = self.findings.len();
        self.known_keys(entries, "`after`", AFTER_KEYS);
        let tools = find(entries, "tool").map(|entry| self.tools(entry, Form::Policy)).unwrap_or_default();
        let matcher = self.matcher(entries);
        if matcher.is_empty() && tools.is_empty() {
            if self.findings.len() == before {
                self.say(
                    PolicyError::new(self.text, &entry.key_span, "`after` matches nothing in particular")
                        .help(format!("give it one of {}", AFTER_KEYS.join(", "))),
                );
            }
            return None;
        }
        if matcher.has_command_part() && !tools.is_empty() && !tools.iter().any(is_shell_pattern) {
            let key = if matcher.run.is_empty() { "command" } else { "run" };
            if let (Some(entry), Some(tool)) = (find(entries, key), find(entries, "tool")) {
                self.never_holds(entry, tool);
            }
        }
        Some(Box::new(Rule {
            id: String::new(),
            place: self.text.place(entry.key_span.start),
            source: Arc::clone(&self.label),
            tools,
            matcher,
            after: None,
            verdict: Verdict::Ask,
            reason: String::new(),
            hint: None,
            scopes: Vec::new(),
            exceptions: Vec::new(),
            examples: Vec::new(),
            id_span: entry.key_span.clone(),
        }))
    }

    /// What stands for a whole rule in a message: its id, or its first key.
    fn rule_span(&self, entries: &[Entry], node: &Node) -> std::ops::Range<usize> {
        find(entries, "id")
            .or(entries.first())
            .map_or_else(|| node.span.clone(), |entry| entry.key_span.start..entry.value.span.end)
    }

    fn missing(&mut self, entries: &[Entry], node: &Node, key: &str, help: &str) {
        let span = self.rule_span(entries, node);
        let name = find(entries, "id").map(|entry| self.shown(&entry.value));
        let message = match name {
            Some(name) if key != "id" => format!("rule {name} has no `{key}`"),
            _ => format!("a rule has no `{key}`"),
        };
        self.say(PolicyError::labelled(self.text, &span, message, "this rule").help(help));
    }

    fn id(&mut self, entries: &[Entry], node: &Node) -> Option<String> {
        let Some(entry) = find(entries, "id") else {
            self.missing(entries, node, "id", "name the danger, as in `id: recursive-root-removal`");
            return None;
        };
        let id = self.string(entry)?;
        if id.is_empty() || id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            self.say(
                PolicyError::new(self.text, &entry.value.span, "an id is one word")
                    .help("join its words by dashes"),
            );
            return None;
        }
        Some(id)
    }

    fn rule_verdict(&mut self, entries: &[Entry], node: &Node, form: Form) -> Option<Verdict> {
        match find(entries, "verdict") {
            Some(entry) if form == Form::Seed => self.verdict(entry, &[Verdict::Ask, Verdict::Deny]),
            Some(entry) => self.verdict(entry, &[Verdict::Allow, Verdict::Ask, Verdict::Deny]),
            None => {
                self.missing(
                    entries,
                    node,
                    "verdict",
                    "say `verdict: allow`, `verdict: ask` or `verdict: deny`",
                );
                None
            }
        }
    }

    fn scopes(&mut self, entry: &Entry) -> Vec<Scope> {
        let all = [Scope::Once, Scope::Session, Scope::Repo, Scope::Rule];
        let words: Vec<&str> = all.iter().map(|scope| scope_word(*scope)).collect();
        let mut scopes = Vec::new();
        for (word, node) in self.strings(entry) {
            match all.iter().find(|scope| scope_word(**scope) == word) {
                Some(scope) if scopes.contains(scope) => {}
                Some(scope) => scopes.push(*scope),
                None => self.unknown_word(node, word, "scope", &words),
            }
        }
        scopes.sort_unstable();
        scopes
    }

    fn tools(&mut self, entry: &Entry, form: Form) -> Vec<ToolPattern> {
        let mut tools = Vec::new();
        for (name, node) in self.strings(entry) {
            if name == "shell" {
                tools.push(ToolPattern::Shell);
            } else if name.contains(['*', '?', '[', '{']) {
                match Glob::parse(name) {
                    Ok(glob) => tools.push(ToolPattern::Glob(glob)),
                    Err(message) => self.say(PolicyError::new(
                        self.text,
                        &node.span,
                        format!("bad tool glob `{name}`: {message}"),
                    )),
                }
            } else if TOOLS.contains(&name) || name.starts_with("mcp_") {
                tools.push(ToolPattern::Name(canonical_tool(name)));
            } else if let Some((_, canonical)) = TOOL_ALIASES.iter().find(|(alias, _)| *alias == name) {
                tools.push(ToolPattern::Name((*canonical).to_owned()));
            } else if form == Form::Seed && nearest(name, tool_names()).is_none() {
                // A plugin's tool; the seed form has no other way to name one. As a glob that only it fits, the
                // effective text can name it too.
                match only(name).and_then(|glob| Glob::parse(&glob).ok()) {
                    Some(glob) => tools.push(ToolPattern::Glob(glob)),
                    None => self.unknown_tool(name, node),
                }
            } else {
                self.unknown_tool(name, node);
            }
        }
        tools
    }

    fn unknown_tool(&mut self, name: &str, node: &Node) {
        let written = |name: &str| {
            let canonical = canonical_tool(name);
            match TOOLS.iter().find(|tool| **tool == canonical) {
                Some(_) if SHELL_TOOLS.contains(&canonical.as_str()) => Some("shell".to_owned()),
                known => known.map(|tool| (*tool).to_owned()),
            }
        };
        let help = if let Some(canonical) = written(name) {
            format!("rules use one name for the tools of all agents: write `{canonical}`")
        } else if let Some(near) = nearest(name, tool_names()) {
            format!("did you mean `{near}`?")
        } else if let Some(canonical) = nearest(name, NAMES_OF_AGENTS.iter().copied()).and_then(written) {
            format!("did you mean `{canonical}`?")
        } else {
            format!("known are shell, {}, names that begin with mcp_, and globs", TOOLS.join(", "))
        };
        self.say(PolicyError::new(self.text, &node.span, format!("unknown tool `{name}`")).help(help));
    }

    /// The seed form's `command` looks at shell tools whatever `tool` says beside them.
    fn shell_only(&mut self, command: &Entry, tools: Vec<ToolPattern>) -> Vec<ToolPattern> {
        if tools.is_empty() {
            return tools;
        }
        let fitting: Vec<&str> =
            SHELL_TOOLS.iter().copied().filter(|name| tools.iter().any(|tool| tool.may_be(name))).collect();
        if fitting.is_empty() {
            self.say(
                PolicyError::new(
                    self.text,
                    &command.key_span,
                    "`command` never holds for the tools of this rule",
                )
                .help("only `shell` tools have a command"),
            );
        }
        if fitting.len() == SHELL_TOOLS.len() {
            return vec![ToolPattern::Shell];
        }
        fitting.into_iter().map(|name| ToolPattern::Name(name.to_owned())).collect()
    }

    fn never_holds(&mut self, entry: &Entry, tool: &Entry) {
        let message = format!("`{}` never holds for the tools of this rule", entry.key);
        self.say(
            PolicyError::labelled(self.text, &entry.key_span, message, "looks at commands")
                .also(self.text, &tool.value.span, "none of these is a shell tool")
                .help("leave `tool` out, or write `tool: shell`"),
        );
    }

    /// What an allow rule may not have: it must be plain what it lets through.
    fn check_allow(&mut self, entries: &[Entry]) {
        if let Some(entry) = find(entries, "except") {
            self.say(
                PolicyError::new(self.text, &entry.key_span, "an allow rule has no exceptions")
                    .help("write an ask or deny rule for them: it is stronger than any allow rule"),
            );
        }
        let says_what =
            ["tool", "run", "command", "path", "host"].iter().any(|key| find(entries, key).is_some());
        if let Some(entry) = find(entries, "args").filter(|_| !says_what) {
            self.say(
                PolicyError::new(self.text, &entry.key_span, "an allow rule cannot go by `args` alone")
                    .help("name the `tool` whose arguments they are"),
            );
        }
        for key in ["after", "when"] {
            if let Some(entry) = find(entries, key).filter(|_| !says_what) {
                let message = format!("an allow rule cannot go by `{key}` alone");
                self.say(
                    PolicyError::new(self.text, &entry.key_span, message)
                        .help("say what it lets through: one of tool, run, command, path, host"),
                );
            }
        }
        if let Some(entry) = find(entries, "text") {
            self.say(PolicyError::new(self.text, &entry.key_span, "an allow rule cannot go by `text`").help(
                "text says nothing about what else the call does; use `run`, `path`, `host` or `args`",
            ));
        }
    }

    fn exceptions(&mut self, entry: &Entry) -> Vec<Exception> {
        let Value::List(items) = &entry.value.value else {
            let message = format!("`except` must be a list of exceptions, not {}", entry.value.kind());
            self.say(
                PolicyError::new(self.text, &entry.key_span, message)
                    .help("begin each exception with `-` and give it a `reason`"),
            );
            return Vec::new();
        };
        items.iter().filter_map(|item| self.exception(item)).collect()
    }

    fn exception(&mut self, node: &Node) -> Option<Exception> {
        let entries = self.map(node, "an exception")?;
        let before = self.findings.len();
        self.known_keys(entries, "an exception", EXCEPTION_KEYS);
        let matcher: Matcher = self.matcher(entries);
        let span = entries
            .first()
            .map_or_else(|| node.span.clone(), |first| first.key_span.start..first.value.span.end);
        if matcher.is_empty() && self.findings.len() == before {
            self.say(
                PolicyError::new(self.text, &span, "the exception matches nothing in particular")
                    .help("give it one of run, command, text, path, host, args, when"),
            );
        }
        let reason = match find(entries, "reason") {
            Some(entry) => self.string(entry),
            None => {
                self.say(
                    PolicyError::new(self.text, &span, "an exception has no `reason`")
                        .help("say why the rule does not hold here"),
                );
                None
            }
        };
        let until = find(entries, "until").and_then(|entry| {
            let text = self.string(entry)?;
            let date = text.parse().ok();
            if date.is_none() {
                self.say(
                    PolicyError::new(self.text, &entry.value.span, format!("`{text}` is not a date"))
                        .help("write it as in `until: 2027-06-30`"),
                );
            }
            date
        });
        let is_over = until.is_some_and(|last| last < self.today);
        if let Some(last) = until.filter(|_| is_over) {
            let span = find(entries, "until").map_or(span.clone(), |entry| entry.value.span.clone());
            self.notices.push(
                PolicyError::new(
                    self.text,
                    &span,
                    format!("an exception ended on {last} and relaxes nothing any more"),
                )
                .help("remove it, or give it a later date")
                .notice(),
            );
        }
        Some(Exception {
            matcher,
            reason: reason.unwrap_or_default(),
            until,
            is_over,
            has_relaxed: AtomicBool::new(false),
        })
    }

    fn examples(&mut self, entry: &Entry) -> Vec<Example> {
        let Some(entries) = self.map(&entry.value, "`examples`") else { return Vec::new() };
        self.known_keys(entries, "`examples`", EXAMPLES_KEYS);
        let mut examples = Vec::new();
        for (key, matches) in [("match", true), ("pass", false)] {
            let Some(entry) = find(entries, key) else { continue };
            let items = match &entry.value.value {
                Value::List(items) => items.as_slice(),
                Value::Scalar { .. } if !entry.value.is_null() => std::slice::from_ref(&entry.value),
                _ => {
                    let message = format!("`{key}` must list examples, not {}", entry.value.kind());
                    self.say(PolicyError::new(self.text, &entry.key_span, message));
                    continue;
                }
            };
            examples.extend(items.iter().filter_map(|item| self.example(item, matches)));
        }
        examples
    }

    /// One call, or a list of calls in order, of which the last is the one that is meant.
    fn example(&mut self, node: &Node, matches: bool) -> Option<Example> {
        let mut before = Vec::new();
        let call = match &node.value {
            Value::List(items) => {
                if items.len() < 2 {
                    self.say(
                        PolicyError::new(
                            self.text,
                            &node.span,
                            "an example that is a list has two calls or more",
                        )
                        .help("the last one is judged, the others come before it: `[cat .env, curl host]`"),
                    );
                    return None;
                }
                before = items.iter().filter_map(|item| self.example_call(item)).collect();
                if before.len() != items.len() {
                    return None;
                }
                before.pop()?
            }
            _ => self.example_call(node)?,
        };
        Some(Example { before, call, matches, span: node.span.clone() })
    }

    fn example_call(&mut self, node: &Node) -> Option<ToolCall> {
        Some(match &node.value {
            Value::Scalar { text, .. } if !node.is_null() => {
                let args = serde_json::json!({ "command": text });
                ToolCall { id: None, tool: "execute".to_owned(), args, cwd: None }
            }
            Value::Map(entries) => {
                self.known_keys(entries, "an example", EXAMPLE_KEYS);
                let Some(tool) = find(entries, "tool") else {
                    self.say(
                        PolicyError::new(self.text, &node.span, "an example has no `tool`")
                            .help("write a shell line, or `{tool: write, args: {path: a.txt}}`"),
                    );
                    return None;
                };
                let tool = self.string(tool)?;
                let args = find(entries, "args").map_or(Json::Object(Map::new()), |entry| json(&entry.value));
                ToolCall { id: None, tool, args, cwd: None }
            }
            Value::Refused => return None,
            Value::Scalar { .. } | Value::List(_) => {
                let message = format!("an example is a shell line or a call, not {}", node.kind());
                self.say(PolicyError::new(self.text, &node.span, message));
                return None;
            }
        })
    }
}

impl ToolPattern {
    /// Whether it names the canonical tool `name`, the group aside.
    pub(super) fn may_be(&self, name: &str) -> bool {
        match self {
            Self::Shell => SHELL_TOOLS.contains(&name),
            Self::Name(own) => own == name,
            Self::Glob(glob) => glob.is_match(name).unwrap_or(true),
        }
    }
}

fn is_shell_pattern(tool: &ToolPattern) -> bool {
    SHELL_TOOLS.iter().any(|name| tool.may_be(name))
}

/// Every name that a rule may use for a tool.
pub(super) fn tool_names() -> impl Iterator<Item = &'static str> {
    ["shell"].into_iter().chain(TOOLS.iter().copied()).chain(TOOL_ALIASES.iter().map(|(alias, _)| *alias))
}

/// A value of the tree as JSON: plain numbers, `true`, `false` and `null` are what they look like.
pub(super) fn json(node: &Node) -> Json {
    match &node.value {
        Value::Scalar { text, is_plain } => {
            if *is_plain {
                plain(text)
            } else {
                Json::String(text.clone())
            }
        }
        Value::List(items) => Json::Array(items.iter().map(json).collect()),
        Value::Map(entries) => {
            Json::Object(entries.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect())
        }
        Value::Refused => Json::Null,
    }
}

fn plain(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" => Json::Bool(true),
        "false" | "False" | "FALSE" => Json::Bool(false),
        _ => {
            let whole = text.parse::<i64>().ok().map(Number::from);
            let looks_like_one =
                text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
            let number = whole.or_else(|| {
                let broken = text.parse::<f64>().ok().filter(|_| looks_like_one)?;
                Number::from_f64(broken)
            });
            number.map_or_else(|| Json::String(text.to_owned()), Json::Number)
        }
    }
}

/// A glob that `name` alone fits.
fn only(name: &str) -> Option<String> {
    let at = name.find(|c: char| c.is_ascii_alphanumeric()).filter(|_| !name.contains('\\'))?;
    let (before, rest) = name.split_at(at);
    let (first, after) = rest.split_at(1);
    Some(format!("{before}[{first}]{after}"))
}
