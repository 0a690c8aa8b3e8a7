//! What was asked: [`ToolCall`], what it acts on ([`Targets`]), and the pure resolution of paths and hosts.

mod arguments;
mod glob;
mod harmless;
mod host;
mod host_glob;
mod links;
mod patch;
mod path;
mod path_glob;
mod path_index;
mod secret;
mod secret_kinds;
mod targets;
mod tool_call;
mod vocabulary;

pub use harmless::{harmless, harmless_within};
pub use host::HostTarget;
pub use host_glob::{HostGlob, HostGlobError};
pub use path::{Links, NoLinks, PathPattern, PathTarget};
pub use path_glob::{PathGlob, PathGlobError};
pub use path_index::PathIndex;
pub use secret::{FoundSecret, find_secrets, mask_secrets, mask_value};
pub use targets::{Context, Targets};
pub use tool_call::ToolCall;
pub use vocabulary::{SHELL_GROUP, ToolClass, canonical_tool, tool_class};
