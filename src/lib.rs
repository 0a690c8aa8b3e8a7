//! gatewright: one policy, three gates, one reviewable commit.
//!
//! The modules below are the rooms of the house, in layer order: a room uses only rooms above it. The
//! test `house` reads the `crate::` paths of the sources and fails on an arrow that points down the list.

// Reads a command line into commands, words, redirects and effects; holds the program tables.
pub mod shell;
// What was asked: the tool call, what it acts on, and how paths and hosts resolve.
pub mod call;
// Votes, where they come from, and how they fold into one decision.
pub mod verdict;
// Texts and an environment map in, settings with the origin of each value out.
pub mod config;
// Recorded logs in, tool calls out: one file per format.
pub mod log;
// The journal of a run and the report that is folded from it.
pub mod record;
// Policy text in, checked policy or located errors out.
pub mod policy;
// The judgement: voters in order, asks, outcome rules, and what an agent is told.
pub mod gate;
// Child processes: environment, limits, process tree.
pub mod sandbox;
// Fork, worktree, integrity proof, commit and transfer; the only room that knows git.
pub mod worktree;
// The state tree on disk.
pub mod state;
// The tools of the built-in loop, one file each.
pub mod tool;
// Who answers: recorded answers and, later, models and outside agents.
pub mod agent;
// Recorded calls through the gate; nothing is executed.
pub mod dry_run;
// One task in one worktree, from preparation to report.
pub mod run;
// Arguments, one file per command, messages, exit codes.
pub mod cli;
