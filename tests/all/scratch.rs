//! A place of its own for a test: home, settings, state, temporary folder, and nothing of the environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The place; gone when dropped.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
}

/// What the program answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    /// Panics with everything that was said unless the code is this one.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let scratch = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["home", "config", "state", "tmp"] {
            fs::create_dir(scratch.path(name)).unwrap();
        }
        scratch
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The program with this place's environment, started in `directory`.
    pub(crate) fn command(&self, directory: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatewright"));
        command.args(arguments).current_dir(directory).stdin(Stdio::null());
        self.dress(&mut command);
        command
    }

    pub(crate) fn run_in(&self, directory: &Path, arguments: &[&str]) -> Answer {
        self.command(directory, arguments).output().unwrap().into()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        self.run_in(&self.path(""), arguments)
    }

    /// Starts the program without waiting for its end.
    pub(crate) fn start(&self, directory: &Path, arguments: &[&str]) -> Child {
        self.command(directory, arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn dress(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("TMPDIR", self.path("tmp"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
    }

    /// Runs git and gives back what it wrote.
    #[track_caller]
    pub(crate) fn git(&self, directory: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(directory);
        self.dress(&mut command);
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "A"),
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_NAME", "A"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
        ] {
            command.env(name, value);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// A repository with one commit of these files.
    pub(crate) fn repository(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = self.path(name);
        fs::create_dir_all(&root).unwrap();
        self.git(&root, &["init", "--quiet", "--initial-branch=main"]);
        for (file, text) in files {
            self.write(&format!("{name}/{file}"), text);
        }
        self.git(&root, &["add", "--all"]);
        self.git(&root, &["commit", "--quiet", "--allow-empty", "--message", "first"]);
        root
    }

    /// A small project whose tests are green while `value` holds `good`, and a script that changes `value`.
    pub(crate) fn project(&self, new_value: &str) -> PathBuf {
        let script = format!(
            "- calls:\n  - {{tool: write, args: {{path: value, content: \"{new_value}\\n\"}}}}\n- text: done\n"
        );
        self.write("agent.yml", &script);
        self.write("open.yml", "version: 1\ndefault: allow\nrules: []\n");
        self.repository("project", &[("value", "good\n")])
    }

    /// Arguments of a run on [`Self::project`], with more.
    pub(crate) fn run_arguments(&self, more: &[&str]) -> Vec<String> {
        let script = format!("script:{}", self.path("agent.yml").display());
        let policy = self.path("open.yml").display().to_string();
        let mut all: Vec<String> =
            ["run", "--agent", &script, "--policy", &policy, "--prompt", "Change the value."]
                .map(str::to_owned)
                .to_vec();
        all.extend(more.iter().map(|word| (*word).to_owned()));
        all
    }

    /// A run on the project.
    pub(crate) fn run_project(&self, root: &Path, more: &[&str]) -> Answer {
        let arguments = self.run_arguments(more);
        self.run_in(root, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Folders of the runs in the state tree, oldest first.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        folders(&self.path("state/gatewright/runs"))
    }

    /// What a finished or cleared run must not have left.
    #[track_caller]
    pub(crate) fn assert_nothing_left(&self, state: &Path) {
        for name in ["ledger", "work"] {
            assert!(
                folders(&state.join(name)).is_empty(),
                "left in {name}: {:?}",
                folders(&state.join(name))
            );
        }
        let place = self.path("").to_string_lossy().into_owned();
        let mine = processes_in(&place);
        assert!(mine.is_empty(), "processes left: {mine:?}");
    }
}

/// Everything in a folder, sorted; nothing when there is no such folder.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Processes whose directory lies in `place`.
fn processes_in(place: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .filter(|entry| {
            fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.to_string_lossy().starts_with(place))
        })
        .map(|entry| fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default().replace('\0', " "))
        .collect()
}

/// Refs, settings, hooks and files of a repository, to be compared.
pub(crate) fn fingerprint(scratch: &Scratch, root: &Path) -> String {
    let refs = scratch.git(root, &["for-each-ref", "--format=%(refname) %(objectname)"]);
    let others: Vec<&str> = refs.lines().filter(|line| !line.starts_with("refs/heads/gatewright/")).collect();
    format!(
        "{}\n{}\n{}\n{}\n{:?}",
        others.join("\n"),
        scratch.git(root, &["status", "--porcelain", "--ignored"]),
        fs::read_to_string(root.join(".git/config")).unwrap(),
        fs::read_to_string(root.join(".git/HEAD")).unwrap(),
        folders(&root.join(".git/hooks")),
    )
}
