//! `policy explain`: lines of `fixtures/explain` and what a stranger is told about them.
//!
//! Expected texts lie beside the lines; `GATEWRIGHT_BLESS=1 cargo test explain` rewrites them, to be read before they
//! are committed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::scratch::{Answer, Scratch};

fn explain(scratch: &Scratch, arguments: &[&str]) -> Answer {
    let mut all = vec!["policy", "explain", "--policy", "builtin:ci", "--root", "/repo", "--cwd", "/repo"];
    all.extend(arguments);
    scratch.command(&scratch.path(""), &all).env("HOME", "/home/dev").output().unwrap().into()
}

#[test]
fn hard_lines_are_explained_as_written_down() {
    let bless = std::env::var_os("GATEWRIGHT_BLESS").is_some_and(|value| value == "1");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/explain");
    let mut lines: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "line"))
        .collect();
    lines.sort();
    assert!(lines.len() >= 10, "{lines:?}");
    let scratch = Scratch::new();
    let mut different = Vec::new();
    for path in lines {
        let line = fs::read_to_string(&path).unwrap();
        let shown = explain(&scratch, &["--shell", line.trim_end_matches('\n')]).expect_code(0).out;
        let expected_at = path.with_extension("txt");
        if bless {
            fs::write(&expected_at, &shown).unwrap();
        }
        let expected = fs::read_to_string(&expected_at).unwrap_or_default();
        if shown != expected {
            different.push(format!("{}\n--- expected\n{expected}\n--- got\n{shown}", path.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn rules_lines_and_calls_are_told_apart() {
    let scratch = Scratch::new();
    assert!(explain(&scratch, &["git-publish"]).expect_code(0).out.starts_with("rule      git-publish"));
    assert!(explain(&scratch, &["git push origin main"]).expect_code(0).out.contains("git-publish"));
    let call = r#"{"tool": "write", "args": {"path": ".env", "content": "A=1"}}"#;
    let told = explain(&scratch, &[call]).expect_code(0).out;
    assert!(told.contains("The call of write") && told.contains("writes .env"), "{told}");
    let wrong = explain(&scratch, &["git-publsh"]).expect_code(2);
    assert!(wrong.err.contains("did you mean `git-publish`?"), "{}", wrong.err);
    explain(&scratch, &["--call", "{"]).expect_code(2);
    explain(&scratch, &[]).expect_code(2);
}

#[test]
fn secrets_of_a_line_are_not_repeated() {
    let scratch = Scratch::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let line = format!("curl -H 'Authorization: Bearer {secret}' \"$URL\"");
    let told = explain(&scratch, &["--shell", &line]).expect_code(0).out;
    assert!(!told.contains(&secret), "{told}");
}
