//! `when`: a condition in CEL over `call`, `targets` and `run`, for what no other key can say.
//!
//! Checked when the policy loads; tried only where a rule's other keys hold. What cannot be tried counts against the
//! call. The cost is bounded from both sides: a condition is short, goes round lists at most two deep, and is handed
//! only so much.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::{Context, Program, Value};
use serde_json::Value as Json;

use crate::call::{PathTarget, mask_secrets};
use crate::shell::Word;

use super::rule::access_word;
use super::sight::Sight;

/// Longest condition in bytes.
const MAX_TEXT: usize = 2_048;
/// Deepest nesting of a condition.
const MAX_DEPTH: usize = 48;
/// How deep lists may be gone round.
const MAX_ROUNDS: usize = 2;
/// Longest list, most commands, paths, hosts that are handed in.
const MAX_ITEMS: usize = 256;
/// Most bytes of text that are handed in.
const MAX_BYTES: usize = 64 * 1024;

const NAMES: &[&str] = &["call", "targets", "run"];
/// Functions of the language that are known; operators aside.
const FUNCTIONS: &[&str] = &[
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "has",
    "all",
    "exists",
    "exists_one",
    "map",
    "filter",
    "int",
    "uint",
    "double",
    "string",
    "bool",
    "type",
    "dyn",
    "bytes",
];

/// A checked condition.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) text: String,
    program: OnceLock<Result<Program, String>>,
}

/// What is wrong with a condition, and where in it (byte offset and length).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConditionFault {
    pub(super) message: String,
    pub(super) offset: usize,
    pub(super) length: usize,
    pub(super) help: Option<String>,
}

/// What a condition says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Holds,
    Fails,
    /// It cannot be tried; why, for people.
    Fault(String),
}

impl Condition {
    /// Checks and keeps a condition.
    pub(super) fn parse(text: &str) -> Result<Self, ConditionFault> {
        let whole = |message: String| ConditionFault { message, offset: 0, length: text.len(), help: None };
        if text.len() > MAX_TEXT {
            return Err(whole(format!("it has {} bytes, the most are {MAX_TEXT}", text.len())));
        }
        if bracket_depth(text) > MAX_DEPTH {
            return Err(whole(format!("it is nested deeper than {MAX_DEPTH}")));
        }
        let program = catch_unwind(|| Program::compile(text))
            .map_err(|_| whole("it cannot be read".to_owned()))?
            .map_err(|errors| fault(text, &errors))?;
        check(program.expression(), 0, 0).map_err(|message| whole(message.to_owned()))?;
        let (variables, functions) = {
            let references = program.references();
            let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<String>>();
            (owned(references.variables()), owned(references.functions()))
        };
        let mut known = Vec::new();
        bound(program.expression(), &mut known);
        let strange = variables.iter().find(|name| {
            !NAMES.contains(&name.as_str()) && !name.starts_with(['@', '_']) && !known.contains(name)
        });
        if let Some(name) = strange {
            return Err(ConditionFault {
                help: Some(format!("a condition looks at {}", NAMES.join(", "))),
                ..at_word(text, name, format!("unknown name `{name}`"))
            });
        }
        let is_word = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let strange = functions.iter().find(|name| {
            is_word(name) && !name.starts_with(['@', '_']) && !FUNCTIONS.contains(&name.as_str())
        });
        if let Some(name) = strange {
            return Err(ConditionFault {
                help: Some(format!("known are {}", FUNCTIONS.join(", "))),
                ..at_word(text, name, format!("unknown function `{name}`"))
            });
        }
        let kept = OnceLock::new();
        let _ = kept.set(Ok(program));
        Ok(Self { text: text.to_owned(), program: kept })
    }

    /// Keeps a condition that a test has checked; it is compiled at first need.
    pub(super) fn trusted(text: &str) -> Self {
        Self { text: text.to_owned(), program: OnceLock::new() }
    }

    /// Whether it looks at the paths that were changed so far.
    pub(super) fn asks_for_changes(&self) -> bool {
        self.text.contains("changed")
    }

    /// What it says about a call; worked out once per call.
    pub(super) fn outcome(&self, sight: &Sight<'_>) -> Outcome {
        let known = |(own, _): &&(*const Self, Outcome)| std::ptr::eq(*own, self);
        if let Some((_, outcome)) = sight.outcomes.borrow().iter().find(known) {
            return outcome.clone();
        }
        let outcome = match catch_unwind(AssertUnwindSafe(|| self.evaluate(sight))) {
            Ok(Ok(true)) => Outcome::Holds,
            Ok(Ok(false)) => Outcome::Fails,
            Ok(Err(why)) => Outcome::Fault(format!("its condition cannot be tried: {why}")),
            Err(_) => Outcome::Fault("its condition cannot be tried".to_owned()),
        };
        sight.outcomes.borrow_mut().push((self, outcome.clone()));
        outcome
    }

    fn evaluate(&self, sight: &Sight<'_>) -> Result<bool, String> {
        let compile = || Program::compile(&self.text).map_err(|errors| errors.to_string());
        let program = self.program.get_or_init(compile).as_ref().map_err(Clone::clone)?;
        if self.asks_for_changes() && sight.memory.has_more_changed {
            return Err("too many paths were changed".to_owned());
        }
        let mut context = Context::default();
        for (name, value) in facts(sight)? {
            context.add_variable_from_value(name, value);
        }
        match program.execute(&context) {
            Ok(Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("it gives {}, not true or false", other.type_of())),
            Err(error) => Err(short(&error.to_string())),
        }
    }
}

/// The beginning of an error, secrets masked: it may quote values of the call.
fn short(text: &str) -> String {
    let text: String = mask_secrets(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// How deep brackets go; text in quotes counts too, which only errs on the careful side.
fn bracket_depth(text: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                most = most.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

fn at_word(text: &str, word: &str, message: String) -> ConditionFault {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.');
    let whole_word = text.match_indices(word).find(|(at, _)| {
        !is_part(text[..*at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    });
    let at = whole_word.map(|(at, _)| at).or_else(|| text.find(word)).unwrap_or(0);
    ConditionFault { message, offset: at, length: word.len(), help: None }
}

fn fault(text: &str, errors: &cel::ParseErrors) -> ConditionFault {
    let Some(first) = errors.errors.first() else {
        return ConditionFault {
            message: "it cannot be read".into(),
            offset: 0,
            length: text.len(),
            help: None,
        };
    };
    let line = usize::try_from(first.pos.0).unwrap_or(1).max(1);
    let column = usize::try_from(first.pos.1).unwrap_or(1).max(1);
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    let within = rest.char_indices().nth(column - 1).map_or(rest.trim_end().len(), |(at, _)| at);
    let message = first.msg.lines().next().unwrap_or("it cannot be read");
    let message = message.strip_prefix("Syntax error: ").unwrap_or(message);
    // What the parser would have liked is a list of every sign there is.
    let message = message.split(" expecting {").next().unwrap_or(message).to_owned();
    ConditionFault {
        message,
        offset: (start + within).min(text.len().saturating_sub(1)),
        length: 1,
        help: Some(
            "a condition is an expression of CEL, as in `call.tool == 'read' && run.calls > 3`".to_owned(),
        ),
    }
}

/// Refuses what may cost too much: deep nesting, lists gone round too deep, expressions compiled for each pair.
fn check(node: &IdedExpr, depth: usize, rounds: usize) -> Result<(), &'static str> {
    if depth > 4 * MAX_DEPTH {
        return Err("it is nested too deep");
    }
    if rounds > MAX_ROUNDS {
        return Err("it goes round lists inside lists inside lists; two are the most");
    }
    if let Expr::Call(call) = &node.expr
        && call.func_name == "matches"
        && rounds >= MAX_ROUNDS
    {
        return Err("`matches` may stand within one list that is gone round, not within two");
    }
    let mut result = Ok(());
    each_part(node, &mut |part, is_repeated| {
        if result.is_ok() {
            result = check(part, depth + 1, rounds + usize::from(is_repeated));
        }
    });
    result
}

/// Calls `visit` with each part of an expression and whether it is done once for each item of a list.
fn each_part<'e>(node: &'e IdedExpr, visit: &mut dyn FnMut(&'e IdedExpr, bool)) {
    match &node.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        Expr::Call(call) => {
            call.target.iter().for_each(|target| visit(target, false));
            call.args.iter().for_each(|arg| visit(arg, false));
        }
        Expr::Comprehension(round) => {
            visit(&round.iter_range, false);
            visit(&round.accu_init, false);
            visit(&round.loop_cond, true);
            visit(&round.loop_step, true);
            visit(&round.result, false);
        }
        Expr::List(list) => list.elements.iter().for_each(|item| visit(item, false)),
        Expr::Map(map) => map.entries.iter().for_each(|entry| each_entry(&entry.expr, visit)),
        Expr::Select(select) => visit(&select.operand, false),
        Expr::Struct(made) => made.entries.iter().for_each(|entry| each_entry(&entry.expr, visit)),
    }
}

fn each_entry<'e>(entry: &'e EntryExpr, visit: &mut dyn FnMut(&'e IdedExpr, bool)) {
    match entry {
        EntryExpr::StructField(field) => visit(&field.value, false),
        EntryExpr::MapEntry(entry) => {
            visit(&entry.key, false);
            visit(&entry.value, false);
        }
    }
}

/// Names that a condition gives itself: those of items of lists.
fn bound(node: &IdedExpr, into: &mut Vec<String>) {
    if let Expr::Comprehension(round) = &node.expr {
        into.push(round.iter_var.clone());
        into.extend(round.iter_var2.clone());
        into.push(round.accu_var.clone());
    }
    each_part(node, &mut |part, _| bound(part, into));
}

/// Counts what is handed in.
struct Measure {
    bytes: usize,
}

impl Measure {
    fn text(&mut self, text: &str) -> Result<Value, String> {
        self.bytes += text.len();
        if self.bytes > MAX_BYTES {
            return Err("the call is too large".to_owned());
        }
        Ok(Value::from(text))
    }

    fn list<T>(
        &mut self,
        items: &[T],
        mut each: impl FnMut(&mut Self, &T) -> Result<Value, String>,
    ) -> Result<Value, String> {
        if items.len() > MAX_ITEMS {
            return Err(format!("the call has a list of more than {MAX_ITEMS} items"));
        }
        items.iter().map(|item| each(self, item)).collect::<Result<Vec<Value>, String>>().map(Value::from)
    }

    fn json(&mut self, value: &Json) -> Result<Value, String> {
        Ok(match value {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Value::Int(whole),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => self.text(text)?,
            Json::Array(items) => self.list(items, Self::json)?,
            Json::Object(fields) => {
                if fields.len() > MAX_ITEMS {
                    return Err(format!("the call has more than {MAX_ITEMS} fields"));
                }
                let mut map = HashMap::new();
                for (name, field) in fields {
                    self.bytes += name.len();
                    map.insert(name.clone(), self.json(field)?);
                }
                Value::from(map)
            }
        })
    }
}

fn map<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::from(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<HashMap<_, _>>())
}

fn count(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// What a condition can look at.
fn facts(sight: &Sight<'_>) -> Result<[(&'static str, Value); 3], String> {
    let targets = sight.targets;
    let mut measure = Measure { bytes: 0 };
    let text = match &targets.command {
        Some(line) => measure.text(line)?,
        None => {
            let joined = sight.texts().join("\n");
            measure.text(&joined)?
        }
    };
    let call = map([
        ("tool", measure.text(&targets.tool)?),
        ("args", measure.json(sight.args)?),
        ("text", text),
        ("cwd", measure.text(&targets.cwd.to_string_lossy())?),
    ]);
    let commands = measure.list(sight.commands(), |measure, command| {
        let is_known = command.words.iter().all(|word| word.value().is_some());
        let shown = |measure: &mut Measure, word: &Word| measure.text(&word.shown());
        Ok(map([
            ("program", measure.text(command.invocation.program.as_deref().unwrap_or_default())?),
            ("argv", measure.list(&command.words, shown)?),
            ("subcommand", measure.text(&command.invocation.subcommand.join(" "))?),
            ("known", Value::Bool(is_known)),
        ]))
    })?;
    let paths = measure.list(&targets.paths, |measure, path| {
        let (text, is_known) = path_text(path, sight);
        Ok(map([
            ("path", measure.text(&text)?),
            ("access", measure.text(access_word(path.access))?),
            ("recursive", Value::Bool(path.recursive)),
            ("outside", Value::Bool(path.is_outside(&targets.root))),
            ("known", Value::Bool(is_known)),
        ]))
    })?;
    let hosts = measure.list(&targets.hosts, |measure, host| {
        Ok(map([
            ("host", measure.text(host.host.as_deref().unwrap_or_default())?),
            ("port", count(u64::from(host.known_port().unwrap_or(0)))),
            ("scheme", measure.text(host.scheme.as_deref().unwrap_or_default())?),
            ("known", Value::Bool(host.host.is_some())),
        ]))
    })?;
    let targets = map([
        ("commands", commands),
        ("paths", paths),
        ("hosts", hosts),
        ("unreadable", count(targets.unreadable.len() as u64)),
    ]);
    let changed = measure.list(&sight.memory.changed, |measure, path| measure.text(path))?;
    let run = map([
        ("calls", count(sight.memory.calls)),
        ("refused", count(sight.memory.refused)),
        ("changed", changed),
    ]);
    Ok([("call", call), ("targets", targets), ("run", run)])
}

/// A path from the repository's root where it lies below it, and whether it is known.
fn path_text(path: &PathTarget, sight: &Sight<'_>) -> (String, bool) {
    let Some(text) = path.lexical.value() else { return (path.shown.clone(), false) };
    let below = std::path::Path::new(text).strip_prefix(&sight.targets.root).ok();
    (below.map_or_else(|| text.to_owned(), |below| below.to_string_lossy().into_owned()), true)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::call::{NoLinks, Targets, ToolCall};

    fn outcome(condition: &str, tool: &str, args: Json) -> Outcome {
        let call = ToolCall { id: None, tool: tool.to_owned(), args, cwd: None };
        let targets = Targets::resolve(&call, &super::super::example::context(), &NoLinks);
        Condition::parse(condition).unwrap().outcome(&Sight::new(&targets, &call.args))
    }

    #[test]
    fn a_condition_looks_at_call_targets_and_run() {
        for condition in [
            "call.tool == 'execute'",
            "call.args.command.startsWith('git')",
            "call.text.contains('push') && call.cwd == '/repo'",
            "targets.commands.exists(c, c.program == 'git' && c.subcommand == 'push')",
            "targets.commands[0].argv == ['git', '-C', 'a', 'push', 'git@github.com:a/b']",
            "targets.hosts.all(h, h.host == 'github.com' && h.port == 22)",
            "targets.paths.filter(p, p.access == 'delete').size() == 0",
            "targets.unreadable == 0 && run.calls == 0 && run.changed == []",
            "size(targets.commands) == 1 && targets.commands.all(c, c.argv.exists(w, w == 'push'))",
            "call.text.matches('^git .* push')",
            "has(call.args.command) && !has(call.args.nothing)",
        ] {
            let args = serde_json::json!({"command": "git -C a push git@github.com:a/b"});
            assert_eq!(outcome(condition, "Bash", args), Outcome::Holds, "{condition}");
        }
        let args = serde_json::json!({"path": "/repo/src/a.rs", "content": "x", "n": 3});
        for condition in [
            "targets.paths.exists(p, p.path == 'src/a.rs' && p.access == 'write' && !p.outside)",
            "call.args.n > 2 && call.args.n == 3.0",
        ] {
            assert_eq!(outcome(condition, "write", args.clone()), Outcome::Holds, "{condition}");
        }
        assert_eq!(outcome("call.tool == 'read'", "write", args), Outcome::Fails);
    }

    #[test]
    fn what_cannot_be_tried_is_a_fault() {
        let big = serde_json::json!({"path": "a", "content": "x".repeat(MAX_BYTES)});
        let long = serde_json::json!({"path": "a", "list": vec![1; MAX_ITEMS + 1]});
        let plain = serde_json::json!({"path": "a"});
        for (condition, args) in [
            ("call.args.nothing == 1", plain.clone()),
            ("call.tool", plain.clone()),
            ("1 / 0 == 1", plain.clone()),
            ("call.args.path.matches('(')", plain),
            ("call.tool == 'x'", big),
            ("call.tool == 'x'", long),
        ] {
            let outcome = outcome(condition, "write", args);
            assert!(matches!(outcome, Outcome::Fault(_)), "{condition}: {outcome:?}");
        }
    }

    #[test]
    fn faults_of_a_condition_have_a_place() {
        let place = |text: &str| {
            let fault = Condition::parse(text).map(|_| ()).unwrap_err();
            text[fault.offset..fault.offset + fault.length].to_owned()
        };
        assert_eq!(place("call.tool == && true"), "&");
        assert_eq!(place("user.name == 'a'"), "user");
        assert_eq!(place("call.text.trim() == 'a'"), "trim");
        let nested = "targets.commands.all(a, targets.commands.all(b, targets.commands.all(c, a == c)))";
        assert_eq!(place(nested), nested);
        let matches = "targets.commands.all(a, a.argv.all(w, w.matches('x')))";
        assert_eq!(place(matches), matches);
        for text in ["", "(", &"(".repeat(2_000), &"!".repeat(2_000), &"-".repeat(3_000), &"[1]+".repeat(500)]
        {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }
}
