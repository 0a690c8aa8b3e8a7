//! `list`: the names in a folder.

use super::arguments::Arguments;
use super::place::Place;
use super::{Bench, Output, Refusal};

/// More names than anybody reads.
const MAX_NAMES: usize = 2_000;

pub(super) fn list(arguments: &Arguments<'_>, bench: &Bench) -> Result<Output, Refusal> {
    let given = match arguments.path()? {
        Some(path) => path,
        None => arguments.text(&["directory", "dir", "dir_path", "folder"])?.unwrap_or("."),
    };
    let place = Place::new(&bench.root, given)?;
    let folder = place.open(&bench.root)?;
    if !folder.metadata().map_err(|error| error.to_string())?.is_dir() {
        return Err(format!("`{}` is no folder", place.relative().display()));
    }
    let entries =
        rustix::fs::Dir::read_from(&folder).map_err(|error| std::io::Error::from(error).to_string())?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".." | b".git"))
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            match entry.file_type() {
                rustix::fs::FileType::Directory => format!("{name}/"),
                rustix::fs::FileType::Symlink => format!("{name}@"),
                _ => name,
            }
        })
        .collect();
    names.sort();
    let missing = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    let mut text = names.join("\n");
    if missing > 0 {
        text.push_str(&format!("\n[... {missing} more ...]"));
    }
    if text.is_empty() {
        text.push_str("(empty)");
    }
    Ok(Output::ok(text))
}
