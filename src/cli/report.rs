//! `report`: a view of a run's journal.

use clap::Args;

use crate::record::{self, JOURNAL_FILE, Report, read_journal};
use crate::state::{RunFolder, State};

use super::exit::Exit;
use super::failure::Failure;
use super::run::ReportFormat;
use super::screen::Screen;
use super::setup::Setup;

/// Show the report of a run
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// A run: its id or the beginning of it, `last`, or its folder
    #[arg(value_name = "RUN")]
    run: String,
    /// How it is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ReportFormat,
}

pub(super) fn report(args: &ReportArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let folder = find_run(&args.run, setup)?;
    let report = report_of(&folder, screen)?;
    let format: record::Format = args.format.into();
    let has_colour = screen.has_colour() && format == record::Format::Text;
    screen.answer(&record::render(&report, format, has_colour))?;
    Ok(Exit::Fine)
}

/// The run that an argument means.
pub(super) fn find_run(name: &str, setup: &Setup) -> Result<RunFolder, Failure> {
    let beside = setup.cwd.join(name);
    if let Some(folder) = beside.to_str().and_then(State::find_folder) {
        return Ok(folder);
    }
    let state = State::locate(|name| std::env::var_os(name))?;
    Ok(state.find(name)?)
}

/// The report, folded from the journal.
pub(super) fn report_of(folder: &RunFolder, screen: &Screen) -> Result<Report, Failure> {
    let path = folder.file(JOURNAL_FILE);
    let file = std::fs::File::open(&path)
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot read {}: {error}", path.display())))?;
    let read = read_journal(std::io::BufReader::new(file))?;
    if let Some(problem) = &read.problem {
        screen.warn(&format!("{}: {problem}; the report ends before it", path.display()));
    }
    Ok(Report::fold(&read.entries))
}
