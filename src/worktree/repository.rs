//! The user's repository: found, checked, and from then on only read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Cancel;

use super::git::Git;
use super::git_config::GitConfig;
use super::{Identity, ObjectId, UserContext, WorktreeError, os_from};

/// The commit a run starts from, recorded once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The commit.
    pub commit: ObjectId,
    /// Its tree.
    pub tree: ObjectId,
}

/// A repository of the user that a run can work with.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(super) git: Git,
    pub(super) user: UserContext,
    pub(super) config: GitConfig,
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

/// Files that git leaves in its directory while an operation is under way.
const UNFINISHED: [(&str, &str, &str); 8] = [
    ("MERGE_HEAD", "a merge", "`git merge --continue` or `git merge --abort`"),
    ("rebase-merge", "a rebase", "`git rebase --continue` or `git rebase --abort`"),
    (
        "rebase-apply",
        "a rebase or `git am`",
        "`git rebase --abort` or `git am --abort`, or the same with --continue",
    ),
    ("CHERRY_PICK_HEAD", "a cherry-pick", "`git cherry-pick --continue` or `git cherry-pick --abort`"),
    ("REVERT_HEAD", "a revert", "`git revert --continue` or `git revert --abort`"),
    ("sequencer", "a sequence of cherry-picks or reverts", "`git cherry-pick --quit` or `git revert --quit`"),
    ("BISECT_LOG", "a bisection", "`git bisect reset`"),
    ("BISECT_START", "a bisection", "`git bisect reset`"),
];

impl Repository {
    /// Finds the repository around `directory` and checks that a run can work with it. Reads only.
    ///
    /// # Errors
    /// Everything that makes a repository unusable, each with its next step.
    pub fn open(directory: &Path, user: &UserContext, cancel: &Cancel) -> Result<Repository, WorktreeError> {
        let git = Git::find(user, cancel)?;
        let directory = fs::canonicalize(directory).map_err(WorktreeError::io("open", directory))?;
        let places = Places::find(&git, &directory)?;
        let Places { root, git_dir, common_dir } = places;
        let config = GitConfig::read(&git, user, &git_dir, &root)?;
        let git = git.with_hook_names(config.subsections("hook"));
        let repository = Repository { git, user: user.clone(), config, root, git_dir, common_dir };
        repository.refuse_unsupported()?;
        repository.refuse_unfinished()?;
        Ok(repository)
    }

    /// Top level of the checkout, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The git directory of this checkout; for a linked worktree not the shared one.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all checkouts of the repository share: what identifies it.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The git program that was found.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// The branch that is checked out, if one is.
    pub fn branch(&self) -> Option<String> {
        let outcome = self.read("symbolic-ref").args(["--quiet", "--short", "HEAD"]).outcome().ok()?;
        (outcome.code == 0).then(|| String::from_utf8_lossy(&outcome.stdout).trim_end().to_owned())
    }

    /// Resolves the commit a run starts from: `rev`, or what is checked out.
    ///
    /// # Errors
    /// When there is no such commit, no commit at all, or parts of it are missing here.
    pub fn base(&self, rev: Option<&str>) -> Result<Base, WorktreeError> {
        let name = rev.unwrap_or("HEAD");
        let outcome = self
            .read("rev-parse")
            .args(["--verify", "--quiet", "--end-of-options"])
            .arg(format!("{name}^{{commit}}"))
            .outcome()?;
        let text = String::from_utf8_lossy(&outcome.stdout).trim().to_owned();
        let (0, Ok(commit)) = (outcome.code, text.parse::<ObjectId>()) else {
            return Err(match rev {
                Some(rev) => WorktreeError::NoSuchBase { rev: rev.to_owned() },
                None => WorktreeError::NoCommit { directory: self.root.clone() },
            });
        };
        let tree = self.read("rev-parse").args(["--verify", "--end-of-options"]);
        let tree = tree.arg(format!("{commit}^{{tree}}")).text()?;
        let tree = tree.trim().parse().map_err(|_| WorktreeError::Answer { what: "rev-parse".into() })?;
        let base = Base { commit, tree };
        if self.has_promisor() {
            self.refuse_missing_objects(&base)?;
        }
        Ok(base)
    }

    /// The content of a path in the base, before there is a fork; `None` when it has no such file.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn base_file(&self, base: &Base, path: &str) -> Result<Option<Vec<u8>>, WorktreeError> {
        let outcome = self.read("cat-file").arg("blob").arg(format!("{}:{path}", base.commit)).outcome()?;
        Ok((outcome.code == 0).then_some(outcome.stdout))
    }

    /// Who a commit of ours is by: the user's identity as their own git would take it, else `gatewright`.
    pub fn identity(&self) -> Identity {
        let part = |key: &str| self.config.value(key).map(str::trim).filter(|text| !text.is_empty());
        match (part("user.name"), part("user.email")) {
            (Some(name), Some(email)) => Identity { name: name.to_owned(), email: email.to_owned() },
            _ => Identity::default(),
        }
    }

    /// How many commits `base` is behind what is checked out now; `None` when it is no ancestor any more.
    ///
    /// # Errors
    /// When git fails.
    pub fn moved_since(&self, base: &Base) -> Result<Option<u64>, WorktreeError> {
        let ancestor = self.read("merge-base").args(["--is-ancestor", &base.commit.to_string(), "HEAD"]);
        if ancestor.outcome()?.code != 0 {
            return Ok(None);
        }
        let count = self.read("rev-list").args(["--count", &format!("{}..HEAD", base.commit)]).text()?;
        count.trim().parse().map(Some).map_err(|_| WorktreeError::Answer { what: "rev-list".into() })
    }

    /// The user's rules for ignored files that are not in the tree: `info/exclude` and their personal file.
    pub(super) fn frozen_excludes(&self) -> Vec<u8> {
        let personal = match self.config.value("core.excludesfile") {
            Some(path) => Some(self.expand_home(path)),
            None => self.user.config_folder().map(|folder| folder.join("ignore")),
        };
        let mut text = Vec::new();
        for file in personal.into_iter().chain([self.common_dir.join("info/exclude")]) {
            if let Ok(rules) = fs::read(file) {
                text.extend(rules);
                text.push(b'\n');
            }
        }
        text
    }

    fn expand_home(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.user.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.root.join(path),
        }
    }

    /// A call on this repository that is not given the work tree.
    pub(super) fn read(&self, subcommand: &str) -> super::git::Call<'_> {
        self.git.on(&self.git_dir, None, subcommand)
    }

    /// A call on this repository, in its checkout.
    pub(super) fn read_checkout(&self, subcommand: &str) -> super::git::Call<'_> {
        self.git.on(&self.git_dir, Some(&self.root), subcommand)
    }

    fn has_promisor(&self) -> bool {
        self.config.value("extensions.partialclone").is_some()
            || self.config.entries().iter().any(|entry| {
                entry.key.starts_with("remote.")
                    && (entry.key.ends_with(".promisor") || entry.key.ends_with(".partialclonefilter"))
            })
    }

    fn refuse_missing_objects(&self, base: &Base) -> Result<(), WorktreeError> {
        let list = self.read("rev-list").args(["--objects", "--no-walk", "--missing=print"]);
        let outcome = list.arg(base.commit.to_string()).outcome()?;
        let is_missing = outcome.stdout.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"?"));
        if outcome.code != 0 || is_missing {
            return Err(WorktreeError::Unsupported {
                directory: self.root.clone(),
                what: "a partial clone that lacks files of the base commit".into(),
                hint: "fetch them first: `git fetch --refetch --no-filter`, or check the base commit out once",
            });
        }
        Ok(())
    }

    fn refuse_unsupported(&self) -> Result<(), WorktreeError> {
        let refuse =
            |what: String, hint| Err(WorktreeError::Unsupported { directory: self.root.clone(), what, hint });
        if let Some(format) = self.config.value("extensions.objectformat").filter(|format| *format != "sha1")
        {
            return refuse(format!("{format} object ids"), "use a clone with SHA-1 object ids");
        }
        if let Some(storage) =
            self.config.value("extensions.refstorage").filter(|storage| *storage != "files")
        {
            return refuse(
                format!("the {storage} ref storage"),
                "convert it: `git refs migrate --ref-format=files`",
            );
        }
        let objects = self.common_dir.join("objects");
        if objects.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b'\n' | b'"')) {
            return refuse("a path with a line break or quote in it".into(), "move the repository");
        }
        Ok(())
    }

    fn refuse_unfinished(&self) -> Result<(), WorktreeError> {
        for (file, operation, ways_out) in UNFINISHED {
            if self.git_dir.join(file).symlink_metadata().is_ok() {
                return Err(WorktreeError::Unfinished { directory: self.root.clone(), operation, ways_out });
            }
        }
        Ok(())
    }
}

struct Places {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

impl Places {
    fn find(git: &Git, directory: &Path) -> Result<Places, WorktreeError> {
        // Whoever owns it: the user named this directory, and nothing of it is run. `rev-parse` only looks.
        let ask = || git.call(directory, "rev-parse").setting("safe.directory=*");
        let what = ["--is-bare-repository", "--is-inside-git-dir", "--absolute-git-dir"];
        let outcome = ask().args(what).outcome()?;
        if outcome.code != 0 {
            if outcome.stderr.contains("not a git repository") {
                return Err(WorktreeError::NotARepository { directory: directory.to_owned() });
            }
            return Err(outcome.failed());
        }
        let mut lines = outcome.stdout.split(|byte| *byte == b'\n');
        let is_bare = lines.next() == Some(b"true");
        let is_inside = lines.next() == Some(b"true");
        if is_bare {
            return Err(WorktreeError::Bare { directory: directory.to_owned() });
        }
        if is_inside {
            return Err(WorktreeError::InsideGitDirectory { directory: directory.to_owned() });
        }
        let absolute = |what: &str| -> Result<PathBuf, WorktreeError> {
            let answer = ask().args(["--path-format=absolute", what]).bytes()?;
            let path = PathBuf::from(os_from(answer.strip_suffix(b"\n").unwrap_or(&answer)));
            if path.as_os_str().is_empty() {
                return Ok(path);
            }
            fs::canonicalize(&path).map_err(WorktreeError::io("open", path))
        };
        let outer = absolute("--show-superproject-working-tree")?;
        let root = absolute("--show-toplevel")?;
        if !outer.as_os_str().is_empty() {
            return Err(WorktreeError::Submodule { directory: root, outer });
        }
        Ok(Places { root, git_dir: absolute("--git-dir")?, common_dir: absolute("--git-common-dir")? })
    }
}
