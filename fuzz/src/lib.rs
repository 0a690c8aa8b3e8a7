//! What is fuzzed, and what has to hold whatever the bytes are. The targets of cargo-fuzz and the test `fuzz` call the
//! same functions: each takes bytes and panics where a promise is broken.

use std::path::PathBuf;
use std::sync::LazyLock;

use gatewright::call::{Context, NoLinks, Targets, ToolCall};
use gatewright::policy::{NoLibrary, Policy, Source};
use gatewright::shell::{self, Access, Reading, Setting, UnreadableKind};
use gatewright::verdict::{Decision, Verdict};
use jiff::civil::date;

/// Reads the bytes as a command line: all that the answer points to is there.
pub fn reader(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    let mut setting = Setting { toplevel: Some("/repo".to_owned()), ..Setting::default() };
    for (name, value) in [("HOME", "/home/dev"), ("PWD", "/repo"), ("TMPDIR", "/tmp")] {
        setting.variables.insert(name.to_owned(), value.to_owned());
    }
    sound(&line, &shell::read(&line, &setting));
}

fn sound(line: &str, reading: &Reading) {
    let commands = reading.commands.len();
    let in_line = |span: (usize, usize)| {
        assert!(line.get(span.0..span.1).is_some(), "{span:?} is no range of {line:?}");
    };
    for command in &reading.commands {
        in_line(command.span);
        for span in command.words.iter().filter_map(|word| word.span) {
            in_line(span);
        }
        // Both are asked for by every rule.
        let _ = command.canonical();
    }
    for effect in &reading.effects {
        assert!(effect.command < commands, "effect of command {} of {commands}: {line:?}", effect.command);
    }
    for unreadable in &reading.unreadable {
        assert!(unreadable.what != "the reader gave up on the line", "a panic was caught: {line:?}");
        assert!(unreadable.command.is_none_or(|index| index < commands), "{unreadable:?}: {line:?}");
        unreadable.span.map(in_line);
    }
    for flow in &reading.flows {
        assert!(flow.from < commands && flow.to < commands, "{flow:?} of {commands}: {line:?}");
    }
}

/// Loads the bytes as a policy: it loads and its effective text means the same, or it is told what is wrong with it.
pub fn policy(bytes: &[u8]) {
    let load = |bytes: &[u8]| {
        let source = Source { name: "fuzz.yml".to_owned(), bytes: bytes.to_vec() };
        Policy::load(&[source], &NoLibrary, date(2026, 12, 1))
    };
    match load(bytes) {
        Ok(policy) => {
            let text = policy.to_yaml();
            let again = load(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
            assert_eq!(again.digest(), policy.digest(), "{text}");
            let call = of_shell("git push origin main; rm -rf /; echo a > .env");
            let _ = decide(&policy, &call);
        }
        Err(errors) => {
            assert!(!errors.errors().is_empty());
            let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::none());
            for error in errors.errors() {
                let mut shown = String::new();
                handler
                    .render_report(&mut shown, error)
                    .unwrap_or_else(|_| panic!("{error:?} cannot be shown"));
            }
        }
    }
}

static CI: LazyLock<Policy> = LazyLock::new(|| {
    let source = Policy::builtin("ci").unwrap_or_else(|| panic!("ci is embedded"));
    Policy::load(&[source], &NoLibrary, date(2026, 12, 1)).unwrap_or_else(|errors| panic!("{errors}"))
});

/// Judges the bytes as a call (JSON with `tool` and `args`), or else as a command line, by the policy `ci`: what was
/// not read is never allowed.
pub fn judge(bytes: &[u8]) {
    let call = serde_json::from_slice(bytes).unwrap_or_else(|_| of_shell(&String::from_utf8_lossy(bytes)));
    let (targets, decision) = decide(&CI, &call);
    if let (Some(line), Some(reading)) = (&targets.command, &targets.reading) {
        sound(line, reading);
    }
    let is_doubtful = targets.unreadable.iter().any(|it| it.kind != UnreadableKind::Path(Access::Read));
    assert!(!is_doubtful || decision.verdict >= Verdict::Ask, "allowed unread: {call:?}");
    for vote in &decision.votes {
        assert!(!vote.reason.contains('\n'), "{vote:?}");
    }
}

fn of_shell(line: &str) -> ToolCall {
    ToolCall { id: None, tool: "Bash".to_owned(), args: serde_json::json!({"command": line}), cwd: None }
}

fn decide(policy: &Policy, call: &ToolCall) -> (Targets, Decision) {
    let context = Context {
        root: PathBuf::from("/repo"),
        cwd: PathBuf::from("/repo"),
        home: Some(PathBuf::from("/home/dev")),
    };
    let targets = Targets::resolve(call, &context, &NoLinks);
    let decision = Decision::fold(policy.votes(&targets, &call.args));
    (targets, decision)
}
