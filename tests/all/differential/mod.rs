//! The reader against the real bash on lines that a grammar makes: what bash starts was read, or the line is unreadable.
//!
//! `GATEWRIGHT_DIFFERENTIAL=N` tries N lines instead of the usual number, `GATEWRIGHT_DIFFERENTIAL_SEED=S` others.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test tells what it found")]

mod grammar;
mod stage;

use std::fmt::Write as _;
use std::path::Path;

use gatewright::shell::{Setting, read};

use crate::shell_bash::{is_read, is_unreadable};
use stage::Stage;

/// Lines that are tried unless the environment says otherwise.
const LINES: u64 = 600;
/// Most lines in a hundred that may be unreadable.
const UNREADABLE: u64 = 35;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// What became of one share of the lines.
#[derive(Default)]
struct Outcome {
    problems: Vec<String>,
    unreadable: u64,
    kinds: std::collections::BTreeMap<String, u64>,
}

fn try_lines(bash: &Path, seeds: impl Iterator<Item = u64>) -> Outcome {
    let stage = Stage::new();
    let mut outcome = Outcome::default();
    for seed in seeds {
        let line = grammar::line(seed);
        let (work, started) = stage.run(bash, &line, seed);
        let setting = Setting {
            toplevel: None,
            variables: [("HOME", stage.home()), ("PWD", work)]
                .map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned()))
                .into(),
        };
        let reading = read(&line, &setting);
        if is_unreadable(&reading) {
            outcome.unreadable += 1;
            for entry in reading.unreadable.iter().take(1) {
                let what = format!("{:?}: {}", entry.kind, entry.what.chars().take(40).collect::<String>());
                *outcome.kinds.entry(what).or_default() += 1;
            }
            continue;
        }
        if let Some(words) = started.iter().find(|words| !is_read(&reading, words)) {
            let mut problem = format!("seed {seed}: {line}\n  bash started {words:?}; read:\n");
            for command in &reading.commands {
                let shown: Vec<_> = command.words.iter().map(|word| format!("{:?}", word.shown())).collect();
                writeln!(problem, "    {}", shown.join(" ")).unwrap();
            }
            outcome.problems.push(problem);
        }
    }
    outcome
}

#[test]
fn whatever_bash_starts_of_generated_lines_was_read() {
    let Some(bash) = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
        .iter()
        .map(Path::new)
        .find(|path| path.exists())
    else {
        eprintln!("skipped: there is no bash on this machine");
        return;
    };
    let count = number("GATEWRIGHT_DIFFERENTIAL", LINES);
    let first = number("GATEWRIGHT_DIFFERENTIAL_SEED", 1) << 32;
    let shares: Vec<Outcome> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|share| scope.spawn(move || try_lines(bash, (first + share..first + count).step_by(3))))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let unreadable: u64 = shares.iter().map(|share| share.unreadable).sum();
    println!("{unreadable} of {count} lines are unreadable");
    let mut kinds: Vec<_> = shares.iter().flat_map(|share| &share.kinds).collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    kinds.iter().take(25).for_each(|(what, count)| println!("  {count} {what}"));
    let problems: Vec<&String> = shares.iter().flat_map(|share| &share.problems).collect();
    let shown: Vec<&str> = problems.iter().take(40).map(|problem| problem.as_str()).collect();
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), shown.join("\n"));
    assert!(unreadable * 100 <= count * UNREADABLE, "{unreadable} of {count} lines are unreadable");
}
