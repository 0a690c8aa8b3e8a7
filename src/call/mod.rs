//! What was asked: [`ToolCall`], what it acts on ([`Targets`]), and the pure resolution of paths and hosts.

mod host;
mod path;
mod targets;
mod tool_call;
mod vocabulary;

pub use host::HostTarget;
pub use path::{Links, NoLinks, PathPattern, PathTarget};
pub use targets::{Context, Targets};
pub use tool_call::ToolCall;
pub use vocabulary::{ToolClass, canonical_tool, tool_class};
