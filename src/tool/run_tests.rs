//! `run_tests`: the operator's test command, which no argument of the agent changes.

use std::path::Path;
use std::time::Duration;

use crate::sandbox::{Cancel, Ending as ProgramEnding, Environment, Finished, Keep, Program, SandboxError};

use super::execute::streams;
use super::untrusted::wrap_untrusted;
use super::{Bench, Ending, Output, Refusal};

/// What a run of the tests came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestEnding {
    /// Exit code 0.
    Green,
    /// Another exit code.
    Red(i32),
    /// No verdict: not found, killed, timed out. Says which.
    NoVerdict(String),
    /// The run was interrupted meanwhile.
    Canceled,
}

/// A run of the tests.
#[derive(Debug, Clone)]
pub struct TestRun {
    /// What it came to.
    pub ending: TestEnding,
    /// The command.
    pub command: String,
    /// From start to end.
    pub duration: Duration,
    /// What it wrote, both streams, as far as kept.
    pub output: Vec<u8>,
}

/// Exit codes of a shell that did not find, or could not start, the program.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Runs `command` in `directory`.
pub fn run_test_command(
    command: &str,
    directory: &Path,
    environment: &Environment,
    run: &str,
    timeout: Duration,
    cancel: &Cancel,
) -> (TestRun, Option<Finished>) {
    let finished = Program::shell(command, directory)
        .environment(environment.clone())
        .marker(run)
        .timeout(timeout)
        .keep_stdout(Keep { head: 65_536, tail: 65_536 })
        .keep_stderr(Keep { head: 65_536, tail: 65_536 })
        .cancel(cancel)
        .run();
    test_run(command, timeout, finished)
}

fn test_run(
    command: &str,
    timeout: Duration,
    finished: Result<Finished, SandboxError>,
) -> (TestRun, Option<Finished>) {
    let command = command.to_owned();
    match finished {
        Err(error) => {
            let ending = TestEnding::NoVerdict(error.to_string());
            (TestRun { ending, command, duration: Duration::ZERO, output: Vec::new() }, None)
        }
        Ok(finished) => {
            let ending = match finished.ending {
                ProgramEnding::Exited(0) => TestEnding::Green,
                ProgramEnding::Exited(code) if NOT_STARTED.contains(&code) => {
                    TestEnding::NoVerdict(format!("the command could not be started (exit code {code})"))
                }
                ProgramEnding::Exited(code) => TestEnding::Red(code),
                ProgramEnding::Signaled(signal) => {
                    TestEnding::NoVerdict(format!("killed by signal {signal}"))
                }
                ProgramEnding::TimedOut(_) => {
                    TestEnding::NoVerdict(format!("timed out after {} s", timeout.as_secs()))
                }
                ProgramEnding::Cancelled => TestEnding::Canceled,
            };
            let output = [finished.stdout.text(), finished.stderr.text()].concat().into_bytes();
            (TestRun { ending, command, duration: finished.duration, output }, Some(finished))
        }
    }
}

pub(super) fn run_tests(bench: &Bench) -> Result<Output, Refusal> {
    let Some(command) = &bench.tests else {
        return Err("no test command is configured for this run".to_owned());
    };
    let timeout = bench.at_most(bench.tests_timeout);
    let (tests, finished) =
        run_test_command(command, &bench.root, &bench.environment, &bench.run, timeout, &bench.cancel);
    let body = finished.map(|finished| streams(&finished, bench)).unwrap_or_default();
    let (ending, exit_code, first_line) = match &tests.ending {
        TestEnding::Green => (Ending::Ok, Some(0), "tests are green".to_owned()),
        TestEnding::Red(code) => (Ending::Failed, Some(*code), format!("tests are red (exit code {code})")),
        TestEnding::NoVerdict(why) => (Ending::Failed, None, format!("tests gave no verdict: {why}")),
        TestEnding::Canceled => {
            (Ending::Canceled, None, "[run_tests] Error: the run was interrupted".to_owned())
        }
    };
    let text = format!("{first_line}\n{}", wrap_untrusted(&body));
    Ok(Output { exit_code, tests: Some(tests), ..Output::new(ending, text) })
}
