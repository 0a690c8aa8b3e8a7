//! One task in one worktree, from preparation to report.

mod links;
mod sources;
mod task;

pub use links::DiskLinks;
pub(crate) use sources::read_file;
pub use sources::{Places, SourcesError, Unavailable, load_policy, policy_names};
pub use task::TaskFile;
