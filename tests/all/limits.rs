//! What is too long, too deep or too much is answered: never a panic, never a verdict milder than that of what
//! cannot be read.

use gatewright::call::ToolCall;
use gatewright::policy::Policy;
use gatewright::shell::{Reading, Setting, UnreadableKind, read};
use gatewright::verdict::Verdict;

use crate::cases::{judge, shipped};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// What is repeated, and for what it stands.
const KINDS: &[&str] = &[
    "\0",
    "a",
    " ",
    "\n",
    "(",
    ")",
    "$(",
    "\"",
    "'",
    "`",
    "${",
    "\"${x:-",
    "{",
    "{a,",
    "{ ",
    "a|",
    "a && ",
    "a;",
    "a\n",
    "\\",
    "\\\n",
    "é",
    "\u{200b}",
    "\u{1f600}",
    "\u{e000}",
    "<<E\n",
    "<<'E' <<F\n",
    "<<<a ",
    "cat <<E\nx\nE\n",
    "> x ",
    "$x",
    "$x ",
    "$((",
    "$((1+",
    "[",
    "[[ ",
    "((",
    "*[",
    "*",
    "?",
    "~",
    "~/",
    "!",
    "#",
    "# a\n",
    "a=",
    "a=b ",
    "a=$a; ",
    "a[0]=",
    "if :; then ",
    "while :; do ",
    "case x in a) ",
    "for i in a; do ",
    "f() { ",
    "f() { f; }; ",
    "eval ",
    "sh -c '",
    "sudo ",
    "env A=1 ",
    "xargs ",
    "git -c a=b ",
    "cd a; ",
    "\"a\"",
    "$'\\x41'",
    "{1..9}",
    "-a ",
    "--a=b ",
    "a,b",
    "<(",
    "<(a) ",
    "coproc ",
    "time ",
    "export a; ",
    "alias a=b\n",
    "[[ a =~ ( ]]; ",
    "echo a | tee b; ",
    "python3 -c 'x'; ",
    "awk '{",
    ";;",
    "&",
    "|&",
    "%",
];

fn reading(line: &str) -> Reading {
    let mut setting = Setting::default();
    setting.variables.insert("HOME".to_owned(), "/home/dev".to_owned());
    setting.variables.insert("PWD".to_owned(), "/repo".to_owned());
    read(line, &setting)
}

fn filled(kind: &str, length: usize) -> String {
    kind.repeat(length / kind.len())
}

fn is_limited(reading: &Reading) -> bool {
    reading.unreadable.iter().any(|entry| entry.kind == UnreadableKind::Limit)
}

fn verdict(policy: &Policy, line: String) -> Verdict {
    let args = serde_json::json!({ "command": line });
    judge(policy, &ToolCall { id: None, tool: "Bash".to_owned(), args, cwd: None }).verdict
}

#[test]
fn ten_mebibytes_of_anything_are_too_long() {
    for kind in KINDS {
        let reading = reading(&filled(kind, 10 * MIB));
        assert!(is_limited(&reading), "{kind:?}");
        assert_eq!(reading.commands.len(), 0, "{kind:?}");
    }
}

#[test]
fn what_is_too_long_is_never_allowed() {
    let policy = shipped("ci.yml");
    for kind in ["\0", "a", "(", "$(", "\"", "{a,", "a|", "<<E\n", "é", "\\"] {
        assert!(verdict(&policy, filled(kind, 10 * MIB)) >= policy.unreadable_verdict().0, "{kind:?}");
    }
    // What is harmless at its beginning is not judged by that.
    let padded = format!("echo {}; git push --force", "a".repeat(MIB));
    assert!(verdict(&policy, padded) >= Verdict::Ask);
}

#[test]
fn sixty_four_kibibytes_of_anything_are_answered() {
    for kind in KINDS {
        let reading = reading(&filled(kind, 64 * KIB));
        let has_panicked = reading.unreadable.iter().any(|entry| entry.what.contains("gave up on the line"));
        assert!(!has_panicked, "{kind:?}");
        assert!(reading.commands.len() <= 64 * KIB, "{kind:?}: {} commands", reading.commands.len());
    }
}

#[test]
fn no_depth_hides_what_lies_below() {
    let nests = [
        ("( ", ")"),
        ("{ ", "; }"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("<(", ")"),
        ("if :; then ", "; fi"),
        ("while :; do ", "; done"),
        ("case x in x) ", ";; esac"),
        ("for i in a; do ", "; done"),
        ("sudo ", ""),
        ("env A=1 ", ""),
        ("eval ", ""),
        ("time ", ""),
        ("coproc ", ""),
        ("! ", ""),
        ("xargs ", ""),
        ("find . -exec ", " \\;"),
    ];
    let policy = shipped("ci.yml");
    let mut allowed = Vec::new();
    for (open, close) in nests {
        for depth in [1, 3, 9, 10, 11, 13, 14, 15, 40, 89, 90, 91, 200, 3_000] {
            let line = format!("{}git push --force origin main{}", open.repeat(depth), close.repeat(depth));
            if verdict(&policy, line) < Verdict::Ask {
                allowed.push(format!("{open:?} {depth} deep"));
            }
        }
    }
    assert!(allowed.is_empty(), "{allowed:?}");
}
