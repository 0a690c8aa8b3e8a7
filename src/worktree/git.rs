//! The one way in which this program calls git.
//!
//! A call inherits nothing. Its environment is a short list, its settings come from `-c` and the repository it
//! names, and everything that git would run by itself is switched off: hooks, monitors, editors, pagers,
//! prompts, signing, transports, maintenance. `docs/limits.md` says which ways of git this covers.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sandbox::{Cancel, Ending, Environment, Keep, Program};

use super::{UserContext, WorktreeError};

/// The oldest git that understands all the settings a call is hardened with.
pub const MINIMUM_GIT: GitVersion = GitVersion { major: 2, minor: 34 };

/// How long one call may take; a checkout of a large tree on a slow disk must fit in.
const CALL_TIMEOUT: Duration = Duration::from_secs(600);

/// Since this version settings can define hooks.
const CONFIG_HOOKS: GitVersion = GitVersion { major: 2, minor: 54 };

/// Events a hook can be bound to, as git names them.
const HOOK_EVENTS: [&str; 28] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Settings of every call. What a repository's own config says about these keys does not count.
const SETTINGS: [&str; 25] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.pager=cat",
    "core.askPass=false",
    "core.editor=false",
    "credential.helper=",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "user.useConfigOnly=true",
    "rerere.enabled=false",
    "rerere.autoUpdate=false",
    "submodule.recurse=false",
    "diff.ignoreSubmodules=all",
    "status.submoduleSummary=false",
    "worktree.useRelativePaths=false",
    "branch.autoSetupMerge=false",
    "protocol.allow=never",
    "core.logAllRefUpdates=false",
    "advice.detachedHead=false",
];

/// Version of a git program, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
}

impl GitVersion {
    /// Reads the answer of `git version`, whatever vendor text follows the numbers.
    fn parse(answer: &str) -> Option<GitVersion> {
        let mut numbers = answer.strip_prefix("git version ")?.split(['.', ' ', '-', '\n']);
        Some(GitVersion { major: numbers.next()?.parse().ok()?, minor: numbers.next()?.parse().ok()? })
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

/// A git program that was found and is new enough.
#[derive(Clone, Debug)]
pub struct Git {
    program: PathBuf,
    path: OsString,
    version: GitVersion,
    cancel: Cancel,
    hook_names: Vec<String>,
}

impl Git {
    /// Finds git in the user's `PATH` and asks for its version.
    ///
    /// # Errors
    /// When there is none, or it is too old, or does not say its version in a form we know.
    pub fn find(user: &UserContext, cancel: &Cancel) -> Result<Git, WorktreeError> {
        let program = std::env::split_paths(&user.path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join("git"))
            .find(|file| {
                file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
            })
            .ok_or(WorktreeError::GitMissing)?;
        let mut git = Git {
            program,
            path: user.path.clone(),
            version: MINIMUM_GIT,
            cancel: cancel.clone(),
            hook_names: Vec::new(),
        };
        let answer = git.call(Path::new("/"), "version").text()?;
        git.version = GitVersion::parse(&answer)
            .filter(|version| *version >= MINIMUM_GIT)
            .ok_or_else(|| WorktreeError::GitTooOld { found: answer.trim().chars().take(60).collect() })?;
        Ok(git)
    }

    /// Its version.
    pub fn version(&self) -> GitVersion {
        self.version
    }

    /// Also switches off hooks that settings define under these names (git 2.54 and later).
    pub(super) fn with_hook_names(mut self, names: Vec<String>) -> Git {
        self.hook_names = names;
        self
    }

    /// A call in a directory, without naming a repository: git looks for one if the subcommand wants one.
    pub(super) fn call(&self, directory: &Path, subcommand: &str) -> Call<'_> {
        Call {
            git: self,
            subcommand: subcommand.to_owned(),
            directory: directory.to_owned(),
            place: Vec::new(),
            settings: Vec::new(),
            args: Vec::new(),
            environment: self.environment(),
            stdin: None,
            stdin_file: None,
        }
    }

    /// A call on a repository that is named explicitly. With a work tree, it runs there.
    pub(super) fn on(&self, git_dir: &Path, work_tree: Option<&Path>, subcommand: &str) -> Call<'_> {
        let mut call = self.call(work_tree.unwrap_or(git_dir), subcommand);
        call.place.push(flag("--git-dir=", git_dir.as_os_str()));
        if let Some(work_tree) = work_tree {
            call.place.push(flag("--work-tree=", work_tree.as_os_str()));
        }
        call
    }

    fn environment(&self) -> Environment {
        let mut environment = Environment::new();
        environment.set("PATH", &self.path);
        environment.extend(isolation());
        environment.extend([
            // A path below a file: nobody can ever create it.
            ("HOME", "/dev/null/home"),
            ("XDG_CONFIG_HOME", "/dev/null/config"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("LC_ALL", "C"),
            ("TZ", "UTC"),
        ]);
        environment
    }
}

/// Variables that keep any git quiet, ours and the agent's: no system settings, no prompt, no editor, no pager,
/// no transport, no replacement of objects, no fetching behind one's back.
pub(super) fn isolation() -> [(&'static str, &'static str); 15] {
    [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", "false"),
        ("SSH_ASKPASS", "false"),
        ("GCM_INTERACTIVE", "never"),
        ("GIT_EDITOR", "false"),
        ("GIT_SEQUENCE_EDITOR", "false"),
        ("GIT_PAGER", "cat"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_ALLOW_PROTOCOL", ""),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_LFS_SKIP_SMUDGE", "1"),
        ("GIT_MERGE_AUTOEDIT", "no"),
    ]
}

fn flag(name: &str, value: &OsStr) -> OsString {
    let mut flag = OsString::from(name);
    flag.push(value);
    flag
}

/// One git process before it starts.
pub(super) struct Call<'a> {
    git: &'a Git,
    subcommand: String,
    directory: PathBuf,
    place: Vec<OsString>,
    settings: Vec<OsString>,
    args: Vec<OsString>,
    environment: Environment,
    stdin: Option<Vec<u8>>,
    stdin_file: Option<File>,
}

impl Call<'_> {
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// One more `-c`; it wins over the fixed ones.
    pub(super) fn setting(mut self, setting: impl AsRef<OsStr>) -> Self {
        self.settings.push(setting.as_ref().to_owned());
        self
    }

    pub(super) fn variable(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.set(name, value);
        self
    }

    pub(super) fn without_variable(mut self, name: &str) -> Self {
        self.environment.remove(name);
        self
    }

    pub(super) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    pub(super) fn stdin_file(mut self, file: File) -> Self {
        self.stdin_file = Some(file);
        self
    }

    /// Runs it and gives back its exit code and output, whatever the code.
    pub(super) fn outcome(self) -> Result<Outcome, WorktreeError> {
        let what = self.subcommand.clone();
        let mut program =
            Program::new(&self.git.program, &self.directory).arg("--no-pager").args(&self.place);
        for setting in SETTINGS {
            program = program.arg("-c").arg(setting);
        }
        if self.git.version >= CONFIG_HOOKS {
            let names = self.git.hook_names.iter().map(String::as_str);
            for name in HOOK_EVENTS.into_iter().chain(names) {
                program = program.arg("-c").arg(format!("hook.{name}.enabled=false"));
            }
        }
        for setting in &self.settings {
            program = program.arg("-c").arg(setting);
        }
        program = program
            .arg(&self.subcommand)
            .args(&self.args)
            .environment(self.environment)
            .timeout(CALL_TIMEOUT)
            .cancel(&self.git.cancel)
            .keep_stdout(Keep::whole(512 * 1024 * 1024));
        if let Some(bytes) = self.stdin {
            program = program.stdin_bytes(bytes);
        } else if let Some(file) = self.stdin_file {
            program = program.stdin_file(file);
        }
        let finished = program.run()?;
        let code = match finished.ending {
            Ending::Exited(code) => code,
            Ending::Signaled(_) => return Err(WorktreeError::Ended { what, why: "by a signal" }),
            Ending::TimedOut(_) => return Err(WorktreeError::Ended { what, why: "it took too long" }),
            Ending::Cancelled => return Err(WorktreeError::Ended { what, why: "the run was interrupted" }),
        };
        if !finished.stdout.is_whole() {
            return Err(WorktreeError::TooMuch { limit: 512, what: "MiB of answer from git" });
        }
        Ok(Outcome { what, code, stdout: finished.stdout.head, stderr: finished.stderr.text() })
    }

    /// Runs it and gives back its output; another code than 0 is an error.
    pub(super) fn bytes(self) -> Result<Vec<u8>, WorktreeError> {
        let outcome = self.outcome()?;
        if outcome.code != 0 {
            return Err(outcome.failed());
        }
        Ok(outcome.stdout)
    }

    /// Like [`Call::bytes`], as text.
    pub(super) fn text(self) -> Result<String, WorktreeError> {
        let what = self.subcommand.clone();
        String::from_utf8(self.bytes()?).map_err(|_| WorktreeError::Answer { what })
    }
}

/// What a git process said.
pub(super) struct Outcome {
    what: String,
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl Outcome {
    /// This outcome as an error, with the end of what git said.
    pub(super) fn failed(self) -> WorktreeError {
        let from = self.stderr.len().saturating_sub(2000);
        let from = (from..=self.stderr.len()).find(|at| self.stderr.is_char_boundary(*at)).unwrap_or(0);
        WorktreeError::Failed { what: self.what, message: self.stderr[from..].to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendor_versions_are_read() {
        for (answer, major, minor) in [
            ("git version 2.47.3\n", 2, 47),
            ("git version 2.39.3 (Apple Git-146)\n", 2, 39),
            ("git version 2.55.0.rc1.12.gabc\n", 2, 55),
            ("git version 2.46.0.windows.1\n", 2, 46),
            ("git version 3.0-rc0\n", 3, 0),
        ] {
            assert_eq!(GitVersion::parse(answer), Some(GitVersion { major, minor }), "{answer}");
        }
        assert_eq!(GitVersion::parse("hub version 2.14"), None);
    }
}
