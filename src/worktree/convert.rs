//! Conversions that are git's own: line endings, `$Id$`, text encodings. No filter program is ever run.
//!
//! A file is stored as it is unless git itself would convert it. That is decided here, and done by
//! `git hash-object` on copies in a directory of ours, with a config that defines no driver.

use std::fs;
use std::path::Path;

use super::git::Git;
use super::ignore::write_beneath;
use super::{ObjectId, RepoPath, WorktreeError};

/// The attribute files of the worktree and what they can cause.
pub(super) struct Conversions<'a> {
    pub(super) git: &'a Git,
    pub(super) store: &'a Path,
    /// An empty directory of ours.
    pub(super) scratch: &'a Path,
    pub(super) attributes: Vec<(RepoPath, Vec<u8>)>,
    pub(super) converts_line_ends: bool,
}

impl Conversions<'_> {
    fn mentions(&self, words: &[&str]) -> bool {
        self.attributes
            .iter()
            .any(|(_, bytes)| words.iter().any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some()))
    }

    /// Whether git might store other bytes than these for a changed file.
    pub(super) fn may_apply(&self, bytes: &[u8]) -> bool {
        if self.mentions(&["ident", "working-tree-encoding"]) {
            return true;
        }
        let line_ends = self.converts_line_ends || self.mentions(&["text", "eol", "crlf"]);
        line_ends && memchr::memchr(b'\r', bytes).is_some()
    }

    fn lay_out(&self, files: &[(RepoPath, Vec<u8>)]) -> Result<(), WorktreeError> {
        for (path, bytes) in self.attributes.iter().chain(files) {
            write_beneath(self.scratch, path, bytes)?;
        }
        Ok(())
    }

    /// Stores the files as git would and gives back their ids, in order.
    pub(super) fn store(&self, files: &[(RepoPath, Vec<u8>)]) -> Result<Vec<ObjectId>, WorktreeError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        self.lay_out(files)?;
        let mut question = Vec::new();
        for (path, _) in files {
            question.extend(quoted(path.as_bytes()));
            question.push(b'\n');
        }
        let call = self.git.on(self.store, Some(self.scratch), "hash-object");
        let answer =
            call.setting("core.safecrlf=false").args(["-w", "--stdin-paths"]).stdin(question).text()?;
        let ids: Vec<ObjectId> = answer.lines().filter_map(|line| line.parse().ok()).collect();
        if ids.len() != files.len() {
            return Err(WorktreeError::Answer { what: "hash-object".into() });
        }
        Ok(ids)
    }

    /// Those of `paths` that a filter program would handle, with the name of the filter.
    pub(super) fn filtered(&self, paths: &[RepoPath]) -> Result<Vec<(RepoPath, String)>, WorktreeError> {
        if paths.is_empty() || !self.mentions(&["filter"]) {
            return Ok(Vec::new());
        }
        self.lay_out(&[])?;
        let mut question = Vec::new();
        for path in paths {
            question.extend_from_slice(path.as_bytes());
            question.push(0);
        }
        let call = self.git.on(self.store, Some(self.scratch), "check-attr");
        let answer = call.args(["-z", "--stdin", "filter"]).stdin(question).bytes()?;
        let parts: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
        Ok(parts
            .chunks_exact(3)
            .filter(|part| !matches!(part[2], b"unspecified" | b"unset" | b"set"))
            .map(|part| (RepoPath::new(part[0]), String::from_utf8_lossy(part[2]).into_owned()))
            .collect())
    }
}

/// A path as git reads it on a line: in quotes, with everything unusual as octal escapes.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            0x20..=0x7e => line.push(*byte),
            _ => line.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    line.push(b'"');
    line
}

/// A directory of ours that goes away with this value.
pub(super) struct Scratch(std::path::PathBuf);

impl Scratch {
    pub(super) fn create(place: &Path, name: &str) -> Result<Scratch, WorktreeError> {
        let directory = place.join(name);
        let _ = super::remove_directory(&directory);
        fs::create_dir_all(&directory).map_err(WorktreeError::io("create", &directory))?;
        Ok(Scratch(directory))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = super::remove_directory(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_quoted() {
        assert_eq!(quoted(b"a b\n\"\\\xff"), b"\"a b\\012\\\"\\\\\\377\"");
    }
}
