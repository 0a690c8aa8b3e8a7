//! `write`: a file's whole content.

use super::arguments::Arguments;
use super::place::Place;
use super::{Bench, Output, Refusal};

pub(super) fn write(arguments: &Arguments<'_>, bench: &Bench) -> Result<Output, Refusal> {
    let place = Place::new(&bench.root, arguments.required_path()?)?;
    let content = arguments.required_text(&["content", "contents", "text", "file_text"])?;
    if place.is_in_git_folder() {
        return Err("git's own folder is not written by tools".to_owned());
    }
    let is_new = place.write(&bench.root, content.as_bytes())?;
    let what = if is_new { "created" } else { "replaced" };
    Ok(Output::ok(format!("{what} {} ({} bytes)", place.relative().display(), content.len())))
}
