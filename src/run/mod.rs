//! One task in one worktree, from preparation to report.

mod engine;
mod gates;
mod links;
mod prepare;
mod recorder;
mod request;
mod result;
mod sources;
mod task;
mod tests;
mod work;

pub use engine::run;
pub use links::DiskLinks;
pub use recorder::Observer;
pub use request::{Details, Ended, Request, RunError};
pub(crate) use sources::read_file;
pub use sources::{Places, SourcesError, Unavailable, load_policy, policy_names, with_sources};
pub use task::TaskFile;
