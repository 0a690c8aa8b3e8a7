//! Arguments, one file per command, messages, exit codes.
//!
//! Arguments come in two steps: as typed (`Args`, by clap) and as meant (`Setup` and each command's own reading of
//! its arguments). Everything after uses only the second.

mod check;
mod completions;
mod demo;
mod doctor;
mod dry_run;
mod exit;
mod failure;
mod init;
mod policy;
mod report;
mod run;
mod runs;
mod screen;
mod setup;
mod verify;

pub use exit::{Exit, table_for_docs as exit_codes_for_docs};
use failure::Failure;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use screen::{ColorWhen, Screen};
use setup::Setup;

/// One policy, three gates, one reviewable commit or none
///
/// Runs a coding agent on a task in a throwaway worktree, judges every tool call and what comes out against one
/// policy, and leaves one commit or none, with a report. The same policy can be tried on recorded logs first.
#[derive(Debug, Parser)]
#[command(name = "gatewright", version, disable_help_subcommand = true, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Arguments of every command.
#[derive(Debug, Args)]
struct Global {
    /// Read the user's settings from FILE instead of the usual place
    #[arg(long, global = true, value_name = "FILE", env = "GATEWRIGHT_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// Act as if started in DIR
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorWhen,
    /// Tell nothing but the answer and errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Tell more on stderr
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Demo(demo::DemoArgs),
    Check(check::CheckArgs),
    DryRun(dry_run::DryRunArgs),
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    Report(report::ReportArgs),
    Verify(verify::VerifyArgs),
    #[command(subcommand)]
    Runs(runs::RunsCommand),
    Init(init::InitArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
}

/// Runs the program.
pub fn main() -> ExitCode {
    run_arguments(std::env::args_os())
}

fn run_arguments(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers; everything else is wrong usage.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            let _ = error.print();
            return ExitCode::from(exit.code());
        }
    };
    let mut screen = Screen::new(arguments.global.color, arguments.global.quiet, arguments.global.verbose);
    let done =
        Setup::new(&arguments.global).and_then(|setup| dispatch(arguments.command, &setup, &mut screen));
    let done = done.and_then(|exit| {
        screen.flush()?;
        Ok(exit)
    });
    let exit = match done {
        Ok(exit) => exit,
        Err(failure) => {
            // What was answered before the failure comes first; when nobody reads it any more, so be it.
            let _ = screen.flush();
            screen.error(&failure.text(screen.has_colour_on_err()));
            failure.exit
        }
    };
    ExitCode::from(exit.code())
}

fn dispatch(command: Command, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(*args, setup, screen),
        Command::Demo(args) => demo::demo(&args, setup, screen),
        Command::Check(args) => check::check(&args, setup, screen),
        Command::DryRun(args) => dry_run::dry_run(&args, setup, screen),
        Command::Policy(command) => policy::policy(command, setup, screen),
        Command::Report(args) => report::report(&args, setup, screen),
        Command::Verify(args) => verify::verify(&args, setup, screen),
        Command::Runs(command) => runs::runs(command, setup, screen),
        Command::Init(args) => init::init(&args, setup, screen),
        Command::Doctor(args) => doctor::doctor(&args, setup, screen),
        Command::Completions(args) => completions::completions(&args, screen),
        Command::Man(args) => completions::man(&args, screen),
    }
}
