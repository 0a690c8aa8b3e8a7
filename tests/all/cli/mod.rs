//! The program as people use it, one file per subject.

mod check;
mod compare;
mod demo;
mod exits;
mod explain;
mod kill;
mod lint;
mod runs;
mod traps;
mod verify;
