//! Dry run of a Claude-like session against only parsing every line into borrowed structs.
//!
//! `cargo bench --bench dry_run [-- MB [calls per MB]]` writes a log of that size to a temporary file. Real sessions
//! hold about 52 calls a MB. Prints ratios of one run on one machine, and the peak of memory at the end.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measuring program prints and may stop")]

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use gatewright::call::NoLinks;
use gatewright::dry_run::{DryRun, World};
use gatewright::gate::{Gate, GateSettings};
use gatewright::log::{LogReader, Seen};
use gatewright::policy::{NoLibrary, Policy};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

const ROUNDS: usize = 5;
const BUFFER: usize = 1024 * 1024;

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let megabytes = numbers.first().copied().unwrap_or(64);
    let calls_per_megabyte = numbers.get(1).copied().unwrap_or(52);
    let file = tempfile::NamedTempFile::new().unwrap();
    let calls = write_corpus(file.path(), megabytes, calls_per_megabyte);
    let bytes = std::fs::metadata(file.path()).unwrap().len() as f64;
    println!("{:.0} MB, {calls} calls", bytes / 1e6);

    // What ships, unless this is an older tree without it.
    let source = Policy::builtin("ci").or_else(|| Policy::builtin("guardrails")).unwrap();
    let today = jiff::civil::date(2026, 12, 1);
    let policy =
        Policy::load(&[source], &NoLibrary, today).unwrap_or_else(|_| panic!("the shipped policy loads"));
    let gate = Gate::new(policy, GateSettings::for_check());
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        let took = [
            time(|| parse_only(file.path())),
            time(|| read_only(file.path())),
            time(|| dry_run(file.path(), &gate)),
        ];
        assert_eq!((took[1].1, took[2].1), (calls, calls));
        if round > 0 {
            for (times, (took, _)) in times.iter_mut().zip(took) {
                times.push(took);
            }
        }
    }
    let medians = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    for (name, median) in ["parsing every line", "reading calls", "dry run, builtin:ci"].iter().zip(medians) {
        println!(
            "{name:<22} {:>7.0} MB/s {:>9.0} calls/s {:>6.2} of parsing every line",
            bytes / 1e6 / median,
            calls as f64 / median,
            medians[0] / median
        );
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status")
        && let Some(line) = status.lines().find(|line| line.starts_with("VmHWM"))
    {
        println!("peak memory {}", line.trim_start_matches("VmHWM:").trim());
    }
}

fn time(work: impl FnOnce() -> u64) -> (f64, u64) {
    let started = Instant::now();
    let result = std::hint::black_box(work());
    (started.elapsed().as_secs_f64(), result)
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is measured is filling the fields")]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    cwd: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is measured is filling the fields")]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

fn parse_only(path: &Path) -> u64 {
    let mut reader = BufReader::with_capacity(BUFFER, File::open(path).unwrap());
    let mut line = Vec::new();
    let mut blocks = 0;
    while reader.read_until(b'\n', &mut line).unwrap() > 0 {
        let record: Line<'_> = serde_json::from_slice(&line).unwrap();
        blocks += record.message.map_or(0, |message| message.content.len() as u64);
        line.clear();
    }
    blocks
}

fn read_only(path: &Path) -> u64 {
    let input = BufReader::with_capacity(BUFFER, File::open(path).unwrap());
    let mut reader = LogReader::open(input, "log", None, Seen::new()).unwrap();
    assert!(reader.by_ref().all(|item| item.is_ok()));
    reader.finish().0.calls
}

fn dry_run(path: &Path, gate: &Gate) -> u64 {
    let world = World { root: Some("/repo".into()), home: None, top_level: &|_| None, links: &NoLinks };
    let mut dry_run = DryRun::new(gate, world);
    let input = BufReader::with_capacity(BUFFER, File::open(path).unwrap());
    dry_run.log(input, "log", None, |_| Ok::<(), ()>(())).unwrap().unwrap();
    dry_run.finish().judged
}

/// Small numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn write_corpus(path: &Path, megabytes: u64, calls_per_megabyte: u64) -> u64 {
    const WORDS: [&str; 8] = ["let", "match", "self", "\"text\"", "\\n", "fn main()", "été", "    "];
    let mut dice = Dice(7);
    let mut out = BufWriter::new(File::create(path).unwrap());
    let (mut written, mut calls) = (0, 0);
    // A call and its result take 1 MB / calls; the call itself about 700 bytes.
    let result_bytes = (1_000_000 / calls_per_megabyte).saturating_sub(1_300);
    while written < megabytes * 1_000_000 {
        calls += 1;
        let id = format!("toolu_{calls:024}");
        let (name, input) = match dice.roll(8) {
            0 => ("Read", json!({"file_path": format!("/repo/src/file{}.rs", dice.roll(400))})),
            1 => ("Grep", json!({"pattern": "fn main", "path": "src"})),
            2 => (
                "Edit",
                json!({"file_path": format!("/repo/src/file{}.rs", dice.roll(400)), "old_string": "a\nb", "new_string": "c\nd"}),
            ),
            3 => (
                "Bash",
                json!({"command": format!("cargo test --lib room{} 2>&1 | tail -20", dice.roll(90))}),
            ),
            4 => (
                "Bash",
                json!({"command": format!("cd /repo && git log --oneline -{} && git status", dice.roll(30))}),
            ),
            5 => (
                "Bash",
                json!({"command": format!("git commit -m \"part {}: it's done\"", dice.roll(1_000))}),
            ),
            6 => (
                "Bash",
                json!({"command": format!("for f in src/*.rs; do wc -l \"$f\"; done | sort -n | head -{}", dice.roll(9))}),
            ),
            _ => (
                "Bash",
                json!({"command": format!("rm -rf build/{} && git push origin main", dice.roll(50))}),
            ),
        };
        let common = |kind: &str| {
            json!({
                "parentUuid": format!("{:08x}-1111-4222-8333-444444444444", calls), "isSidechain": false, "userType": "external",
                "cwd": "/repo", "sessionId": "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f", "version": "2.1.80", "gitBranch": "main",
                "type": kind, "uuid": format!("{:08x}-2222-4222-8333-444444444444", calls),
                "timestamp": "2026-11-30T10:00:00.000Z",
            })
        };
        let mut call = common("assistant");
        call["message"] = json!({
            "id": format!("msg_{calls}"), "role": "assistant", "model": "claude",
            "content": [{"type": "tool_use", "id": id, "name": name, "input": input}],
            "usage": {"input_tokens": 5, "output_tokens": 100},
        });
        let mut text = String::new();
        while (text.len() as u64) < result_bytes / 2 + dice.roll(result_bytes + 1) {
            text.push_str(WORDS[dice.roll(8) as usize]);
            text.push(' ');
        }
        let mut result = common("user");
        result["message"] = json!({
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "is_error": false, "content": text}],
        });
        for record in [call, result] {
            let line = format!("{record}\n");
            written += line.len() as u64;
            out.write_all(line.as_bytes()).unwrap();
        }
    }
    out.flush().unwrap();
    calls
}
