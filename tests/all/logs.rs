//! Logs: the numbers of calls of fixtures and, where they lie beside the repository, of real logs.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

use gatewright::log::{Format, Item, LogReader, Seen, Tally};

fn read(path: &Path, is_filtered: bool) -> (Vec<Item>, Tally) {
    let input = BufReader::with_capacity(1 << 16, File::open(path).unwrap());
    let reader = LogReader::open(input, "log", None, Seen::new()).unwrap();
    let mut reader = if is_filtered { reader } else { reader.unfiltered() };
    let items = reader.by_ref().map(Result::unwrap).collect();
    (items, reader.finish().0)
}

#[test]
fn fixtures_give_their_numbers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs");
    for (name, calls, nested, bad) in
        [("claude-code-session", 4, 0, 1), ("codex-rollout", 6, 3, 0), ("json-lines", 5, 0, 3)]
    {
        let path = folder.join(format!("{name}.jsonl"));
        let head = std::fs::read(&path).unwrap();
        assert_eq!(Format::detect(&head).map(Format::name), Some(name));
        let (_, tally) = read(&path, true);
        assert_eq!((tally.calls, tally.nested, tally.bad), (calls, nested, bad), "{name}");
    }
}

/// The folder of real logs, which lies beside the repository where there is one.
fn shared() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    ["../shared/logs", "../../shared/logs"].iter().map(|path| root.join(path)).find(|path| path.is_dir())
}

#[test]
fn real_logs_give_the_numbers_that_were_counted_by_other_means() {
    let Some(folder) = shared() else {
        let _ = writeln!(std::io::stderr(), "skipped: no folder ../shared/logs beside the repository");
        return;
    };
    let sources = std::fs::read_to_string(folder.join("SOURCES.tsv")).unwrap();
    let mut wrong = Vec::new();
    let mut files = 0;
    for line in sources.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (file, expected) = (fields[0], fields[6].parse::<u64>());
        let format = file.split('/').next().unwrap();
        let Ok(expected) = expected else { continue };
        if !["claude-code-session", "codex-rollout"].contains(&format) {
            continue;
        }
        files += 1;
        let path = folder.join(file);
        let (items, tally) = read(&path, true);
        let head = std::fs::read(&path).unwrap();
        let detected = Format::detect(&head[..head.len().min(1 << 16)]).map(Format::name);
        if tally.calls != expected || detected != Some(format) {
            wrong.push(format!("{file}: {} calls of {expected}, read as {detected:?}", tally.calls));
        }
        if items != read(&path, false).0 {
            wrong.push(format!("{file}: the filter changes what is read"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(files > 20, "only {files} files");
}

#[test]
fn a_refusal_in_a_real_log_is_seen() {
    let Some(folder) = shared() else { return };
    for (file, expected) in
        [("claude-code-session/small-denied.jsonl", 1), ("codex-rollout/direct-tools-0171.jsonl", 2)]
    {
        let (items, _) = read(&folder.join(file), true);
        let refused = items
            .iter()
            .filter(|item| match item {
                Item::Outcome(outcome) => {
                    use gatewright::log::Outcome::{
                        Aborted, DeniedByPolicy, DeniedByUser, DeniedOtherwise, Failed,
                    };
                    match outcome.outcome {
                        DeniedByPolicy | DeniedByUser | DeniedOtherwise => true,
                        Failed | Aborted => false,
                    }
                }
                Item::Call(_) => false,
            })
            .count();
        assert_eq!(refused, expected, "{file}");
    }
}
