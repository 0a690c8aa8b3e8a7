//! Places that no call may change, whatever the rules say.

use std::path::{Path, PathBuf};

use crate::call::{Context, PathGlob, PathTarget, Targets};
use crate::shell::{Access, Fit};
use crate::verdict::{Origin, Scope, Verdict, Vote};

/// A file or folder whose change is denied or asked about.
#[derive(Debug, Clone)]
pub struct ProtectedPath {
    path: PathBuf,
    what: String,
    verdict: Verdict,
    glob: PathGlob,
}

/// Where things lie that a run must not change. Absolute paths, links resolved where they are known.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The state tree: approvals, journals, staged actions.
    pub state: Vec<PathBuf>,
    /// Installed bundles and plugins.
    pub extensions: Vec<PathBuf>,
    /// Policy files the run was given.
    pub policies: Vec<PathBuf>,
    /// Config files, of the user and in the worktree.
    pub configs: Vec<PathBuf>,
    /// The plain hooks directory.
    pub hooks: Vec<PathBuf>,
    /// Git directories: the worktree's `.git`, the common directory, that of the user's repository.
    pub git: Vec<PathBuf>,
    /// The worktree.
    pub worktree: Option<PathBuf>,
}

impl Places {
    /// The protected paths of a run.
    pub fn protected(&self) -> Vec<ProtectedPath> {
        let deny = |paths: &[PathBuf], what: &str| -> Vec<ProtectedPath> {
            paths.iter().map(|path| ProtectedPath::deny(path, what)).collect()
        };
        let ask = |paths: &[PathBuf], what: &str| -> Vec<ProtectedPath> {
            paths.iter().map(|path| ProtectedPath::ask(path, what)).collect()
        };
        let mut protected = deny(&self.git, "the repository's git directory");
        protected.extend(deny(&self.state, "records and approvals of runs"));
        protected.extend(deny(&self.extensions, "installed extensions"));
        protected.extend(deny(&self.policies, "the policy of this run"));
        if let Some(worktree) = &self.worktree {
            protected.push(ProtectedPath::deny(&worktree.join(".git"), "the repository's git directory"));
            protected.push(ProtectedPath::deny(&worktree.join(".pending-actions"), "staged actions"));
        }
        protected.extend(ask(&self.configs, "configuration of runs"));
        protected.extend(ask(&self.hooks, "hooks of runs"));
        protected
    }
}

impl ProtectedPath {
    /// A place whose change is denied. `path` is absolute; `what` says what lies there.
    pub fn deny(path: &Path, what: &str) -> Self {
        Self::new(path, what, Verdict::Deny)
    }

    /// A place whose change needs a person, each time or for a session.
    pub fn ask(path: &Path, what: &str) -> Self {
        Self::new(path, what, Verdict::Ask)
    }

    fn new(path: &Path, what: &str, verdict: Verdict) -> Self {
        Self { path: path.to_owned(), what: what.to_owned(), verdict, glob: PathGlob::everything_below(path) }
    }

    /// The place.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn is_changed_by(&self, target: &PathTarget, context: &Context) -> bool {
        if target.access == Access::Read {
            return false;
        }
        target.forms().any(|form| {
            // Writing much into a folder above is ordinary (`cp -r template/. .`); removing that folder is not.
            let recursive = target.recursive && target.access == Access::Delete;
            match self.glob.fit_path(form, target.access, recursive, context) {
                Fit::Yes => true,
                // What is not known at all is said by the reading; names with wildcards are known well enough.
                Fit::Maybe => !form.has_unknown(),
                Fit::No => false,
            }
        })
    }
}

/// Votes on all paths that the call changes; one for each protected place.
pub(super) fn votes(protected: &[ProtectedPath], targets: &Targets) -> Vec<Vote> {
    let context = Context { root: targets.root.clone(), cwd: targets.cwd.clone(), home: None };
    protected
        .iter()
        .filter_map(|place| {
            let target = targets.paths.iter().find(|target| place.is_changed_by(target, &context))?;
            let verb = if target.access == Access::Delete { "delete" } else { "write" };
            Some(Vote {
                verdict: place.verdict,
                reason: format!("{} is protected: {}", place.path.display(), place.what),
                origin: Origin::Protected { path: place.path.to_string_lossy().into_owned() },
                hint: Some("leave it as it is and work on other files".to_owned()),
                scopes: match place.verdict {
                    Verdict::Ask => vec![Scope::Once, Scope::Session],
                    Verdict::Allow | Verdict::Deny => Vec::new(),
                },
                part: None,
                subject: Some(format!("{verb} {}", target.shown)),
            })
        })
        .collect()
}
