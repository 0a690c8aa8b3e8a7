//! The tool vocabularies of the known agents, and what class each tool is of.

/// What kind of thing a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Runs a command line.
    Shell,
    /// Reads files.
    Read,
    /// Writes a file whole.
    Write,
    /// Changes a file, or several by a patch.
    Edit,
    /// Fetches a URL.
    Fetch,
    /// Makes a commit.
    Commit,
    /// Runs the operator's tests.
    Test,
    /// Keeps the agent's own books: todo lists, plans, questions.
    Bookkeeping,
    /// A tool of an MCP server.
    Mcp,
    /// Not known.
    Unknown,
}

/// The canonical name of a tool (`Bash` is `execute`).
pub fn canonical_tool(name: &str) -> String {
    name.to_owned()
}

/// The class of a canonical tool name.
pub fn tool_class(canonical: &str) -> ToolClass {
    let _ = canonical;
    ToolClass::Unknown
}
