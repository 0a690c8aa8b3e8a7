//! The gatekeeper: when a run's one commit may be proposed, and which git commands never run.
//!
//! Pure: whoever runs tools tells it what succeeded.

use crate::call::{Targets, ToolCall, ToolClass};
use crate::shell::Command;
use crate::verdict::{Origin, Verdict, Vote};

/// Most paths of one commit.
pub const MOST_PATHS: usize = 50;

/// What a run has done so far, as far as committing goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatekeeperState {
    /// Whether the last run of the tests was green.
    pub tests_ok: bool,
    /// Whether something was written since.
    pub dirty: bool,
    /// Commits proposed.
    pub commits: u32,
}

impl Default for GatekeeperState {
    fn default() -> Self {
        Self { tests_ok: false, dirty: true, commits: 0 }
    }
}

impl GatekeeperState {
    /// A tool changed the worktree.
    pub fn note_change(&mut self) {
        self.dirty = true;
    }

    /// The tests ran. Green holds only for the tree it was measured on; red takes it back.
    pub fn note_tests(&mut self, is_green: bool) {
        self.tests_ok = is_green;
        if is_green {
            self.dirty = false;
        }
    }

    /// A commit was proposed.
    pub fn note_commit(&mut self) {
        self.commits += 1;
    }
}

/// The plugin `gatekeeper` of one run.
#[derive(Debug, Clone)]
pub struct Gatekeeper {
    is_permitted: bool,
    /// What the run has done so far.
    pub state: GatekeeperState,
}

impl Gatekeeper {
    /// A gatekeeper for a new run; `is_permitted` is the consent of the person who started it.
    pub fn new(is_permitted: bool) -> Self {
        Self { is_permitted, state: GatekeeperState::default() }
    }

    /// Its veto on a call, if it has one. The reasons for a commit come in a fixed order, first failing one first.
    pub fn veto(&self, call: &ToolCall, targets: &Targets) -> Option<Vote> {
        let reason = match targets.class {
            ToolClass::Commit => self.commit_reason(call)?,
            ToolClass::Shell => format!("git_denylist: {}", denied_git(targets)?),
            _ => return None,
        };
        Some(Vote {
            verdict: Verdict::Deny,
            reason,
            origin: Origin::Plugin { name: "gatekeeper".to_owned() },
            hint: None,
            scopes: Vec::new(),
            part: None,
            subject: None,
        })
    }

    fn commit_reason(&self, call: &ToolCall) -> Option<String> {
        let reasons = [
            (!self.is_permitted, "self_commit_disabled"),
            (!self.state.tests_ok, "tests_not_ok"),
            (self.state.dirty, "worktree_dirty"),
            (self.state.commits > 0, "commit_budget_exhausted"),
        ];
        match reasons.iter().find(|(fails, _)| *fails) {
            Some((_, reason)) => Some((*reason).to_owned()),
            None => refused_paths(&call.args).map(|what| format!("commit_refused: {what}")),
        }
    }
}

/// What is wrong with the arguments of a commit, if anything: a message, and 1 to 50 plain relative paths.
pub fn refused_paths(args: &serde_json::Value) -> Option<String> {
    let message = args.get("message").and_then(serde_json::Value::as_str).unwrap_or_default();
    if message.trim().is_empty() {
        return Some("no message".to_owned());
    }
    let Some(paths) = args.get("paths").and_then(serde_json::Value::as_array) else {
        return Some("no list of paths".to_owned());
    };
    if paths.is_empty() || paths.len() > MOST_PATHS {
        return Some(format!("{} paths; 1 to {MOST_PATHS} can be named", paths.len()));
    }
    paths.iter().find_map(|path| match path.as_str() {
        None => Some("a path that is no text".to_owned()),
        Some(path) => refused_path(path).map(|why| format!("{path:?} {why}")),
    })
}

fn refused_path(path: &str) -> Option<&'static str> {
    let names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    if path.is_empty() {
        return Some("is empty");
    }
    if path.starts_with('/') || path.starts_with('~') {
        return Some("is not relative");
    }
    if path.starts_with(':') || path.contains(['*', '?', '[', '\0', '\\', '\n']) {
        return Some("is a pattern, not a path");
    }
    let mut depth = 0_i32;
    for name in &names {
        depth += if *name == ".." { -1 } else { 1 };
        if depth < 0 {
            return Some("leads out of the repository");
        }
    }
    if depth == 0 {
        return Some("is the repository itself");
    }
    if names.iter().any(|name| name.eq_ignore_ascii_case(".git")) {
        return Some("is git's own");
    }
    names.last().filter(|name| is_refused_name(name)).map(|_| "looks like a secret")
}

/// Names of files that a commit never takes.
pub fn is_refused_name(name: &str) -> bool {
    matches!(name, ".env" | ".env.local")
        || name.ends_with(".pem")
        || name.ends_with(".p12")
        || name.starts_with("id_rsa")
}

/// The pattern of the denylist that a command line fits.
fn denied_git(targets: &Targets) -> Option<&'static str> {
    let line = targets.command.as_deref().unwrap_or_default();
    let is_read = targets.reading.as_ref().is_some_and(|reading| {
        reading.unreadable.is_empty() && targets.unreadable.is_empty() && !reading.commands.is_empty()
    });
    if is_read { targets.commands().iter().find_map(denied_command) } else { denied_text(line) }
}

const ANYWHERE: [&str; 2] = ["commit-tree", "update-ref"];
const LATER: [&str; 2] = ["commit", "push"];

fn denied_command(command: &Command) -> Option<&'static str> {
    let program = command.invocation.program.as_deref().map_or_else(
        || command.words.first().map(|word| base_name(&word.shown()).to_owned()).unwrap_or_default(),
        str::to_owned,
    );
    if let Some(rest) = program.strip_prefix("git-") {
        return LATER.iter().chain(&ANYWHERE).find(|name| **name == rest).copied();
    }
    if program != "git" {
        return None;
    }
    command.words.iter().skip(1).find_map(|word| later_word(&word.shown()))
}

fn later_word(word: &str) -> Option<&'static str> {
    let bare = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or(word);
    LATER.iter().chain(&ANYWHERE).find(|name| **name == bare).copied()
}

/// The same over a line that could not be read as a whole. Too much is refused rather than too little.
fn denied_text(line: &str) -> Option<&'static str> {
    if let Some(name) = ANYWHERE.iter().find(|name| line.contains(**name)) {
        return Some(name);
    }
    line.split([';', '|', '&', '\n']).find_map(|segment| {
        let mut words = segment
            .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '{' | '}' | '$'))
            .filter(|word| !word.is_empty());
        words.find(|word| base_name(word) == "git")?;
        words.find_map(later_word)
    })
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Context, NoLinks};
    use serde_json::{Value, json};

    fn reason(gatekeeper: &Gatekeeper, tool: &str, args: Value) -> Option<String> {
        let context = Context { root: "/repo".into(), cwd: "/repo".into(), home: None };
        let call = ToolCall { id: None, tool: tool.to_owned(), args, cwd: None };
        gatekeeper.veto(&call, &Targets::resolve(&call, &context, &NoLinks)).map(|vote| vote.reason)
    }

    #[test]
    fn reasons_come_in_their_order() {
        let commit = || json!({"message": "m", "paths": ["src/a.rs"]});
        let mut keeper = Gatekeeper::new(false);
        assert_eq!(reason(&keeper, "git_commit", commit()).as_deref(), Some("self_commit_disabled"));
        keeper.is_permitted = true;
        assert_eq!(reason(&keeper, "git_commit", commit()).as_deref(), Some("tests_not_ok"));
        keeper.state.note_tests(true);
        keeper.state.note_change();
        assert_eq!(reason(&keeper, "git_commit", commit()).as_deref(), Some("worktree_dirty"));
        keeper.state.note_tests(false);
        assert_eq!(reason(&keeper, "git_commit", commit()).as_deref(), Some("tests_not_ok"));
        keeper.state.note_tests(true);
        assert_eq!(reason(&keeper, "git_commit", commit()), None);
        keeper.state.note_commit();
        assert_eq!(reason(&keeper, "git_commit", commit()).as_deref(), Some("commit_budget_exhausted"));
    }

    #[test]
    fn a_commit_names_plain_paths() {
        let many: Vec<String> = (0..51).map(|number| format!("f{number}")).collect();
        for args in [
            json!({"message": "m", "paths": []}),
            json!({"message": "m", "paths": many}),
            json!({"message": " ", "paths": ["a"]}),
            json!({"message": "m"}),
            json!({"message": "m", "paths": [7]}),
        ] {
            assert!(refused_paths(&args).is_some(), "{args}");
        }
        for path in [
            "",
            ".",
            "./",
            "a/..",
            "..",
            "../x",
            "a/../../x",
            "/etc/passwd",
            "~/x",
            ":(top)x",
            ":/",
            "*.rs",
            ".env",
            "a/.env.local",
            "k.pem",
            "k.p12",
            "id_rsa.pub",
            ".git/config",
            "a/.GIT/hooks",
        ] {
            assert!(refused_paths(&json!({"message": "m", "paths": ["ok", path]})).is_some(), "{path}");
        }
        for path in ["src/a.rs", "./a", "a/../b", ".env.example", ".gitignore"] {
            assert_eq!(refused_paths(&json!({"message": "m", "paths": [path]})), None, "{path}");
        }
    }

    #[test]
    fn texts_that_cannot_be_read_are_held_to_the_list() {
        for (line, expected) in [
            ("git commit -m x", Some("commit")),
            ("cd x && /usr/bin/git -C y push origin", Some("push")),
            ("git --push", Some("push")),
            ("sh -c 'git push'", Some("push")),
            ("git commit-tree HEAD^{tree}", Some("commit-tree")),
            ("x; git update-ref refs/heads/a b", Some("update-ref")),
            ("git status; echo push", None),
            ("git log --oneline | grep commit", None),
            ("gitk push", None),
            ("git commits", None),
        ] {
            assert_eq!(denied_text(line), expected, "{line}");
        }
        let keeper = Gatekeeper::new(true);
        assert!(reason(&keeper, "execute", json!({"command": "git push"})).is_some());
        assert_eq!(reason(&keeper, "write", json!({"path": "a", "content": "git push"})), None);
    }
}
