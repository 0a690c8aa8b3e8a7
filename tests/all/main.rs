//! Integration tests: one binary, one file per subject.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod cases;
mod house;
mod policies;
mod sandbox;
mod worktree;
mod journal;
mod logs;
mod schema;
