//! Integration tests: one binary, one file per subject.
mod worktree;
