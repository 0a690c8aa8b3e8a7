//! `demo`: the main job on a sample repository that is made here.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::config::{Layer, Origin, Value};
use crate::record::{self, Report};
use crate::run::Request;
use crate::sandbox::{Cancel, Environment, Program, cancel_on_signals};
use crate::state::State;
use crate::worktree::UserContext;

use super::exit::Exit;
use super::failure::{Failure, with_causes};
use super::run::start;
use super::screen::{Screen, harmless};
use super::setup::{Setup, today};

/// The files of the sample repository.
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("demo/README.md")),
    ("greet.sh", include_str!("demo/greet.sh")),
    ("test.sh", include_str!("demo/test.sh")),
    (".env", "API_TOKEN=not-a-real-one\n"),
    (".github/workflows/ci.yml", include_str!("demo/ci.yml")),
    (".gatewright/config.yml", include_str!("demo/config.yml")),
];
const SCRIPT: &str = include_str!("demo/agent.yml");
const PROMPT: &str = "Let greet.sh greet several people at once.";

/// Do the main job on a sample repository, with nothing to configure
///
/// Makes a small repository, lets a scripted agent work on it, and shows what was done, what was refused by which
/// rule, and the commit that came out. Everything lies in one folder.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Folder to work in, empty or not there yet [default: a new one in the temporary folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn demo(args: &DemoArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let cancel = Cancel::new();
    cancel_on_signals(&cancel).map_err(|error| Failure::new(Exit::Failed, with_causes(&error)))?;
    let folder = make_folder(args, setup)?;
    let user = UserContext {
        home: None,
        config_home: None,
        ..UserContext::from_environment(|name| std::env::var_os(name))
    };
    let repository = folder.join("repository");
    make_repository(&repository, &folder, &user)?;
    let script = folder.join("agent.yml");
    write(&script, SCRIPT)?;
    screen.line(&format!("sample repository: {}", repository.display()))?;
    screen.line(&format!("task: {PROMPT}"))?;
    screen.line("")?;
    screen.flush()?;
    let mut layer = Layer::empty(Origin::Flag);
    layer.set("agent", Value::Text(format!("script:{}", script.display())));
    layer.set("policy", Value::List(vec!["builtin:ci".to_owned()]));
    layer.set("shell.enabled", Value::Switch(true));
    layer.set("allow_commit", Value::Switch(true));
    let request = Request {
        directory: repository.clone(),
        environment: setup.environment.clone(),
        user,
        user_folder: None,
        layers: vec![layer],
        task: None,
        prompt: Some(PROMPT.to_owned()),
        out: None,
        state: Some(State::at(&folder.join("state"))),
        permit: String::new(),
        today: today(),
        cancel,
    };
    let ended = start(&request, screen)?;
    let report = &ended.report;
    show_refused(report, screen)?;
    let has_colour = screen.has_colour();
    screen.answer(&record::render(report, record::Format::Text, has_colour))?;
    if let Some(commit) = &report.commit {
        screen.line("")?;
        screen.line("look at it:")?;
        screen.line(&format!(
            "  git -C {} show {}",
            repository.display(),
            commit.branch.trim_start_matches("refs/heads/")
        ))?;
        screen.line(&format!("  gatewright verify {}", ended.folder.display()))?;
        screen
            .line(&format!("  gatewright dry-run {}", ended.folder.join(record::JOURNAL_FILE).display()))?;
    }
    let exit = Exit::of(report.status);
    if exit != Exit::Fine {
        screen.flush()?;
        screen.error(&Failure::new(exit, report.reason.clone()).text(screen.has_colour_on_err()));
    }
    Ok(exit)
}

fn show_refused(report: &Report, screen: &mut Screen) -> Result<(), Failure> {
    screen.line(&format!("refused {} of {} calls:", report.refused.len(), report.counts.calls))?;
    for refused in &report.refused {
        let rule = refused.rule.as_deref().unwrap_or(&refused.by);
        screen.line(&format!("  {}  {}", screen.verdict(refused.verdict), harmless(&refused.subject)))?;
        let source = refused.source.as_deref().unwrap_or("built in");
        screen.line(&format!("         {} ({})", harmless(rule), harmless(source)))?;
        screen.line(&format!("         {}", harmless(&refused.reason)))?;
    }
    screen.line("")?;
    Ok(())
}

fn make_folder(args: &DemoArgs, setup: &Setup) -> Result<PathBuf, Failure> {
    let failed = |path: &Path, error: std::io::Error| {
        Failure::new(Exit::Failed, format!("cannot use {}: {error}", path.display()))
            .with_hint("give another with --out")
    };
    let Some(out) = &args.out else {
        let folder = tempfile::Builder::new()
            .prefix("gatewright-demo-")
            .tempdir()
            .map_err(|error| failed(&std::env::temp_dir(), error))?;
        return Ok(folder.keep());
    };
    let path = setup.cwd.join(out);
    fs::create_dir_all(&path).map_err(|error| failed(&path, error))?;
    let path = fs::canonicalize(&path).map_err(|error| failed(&path, error))?;
    if fs::read_dir(&path).map_err(|error| failed(&path, error))?.next().is_some() {
        return Err(
            Failure::usage(format!("{} is not empty", path.display())).with_hint("give an empty folder")
        );
    }
    Ok(path)
}

fn make_repository(repository: &Path, folder: &Path, user: &UserContext) -> Result<(), Failure> {
    for (name, text) in FILES {
        write(&repository.join(name), text)?;
    }
    for arguments in [
        &["init", "--quiet", "--initial-branch=main", "--template="] as &[&str],
        &["add", "--all", "--force"],
        &["commit", "--quiet", "--message", "Greet one person"],
    ] {
        let mut environment = Environment::new();
        environment.set("PATH", &user.path);
        environment.set("HOME", folder);
        environment.set("GIT_CONFIG_NOSYSTEM", "1");
        environment.set("GIT_CONFIG_GLOBAL", "/dev/null");
        for role in ["AUTHOR", "COMMITTER"] {
            environment.set(format!("GIT_{role}_NAME"), "A. Person");
            environment.set(format!("GIT_{role}_EMAIL"), "person@example.org");
            environment.set(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
        }
        let finished = Program::new("git", repository)
            .args(["-c", "core.hooksPath=/dev/null", "-c", "maintenance.auto=false"])
            .args(arguments)
            .environment(environment)
            .run()
            .map_err(|error| Failure::new(Exit::Repository, with_causes(&error)).with_hint("install git"))?;
        if !finished.ending.is_success() {
            let said = finished.stderr.text();
            return Err(Failure::new(
                Exit::Repository,
                format!("git {} failed: {}", arguments[0], said.trim()),
            ));
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Exit::Failed, format!("cannot write {}: {error}", path.display()))
    };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}
