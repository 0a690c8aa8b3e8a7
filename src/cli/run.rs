//! `run`: the main job.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::config::{Layer, Origin, Value};
use crate::record::{self, Entry, Event};
use crate::run::{self, Details, Ended, Request, RunError};
use crate::sandbox::{Cancel, cancel_on_signals};
use crate::state::State;
use crate::worktree::UserContext;

use super::exit::Exit;
use super::failure::{Failure, Findings, with_causes};
use super::screen::Screen;
use super::setup::{Setup, today};

/// Do one task: one throwaway worktree, one commit or none, one report
///
/// The task, the policy and the repository's settings are read before anything starts. Nothing is ever pushed.
/// Without permission to commit (--allow-commit, or GATEWRIGHT_ALLOW_SELF_COMMIT=1) the change is left as a patch.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// The task: YAML with `prompt`, and any of agent, policy, base, tests, allow, protect, limits
    #[arg(value_name = "TASK.yml")]
    task: Option<String>,
    /// What is to be done
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Who answers: `script:FILE`
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// A policy: a file or `builtin:NAME`; may be given more than once [default: builtin:ci]
    #[arg(long, value_name = "P")]
    policy: Vec<String>,
    /// Commit to start from [default: HEAD]
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// What happens to a call that needs a person [default: deny]
    #[arg(long, value_name = "HOW")]
    on_ask: Option<OnAsk>,
    /// Folder for journal, report and patch instead of the state tree
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Command whose success makes a tree green
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_tests")]
    tests: Option<String>,
    /// Let a change through without tests
    #[arg(long)]
    no_tests: bool,
    /// Do not run the tests on the base first
    #[arg(long)]
    no_base_tests: bool,
    /// Path that the commit may change; may be given more than once
    #[arg(long, value_name = "GLOB")]
    allow: Vec<String>,
    /// Path that the commit must not change; may be given more than once
    #[arg(long, value_name = "GLOB")]
    protect: Vec<String>,
    /// How a tool is gated: `execute=rules` lets the rules decide, `execute=always` asks at every call
    #[arg(long, value_name = "TOOL=HOW")]
    gate: Vec<String>,
    /// Let the agent run commands
    #[arg(long)]
    enable_shell: bool,
    /// Let the run end in a commit
    #[arg(long)]
    allow_commit: bool,
    /// How the report is written to stdout
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ReportFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnAsk {
    /// It is refused
    Deny,
    /// The run is parked (not built yet)
    Stage,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    /// For people
    Text,
    /// One document
    Json,
    /// For a pull request or a job summary
    Markdown,
}

impl From<ReportFormat> for record::Format {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Text => Self::Text,
            ReportFormat::Json => Self::Json,
            ReportFormat::Markdown => Self::Markdown,
        }
    }
}

pub(super) fn run(args: RunArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let mut layers = setup.layers()?;
    layers.push(flags(&args)?);
    let cancel = Cancel::new();
    cancel_on_signals(&cancel).map_err(|error| Failure::new(Exit::Failed, with_causes(&error)))?;
    let request = Request {
        directory: setup.cwd.clone(),
        environment: setup.environment.clone(),
        user: UserContext::from_environment(|name| std::env::var_os(name)),
        user_folder: setup.user_folder().map(PathBuf::from),
        layers,
        task: args.task,
        prompt: args.prompt,
        out: args.out,
        state: State::locate(|name| std::env::var_os(name)).ok(),
        permit: permit(),
        today: today(),
        cancel,
    };
    let ended = start(&request, screen)?;
    finish(ended, args.format.into(), screen)
}

/// Runs, telling on stderr what is going on.
pub(super) fn start(request: &Request, screen: &Screen) -> Result<Ended, Failure> {
    let mut tell = |entry: &Entry| {
        if let Some(line) = progress(&entry.event, screen.verbose) {
            screen.status(&line);
        }
    };
    run::run(request, &mut tell).map_err(|error| match error {
        RunError::State(error) => error.into(),
        RunError::Record(error) => error.into(),
        RunError::Inside { .. } => Failure::usage(error.to_string())
            .with_hint("set XDG_STATE_HOME to a folder outside the repository, or give one with --out"),
    })
}

/// Writes the report, and what stands behind an early end to stderr.
pub(super) fn finish(ended: Ended, format: record::Format, screen: &mut Screen) -> Result<Exit, Failure> {
    let has_colour = screen.has_colour() && format == record::Format::Text;
    screen.answer(&record::render(&ended.report, format, has_colour))?;
    screen.flush()?;
    let exit = Exit::of(ended.report.status);
    let findings = match ended.details {
        Details::None => Findings::None,
        Details::Faults(faults) => Findings::Faults(faults),
        Details::Policy(errors) => Findings::Policy(errors),
    };
    if exit != Exit::Fine {
        let lines = if matches!(findings, Findings::Faults(_)) {
            Vec::new()
        } else {
            vec![ended.report.reason.clone()]
        };
        let failure = Failure { exit, lines, findings, hint: None };
        screen.error(&failure.text(screen.has_colour_on_err()));
    }
    screen.status(&format!("journal and report: {}", ended.folder.display()));
    Ok(exit)
}

fn progress(event: &Event, verbose: u8) -> Option<String> {
    match event {
        Event::RunStart(start) => {
            Some(format!("run {} on {} at {}", start.run, start.repository, start.base.revision))
        }
        Event::TestsOnBase(tests) => Some(format!("tests on the base: {:?}", tests.result).to_lowercase()),
        Event::Gate(gate) if verbose > 0 => Some(format!(
            "call {}: {} {}",
            gate.call,
            format!("{:?}", gate.decision.verdict).to_lowercase(),
            gate.given.tool
        )),
        Event::ToolResult(result) if verbose > 1 => {
            Some(format!("call {}: {}", result.call, result.error.as_deref().unwrap_or("ok")))
        }
        Event::Tests(tests) if tests.clean_checkout => {
            Some(format!("tests on the changed tree: {:?}", tests.result).to_lowercase())
        }
        Event::Notice(notice) => Some(format!("{}: {}", notice.from, notice.text)),
        Event::Gate(_)
        | Event::ToolResult(_)
        | Event::Tests(_)
        | Event::TurnStart(_)
        | Event::ToolCallStarted(_)
        | Event::Approval(_)
        | Event::HookNotice(_)
        | Event::Checkpoint(_)
        | Event::CheckpointDiscarded(_)
        | Event::Outcome(_)
        | Event::Commit(_)
        | Event::Patch(_)
        | Event::Integrity(_)
        | Event::Cleanup(_)
        | Event::TurnEnd(_)
        | Event::RunEnd(_) => None,
    }
}

fn flags(args: &RunArgs) -> Result<Layer, Failure> {
    let mut layer = Layer::empty(Origin::Flag);
    for (name, text) in [("agent", &args.agent), ("base", &args.base), ("tests.command", &args.tests)] {
        if let Some(text) = text {
            layer.set(name, Value::Text(text.clone()));
        }
    }
    for (name, list) in [("policy", &args.policy), ("allow", &args.allow), ("protect", &args.protect)] {
        if !list.is_empty() {
            layer.set(name, Value::List(list.clone()));
        }
    }
    for (name, is_given, value) in [
        ("tests.skip", args.no_tests, true),
        ("tests.base", args.no_base_tests, false),
        ("shell.enabled", args.enable_shell, true),
        ("allow_commit", args.allow_commit, true),
    ] {
        if is_given {
            layer.set(name, Value::Switch(value));
        }
    }
    if let Some(on_ask) = args.on_ask {
        let word = if on_ask == OnAsk::Deny { "deny" } else { "stage" };
        layer.set("on_ask", Value::Text(word.to_owned()));
    }
    let mut gates = std::collections::BTreeMap::new();
    for given in &args.gate {
        match given.split_once('=') {
            Some((tool, word @ ("rules" | "always"))) if !tool.is_empty() => {
                gates.insert(tool.to_owned(), word.to_owned());
            }
            _ => return Err(Failure::usage(format!("--gate {given}: must be TOOL=rules or TOOL=always"))),
        }
    }
    if !gates.is_empty() {
        layer.set("gates", Value::Map(gates));
    }
    Ok(layer)
}

/// The command as it was typed, with permission to commit.
fn permit() -> String {
    let words: Vec<String> = std::env::args().map(|word| quoted(&word)).collect();
    format!("{} --allow-commit", words.join(" "))
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
