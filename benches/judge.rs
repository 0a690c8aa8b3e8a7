//! Judging in process: lines per second, against parsing alone, and 1,000 rules against 60.
//!
//! `cargo bench --bench judge [-- FILE]` takes shell lines from FILE (one JSON string a line), else from the
//! fixtures. Prints ratios of one run on one machine.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measuring program prints and may stop")]

use std::path::Path;
use std::time::{Duration, Instant};

use gatewright::call::{Context, NoLinks, Targets, ToolCall};
use gatewright::policy::{NoLibrary, Policy, Source};
use gatewright::shell::{Setting, read};

const ROUNDS: usize = 7;

fn main() {
    let lines = lines();
    println!("{} lines", lines.len());
    let setting = Setting::default();
    let context = Context { root: "/repo".into(), cwd: "/repo".into(), home: Some("/home/dev".into()) };
    let calls: Vec<ToolCall> = lines
        .iter()
        .map(|line| ToolCall {
            id: None,
            tool: "execute".to_owned(),
            args: serde_json::json!({ "command": line }),
            cwd: None,
        })
        .collect();
    let (sixty, thousand, shipped) = (policy(60), policy(1_000), builtin("ci"));
    let mut rows: [(&str, Vec<Duration>); 5] = [
        ("parsing alone", Vec::new()),
        ("reading", Vec::new()),
        ("reading and judging, 60 rules", Vec::new()),
        ("reading and judging, 1,000 rules", Vec::new()),
        ("reading and judging, builtin:ci", Vec::new()),
    ];
    // One warm-up round compiles what is compiled lazily; then rounds are interleaved.
    for round in 0..=ROUNDS {
        let times = [
            time(|| {
                lines.iter().map(|line| shuck_parser::parser::Parser::new(line).parse().file.body.len()).sum()
            }),
            time(|| lines.iter().map(|line| read(line, &setting).commands.len()).sum()),
            time(|| calls.iter().map(|call| judge(&sixty, call, &context)).sum()),
            time(|| calls.iter().map(|call| judge(&thousand, call, &context)).sum()),
            time(|| calls.iter().map(|call| judge(&shipped, call, &context)).sum()),
        ];
        if round > 0 {
            for (row, took) in rows.iter_mut().zip(times) {
                row.1.push(took);
            }
        }
    }
    let mut base = None;
    for (name, times) in &mut rows {
        times.sort_unstable();
        let median = times[times.len() / 2].as_secs_f64();
        let base = *base.get_or_insert(median);
        println!(
            "{name:<34} {:>9.0} lines/s {:>6.2} of parsing alone",
            lines.len() as f64 / median,
            base / median
        );
    }
}

fn judge(policy: &Policy, call: &ToolCall, context: &Context) -> usize {
    let targets = Targets::resolve(call, context, &NoLinks);
    policy.votes(&targets, &call.args).len()
}

fn time(work: impl FnOnce() -> usize) -> Duration {
    let started = Instant::now();
    std::hint::black_box(work());
    started.elapsed()
}

fn builtin(name: &str) -> Policy {
    Policy::load(&[Policy::builtin(name).unwrap()], &NoLibrary, jiff::civil::date(2026, 1, 1))
        .unwrap_or_else(|_| panic!("builtin:{name} loads"))
}

/// A policy of so many rules, of the kinds that people write.
fn policy(rules: usize) -> Policy {
    let mut text = String::from("version: 1\ndefault: allow\nunreadable: ask\nrules:\n");
    for number in 0..rules {
        let matcher = match number % 5 {
            0 => format!("run: program{number} deploy"),
            1 => format!("run: git subcommand{number}"),
            2 => format!("path: \"secrets/{number}/**\"\n    access: [write, delete]"),
            3 => format!("command: '^tool{number} .*--force'"),
            _ => format!("host: \"host{number}.example.com\""),
        };
        text.push_str(&format!(
            "  - id: rule-{number}\n    {matcher}\n    verdict: deny\n    reason: bench\n"
        ));
    }
    let source = Source { name: "bench.yml".to_owned(), bytes: text.into_bytes() };
    Policy::load(&[source], &NoLibrary, jiff::civil::date(2026, 1, 1))
        .unwrap_or_else(|_| panic!("the policy of this program loads"))
}

fn lines() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if let Some(file) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) {
        let text = std::fs::read_to_string(file).unwrap();
        return text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    }
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(root.join("fixtures/cases")).unwrap() {
        for row in std::fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            if let Some(line) = row.pointer("/call/args/command").and_then(|line| line.as_str()) {
                lines.push(line.to_owned());
            }
        }
    }
    lines
}
