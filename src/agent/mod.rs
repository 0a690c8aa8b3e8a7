//! Who answers: recorded answers, and later models and outside agents.
//!
//! The only room that will talk to a model. An [`Agent`] is asked once per iteration with the outcomes of the
//! calls it made before, and answers with text and further calls; without calls it is done.

mod script;

pub use script::{Expectation, Script, Step};

use crate::call::ToolCall;
use crate::config::Fault;

/// What became of one call that the agent made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The tool as the agent wrote it.
    pub tool: String,
    /// Whether it went well.
    pub ok: bool,
    /// Whether the gate kept it from running.
    pub blocked: bool,
    /// What the agent is told.
    pub text: String,
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What it says.
    pub text: String,
    /// The calls it wants, in order.
    pub calls: Vec<ToolCall>,
    /// What it says about itself that does not hold, one line each: a recorded script whose expectations failed.
    pub complaints: Vec<String>,
}

/// Why an agent cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The name says no agent that there is.
    #[error("no agent `{name}`")]
    Unknown {
        /// As given.
        name: String,
    },
    /// A script that is no script.
    #[error("the script cannot be used: {}", .faults.first().map(ToString::to_string).unwrap_or_default())]
    Script {
        /// All that is wrong.
        faults: Vec<Fault>,
    },
}

/// Somebody who answers.
pub trait Agent {
    /// What it is, for journal and report: `script:demo.yml`.
    fn name(&self) -> String;

    /// The next answer. `outcomes` belong to the calls of the answer before, in order.
    ///
    /// # Errors
    /// When it cannot answer.
    fn answer(&mut self, outcomes: &[Outcome]) -> Result<Answer, AgentError>;
}

/// An agent as named on the command line or in a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentName {
    /// `script:FILE`
    Script(String),
}

impl AgentName {
    /// Reads a name.
    ///
    /// # Errors
    /// When it names nothing that there is.
    pub fn parse(name: &str) -> Result<Self, AgentError> {
        match name.split_once(':') {
            Some(("script", file)) if !file.is_empty() => Ok(Self::Script(file.to_owned())),
            _ => Err(AgentError::Unknown { name: name.to_owned() }),
        }
    }
}
