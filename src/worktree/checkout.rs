//! A clean checkout of a tree, for the test run: what is tested is what is committed.

use std::fs;
use std::path::{Path, PathBuf};

use super::changes::{list_tree, write_tree};
use super::{Fork, ObjectId, RepoPath, WorktreeError, bare};

/// A directory with exactly the files of a tree, and a git directory of its own that knows only the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Where it is.
    pub directory: PathBuf,
    /// The tree that was asked for: what would be committed.
    pub tree: ObjectId,
    /// The tree that is in the directory; another one only when frozen paths differ from the base.
    pub tested: ObjectId,
    /// Paths that were taken from the base although the tree has something else there.
    pub frozen: Vec<RepoPath>,
}

impl Fork {
    /// Checks `tree` out into a new directory of the run called `name`, with the base's version of every path
    /// for which `is_frozen` holds. The directory has a `.git` of its own, so that tests can ask git.
    ///
    /// # Errors
    /// When `name` exists already or files cannot be written.
    pub fn checkout(
        &self,
        tree: ObjectId,
        name: &str,
        is_frozen: &dyn Fn(&RepoPath) -> bool,
    ) -> Result<Checkout, WorktreeError> {
        let store = self.open_store()?;
        let (tested, frozen) = self.with_frozen(&store, tree, is_frozen)?;
        let directory = self.place().join(name);
        fs::create_dir(&directory).map_err(WorktreeError::io("create", &directory))?;
        let git_dir = directory.join(".git");
        bare::create(&git_dir, &self.repository, &self.base, false, Some(&self.store().join("objects")))?;
        self.fill(&git_dir, &directory, tested)?;
        Ok(Checkout { directory, tree, tested, frozen })
    }

    /// Writes the files of a tree and an index that knows them, without hooks and without filter programs.
    fn fill(&self, git_dir: &Path, directory: &Path, tree: ObjectId) -> Result<(), WorktreeError> {
        let call = self.repository.git.on(git_dir, Some(directory), "read-tree");
        call.args(["-m", "-u", &tree.to_string()]).bytes().map(drop)
    }

    fn with_frozen(
        &self,
        store: &git2::Repository,
        tree: ObjectId,
        is_frozen: &dyn Fn(&RepoPath) -> bool,
    ) -> Result<(ObjectId, Vec<RepoPath>), WorktreeError> {
        let base = list_tree(store, self.base.tree)?;
        let mut entries = list_tree(store, tree)?;
        let mut frozen: Vec<RepoPath> = base
            .iter()
            .filter(|(path, side)| entries.get(*path) != Some(side) && is_frozen(path))
            .map(|(path, _)| path.clone())
            .collect();
        frozen.extend(entries.keys().filter(|path| !base.contains_key(*path) && is_frozen(path)).cloned());
        if frozen.is_empty() {
            return Ok((tree, frozen));
        }
        for path in &frozen {
            entries.remove(path);
            let Some(side) = base.get(path) else { continue };
            // A file of the base comes back even where the tree now has something above or below it.
            let inside = [path.as_bytes(), b"/"].concat();
            entries.retain(|other, _| !other.as_bytes().starts_with(&inside));
            for up in path.parents() {
                entries.remove(&RepoPath::new(up));
            }
            entries.insert(path.clone(), *side);
        }
        Ok((write_tree(store, &entries)?, frozen))
    }
}
