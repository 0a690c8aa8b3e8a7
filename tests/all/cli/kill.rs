//! The kill matrix: SIGKILL when a line of the journal appears, then `runs gc`.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::scratch::{Scratch, fingerprint, folders};

/// Kills the demo when its journal has `line` lines; gives back how many it had, or nothing when it ended before.
fn kill_at(scratch: &Scratch, name: &str, line: usize) -> Option<usize> {
    let mut child = scratch.start(&scratch.path(""), &["demo", "--out", name]);
    let runs = scratch.path(name).join("state/runs");
    let begin = Instant::now();
    loop {
        assert!(begin.elapsed() < Duration::from_secs(120), "the demo hangs");
        let lines = || folders(&runs).first().map_or(0, |run| lines_of(&run.join("journal.jsonl")));
        if lines() >= line {
            child.kill().unwrap();
            child.wait().unwrap();
            // Counted once nothing writes any more: the run goes on between the look and the kill.
            return Some(lines());
        }
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn lines_of(path: &Path) -> usize {
    fs::read(path).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

#[test]
fn whenever_it_is_killed_nothing_is_left_and_the_repository_is_as_it_was() {
    let scratch = Scratch::new();
    scratch.run(&["demo", "--out", "whole"]).expect_code(0);
    let whole = &folders(&scratch.path("whole/state/runs"))[0];
    let text = fs::read_to_string(whole.join("journal.jsonl")).unwrap();
    let names: Vec<String> = text
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].as_str().unwrap().to_owned()
        })
        .collect();
    let is_full = std::env::var_os("GATEWRIGHT_KILL_MATRIX").is_some_and(|value| value == "full");
    // Unless told otherwise: the first of each kind of event.
    let lines: Vec<usize> = (0..names.len())
        .filter(|at| is_full || !names[..*at].contains(&names[*at]))
        .map(|at| at + 1)
        .collect();
    let expected = fingerprint(&scratch, &scratch.path("whole/repository"));
    for line in lines {
        let name = format!("k{line}");
        let killed = kill_at(&scratch, &name, line);
        let state = scratch.path(&name).join("state");
        scratch.run(&["runs", "gc", state.to_str().unwrap()]).expect_code(0);
        scratch.assert_nothing_left(&state);
        let now = fingerprint(&scratch, &scratch.path(&name).join("repository"));
        assert_eq!(now, expected, "killed at line {line} ({}), had {killed:?}", names[line - 1]);
        if killed.is_some_and(|lines| lines < names.len()) {
            let run = &folders(&state.join("runs"))[0];
            let report = fs::read_to_string(run.join("report.json")).unwrap();
            assert!(report.contains("\"cut\""), "killed at line {line}: {report}");
        }
        fs::remove_dir_all(scratch.path(&name)).unwrap();
    }
}

#[test]
fn the_next_start_clears_what_a_killed_run_left() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    let arguments = scratch.run_arguments(&["--tests", "sleep 60"]);
    let mut child = scratch.start(&root, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let begin = Instant::now();
    while folders(&scratch.path("state/gatewright/work")).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = scratch.run(&["runs", "list"]).expect_code(0);
    assert!(listed.out.contains("cut"), "{}", listed.out);
    let answer = scratch.run_project(&root, &["--tests", "true"]).expect_code(0);
    assert!(answer.out.contains("cleared what run"), "{}", answer.out);
    scratch.assert_nothing_left(&scratch.path("state/gatewright"));
}
