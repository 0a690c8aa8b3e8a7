//! Git: the private fork a run works in, the proof that the user's repository stayed as it was, the commit.
//!
//! The only room that knows git. Every git process goes through [`Git`], which inherits nothing and switches off
//! everything git would run by itself. Once the agent has worked, no git process is ever started on the fork or
//! inside the worktree again: what came out is read by our own walk, and objects go into a store of our own.
//!
//! ```text
//! <place>/fork.git    what the agent's git commands see: its own config, objects borrowed from the user
//! <place>/work        the worktree of the fork, where the agent works
//! <place>/store.git   ours: the resulting blobs, trees and the commit; never named to the agent
//! ```

mod bare;
mod changes;
mod checkout;
mod commit;
mod convert;
mod fork;
mod git;
mod git_config;
mod id;
mod ignore;
mod inspect;
mod leftovers;
mod lock;
mod path;
mod remove;
mod repository;
mod snapshot;
mod transfer;
mod user;
mod walk;

use std::ffi::OsString;
use std::path::PathBuf;

pub use changes::{Change, ChangeKind, ChangeLimits, Changes, Notice, Side};
pub use checkout::Checkout;
pub use commit::{CommitPlan, Identity};
pub use fork::Fork;
pub use git::{Git, GitVersion, MINIMUM_GIT};
pub use id::ObjectId;
pub use inspect::CommitSeen;
pub use leftovers::{Claim, Cleared, Leftover, Leftovers};
pub use lock::{LockMode, RepositoryLock};
pub use path::RepoPath;
pub use remove::{Removal, remove_directory};
pub use repository::{Base, Repository};
pub use snapshot::{Area, Difference, Snapshot};
pub use transfer::result_ref;
pub use user::UserContext;
pub use walk::SpecialKind;

use crate::sandbox::SandboxError;

/// Why the repository, the fork or the result could not be worked with. [`WorktreeError::next_step`] says what
/// the user can do.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// There is no git program.
    #[error("git is not installed, or not in PATH")]
    GitMissing,
    /// The git program is older than what we can harden.
    #[error("git {found} is too old; {} or newer is needed", MINIMUM_GIT)]
    GitTooOld {
        /// What it says of itself.
        found: String,
    },
    /// The directory is in no repository.
    #[error("{} is not in a git repository", .directory.display())]
    NotARepository {
        /// Where we looked, upward.
        directory: PathBuf,
    },
    /// The repository has no files checked out, by design.
    #[error("{} is a bare repository", .directory.display())]
    Bare {
        /// The repository.
        directory: PathBuf,
    },
    /// The directory is inside `.git` itself.
    #[error("{} is inside a .git directory", .directory.display())]
    InsideGitDirectory {
        /// The directory.
        directory: PathBuf,
    },
    /// The directory is a submodule of another repository.
    #[error("{} is a submodule of {}", .directory.display(), .outer.display())]
    Submodule {
        /// The submodule.
        directory: PathBuf,
        /// The repository around it.
        outer: PathBuf,
    },
    /// Nothing has been committed yet.
    #[error("{} has no commit yet", .directory.display())]
    NoCommit {
        /// The repository.
        directory: PathBuf,
    },
    /// The base names no commit.
    #[error("no commit is named {}", .rev.escape_debug())]
    NoSuchBase {
        /// What was given.
        rev: String,
    },
    /// A merge, rebase or the like was begun and not ended.
    #[error("{} is in the middle of {operation}", .directory.display())]
    Unfinished {
        /// The repository.
        directory: PathBuf,
        /// "a merge", "a rebase", ...
        operation: &'static str,
        /// The commands that end it.
        ways_out: &'static str,
    },
    /// A property of the repository that this version does not work with.
    #[error("{} uses {what}, which this version does not support", .directory.display())]
    Unsupported {
        /// The repository.
        directory: PathBuf,
        /// The property.
        what: String,
        /// What can be done.
        hint: &'static str,
    },
    /// Another run holds the repository.
    #[error("the repository is in use by run {run} (process {process})")]
    Locked {
        /// That run.
        run: String,
        /// Its process.
        process: i32,
    },
    /// The result's branch cannot be made.
    #[error("cannot create {reference}: {why}")]
    NameTaken {
        /// Full name of the ref.
        reference: String,
        /// What is in the way.
        why: String,
    },
    /// A git call failed.
    #[error("git {what} failed: {}", .message.trim().escape_debug())]
    Failed {
        /// The subcommand.
        what: String,
        /// The end of what it said.
        message: String,
    },
    /// A git call took too long, or the run was interrupted.
    #[error("git {what} was ended: {why}")]
    Ended {
        /// The subcommand.
        what: String,
        /// Time-out or interruption.
        why: &'static str,
    },
    /// The worktree is larger than we are willing to read.
    #[error("the worktree holds more than {limit} {what}")]
    TooMuch {
        /// The bound.
        limit: u64,
        /// Of what.
        what: &'static str,
    },
    /// Reading or writing git's objects failed.
    #[error("cannot {what}")]
    Objects {
        /// What was tried.
        what: &'static str,
        /// What libgit2 said.
        source: git2::Error,
    },
    /// Reading or writing a file failed.
    #[error("cannot {what} {}", .path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A child could not be started.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A text from git had an unexpected shape.
    #[error("git {what} answered in an unexpected form")]
    Answer {
        /// The subcommand.
        what: String,
    },
}

impl WorktreeError {
    /// What the user can do about it, if there is something.
    pub fn next_step(&self) -> Option<String> {
        use WorktreeError as E;
        Some(match self {
            E::GitMissing => format!("install git {MINIMUM_GIT} or newer, or put it into PATH"),
            E::GitTooOld { .. } => format!("install git {MINIMUM_GIT} or newer"),
            E::NotARepository { .. } => {
                "run `git init` and commit something, or name a repository with -C".into()
            }
            E::Bare { directory } => {
                format!("make a checkout with `git clone {} WHERE` and use that", directory.display())
            }
            E::InsideGitDirectory { .. } => "name the checkout with -C".into(),
            E::Submodule { outer, .. } => {
                format!(
                    "use the outer repository (-C {}), or a clone of the submodule of its own",
                    outer.display()
                )
            }
            E::NoCommit { .. } => "commit something first: `git add . && git commit`".into(),
            E::NoSuchBase { .. } => {
                "see `git log --all --oneline`; in a shallow clone, fetch it first".into()
            }
            E::Unfinished { ways_out, .. } => format!("end it first: {ways_out}"),
            E::Unsupported { hint, .. } => (*hint).into(),
            E::Locked { run, .. } => {
                format!("wait for it to end; `runs list` shows it; if {run} is not yours, ask who started it")
            }
            E::NameTaken { .. } => {
                "rename or delete the branch that is in the way: `git branch -m gatewright OTHER`".into()
            }
            E::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                "free some space, then start again; `runs gc` removes what earlier runs left".into()
            }
            E::Io { source, path, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                format!("check who owns {}", path.display())
            }
            E::TooMuch { .. } => "raise the limit, or make the task smaller".into(),
            E::Failed { .. } => "see what `git status` says in the repository".into(),
            E::Ended { .. } | E::Objects { .. } | E::Io { .. } | E::Sandbox(_) | E::Answer { .. } => {
                return None;
            }
        })
    }

    fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> WorktreeError {
        let path = path.into();
        move |source| WorktreeError::Io { what, path, source }
    }

    fn objects(what: &'static str) -> impl FnOnce(git2::Error) -> WorktreeError {
        move |source| WorktreeError::Objects { what, source }
    }
}

/// Bytes of git's output as a name of the system.
fn os_from(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).to_owned()
}
