//! Wall time of the whole program on one call, against a program that does nothing.
//!
//! `cargo bench --bench start` prints medians of paired runs and their ratio. Pairs are interleaved, so a busy
//! machine slows both sides alike; read the ratio, not the milliseconds.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measuring program prints and may stop")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PAIRS: usize = 200;

fn main() {
    let idle = time_of(&["/bin/true"]);
    let _ = idle;
    let gatewright = env!("CARGO_BIN_EXE_gatewright");
    let rows: [(&str, Vec<&str>); 4] = [
        (
            "check, typical call, builtin:ci",
            vec![
                gatewright,
                "check",
                "--policy",
                "builtin:ci",
                "--fail-on",
                "never",
                "--shell",
                "cargo test --workspace 2>&1 | tail -40",
            ],
        ),
        (
            "check, refused call, builtin:ci",
            vec![
                gatewright,
                "check",
                "--policy",
                "builtin:ci",
                "--fail-on",
                "never",
                "--shell",
                "git push --force origin main",
            ],
        ),
        (
            "check, builtin:guardrails",
            vec![
                gatewright,
                "check",
                "--policy",
                "builtin:guardrails",
                "--fail-on",
                "never",
                "--shell",
                "cargo test",
            ],
        ),
        ("--version", vec![gatewright, "--version"]),
    ];
    println!("{:<36} {:>10} {:>10} {:>7}", "", "true [ms]", "ours [ms]", "ratio");
    for (name, command) in rows {
        let mut theirs = Vec::with_capacity(PAIRS);
        let mut ours = Vec::with_capacity(PAIRS);
        for _ in 0..PAIRS {
            theirs.push(time_of(&["/bin/true"]));
            ours.push(time_of(&command));
        }
        let (theirs, ours) = (median(theirs), median(ours));
        println!(
            "{name:<36} {:>10.2} {:>10.2} {:>7.2}",
            millis(theirs),
            millis(ours),
            ours.as_secs_f64() / theirs.as_secs_f64()
        );
    }
}

fn time_of(command: &[&str]) -> Duration {
    let started = Instant::now();
    let (program, arguments) = command.split_first().unwrap();
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
