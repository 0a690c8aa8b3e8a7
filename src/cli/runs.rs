//! `runs`: the runs there are, and what killed ones left.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::record::{Format, REPORT_FILE, Status, render};
use crate::state::State;
use crate::worktree::Leftovers;

use super::exit::Exit;
use super::failure::{Failure, with_causes};
use super::report::{find_run, report_of};
use super::screen::{Screen, harmless, plural};
use super::setup::Setup;

/// List runs and clear what killed ones left
#[derive(Debug, Subcommand)]
pub(super) enum RunsCommand {
    List(ListArgs),
    Show(ShowArgs),
    Gc(GcArgs),
}

/// List the runs there are
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// How the answer is written
    #[arg(long)]
    json: bool,
}

/// Show one run: its files and its report
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// A run: its id or the beginning of it, `last`, or its folder
    #[arg(value_name = "RUN")]
    run: String,
}

/// Clear what killed runs left: worktrees, forks, processes, locks
///
/// Journals and reports stay. Runs that are going on are not touched.
#[derive(Debug, Args)]
pub(super) struct GcArgs {
    /// Folders of runs with --out, or of a demo, besides the state tree
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
}

pub(super) fn runs(command: RunsCommand, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    match command {
        RunsCommand::List(args) => list(&args, screen),
        RunsCommand::Show(args) => show(&args, setup, screen),
        RunsCommand::Gc(args) => gc(&args, setup, screen),
    }
}

fn list(args: &ListArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let state = State::locate(|name| std::env::var_os(name))?;
    let mut rows = Vec::new();
    for run in state.runs() {
        let report = report_of(&run, screen).ok();
        let is_going_on = state.is_live(run.id());
        let status = match &report {
            Some(report) if report.journal.has_end => report.status.name(),
            _ if is_going_on => "running",
            Some(_) | None => Status::Cut.name(),
        };
        let branch =
            report.as_ref().and_then(|report| report.commit.as_ref()).map(|commit| commit.branch.clone());
        let task =
            report.as_ref().map(|report| report.task.prompt.lines().next().unwrap_or_default().to_owned());
        rows.push((run.id().to_owned(), status, branch, task.unwrap_or_default()));
    }
    if args.json {
        let runs: Vec<serde_json::Value> = rows
            .iter()
            .map(|(id, status, branch, task)| serde_json::json!({"run": id, "status": status, "branch": branch, "task": task}))
            .collect();
        screen.line(
            &serde_json::to_string_pretty(&serde_json::json!({"v": 1, "runs": runs})).unwrap_or_default(),
        )?;
        return Ok(Exit::Fine);
    }
    for (id, status, branch, task) in &rows {
        let branch = branch.as_deref().map(|branch| branch.trim_start_matches("refs/heads/")).unwrap_or("-");
        screen.line(&format!("{id}  {status:<15}  {}  {}", harmless(branch), harmless(task)))?;
    }
    if rows.is_empty() {
        screen.status("no runs yet");
    }
    Ok(Exit::Fine)
}

fn show(args: &ShowArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let folder = find_run(&args.run, setup)?;
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .map_err(|error| {
            Failure::new(Exit::Failed, format!("cannot read {}: {error}", folder.path().display()))
        })?
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let report = report_of(&folder, screen)?;
    screen.line(&format!("run     {}", folder.id()))?;
    screen.line(&format!("folder  {}", harmless(&folder.path().display().to_string())))?;
    screen.line(&format!("files   {}", harmless(&names.join(", "))))?;
    screen.line("")?;
    let has_colour = screen.has_colour();
    screen.answer(&render(&report, Format::Text, has_colour))?;
    Ok(Exit::Fine)
}

fn gc(args: &GcArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let mut places: Vec<PathBuf> = args.folders.iter().map(|folder| setup.cwd.join(folder)).collect();
    let state = State::locate(|name| std::env::var_os(name)).ok();
    places.extend(state.iter().map(|state| state.root().to_owned()));
    let (mut cleared, mut failed) = (0_u64, 0_u64);
    for place in &places {
        for leftover in Leftovers::find(place)? {
            let run = leftover.run().to_owned();
            match leftover.clear() {
                Ok(done) => {
                    let processes = plural(done.swept.killed.len() as u64, "process", "processes");
                    screen.line(&format!(
                        "cleared {run}: {} removed, {processes} ended",
                        plural(done.removal.removed, "file", "files")
                    ))?;
                    for (path, why) in &done.removal.left {
                        failed += 1;
                        screen.warn(&format!("left: {}: {why}", path.display()));
                    }
                    cleared += 1;
                }
                Err(error) => {
                    failed += 1;
                    screen.warn(&format!("run {run}: {}", with_causes(&error)));
                }
            }
        }
        write_missing_reports(place, screen);
    }
    let forgotten = state.map_or(0, |state| state.forget_missing());
    if forgotten > 0 {
        screen.line(&format!("forgot {} whose folder is gone", plural(forgotten as u64, "run", "runs")))?;
    }
    if cleared == 0 && failed == 0 {
        screen.status("nothing was left");
    }
    Ok(if failed > 0 { Exit::Failed } else { Exit::Fine })
}

/// A run that was cut off has a report too.
fn write_missing_reports(place: &Path, screen: &Screen) {
    let tree = State::at(place);
    let beside = State::find_folder(&place.to_string_lossy());
    for run in tree.runs().into_iter().chain(beside) {
        if run.file(REPORT_FILE).exists() || tree.is_live(run.id()) {
            continue;
        }
        if let Ok(report) = report_of(&run, screen) {
            // The journal is what counts; a report can be written at any time.
            let _ = run.write(REPORT_FILE, render(&report, Format::Json, false).as_bytes());
            let _ = run.write("report.md", render(&report, Format::Markdown, false).as_bytes());
        }
    }
}
