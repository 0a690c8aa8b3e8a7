//! A commit as it is in the user's repository now, for proofs.

use super::{Repository, WorktreeError};

/// What git says of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSeen {
    /// Id that the branch points to; nothing when there is no such branch.
    pub branch_points_to: Option<String>,
    /// Id of the commit.
    pub id: String,
    /// Its tree.
    pub tree: String,
    /// Its parents.
    pub parents: Vec<String>,
    /// First line of its message.
    pub subject: String,
    /// `Key: value` lines of the last paragraph of its message.
    pub trailers: Vec<(String, String)>,
    /// Paths that it changes against its first parent.
    pub files: Vec<String>,
}

impl Repository {
    /// Looks at the commit `id` and at what `branch` points to.
    ///
    /// # Errors
    /// When there is no such commit, or it cannot be read.
    pub fn look_at_commit(&self, id: &str, branch: &str) -> Result<CommitSeen, WorktreeError> {
        let points_to =
            self.read("rev-parse").args(["--verify", "--quiet", "--end-of-options", branch]).outcome()?;
        let answer = String::from_utf8_lossy(&points_to.stdout).trim().to_owned();
        let branch_points_to = (points_to.code == 0 && !answer.is_empty()).then_some(answer);
        let raw = self.read("cat-file").args(["commit", id]).text()?;
        let (header, message) = raw.split_once("\n\n").unwrap_or((raw.as_str(), ""));
        let fields = |name: &str| -> Vec<String> {
            header
                .lines()
                .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
                .map(str::to_owned)
                .collect()
        };
        let files = self
            .read("diff-tree")
            .args([
                "-r",
                "-z",
                "--no-commit-id",
                "--name-only",
                "--no-renames",
                "--no-ext-diff",
                "--end-of-options",
                id,
            ])
            .bytes()?;
        let files = files
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .map(|name| super::RepoPath::new(name).to_string())
            .collect();
        let last = message.trim_end().rsplit("\n\n").next().unwrap_or_default();
        let trailers = last
            .lines()
            .filter_map(|line| line.split_once(": "))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let parents = fields("parent");
        Ok(CommitSeen {
            branch_points_to,
            id: id.to_owned(),
            tree: fields("tree").into_iter().next().unwrap_or_default(),
            parents,
            subject: message.lines().next().unwrap_or_default().to_owned(),
            trailers,
            files,
        })
    }
}
