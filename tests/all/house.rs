//! The house rules that a compiler does not hold: arrows between rooms go one way, every test file is wired
//! in, and no file has grown past what a reader can hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Rooms in layer order, read from the `pub mod` lines of the library root.
fn rooms(lib: &str) -> Vec<String> {
    lib.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

/// Arrows of one source text that point to a later room, and grouped imports that would hide an arrow.
fn wrong_arrows(rooms: &[String], room: &str, text: &str) -> Vec<String> {
    let order: BTreeMap<&str, usize> =
        rooms.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let Some(own) = order.get(room) else { return vec![format!("room `{room}` is not listed in lib.rs")] };
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("//") {
            continue;
        }
        for (at, _) in line.match_indices("crate::") {
            let rest = &line[at + "crate::".len()..];
            if rest.starts_with('{') {
                found.push(format!(
                    "line {}: `crate::{{..}}` hides the arrows; one `use` line per room",
                    number + 1
                ));
                continue;
            }
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if order.get(name.as_str()).is_some_and(|target| target > own) {
                found.push(format!("line {}: `{room}` uses `{name}`, which lies below it", number + 1));
            }
        }
    }
    found
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable source folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn arrows_between_rooms_point_up() {
    let src = root().join("src");
    let rooms = rooms(&fs::read_to_string(src.join("lib.rs")).expect("src/lib.rs"));
    assert!(rooms.len() > 10, "lib.rs lists the rooms, found {rooms:?}");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&src).expect("a file below src");
        let room = inside.components().next().expect("a first component").as_os_str().to_string_lossy();
        let room = room.trim_end_matches(".rs");
        if room == "lib" || room == "main" {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source file");
        wrong.extend(
            wrong_arrows(&rooms, room, &text).into_iter().map(|what| format!("{}: {what}", inside.display())),
        );
    }
    assert!(wrong.is_empty(), "arrows that point down:\n{}", wrong.join("\n"));
}

#[test]
fn an_arrow_down_is_noticed() {
    let rooms = vec!["shell".to_owned(), "policy".to_owned(), "cli".to_owned()];
    assert_eq!(wrong_arrows(&rooms, "policy", "use crate::shell::Word;\n").len(), 0);
    assert_eq!(wrong_arrows(&rooms, "policy", "use crate::cli::Exit;\n").len(), 1);
    assert_eq!(wrong_arrows(&rooms, "policy", "use crate::{shell, cli};\n").len(), 1);
    assert_eq!(wrong_arrows(&rooms, "shell", "let x = crate::policy::load();\n").len(), 1);
    assert_eq!(wrong_arrows(&rooms, "attic", "").len(), 1);
}

#[test]
fn every_test_file_is_wired_in() {
    let folder = root().join("tests/all");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    let mut forgotten = Vec::new();
    for file in files {
        let stem = file.file_stem().expect("a file name").to_string_lossy().into_owned();
        let parent = file.parent().expect("a parent");
        let (declared_in, name) = if stem == "mod" {
            (
                parent.parent().expect("a parent").join("main.rs"),
                parent.file_name().expect("a name").to_string_lossy().into_owned(),
            )
        } else if parent == folder {
            (folder.join("main.rs"), stem)
        } else {
            (parent.join("mod.rs"), stem)
        };
        if name == "main" {
            continue;
        }
        let text = fs::read_to_string(&declared_in).unwrap_or_default();
        if !text.lines().any(|line| {
            line.trim().trim_start_matches("pub ").trim_start_matches("pub(crate) ") == format!("mod {name};")
        }) {
            forgotten.push(file);
        }
    }
    assert!(forgotten.is_empty(), "test files that no `mod` line names: {forgotten:?}");
}

#[test]
fn no_source_file_has_outgrown_its_reader() {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    let long: Vec<String> = files
        .iter()
        .filter_map(|file| {
            let text = fs::read_to_string(file).ok()?;
            let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(&text).lines().count();
            (code > 800).then(|| format!("{} ({code} lines without tests)", file.display()))
        })
        .collect();
    assert!(long.is_empty(), "files that surely hold a second idea: {long:?}");
}

#[test]
fn a_panic_that_is_caught_does_not_end_the_shipped_program() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    assert!(manifest.contains("panic = \"unwind\"") && !manifest.contains("panic = \"abort\""));
}
