//! The fuzz targets on the stable toolchain: a corpus that is kept, and inputs that are made from it with a fixed seed.
//!
//! A few seconds by default; `GATEWRIGHT_FUZZ_SECONDS=600 cargo test --release fuzz` goes on for longer, each time with
//! other inputs. What breaks a promise is shown; keep it as a file in `fixtures/fuzz/corpus/`.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::cases::{cases, top};

#[path = "../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a library of its own, too")]
mod targets;

/// Inputs of a short run; made the same way every time.
const INPUTS: usize = 300;
/// Longest input that is made.
const LONGEST: usize = 4096;

/// Pieces that meet in bad ways.
const PIECES: &[&str] = &[
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "${",
    "}",
    "{",
    "<<E\n",
    "<<-'E'\n",
    "E\n",
    "\\",
    "\n",
    "$'",
    "=",
    "[[",
    "]]",
    "((",
    "))",
    ";",
    "|",
    "&&",
    "<(",
    ">>",
    "2>&1",
    "é",
    "\u{200b}",
    "\0",
    "\u{e000}",
    "for i in a b; do ",
    "done ",
    "case x in ",
    "esac ",
    "if :; then ",
    "fi ",
    "eval ",
    "sh -c '",
    "python3 -c \"",
    "xargs ",
    "{a,b}",
    "{1..9}",
    "~",
    "*",
    ":-",
    "@",
    "rules:\n",
    "  - id: a\n",
    "    run: [",
    "    verdict: ",
    "&a ",
    "*a",
    "!!str ",
    "|\n",
    "? ",
    "except:\n",
    "until: ",
    "{\"tool\": \"",
    "\"args\": {",
    "\"command\": \"",
    "..",
    "/",
    "git push ",
    "rm -rf ",
    ".env",
];

/// splitmix64.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((number ^ (number >> 31)) >> 1).unwrap() % end.max(1)
    }

    /// A few changes of bytes, of pieces, and of stretches of another input.
    fn changed(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len() + 1);
            let end = at + self.below((bytes.len() - at).min(24) + 1);
            let piece = PIECES[self.below(PIECES.len())].as_bytes().to_vec();
            let from = self.below(other.len() + 1);
            let stretch = &other[from..from + self.below((other.len() - from).min(64) + 1)];
            match self.below(6) {
                0 => drop(bytes.splice(at..end, piece)),
                1 => drop(bytes.splice(at..at, piece)),
                2 => drop(bytes.drain(at..end)),
                3 => drop(bytes.splice(at..end, stretch.iter().copied())),
                4 => bytes.truncate(at),
                _ => {
                    let byte = u8::try_from(self.below(256)).unwrap();
                    bytes.splice(at..(at + 1).min(bytes.len()), [byte]);
                }
            }
        }
        bytes.truncate(LONGEST);
        bytes
    }
}

fn kept(target: &str) -> Vec<Vec<u8>> {
    let folder = top().join("fixtures/fuzz/corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no corpus for {target}");
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Tries the corpus, then what is made from it and `more`.
fn fuzz(target: &str, run: fn(&[u8]), more: Vec<Vec<u8>>, inputs: usize) {
    let mut corpus = kept(target);
    for bytes in &corpus {
        tried(target, run, bytes);
    }
    corpus.extend(more);
    let seconds = std::env::var("GATEWRIGHT_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let began = Instant::now();
    let mut numbers = Numbers(seconds.map_or(7, |_| u64::from(std::process::id())));
    let mut count = 0;
    while seconds.map_or(count < inputs, |seconds| began.elapsed() < Duration::from_secs(seconds)) {
        let (input, other) = (numbers.below(corpus.len()), numbers.below(corpus.len()));
        let bytes = numbers.changed(&corpus[input], &corpus[other]);
        tried(target, run, &bytes);
        count += 1;
    }
}

#[track_caller]
fn tried(target: &str, run: fn(&[u8]), bytes: &[u8]) {
    let outcome = catch_unwind(AssertUnwindSafe(|| run(bytes)));
    assert!(outcome.is_ok(), "{target} breaks on {:?}", bytes.escape_ascii().to_string());
}

/// Command lines of the case corpora.
fn lines() -> Vec<Vec<u8>> {
    let rows = ["quoting", "wrappers", "dangerous", "writers"];
    let rows = rows.iter().flat_map(|name| cases(&top().join(format!("fixtures/cases/{name}.jsonl"))));
    rows.filter_map(|case| Some(case.call.args.get("command")?.as_str()?.as_bytes().to_vec())).collect()
}

#[test]
fn the_reader_keeps_its_promises_on_any_bytes() {
    fuzz("reader", targets::reader, lines(), INPUTS * 4);
}

#[test]
fn policies_load_or_say_why_on_any_bytes() {
    let texts = ["every-key", "seed-config", "example"];
    let texts =
        texts.map(|name| fs::read(top().join(format!("fixtures/policies/valid/{name}.yml"))).unwrap());
    fuzz("policy", targets::policy, texts.to_vec(), INPUTS);
}

#[test]
fn what_is_not_read_is_not_allowed_on_any_bytes() {
    let tools = cases(&top().join("fixtures/cases/tools.jsonl"));
    let calls = tools.iter().map(|case| serde_json::to_vec(&case.call).unwrap());
    fuzz("judge", targets::judge, calls.chain(lines()).collect(), INPUTS);
}
