//! One request of a tool.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A requested tool call, raw input kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Identity within its log or run, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Tool name as the agent wrote it.
    pub tool: String,
    /// Arguments as the agent wrote them.
    #[serde(default)]
    pub args: serde_json::Value,
    /// Working directory, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
}
