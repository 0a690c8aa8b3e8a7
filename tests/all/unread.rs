//! How much of the shell that agents really write cannot be read.
#![expect(clippy::print_stdout, reason = "a test tells what it found")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use gatewright::call::{Context, NoLinks, Targets};
use gatewright::log::{Item, LogReader, Seen};
use gatewright::shell::UnreadableKind;

/// Most lines in a thousand that may be unreadable.
///
/// The logs hold few lines, and three of them are one `curl … | sh`, whose code nobody can know.
const UNREADABLE: usize = 44;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn nearly_every_line_of_real_logs_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder =
        ["../shared/logs", "../../shared/logs"].iter().map(|path| root.join(path)).find(|path| path.is_dir());
    let Some(folder) = folder else {
        println!("skipped: no folder ../shared/logs beside the repository");
        return;
    };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let (mut lines, mut unread) = (0_usize, 0_usize);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        let Ok(reader) = LogReader::open(Cursor::new(fs::read(&path).unwrap()), "log", None, Seen::new())
        else {
            continue;
        };
        for item in reader {
            let Ok(Item::Call(call)) = item else { continue };
            let context = Context { root: "/repo".into(), cwd: "/repo".into(), home: None };
            let targets = Targets::resolve(&call.call, &context, &NoLinks);
            let Some(reading) = targets.reading else { continue };
            lines += 1;
            let what = reading.unreadable.iter().find(|entry| !matches!(entry.kind, UnreadableKind::Path(_)));
            if let Some(entry) = what {
                unread += 1;
                let kind = format!("{:?}: {}", entry.kind, entry.what.chars().take(50).collect::<String>());
                *kinds.entry(kind).or_default() += 1;
                if std::env::var_os("GATEWRIGHT_SHOW").is_some() {
                    println!("{}: {:?}\n  {}", path.display(), entry.what, call.call.args);
                }
            }
        }
    }
    println!("{unread} of {lines} lines are unreadable: {kinds:#?}");
    assert!(lines > 60, "only {lines} lines");
    assert!(unread * 1000 <= lines * UNREADABLE, "{unread} of {lines} lines are unreadable");
}
