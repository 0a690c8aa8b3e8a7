//! `edit`: a passage of a file, replaced.

use std::io::Read;

use super::arguments::Arguments;
use super::place::Place;
use super::{Bench, Output, Refusal};

pub(super) fn edit(arguments: &Arguments<'_>, bench: &Bench) -> Result<Output, Refusal> {
    let place = Place::new(&bench.root, arguments.required_path()?)?;
    let old = arguments.required_text(&["old_string", "old_text", "old"])?;
    let new = arguments.required_text(&["new_string", "new_text", "new"])?;
    if place.is_in_git_folder() {
        return Err("git's own folder is not written by tools".to_owned());
    }
    if old.is_empty() {
        return Err("`old_string` is empty; `write` makes a file".to_owned());
    }
    let file = place.open(&bench.root)?;
    let limit = bench.read.hard_max as u64;
    if file.metadata().map_err(|error| error.to_string())?.len() > limit {
        return Err("file too large".to_owned());
    }
    let mut text = String::new();
    file.take(limit)
        .read_to_string(&mut text)
        .map_err(|_| format!("`{}` is no UTF-8 text", place.relative().display()))?;
    let found = text.matches(old).count();
    let is_all = arguments.is_on("replace_all");
    match found {
        0 => return Err(format!("`old_string` does not occur in `{}`", place.relative().display())),
        1 => {}
        _ if is_all => {}
        more => {
            return Err(format!(
                "`old_string` occurs {more} times; give more of the passage, or `replace_all`"
            ));
        }
    }
    let changed = if is_all { text.replace(old, new) } else { text.replacen(old, new, 1) };
    place.write(&bench.root, changed.as_bytes())?;
    let passages = if found == 1 { "1 passage".to_owned() } else { format!("{found} passages") };
    Ok(Output::ok(format!("replaced {passages} in {}", place.relative().display())))
}
