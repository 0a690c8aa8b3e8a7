//! The private fork of a run and the worktree in which the agent works.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Environment;

use super::git::isolation;
use super::remove::{Removal, remove_directory};
use super::{Base, Identity, Repository, WorktreeError, bare};

/// A fork with its worktree and our own object store, all in one directory of the run.
#[derive(Debug)]
pub struct Fork {
    pub(super) repository: Repository,
    pub(super) base: Base,
    place: PathBuf,
}

impl Fork {
    /// Makes fork, worktree and store beneath `place`, which must not hold them yet.
    ///
    /// Writes nothing into the user's repository; nothing of their settings is run.
    ///
    /// # Errors
    /// When files cannot be written or the base cannot be checked out.
    pub fn create(repository: &Repository, base: &Base, place: &Path) -> Result<Fork, WorktreeError> {
        fs::create_dir_all(place).map_err(WorktreeError::io("create", place))?;
        let place = fs::canonicalize(place).map_err(WorktreeError::io("open", place))?;
        close_to_others(&place)?;
        let fork = Fork { repository: repository.clone(), base: *base, place };
        bare::create(&fork.git_dir(), repository, base, true, None)?;
        bare::create(&fork.store(), repository, base, true, None)?;
        repository
            .git
            .on(&fork.git_dir(), None, "worktree")
            .args(["add", "--quiet", "--detach", "--force"])
            .arg(fork.work())
            .arg(base.commit.to_string())
            .bytes()?;
        let home = fork.home();
        for directory in [&home, &home.join("tmp")] {
            fs::create_dir_all(directory).map_err(WorktreeError::io("create", directory))?;
        }
        let settings = home.join(".gitconfig");
        fs::write(&settings, agent_settings()).map_err(WorktreeError::io("write", settings))?;
        Ok(fork)
    }

    /// The commit it starts from.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// Where the agent works.
    pub fn work(&self) -> PathBuf {
        self.place.join("work")
    }

    /// A home for the agent's commands that goes away with the run.
    pub fn home(&self) -> PathBuf {
        self.place.join("home")
    }

    /// The git directory of the fork: what the agent's git commands write to.
    pub fn git_dir(&self) -> PathBuf {
        self.place.join("fork.git")
    }

    /// Everything of this run that [`Fork::remove`] takes away.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Our own object store.
    pub(super) fn store(&self) -> PathBuf {
        self.place.join("store.git")
    }

    /// Our own object store, opened.
    pub(super) fn open_store(&self) -> Result<git2::Repository, WorktreeError> {
        let flags = git2::RepositoryOpenFlags::NO_SEARCH
            | git2::RepositoryOpenFlags::BARE
            | git2::RepositoryOpenFlags::NO_DOTGIT;
        git2::Repository::open_ext(self.store(), flags, std::iter::empty::<&std::ffi::OsStr>())
            .map_err(WorktreeError::objects("open the object store of the run"))
    }

    /// Sets the variables that keep the agent's git quiet and inside. For commands that run in the worktree.
    pub fn isolate(&self, environment: &mut Environment) {
        environment.extend(isolation());
        environment.set("GIT_CONFIG_GLOBAL", self.home().join(".gitconfig"));
        // The worktree names its git directory in a file; nothing above the run's place is ever looked at.
        environment.set("GIT_CEILING_DIRECTORIES", &self.place);
    }

    /// Removes everything of the run beneath its place. The user's repository knows nothing of it.
    ///
    /// # Errors
    /// When something cannot be removed; the rest is.
    pub fn remove(self) -> Result<Removal, WorktreeError> {
        remove_directory(&self.place)
    }
}

/// Settings for git commands of the agent: a name for its own commits, which never leave the fork.
fn agent_settings() -> String {
    let Identity { name, email } = Identity::default();
    format!("[user]\n\tname = {name}\n\temail = {email}\n[init]\n\tdefaultBranch = main\n")
}

fn close_to_others(directory: &Path) -> Result<(), WorktreeError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
        .map_err(WorktreeError::io("close to others", directory))
}
