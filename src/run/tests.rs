//! Runs of the operator's tests on checkouts of the runner's own.

use std::time::{Duration, Instant};

use crate::record::{CappedText, Tests, TestsResult};
use crate::sandbox::Environment;
use crate::tool::{Bench, TestEnding, TestRun, run_test_command};
use crate::worktree::{Fork, ObjectId, remove_directory};

use super::prepare::sha256_hex;
use super::request::Stop;

/// Bytes of the output that the journal keeps.
const KEPT_OUTPUT: usize = 16 * 1024;

/// Runs the tests on a clean checkout of exactly `tree`.
pub(super) fn test_tree(
    fork: &Fork,
    tree: ObjectId,
    name: &str,
    bench: &Bench,
    command: &str,
) -> Result<TestRun, Stop> {
    let checkout = fork.checkout(tree, name, &|_| false)?;
    let mut environment: Environment = bench.environment.clone();
    environment.set("PWD", &checkout.directory);
    let timeout = bench.tests_timeout.min(bench.deadline.saturating_duration_since(Instant::now()));
    let timeout = timeout.max(Duration::from_millis(1));
    let (run, _) =
        run_test_command(command, &checkout.directory, &environment, &bench.run, timeout, &bench.cancel);
    // What stays of it goes with the run's place in the end.
    let _ = remove_directory(&checkout.directory);
    if run.ending == TestEnding::Canceled {
        return Err(Stop::canceled());
    }
    Ok(run)
}

/// The journal's line for a run of the tests.
pub(super) fn tests_event(run: &TestRun, tree: &str, is_clean_checkout: bool) -> Tests {
    let (result, exit_code) = match &run.ending {
        TestEnding::Green => (TestsResult::Green, Some(0)),
        TestEnding::Red(code) => (TestsResult::Red, Some(*code)),
        TestEnding::NoVerdict(why) if why.starts_with("timed out") => (TestsResult::TimedOut, None),
        TestEnding::NoVerdict(why) if why.starts_with("killed") => (TestsResult::Killed, None),
        TestEnding::NoVerdict(_) => (TestsResult::Missing, None),
        TestEnding::Canceled => (TestsResult::Killed, None),
    };
    let output_digest = sha256_hex(&run.output);
    let facts = format!("{}\n{tree}\n{result:?}\n{output_digest}\n", run.command);
    Tests {
        command: run.command.clone(),
        tree: tree.to_owned(),
        result,
        clean_checkout: is_clean_checkout,
        exit_code,
        digest: sha256_hex(facts.as_bytes()),
        output: CappedText::from_bytes(&run.output, KEPT_OUTPUT),
        duration_ms: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
    }
}

/// The line for tests that are left out by request.
pub(super) fn skipped_event(tree: &str) -> Tests {
    Tests {
        command: String::new(),
        tree: tree.to_owned(),
        result: TestsResult::Skipped,
        clean_checkout: false,
        exit_code: None,
        digest: sha256_hex(format!("skipped\n{tree}\n").as_bytes()),
        output: CappedText::default(),
        duration_ms: 0,
    }
}
