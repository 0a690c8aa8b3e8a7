//! Integration tests: one binary, one file per subject.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod cases;
mod cli;
mod differential;
mod dry_run;
mod fuzz;
mod generated;
mod house;
mod journal;
mod limits;
mod logs;
mod mutations;
mod policies;
mod policy_schema;
mod readme;
mod sandbox;
mod schema;
mod scratch;
mod shell_bash;
mod unread;
mod worktree;
mod writers;
