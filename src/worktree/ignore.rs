//! Which new files are ignored, by rules the agent cannot have written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::git::Git;
use super::{RepoPath, WorktreeError};

/// A set of ignore files laid out in a directory of their own, asked through git without the worktree.
pub(super) struct IgnoreRules<'a> {
    pub(super) git: &'a Git,
    pub(super) store: &'a Path,
    /// An empty directory of ours.
    pub(super) scratch: &'a Path,
}

impl IgnoreRules<'_> {
    /// Those of `paths` that are ignored when `files` are all the `.gitignore` files there are.
    pub(super) fn ignored(
        &self,
        files: &[(RepoPath, Vec<u8>)],
        paths: &[RepoPath],
    ) -> Result<BTreeSet<RepoPath>, WorktreeError> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        for (path, bytes) in files {
            write_beneath(self.scratch, path, bytes)?;
        }
        let mut question = Vec::new();
        for path in paths {
            question.extend_from_slice(path.as_bytes());
            question.push(0);
        }
        let call = self.git.on(self.store, Some(self.scratch), "check-ignore");
        let exclude = self.store.join("info/exclude");
        let mut setting = std::ffi::OsString::from("core.excludesFile=");
        setting.push(&exclude);
        let outcome =
            call.setting(setting).args(["-z", "--stdin", "--no-index"]).stdin(question).outcome()?;
        // 1 says that none of them is ignored.
        if !matches!(outcome.code, 0 | 1) {
            return Err(outcome.failed());
        }
        let answer = outcome.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(answer.map(RepoPath::new).collect())
    }
}

/// Writes a file of the tree into a directory of ours.
pub(super) fn write_beneath(directory: &Path, path: &RepoPath, bytes: &[u8]) -> Result<(), WorktreeError> {
    let file = directory.join(path.as_path());
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).map_err(WorktreeError::io("create", parent))?;
    }
    fs::write(&file, bytes).map_err(WorktreeError::io("write", file))
}
