//! The reader against the real bash: what bash starts must have been read, or the line is unreadable.
#![expect(clippy::print_stderr, reason = "whoever runs it should see that it was skipped")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gatewright::shell::{Piece, Reading, Setting, UnreadableKind, Word, read};

/// Lines, separated by `%%`; those below `%% may be unreadable` are known not to be readable.
const LINES: &str = include_str!("shell_bash_lines.txt");

/// Programs that only record how they were started.
const RECORDERS: &[&str] = &[
    "rm", "ls", "git", "curl", "wget", "make", "npm", "cp", "mv", "a", "b", "c", "d", "e", "f", "g", "h",
    "tool", "ssh", "docker", "touch", "chmod", "kill", "deploy", "x", "y", "z", "sed", "grep", "cargo", "dd",
];
/// Programs that record it and then do their work.
const WORKERS: &[&str] = &[
    "cat", "env", "timeout", "nice", "nohup", "xargs", "sh", "bash", "basename", "dirname", "base64", "tee",
    "find", "rev", "setsid", "tr", "sort", "head", "mktemp",
];

/// A folder with the stand-in programs, and the log that they write.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("programs");
        fs::create_dir(&programs).unwrap();
        let log = folder.path().join("log");
        for name in RECORDERS.iter().chain(WORKERS) {
            let mut text = format!(
                "#!/bin/sh\nu=$(printf '\\037')\nr=\nfor w in \"${{0##*/}}\" \"$@\"; do r=\"$r$w$u\"; done\n\
                 printf '%s\\036' \"$r\" >> '{}'\n",
                log.display()
            );
            if WORKERS.contains(name)
                && let Some(real) = ["/usr/bin", "/bin"]
                    .map(|folder| Path::new(folder).join(name))
                    .iter()
                    .find(|path| path.exists())
            {
                text.push_str(&format!("exec '{}' \"$@\"\n", real.display()));
            }
            let path = programs.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Runs a line in a fresh folder; answers with that folder and the argument lists of what was started.
    fn run(&self, bash: &Path, line: &str, number: usize) -> (PathBuf, Vec<Vec<String>>) {
        let work = self.folder.path().join(format!("work{number}"));
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::write(work.join("one.txt"), "one\n").unwrap();
        let log = self.folder.path().join("log");
        fs::write(&log, "").unwrap();
        let mut child = Command::new(bash)
            .args(["-c", line])
            .current_dir(&work)
            .env_clear()
            .env("PATH", self.folder.path().join("programs"))
            .env("HOME", self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = std::time::Instant::now();
        while child.try_wait().unwrap().is_none() {
            if began.elapsed().as_secs() > 10 {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("line {number} does not end: {line}");
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        // Process substitutions and background jobs may still be writing.
        let mut text = fs::read_to_string(&log).unwrap_or_default();
        if line.contains('&') || line.contains(">(") || line.contains("<(") || line.contains("coproc") {
            std::thread::sleep(std::time::Duration::from_millis(60));
            text = fs::read_to_string(&log).unwrap_or_default();
        }
        let started = text
            .split('\u{1e}')
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                entry.strip_suffix('\u{1f}').unwrap_or(entry).split('\u{1f}').map(str::to_owned).collect()
            })
            .collect();
        (work, started)
    }
}

/// Whether a read word may have been this argument.
fn fits(pieces: &[Piece], text: &str) -> bool {
    let Some((first, rest)) = pieces.split_first() else { return text.is_empty() };
    match first {
        Piece::Text(known) => text.strip_prefix(known.as_str()).is_some_and(|text| fits(rest, text)),
        _ => (0..=text.len())
            .any(|at| text.is_char_boundary(at) && fits(rest, text.get(at..).unwrap_or_default())),
    }
}

/// Whether read words may have become these arguments.
fn covers(words: &[Word], arguments: &[String]) -> bool {
    let Some((word, rest)) = words.split_first() else { return arguments.is_empty() };
    if word.may_split() {
        return (0..=arguments.len()).any(|count| covers(rest, arguments.get(count..).unwrap_or_default()));
    }
    match arguments.split_first() {
        Some((argument, others)) => fits(&word.pieces, argument) && covers(rest, others),
        None => false,
    }
}

/// The text with no numbers of descriptors in it: they are nobody's business.
fn without_descriptors(text: &str) -> String {
    let mut parts = text.split("/dev/fd/");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        format!("{all}/dev/fd/N{}", part.trim_start_matches(|next: char| next.is_ascii_digit()))
    })
}

pub(crate) fn is_read(reading: &Reading, started: &[String]) -> bool {
    let started: Vec<String> = started.iter().map(|argument| without_descriptors(argument)).collect();
    reading.commands.iter().any(|command| {
        let mut words = command.words.clone();
        for piece in words.iter_mut().flat_map(|word| &mut word.pieces) {
            if let Piece::Text(text) = piece {
                *text = without_descriptors(text);
            }
        }
        // The log holds base names.
        if let Some(Piece::Text(text)) = words.first_mut().and_then(|word| word.pieces.first_mut()) {
            *text = text.rsplit('/').next().unwrap_or_default().to_owned();
        }
        covers(&words, &started)
    })
}

pub(crate) fn is_unreadable(reading: &Reading) -> bool {
    reading.unreadable.iter().any(|entry| !matches!(entry.kind, UnreadableKind::Path(_)))
}

#[test]
fn whatever_bash_starts_was_read_or_the_line_is_unreadable() {
    let Some(bash) = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
        .iter()
        .map(Path::new)
        .find(|path| path.exists())
    else {
        eprintln!("skipped: there is no bash on this machine");
        return;
    };
    let stage = Stage::new();
    let mut problems = Vec::new();
    let (readable, hard) = LINES.split_once("\n%% may be unreadable\n").expect("the mark between both parts");
    let readable: Vec<&str> = readable.split("\n%%\n").collect();
    let count = readable.len();
    for (number, line) in readable.into_iter().chain(hard.split("\n%%\n")).enumerate() {
        let (work, started) = stage.run(bash, line, number);
        let setting = Setting {
            toplevel: None,
            variables: [("HOME", stage.home()), ("PWD", work)]
                .map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned()))
                .into(),
        };
        let reading = read(line, &setting);
        let unreadable = is_unreadable(&reading);
        if unreadable && number < count {
            let what: Vec<&str> = reading.unreadable.iter().map(|entry| entry.what.as_str()).collect();
            problems.push(format!("unreadable although it is plain: {line}\n    {}", what.join("\n    ")));
        }
        for words in started {
            if !unreadable && !is_read(&reading, &words) {
                problems.push(format!("bash started {words:?} without it being read: {line}"));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}
