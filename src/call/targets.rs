//! What a call acts on.

use std::path::{Path, PathBuf};

use crate::shell::{Reading, Unreadable};

use super::{HostTarget, Links, PathTarget, ToolCall, ToolClass};

/// Where a call happens. Facts of the world are gathered before judging and handed in.
#[derive(Debug, Clone)]
pub struct Context {
    /// The repository's root; in a run, the worktree.
    pub root: PathBuf,
    /// Directory the call starts in.
    pub cwd: PathBuf,
    /// Home directory that `~` and `$HOME` stand for.
    pub home: Option<PathBuf>,
}

/// What a call acts on, as far as it can be told from the call.
#[derive(Debug, Clone)]
pub struct Targets {
    /// Canonical tool name (`execute`, `write`, `mcp_github_create_issue`).
    pub tool: String,
    /// The class of the tool.
    pub class: ToolClass,
    /// The command line of a shell tool, as written.
    pub command: Option<String>,
    /// The command line as bash would read it.
    pub reading: Option<Reading>,
    /// Paths with how they are touched; shell and file tools alike.
    pub paths: Vec<PathTarget>,
    /// Hosts that are contacted.
    pub hosts: Vec<HostTarget>,
    /// Directory the call starts in.
    pub cwd: PathBuf,
    /// The repository's root.
    pub root: PathBuf,
    /// Whether a path lies outside the root.
    pub outside_repo: bool,
    /// What could not be read, shell or not (a patch that does not parse, a tool with unknown fields).
    pub unreadable: Vec<Unreadable>,
}

impl Targets {
    /// Works out what `call` acts on.
    pub fn resolve(call: &ToolCall, context: &Context, links: &dyn Links) -> Self {
        let _ = (call, context, links, Path::new(""));
        todo!()
    }
}
