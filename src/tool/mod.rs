//! The tools of the built-in loop, one file each.
//!
//! A tool consumes the gate's [`Pass`]: there is no way to it without one. What a tool cannot do is part of its
//! [`Output`]; refusals here are errors of the tool, not verdicts.

mod arguments;
mod bench;
mod edit;
mod execute;
mod git_commit;
mod list;
mod output;
mod place;
mod read;
mod run_tests;
mod untrusted;
mod write;

pub use bench::Bench;
pub use git_commit::Proposal;
pub use output::preview;
pub use run_tests::{TestEnding, TestRun, run_test_command};
pub use untrusted::wrap_untrusted;

use std::time::Duration;

use crate::call::canonical_tool;
use crate::gate::Pass;

/// Canonical names of the tools there are.
pub const TOOLS: &[&str] = &["read", "list", "write", "edit", "execute", "run_tests", "git_commit"];

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It did what it was to do.
    Ok,
    /// It could not, or its program said no.
    Failed,
    /// It ran out of time.
    TimedOut,
    /// The run was interrupted meanwhile.
    Canceled,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub struct Output {
    /// How it went.
    pub ending: Ending,
    /// What the agent is given.
    pub text: String,
    /// Exit code of a program.
    pub exit_code: Option<i32>,
    /// Time it took.
    pub duration: Duration,
    /// The tests, when it was `run_tests`.
    pub tests: Option<TestRun>,
    /// The proposal, when it was `git_commit`.
    pub proposal: Option<Proposal>,
}

impl Output {
    fn ok(text: impl Into<String>) -> Self {
        Self::new(Ending::Ok, text)
    }

    fn failed(text: impl Into<String>) -> Self {
        Self::new(Ending::Failed, text)
    }

    fn new(ending: Ending, text: impl Into<String>) -> Self {
        Self {
            ending,
            text: text.into(),
            exit_code: None,
            duration: Duration::ZERO,
            tests: None,
            proposal: None,
        }
    }
}

/// What a tool refuses or cannot do, in the words for the agent.
type Refusal = String;

/// Does what the call says, once.
pub fn execute(pass: Pass, bench: &Bench) -> Output {
    let start = std::time::Instant::now();
    let call = pass.call();
    let tool = canonical_tool(&call.tool);
    let arguments = arguments::Arguments::new(&call.args);
    let done = match tool.as_str() {
        "read" => read::read(&arguments, bench),
        "list" => list::list(&arguments, bench),
        "write" => write::write(&arguments, bench),
        "edit" => edit::edit(&arguments, bench),
        "execute" => execute::execute(&arguments, call.cwd.as_deref(), bench),
        "run_tests" => run_tests::run_tests(bench),
        "git_commit" => git_commit::propose(&arguments, bench),
        other => Err(format!("no tool `{other}` in this run; there are: {}", TOOLS.join(", "))),
    };
    let mut output = done.unwrap_or_else(|refusal| Output::failed(format!("[{tool}] Error: {refusal}")));
    output.duration = start.elapsed();
    output
}
