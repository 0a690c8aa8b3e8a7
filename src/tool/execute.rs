//! `execute`: a command line in a fresh shell.

use std::path::Path;
use std::time::Duration;

use crate::sandbox::{Ending as ProgramEnding, Finished, Keep, Program};

use super::arguments::Arguments;
use super::output::preview;
use super::place::Place;
use super::untrusted::wrap_untrusted;
use super::{Bench, Ending, Output, Refusal};

pub(super) fn execute(
    arguments: &Arguments<'_>,
    cwd: Option<&Path>,
    bench: &Bench,
) -> Result<Output, Refusal> {
    let command = arguments.required_text(&["command", "cmd", "script"])?;
    let given = match arguments.text(&["cwd", "workdir", "working_directory"])? {
        Some(given) => Some(given.to_owned()),
        None => cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
    };
    let place = Place::new(&bench.root, given.as_deref().unwrap_or("."))?;
    // Opened only to learn that it exists and lies inside at this moment.
    let folder = place.open(&bench.root)?;
    if !folder.metadata().map_err(|error| error.to_string())?.is_dir() {
        return Err(format!("`{}` is no folder", place.relative().display()));
    }
    let wanted = arguments.count(&["timeout_ms", "timeout"])?.map(Duration::from_millis);
    let timeout = wanted.unwrap_or(bench.shell_timeout).min(bench.shell_timeout);
    let keep = Keep { head: bench.streams.truncate_at, tail: bench.streams.preview };
    let finished = Program::shell(command, bench.root.join(place.relative()))
        .environment(bench.environment.clone())
        .marker(&bench.run)
        .timeout(bench.at_most(timeout))
        .keep_stdout(keep)
        .keep_stderr(keep)
        .cancel(&bench.cancel)
        .run()
        .map_err(|error| error.to_string())?;
    let (ending, first_line) = describe(&finished, timeout);
    let text = format!("{first_line}\n{}", wrap_untrusted(&streams(&finished, bench)));
    let exit_code = match finished.ending {
        ProgramEnding::Exited(code) => Some(code),
        ProgramEnding::Signaled(_) | ProgramEnding::TimedOut(_) | ProgramEnding::Cancelled => None,
    };
    Ok(Output { exit_code, ..Output::new(ending, text) })
}

/// Both streams, each within its limits, the second with a heading.
pub(super) fn streams(finished: &Finished, bench: &Bench) -> String {
    let cut = |stream: &crate::sandbox::Captured| {
        preview(&stream.head, &stream.tail, stream.omitted, bench.streams.truncate_at, bench.streams.preview)
    };
    let (out, err) = (cut(&finished.stdout), cut(&finished.stderr));
    match (out.trim_end(), err.trim_end()) {
        ("", "") => "(no output)".to_owned(),
        (out, "") => out.to_owned(),
        ("", err) => format!("stderr:\n{err}"),
        (out, err) => format!("{out}\nstderr:\n{err}"),
    }
}

/// Ending and first line for the agent. A non-zero exit is a result that the agent reads, not an error of the tool.
fn describe(finished: &Finished, timeout: Duration) -> (Ending, String) {
    match finished.ending {
        ProgramEnding::Exited(0) => (Ending::Ok, "exit code 0".to_owned()),
        ProgramEnding::Exited(code) => (Ending::Ok, format!("exit code {code}")),
        ProgramEnding::Signaled(signal) => {
            (Ending::Failed, format!("[execute] Error: ended by signal {signal}"))
        }
        ProgramEnding::TimedOut(_) => {
            (Ending::TimedOut, format!("[execute] Error: timed out after {} ms", timeout.as_millis()))
        }
        ProgramEnding::Cancelled => (Ending::Canceled, "[execute] Error: the run was interrupted".to_owned()),
    }
}
