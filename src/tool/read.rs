//! `read`: the text of a file.

use std::io::Read;

use super::arguments::Arguments;
use super::output::preview;
use super::place::Place;
use super::{Bench, Output, Refusal};

pub(super) fn read(arguments: &Arguments<'_>, bench: &Bench) -> Result<Output, Refusal> {
    let place = Place::new(&bench.root, arguments.required_path()?)?;
    let file = place.open(&bench.root)?;
    let facts = file.metadata().map_err(|error| error.to_string())?;
    if facts.is_dir() {
        return Err(format!("`{}` is a folder; `list` shows what is in it", place.relative().display()));
    }
    if !facts.is_file() {
        return Err(format!("`{}` is no regular file", place.relative().display()));
    }
    if facts.len() > bench.read.hard_max as u64 {
        return Err("file too large".to_owned());
    }
    let mut bytes = Vec::new();
    // A file may grow while it is read.
    file.take(bench.read.hard_max as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.contains(&0) {
        return Ok(Output::ok(format!("(binary file, {} bytes)", bytes.len())));
    }
    let offset = arguments.count(&["offset", "start_line"])?;
    let limit = arguments.count(&["limit", "lines"])?;
    if offset.is_some() || limit.is_some() {
        bytes = lines_of(&bytes, offset.unwrap_or(1), limit.unwrap_or(u64::MAX));
    }
    Ok(Output::ok(preview(&bytes, b"", 0, bench.read.truncate_at, bench.read.preview)))
}

/// `count` lines from line `first`, counted from 1.
fn lines_of(bytes: &[u8], first: u64, count: u64) -> Vec<u8> {
    let skip = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    bytes.split_inclusive(|byte| *byte == b'\n').skip(skip).take(count).flatten().copied().collect()
}
