//! `check`: judges calls that are given.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::call::{Context, Targets, ToolCall};
use crate::gate::{Ballot, Gate};
use crate::policy::Memory;
use crate::record::DecisionLine;
use crate::run::DiskLinks;
use crate::verdict::Verdict;

use super::exit::Exit;
use super::failure::Failure;
use super::screen::{Screen, harmless, plural};
use super::setup::Setup;

/// Judge tool calls against a policy
///
/// Nothing is executed. A line of --calls is a call (`id`, `tool`, `args`, `cwd`), or a case that holds one under
/// `call`; where it has `expect`, the verdict is compared with it.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// A command line, as an agent's shell tool would get it
    #[arg(long, value_name = "LINE", allow_hyphen_values = true, group = "what")]
    shell: Option<String>,
    /// A call as JSON: {"tool": "write", "args": {"path": "a.txt"}}
    #[arg(long, value_name = "JSON", group = "what")]
    call: Option<String>,
    /// A file with one call or case a line, or `-` for stdin
    #[arg(long, value_name = "FILE", group = "what")]
    calls: Option<String>,
    /// A policy: a file or `builtin:NAME`; may be given more than once
    #[arg(long, value_name = "P")]
    policy: Vec<String>,
    /// Directory the calls start in, where they do not say so
    #[arg(long, value_name = "D")]
    cwd: Option<PathBuf>,
    /// Root of the repository; without it the git top level of the call's directory, or that directory
    #[arg(long, value_name = "D")]
    root: Option<PathBuf>,
    /// Exit with 6 from this verdict on [default: ask, and never for --calls]
    #[arg(long, value_name = "VERDICT")]
    fail_on: Option<FailOn>,
    /// How the answer is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: CheckFormat,
}

/// From which verdict on a command fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// Ask and deny
    Ask,
    /// Deny
    Deny,
    /// No verdict
    Never,
}

impl FailOn {
    pub(super) fn reached_by(self, verdict: Verdict) -> bool {
        match self {
            Self::Ask => verdict >= Verdict::Ask,
            Self::Deny => verdict >= Verdict::Deny,
            Self::Never => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// For people
    Text,
    /// One document
    Json,
    /// One decision a line
    Jsonl,
}

/// A call to judge, with what is expected.
struct Case {
    call: ToolCall,
    expect: Option<Verdict>,
    is_arguable: bool,
    place: Option<String>,
}

#[derive(Default, serde::Serialize)]
struct Tally {
    calls: u64,
    allow: u64,
    ask: u64,
    deny: u64,
    expected: u64,
    as_expected: u64,
    unreadable_lines: u64,
    #[serde(skip)]
    is_over: bool,
    /// The calls of one input are one run, in order.
    #[serde(skip)]
    memory: Memory,
}

pub(super) fn check(args: &CheckArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let (policy, _) = setup.policy(&args.policy)?;
    for notice in policy.notices() {
        screen.warn(&format!("{}: {notice}", notice.place()));
    }
    let gate = super::policy::plain_gate(policy);
    let fail_on = args.fail_on.unwrap_or(if args.calls.is_some() { FailOn::Never } else { FailOn::Ask });
    let mut tally = Tally::default();
    let mut lines = Vec::new();
    let mut is_one = true;
    if let Some(line) = &args.shell {
        let call = ToolCall {
            id: None,
            tool: "execute".into(),
            args: serde_json::json!({ "command": line }),
            cwd: None,
        };
        let case = Case { call, expect: None, is_arguable: false, place: None };
        judge(&case, args, setup, &gate, fail_on, &mut tally, &mut lines, screen, true)?;
    } else if let Some(text) = &args.call {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Failure::usage(format!("--call is no JSON: {error}")))?;
        let case = case_of(&value, None).map_err(|why| Failure::usage(format!("--call: {why}")))?;
        judge(&case, args, setup, &gate, fail_on, &mut tally, &mut lines, screen, true)?;
    } else if let Some(file) = &args.calls {
        is_one = false;
        let mut reader = setup.open(file)?;
        let mut text = Vec::new();
        let mut number = 0_u64;
        loop {
            text.clear();
            let read = reader.read_until(b'\n', &mut text);
            if read.map_err(|error| Failure::new(Exit::Failed, format!("cannot read {file}: {error}")))? == 0
            {
                break;
            }
            number += 1;
            if text.trim_ascii().is_empty() {
                continue;
            }
            let place = format!("{file}:{number}");
            let case = serde_json::from_slice::<Value>(&text)
                .map_err(|error| format!("is no JSON: {error}"))
                .and_then(|value| case_of(&value, Some(place.clone())));
            match case {
                Ok(case) => judge(&case, args, setup, &gate, fail_on, &mut tally, &mut lines, screen, false)?,
                Err(why) => {
                    tally.unreadable_lines += 1;
                    screen.warn(&format!("{place}: {why}"));
                }
            }
        }
    } else {
        return Err(
            Failure::usage("nothing to judge").with_hint("give --shell LINE, --call JSON or --calls FILE")
        );
    }
    match args.format {
        CheckFormat::Json => {
            let document = serde_json::json!({ "v": 1, "decisions": lines, "counts": tally });
            screen.line(&serde_json::to_string_pretty(&document).unwrap_or_default())?;
        }
        CheckFormat::Text if !is_one => {
            let mut summary = format!(
                "{}: {} allow, {} ask, {} deny",
                plural(tally.calls, "call", "calls"),
                tally.allow,
                tally.ask,
                tally.deny
            );
            if tally.expected > 0 {
                summary.push_str(&format!("; {} of {} as expected", tally.as_expected, tally.expected));
            }
            if tally.unreadable_lines > 0 {
                summary.push_str(&format!("; {} not read", plural(tally.unreadable_lines, "line", "lines")));
            }
            screen.line(&summary)?;
        }
        CheckFormat::Text | CheckFormat::Jsonl => {}
    }
    Ok(if tally.unreadable_lines > 0 {
        Exit::Usage
    } else if tally.is_over {
        Exit::Verdicts
    } else if tally.as_expected < tally.expected {
        Exit::Failed
    } else {
        Exit::Fine
    })
}

#[expect(clippy::too_many_arguments, reason = "one place, called thrice, with everything it needs in sight")]
fn judge(
    case: &Case,
    args: &CheckArgs,
    setup: &Setup,
    gate: &Gate,
    fail_on: FailOn,
    tally: &mut Tally,
    lines: &mut Vec<DecisionLine>,
    screen: &mut Screen,
    is_one: bool,
) -> Result<(), Failure> {
    let context = context_of(&case.call, args.cwd.as_deref(), args.root.as_deref(), setup);
    let targets = Targets::resolve(&case.call, &context, &DiskLinks::default());
    let ballot = Ballot { call: case.call.clone(), targets, votes: Vec::new() };
    let judged = gate.judge_after(ballot, &tally.memory);
    let verdict = judged.decision.verdict;
    gate.remember(&mut tally.memory, &judged.call, &judged.targets, verdict);
    tally.calls += 1;
    match verdict {
        Verdict::Allow => tally.allow += 1,
        Verdict::Ask => tally.ask += 1,
        Verdict::Deny => tally.deny += 1,
    }
    tally.is_over |= fail_on.reached_by(verdict);
    let mut line = DecisionLine::new(&judged.call, &judged.targets, &judged.decision);
    line.log.clone_from(&case.place);
    line.expect = case.expect;
    let mut differs = false;
    if let Some(expected) = case.expect.filter(|_| !case.is_arguable) {
        tally.expected += 1;
        differs = expected != verdict;
        tally.as_expected += u64::from(!differs);
    }
    match args.format {
        CheckFormat::Jsonl => screen.line(&serde_json::to_string(&line).unwrap_or_default())?,
        CheckFormat::Json => lines.push(line),
        CheckFormat::Text if is_one => {
            let vote = judged.decision.deciding_vote().filter(|_| verdict > Verdict::Allow);
            let part = vote.and_then(|vote| vote.part).zip(judged.targets.command.as_deref());
            let marked = part.and_then(|(part, line)| underlined(line, part)).unwrap_or_default();
            screen.answer(&whole_text(&line, &marked, screen))?;
        }
        CheckFormat::Text => {
            let mark = if differs { "  (expected otherwise)" } else { "" };
            let id = line.id.as_deref().or(line.log.as_deref()).unwrap_or("-");
            let rule = line.rule.as_deref().or(line.reason.as_deref()).unwrap_or("");
            let text = format!("{}  {:<12} {}{mark}", screen.verdict(verdict), harmless(id), harmless(rule));
            screen.line(text.trim_end())?;
        }
    }
    Ok(())
}

/// The line of a command in which a part lies, with that part underlined; `None` when it does not lie in there.
fn underlined(line: &str, (start, end): (usize, usize)) -> Option<String> {
    let (before, part) = (line.get(..start)?, line.get(start..end).filter(|part| !part.is_empty())?);
    let first = before.rfind('\n').map_or(0, |at| at + 1);
    let last = line[start..].find('\n').map_or(line.len(), |at| start + at);
    // Several lines are underlined on the first; what ends a command is not part of it.
    let part = part.split('\n').next().unwrap_or(part).trim_end_matches([';', '&', '|', ' ', '\t']);
    // What is shown instead of control characters is as wide as what is measured here.
    let (lead, part) = (harmless(&line[first..start]), harmless(part));
    let width = |text: &str| text.chars().count();
    let shown = harmless(&line[first..last]);
    Some(format!(
        "  {}\n  {}{}\n",
        shown.trim_end(),
        " ".repeat(width(&lead)),
        "^".repeat(width(&part).max(1)),
    ))
}

fn whole_text(line: &DecisionLine, marked: &str, screen: &Screen) -> String {
    let mut out = screen.verdict(line.verdict).trim_end().to_owned();
    if let Some(rule) = &line.rule {
        out.push_str(&format!("  {}", harmless(rule)));
    }
    if let Some(source) = &line.source {
        out.push_str(&format!("  {}", harmless(source)));
    }
    out.push('\n');
    out.push_str(marked);
    if let Some(reason) = &line.reason {
        out.push_str(&format!("  reason: {}\n", harmless(reason)));
    }
    if let Some(hint) = &line.hint {
        out.push_str(&format!("  hint: {}\n", harmless(hint)));
    }
    for (name, items) in [
        ("runs", line.targets.commands.clone()),
        ("hosts", line.targets.hosts.clone()),
        ("unreadable", line.targets.unreadable.clone()),
    ] {
        for item in items {
            out.push_str(&format!("  {name}: {}\n", harmless(&item)));
        }
    }
    for path in &line.targets.paths {
        let access = serde_json::to_value(path.access).unwrap_or_default();
        out.push_str(&format!("  {}: {}\n", access.as_str().unwrap_or("path"), harmless(&path.path)));
    }
    for vote in line.votes.iter().skip(usize::from(line.votes.len() == 1)) {
        let who = vote.rule.as_deref().unwrap_or("");
        let word = serde_json::to_value(vote.verdict).unwrap_or_default();
        out.push_str(&format!(
            "  vote: {} {} {}\n",
            word.as_str().unwrap_or(""),
            harmless(who),
            harmless(&vote.reason)
        ));
    }
    out
}

/// Where a call happens: see the help of `--root`.
pub(super) fn context_of(call: &ToolCall, cwd: Option<&Path>, root: Option<&Path>, setup: &Setup) -> Context {
    let cwd = match (&call.cwd, cwd) {
        (Some(cwd), _) if cwd.is_absolute() => cwd.clone(),
        (given, cwd) => {
            let start = setup.cwd.join(cwd.unwrap_or(Path::new("")));
            given.as_ref().map_or(start.clone(), |given| start.join(given))
        }
    };
    let root = match root {
        Some(root) => setup.cwd.join(root),
        None => git_top(&cwd).unwrap_or_else(|| cwd.clone()),
    };
    Context { root, cwd, home: setup.home() }
}

/// The nearest folder above that looks like the top of a checkout. No git is started: this is on the path of hooks.
pub(super) fn git_top(start: &Path) -> Option<PathBuf> {
    let start = std::fs::canonicalize(start).ok()?;
    start.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf)
}

/// The call that a JSON text holds, in any form that `--call` takes.
pub(super) fn call_of(text: &str) -> Result<ToolCall, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))?;
    case_of(&value, None).map(|case| case.call)
}

fn case_of(value: &Value, place: Option<String>) -> Result<Case, String> {
    let given = value.get("call").filter(|call| call.is_object()).unwrap_or(value);
    let text = |value: &Value, names: &[&str]| {
        names.iter().find_map(|name| value.get(*name)?.as_str()).map(str::to_owned)
    };
    let tool = text(given, &["tool", "name"]).ok_or("has no `tool`")?;
    let args = ["args", "params", "arguments", "input"].iter().find_map(|name| given.get(*name)).cloned();
    let expect = match value.get("expect") {
        None | Some(Value::Null) => None,
        Some(expect) => Some(
            serde_json::from_value::<Verdict>(expect.clone())
                .map_err(|_| format!("`expect` must be allow, ask or deny, not {expect}"))?,
        ),
    };
    Ok(Case {
        call: ToolCall {
            id: text(given, &["id"]).or_else(|| text(value, &["id"])),
            tool,
            args: args.unwrap_or(Value::Object(serde_json::Map::new())),
            cwd: text(given, &["cwd"]).map(PathBuf::from),
        },
        expect,
        is_arguable: value
            .get("arguable")
            .is_some_and(|arguable| !matches!(arguable, Value::Bool(false) | Value::Null)),
        place,
    })
}
