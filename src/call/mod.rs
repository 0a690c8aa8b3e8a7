//! What was asked: [`ToolCall`], what it acts on ([`Targets`]), and the pure resolution of paths and hosts.

mod glob;
mod host;
mod host_glob;
mod path;
mod path_glob;
mod secret;
mod targets;
mod tool_call;
mod vocabulary;

pub use host::HostTarget;
pub use host_glob::{HostGlob, HostGlobError};
pub use path::{Links, NoLinks, PathPattern, PathTarget};
pub use path_glob::{PathGlob, PathGlobError};
pub use secret::mask_secrets;
pub use targets::{Context, Targets};
pub use tool_call::ToolCall;
pub use vocabulary::{ToolClass, canonical_tool, tool_class};
