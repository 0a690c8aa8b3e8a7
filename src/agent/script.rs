//! Recorded answers: an agent that says what a file says.
//!
//! YAML, a list of steps (or a map with `steps:`), or JSON lines with one step each:
//!
//! ```yaml
//! - text: I read the file first.
//!   calls:
//!     - tool: read
//!       args: {path: src/lib.rs}
//!       expect: allow          # allow | blocked | ok | failed, optional
//! ```

use crate::call::ToolCall;
use crate::config::{Document, Fault, Node, nearest};

use super::{Agent, AgentError, Answer, Outcome};

/// What a script expects to become of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// The gate lets it through.
    Allow,
    /// The gate keeps it from running.
    Blocked,
    /// It runs and goes well.
    Ok,
    /// It runs and fails.
    Failed,
}

impl Expectation {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "allow" => Some(Self::Allow),
            "blocked" | "deny" | "ask" => Some(Self::Blocked),
            "ok" => Some(Self::Ok),
            "failed" => Some(Self::Failed),
            _ => None,
        }
    }

    fn holds(self, outcome: &Outcome) -> bool {
        match self {
            Self::Allow => !outcome.blocked,
            Self::Blocked => outcome.blocked,
            Self::Ok => outcome.ok,
            Self::Failed => !outcome.ok && !outcome.blocked,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Blocked => "blocked",
            Self::Ok => "ok",
            Self::Failed => "failed",
        }
    }
}

/// One recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What the agent says.
    pub text: String,
    /// What it calls, each with what the script expects.
    pub calls: Vec<(ToolCall, Option<Expectation>)>,
}

/// A script and how far it has got.
#[derive(Debug, Clone)]
pub struct Script {
    file: String,
    steps: Vec<Step>,
    next: usize,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Every fault with its line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Vec<Fault>> {
        let is_lines = file.ends_with(".jsonl") || file.ends_with(".ndjson");
        let mut faults = Vec::new();
        let mut steps = Vec::new();
        if is_lines {
            for (index, line) in text.lines().enumerate() {
                if line.trim().is_empty() {
                    continue;
                }
                match read_line(file, index + 1, line) {
                    Ok(step) => steps.push(step),
                    Err(found) => faults.extend(found),
                }
            }
        } else {
            let document = Document::parse(file, text).map_err(|fault| vec![*fault])?;
            let list = match document.root.entries() {
                Some(_) => document.root.get("steps").and_then(Node::items),
                None => document.root.items(),
            };
            if let Some(entries) = document.root.entries() {
                for entry in entries.iter().filter(|entry| entry.key != "steps") {
                    faults.push(document.fault(entry.mark, format!("unknown key `{}`", entry.key)));
                }
            }
            let Some(list) = list else {
                faults.push(document.fault(document.root.mark, "a script must be a list of steps"));
                return Err(faults);
            };
            for node in list {
                match read_step(&document, node, &mut faults) {
                    Some(step) => steps.push(step),
                    None => continue,
                }
            }
        }
        if steps.is_empty() && faults.is_empty() {
            faults.push(Fault::without_place(file, "the script has no steps"));
        }
        if faults.is_empty() { Ok(Self { file: file.to_owned(), steps, next: 0 }) } else { Err(faults) }
    }

    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl Agent for Script {
    fn name(&self) -> String {
        format!("script:{}", self.file)
    }

    fn answer(&mut self, outcomes: &[Outcome]) -> Result<Answer, AgentError> {
        let before = self.next.checked_sub(1).and_then(|index| self.steps.get(index));
        let complaints = before.map(|step| unmet(step, self.next, outcomes)).unwrap_or_default();
        let Some(step) = self.steps.get(self.next) else {
            return Ok(Answer { complaints, ..Answer::default() });
        };
        self.next += 1;
        let calls = step.calls.iter().map(|(call, _)| call.clone()).collect();
        Ok(Answer { text: step.text.clone(), calls, complaints })
    }
}

fn unmet(step: &Step, number: usize, outcomes: &[Outcome]) -> Vec<String> {
    step.calls
        .iter()
        .zip(outcomes)
        .enumerate()
        .filter_map(|(index, ((call, expected), outcome))| {
            let expected = (*expected)?;
            (!expected.holds(outcome)).then(|| {
                let became = match (outcome.blocked, outcome.ok) {
                    (true, _) => "blocked",
                    (false, true) => "ok",
                    (false, false) => "failed",
                };
                format!(
                    "step {number}, call {} ({}): expected {}, became {became}",
                    index + 1,
                    call.tool,
                    expected.word()
                )
            })
        })
        .collect()
}

/// JSON is YAML for the reader of documents, but not for long lines with tabs or odd escapes: such a line is read as
/// JSON first, so that its fault is told in JSON's terms.
fn read_line(file: &str, number: usize, line: &str) -> Result<Step, Vec<Fault>> {
    let place = |message: String, column: usize| Fault {
        file: file.to_owned(),
        line: number,
        column: column.max(1),
        excerpt: line.chars().take(200).collect(),
        length: 1,
        message,
        hint: None,
    };
    let value: serde_json::Value = serde_json::from_str(line)
        .map_err(|error| vec![place(format!("is no JSON: {error}"), error.column())])?;
    let text = serde_json::to_string(&value).unwrap_or_default();
    let document = Document::parse(file, &text).map_err(|fault| vec![place(fault.message.clone(), 1)])?;
    let mut faults = Vec::new();
    let step = read_step(&document, &document.root, &mut faults);
    match step {
        Some(mut step) if faults.is_empty() => {
            // Arguments keep the types that JSON gave them.
            for (index, (call, _)) in step.calls.iter_mut().enumerate() {
                if let Some(args) = value["calls"].get(index).and_then(|call| call.get("args")) {
                    call.args = args.clone();
                }
            }
            Ok(step)
        }
        _ => Err(faults.into_iter().map(|fault| place(fault.message, 1)).collect()),
    }
}

fn read_step(document: &Document, node: &Node, faults: &mut Vec<Fault>) -> Option<Step> {
    let Some(entries) = node.entries() else {
        faults.push(document.fault(node.mark, "a step must be a map with `text`, `calls`, or both"));
        return None;
    };
    let mut step = Step { text: String::new(), calls: Vec::new() };
    for entry in entries {
        match entry.key.as_str() {
            "text" => step.text = entry.value.text().unwrap_or_default().to_owned(),
            "calls" => match entry.value.items() {
                Some(items) => {
                    step.calls.extend(items.iter().filter_map(|item| read_call(document, item, faults)))
                }
                None => faults.push(document.fault(entry.value.mark, "`calls` must be a list")),
            },
            other => faults.push(unknown(
                document.fault(entry.mark, format!("unknown key `{other}`")),
                other,
                &["text", "calls"],
            )),
        }
    }
    Some(step)
}

fn read_call(
    document: &Document,
    node: &Node,
    faults: &mut Vec<Fault>,
) -> Option<(ToolCall, Option<Expectation>)> {
    let Some(entries) = node.entries() else {
        faults.push(document.fault(node.mark, "a call must be a map with `tool` and `args`"));
        return None;
    };
    let mut call = ToolCall { id: None, tool: String::new(), args: serde_json::json!({}), cwd: None };
    let mut expected = None;
    for entry in entries {
        match entry.key.as_str() {
            "tool" => call.tool = entry.value.text().unwrap_or_default().to_owned(),
            "id" => call.id = entry.value.text().map(str::to_owned),
            "args" if entry.value.entries().is_some() => call.args = entry.value.to_json(),
            "args" => faults.push(document.fault(entry.value.mark, "`args` must be a map")),
            "expect" => match entry.value.text().and_then(Expectation::parse) {
                Some(word) => expected = Some(word),
                None => faults.push(
                    document.fault(entry.value.mark, "`expect` must be one of allow, blocked, ok, failed"),
                ),
            },
            other => faults.push(unknown(
                document.fault(entry.mark, format!("unknown key `{other}`")),
                other,
                &["tool", "args", "expect", "id"],
            )),
        }
    }
    if call.tool.is_empty() {
        faults.push(document.fault(node.mark, "a call must name its `tool`"));
        return None;
    }
    Some((call, expected))
}

fn unknown(fault: Fault, given: &str, known: &[&str]) -> Fault {
    match nearest(given, known.iter().copied()) {
        Some(near) => fault.with_hint(format!("did you mean `{near}`?")),
        None => fault,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_order_and_unmet_expectations_are_told() {
        let text = "- text: a\n  calls:\n  - {tool: read, args: {path: x}, expect: blocked}\n- text: done\n";
        let mut script = Script::parse("s.yml", text).unwrap();
        let first = script.answer(&[]).unwrap();
        assert_eq!((first.text.as_str(), first.calls.len()), ("a", 1));
        let outcome = Outcome { tool: "read".into(), ok: true, blocked: false, text: String::new() };
        let second = script.answer(&[outcome]).unwrap();
        assert_eq!(second.complaints, ["step 1, call 1 (read): expected blocked, became ok"]);
        assert_eq!(script.answer(&[]).unwrap(), Answer::default());
    }

    #[test]
    fn json_lines_keep_their_types() {
        let script =
            Script::parse("s.jsonl", "{\"calls\":[{\"tool\":\"x\",\"args\":{\"a\":\"1\",\"b\":1}}]}\n")
                .unwrap();
        assert_eq!(script.steps()[0].calls[0].0.args, serde_json::json!({"a": "1", "b": 1}));
    }

    #[test]
    fn faults_name_their_lines() {
        for (file, text, line, message) in [
            ("s.yml", "- text: a\n  cals: []\n", 2, "unknown key `cals`"),
            ("s.yml", "- calls:\n  - args: {}\n", 2, "a call must name its `tool`"),
            ("s.yml", "steps: 3\n", 1, "a script must be a list of steps"),
            ("s.jsonl", "{\"text\":\"a\"}\n{\"text\":\n", 2, "is no JSON"),
            ("s.jsonl", "{\"txt\":\"a\"}\n", 1, "unknown key `txt`"),
        ] {
            let faults = Script::parse(file, text).unwrap_err();
            assert_eq!(faults[0].line, line, "{text}");
            assert!(faults[0].message.contains(message), "{text}: {}", faults[0]);
        }
    }
}
