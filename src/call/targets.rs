//! What a call acts on.

use std::path::{Path, PathBuf};

use crate::shell::{
    self, Access, Command, Directory, Effect, EffectKind, Input, Piece, Reading, Setting, Unreadable,
    UnreadableKind, Word,
};

use super::arguments::{self, Line};
use super::links::{self, MadeLink};
use super::path::PathPattern;
use super::{HostTarget, Links, PathTarget, ToolCall, ToolClass, canonical_tool, patch, tool_class};

/// Where a call happens. Facts of the world are gathered before judging and handed in.
#[derive(Debug, Clone)]
pub struct Context {
    /// The repository's root; in a run, the worktree.
    pub root: PathBuf,
    /// Directory the call starts in.
    pub cwd: PathBuf,
    /// Home directory that `~` and `$HOME` stand for.
    pub home: Option<PathBuf>,
}

/// What a call acts on, as far as it can be told from the call.
#[derive(Debug, Clone)]
pub struct Targets {
    /// Canonical tool name (`execute`, `write`, `mcp_github_create_issue`).
    pub tool: String,
    /// The class of the tool.
    pub class: ToolClass,
    /// The command line of a shell tool, as written.
    pub command: Option<String>,
    /// The command line as bash would read it.
    pub reading: Option<Reading>,
    /// Paths with how they are touched; shell and file tools alike.
    pub paths: Vec<PathTarget>,
    /// Hosts that are contacted.
    pub hosts: Vec<HostTarget>,
    /// Directory the call starts in.
    pub cwd: PathBuf,
    /// The repository's root.
    pub root: PathBuf,
    /// Home directory of whoever the call runs as, if known.
    pub home: Option<PathBuf>,
    /// Whether a path lies outside the root.
    pub outside_repo: bool,
    /// What could not be read, shell or not (a patch that does not parse, a tool with unknown fields).
    pub unreadable: Vec<Unreadable>,
}

impl Targets {
    /// Works out what `call` acts on.
    pub fn resolve(call: &ToolCall, context: &Context, links: &dyn Links) -> Self {
        let tool = canonical_tool(&call.tool);
        let class = tool_class(&tool);
        let cwd = match &call.cwd {
            Some(cwd) => context.cwd.join(cwd),
            None => context.cwd.clone(),
        };
        let targets = Self {
            tool,
            class,
            command: None,
            reading: None,
            paths: Vec::new(),
            hosts: Vec::new(),
            cwd,
            root: context.root.clone(),
            home: context.home.clone(),
            outside_repo: false,
            unreadable: Vec::new(),
        };
        let mut resolver = Resolver { targets, context, links, made: Vec::new() };
        resolver.read(call);
        let mut targets = resolver.targets;
        targets.outside_repo = targets.paths.iter().any(|path| path.is_outside(&targets.root));
        targets
    }

    /// The commands of the reading; none for other tools.
    pub fn commands(&self) -> &[Command] {
        self.reading.as_ref().map_or(&[], |reading| &reading.commands)
    }
}

/// Gathers targets of one call.
struct Resolver<'a> {
    targets: Targets,
    context: &'a Context,
    links: &'a dyn Links,
    made: Vec<MadeLink>,
}

impl Resolver<'_> {
    fn read(&mut self, call: &ToolCall) {
        let args = arguments::object(&call.args);
        match self.targets.class {
            ToolClass::Shell => self.read_shell(call),
            ToolClass::Read => {
                let access = Access::Read;
                let is_search = self.targets.tool == "search";
                if !self.add_given(&args, access, is_search) {
                    if self.targets.tool == "read" {
                        self.doubt(UnreadableKind::Path(access), "read without a path".to_owned());
                    } else {
                        self.add_path(".", access, is_search);
                    }
                }
            }
            ToolClass::Write | ToolClass::Edit => self.read_change(call),
            ToolClass::Fetch => {
                let mut is_named = self.targets.tool == "web_search";
                for address in arguments::fetched(&args) {
                    is_named = true;
                    self.add_address(&address);
                }
                if !is_named {
                    self.targets.hosts.push(HostTarget::unknown("?"));
                    self.doubt(UnreadableKind::Words, "fetch without an address".to_owned());
                }
            }
            ToolClass::Commit => {
                // A commit puts what it names before others. Folders are not gone into: what changed in them is
                // judged path by path before it is committed.
                self.add_given(&args, Access::Read, false);
            }
            ToolClass::Test => {}
            ToolClass::Bookkeeping => {
                if self.targets.tool == "memory_write" {
                    self.add_given(&args, Access::Write, false);
                }
            }
            ToolClass::Mcp => self.read_foreign(&args),
            ToolClass::Unknown => {
                self.read_foreign(&args);
                let what = format!("unknown tool {}", super::harmless(&call.tool));
                self.doubt(UnreadableKind::Words, what);
            }
        }
    }

    /// A tool whose ways are not known: what looks like a path or an address counts.
    fn read_foreign(&mut self, args: &serde_json::Map<String, serde_json::Value>) {
        let access = arguments::guess_access(&self.targets.tool);
        self.add_given(args, access, false);
        for address in arguments::addresses(args) {
            self.add_address(&address);
        }
    }

    fn read_change(&mut self, call: &ToolCall) {
        let args = arguments::object(&call.args);
        let tool = self.targets.tool.clone();
        if tool == "edit"
            && let Some(text) = arguments::patch(&call.tool, &call.args)
        {
            let cwd = PathPattern::known(&self.targets.cwd);
            self.add_patch(&text, &cwd, None);
            // A patch for one named file.
            self.add_given(&args, Access::Write, false);
            return;
        }
        let mut access = match tool.as_str() {
            "delete" | "move" => Access::Delete,
            _ => Access::Write,
        };
        let is_editor = call.tool.to_ascii_lowercase().contains("editor") || args.contains_key("operation");
        if is_editor && let Some((name, editor)) = arguments::editor_command(&args) {
            self.targets.tool = name.to_owned();
            self.targets.class = tool_class(name);
            access = editor;
        }
        if !self.add_given(&args, access, access == Access::Delete) {
            self.doubt(UnreadableKind::Path(access), format!("{} without a path", self.targets.tool));
        }
    }

    fn read_shell(&mut self, call: &ToolCall) {
        let args = arguments::object(&call.args);
        let found = match arguments::lines(&call.tool, &call.args) {
            Ok(found) => found,
            Err(what) => return self.doubt(UnreadableKind::Syntax, what),
        };
        if let Some(directory) = arguments::directory(&args) {
            let base = self.targets.cwd.clone();
            let directory = match self.tilde(directory).value() {
                Some(directory) => base.join(directory),
                None => {
                    return self.doubt(UnreadableKind::Words, "home directory that is not known".to_owned());
                }
            };
            self.targets.cwd = directory;
        }
        let mut setting = Setting::default();
        let mut set = |name: &str, value: String| setting.variables.insert(name.to_owned(), value);
        set("TMPDIR", "/tmp".to_owned());
        if let Some(home) = &self.context.home {
            set("HOME", home.to_string_lossy().into_owned());
        }
        set("PWD", self.targets.cwd.to_string_lossy().into_owned());
        if self.targets.cwd.starts_with(&self.context.root) {
            setting.toplevel = Some(self.context.root.to_string_lossy().into_owned());
        }
        for (name, value) in arguments::environment(&args) {
            if is_loader_variable(&name) {
                self.doubt(UnreadableKind::Code, format!("{name} decides what programs load"));
            }
            setting.variables.insert(name, value);
        }
        let cwd = PathPattern::known(&self.targets.cwd);
        let (mut lines, mut is_typed) = (Vec::new(), false);
        for line in found {
            match line {
                Line::Patch(text) => self.add_patch(&text, &cwd, None),
                Line::Shell(line) if lines.contains(&line) => {}
                Line::Shell(line) => lines.push(line),
                Line::Typed(text) => {
                    is_typed = true;
                    let line: String =
                        text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
                    if line.trim().is_empty() {
                        continue;
                    }
                    // The rest of the line comes with another call, or came before: neither is seen here.
                    if !line.ends_with('\n') {
                        self.doubt(UnreadableKind::Words, "typed text that is no whole line".to_owned());
                    }
                    lines.push(line);
                }
            }
        }
        let line = match lines.as_slice() {
            [] => return,
            [line] => line.clone(),
            // Each has a shell of its own.
            lines => lines.iter().map(|line| format!("(\n{line}\n)\n")).collect(),
        };
        if is_typed {
            setting.variables.remove("PWD");
            setting.toplevel = None;
            self.read_line(&line, &setting, &PathPattern::unknown("directory of the running program"));
        } else {
            self.read_line(&line, &setting, &cwd);
        }
        self.targets.command = Some(line);
    }

    fn read_line(&mut self, line: &str, setting: &Setting, cwd: &PathPattern) {
        self.take(shell::read(line, setting), cwd);
    }

    fn take(&mut self, reading: Reading, cwd: &PathPattern) {
        self.made.clear();
        for effect in &reading.effects {
            self.add_effect(effect, cwd);
        }
        for (index, command) in reading.commands.iter().enumerate() {
            self.read_patch_command(index, command, cwd);
        }
        self.targets.unreadable.extend(reading.unreadable.iter().cloned());
        self.targets.reading = Some(reading);
    }

    fn add_effect(&mut self, effect: &Effect, cwd: &PathPattern) {
        let directory = from_directory(&effect.directory, cwd);
        match &effect.kind {
            EffectKind::Path { access, recursive } => {
                // A connection to bash, and a path to a rule that says it so.
                if let Some(host) = effect.word.value().and_then(socket_host) {
                    self.targets.hosts.push(HostTarget { command: Some(effect.command), ..host });
                }
                let Some(target) = self.target(&effect.word, &directory, *access, *recursive) else { return };
                let redirect = effect.redirect;
                self.targets.paths.push(PathTarget { command: Some(effect.command), redirect, ..target });
            }
            EffectKind::Link { target } => {
                let at = PathPattern::resolve(&effect.word, &directory);
                let folder = match at.value() {
                    Some(at) => PathPattern::known(Path::new(at).parent().unwrap_or(Path::new("/"))),
                    None => PathPattern::unknown("folder of the link"),
                };
                self.made.push(MadeLink { target: PathPattern::resolve(target, &folder), at: at.clone() });
                self.targets.paths.push(PathTarget {
                    shown: effect.word.shown().into_owned(),
                    access: Access::Write,
                    recursive: false,
                    lexical: at,
                    real: None,
                    command: Some(effect.command),
                    redirect: false,
                });
            }
            EffectKind::Contact => {
                self.targets.hosts.extend(HostTarget::from_word(&effect.word, Some(effect.command)));
            }
        }
    }

    /// Programs that take a patch on standard input or as an argument.
    fn read_patch_command(&mut self, index: usize, command: &Command, cwd: &PathPattern) {
        let Some(program) = command.invocation.program.as_deref() else { return };
        let directory = from_directory(&command.directory, cwd);
        match program {
            "apply_patch" | "applypatch" => {
                let text = match &command.input {
                    Input::Text(word) => Some(word),
                    _ => command.words.get(1),
                };
                match text.and_then(Word::value) {
                    Some(text) => self.add_patch(text, &directory, Some(index)),
                    None => self.doubt_of(UnreadableKind::Code, "patch that is not known".to_owned(), index),
                }
            }
            "patch" => {
                if let Input::Text(word) = &command.input
                    && let Some(text) = word.value()
                {
                    self.add_patch(text, &directory, Some(index));
                }
            }
            "git"
                if matches!(
                    command.invocation.subcommand.first().map(String::as_str),
                    Some("apply" | "am")
                ) =>
            {
                if let Input::Text(word) = &command.input
                    && let Some(text) = word.value()
                {
                    self.add_patch(text, &directory, Some(index));
                }
            }
            _ => {}
        }
    }

    fn add_patch(&mut self, text: &str, directory: &PathPattern, command: Option<usize>) {
        let patch = patch::parse(text);
        for (path, access) in patch.files {
            if let Some(target) = self.target(&Word::known(path), directory, access, false) {
                self.targets.paths.push(PathTarget { command, ..target });
            }
        }
        if let Some(what) = patch.problem {
            self.targets.unreadable.push(Unreadable {
                kind: UnreadableKind::Path(Access::Write),
                what,
                span: None,
                command,
            });
        }
    }

    /// Adds the paths in the arguments; whether there was one.
    fn add_given(
        &mut self,
        args: &serde_json::Map<String, serde_json::Value>,
        access: Access,
        recursive: bool,
    ) -> bool {
        let given = arguments::paths(args);
        for path in &given {
            // A tool that only reads does not write because of a key's name.
            let access = if access == Access::Read { access } else { path.access.unwrap_or(access) };
            self.add_path(&path.path, access, recursive);
        }
        !given.is_empty()
    }

    fn add_path(&mut self, path: &str, access: Access, recursive: bool) {
        let word = self.tilde(path);
        let cwd = PathPattern::known(&self.targets.cwd);
        if let Some(target) = self.target(&word, &cwd, access, recursive) {
            self.targets.paths.push(PathTarget { shown: path.to_owned(), ..target });
        }
    }

    fn add_address(&mut self, address: &str) {
        let is_file = address.trim().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
        if is_file {
            self.add_path(&arguments::local_path(address.trim()), Access::Read, false);
        } else {
            self.targets
                .hosts
                .push(HostTarget::parse(address).unwrap_or_else(|| HostTarget::unknown(address)));
        }
    }

    /// A path argument of a file tool with `~` resolved.
    fn tilde(&self, path: &str) -> Word {
        let rest = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
            _ => return Word::known(path),
        };
        match &self.context.home {
            Some(home) => Word::known(format!("{}{rest}", home.to_string_lossy())),
            None => {
                let home = Piece::Unknown { splits: false, source: "~".to_owned() };
                Word { pieces: vec![home, Piece::Text(rest.to_owned())], span: None }
            }
        }
    }

    /// The target that `word` names; `None` for devices that keep nothing and for the empty word.
    fn target(
        &self,
        word: &Word,
        directory: &PathPattern,
        access: Access,
        recursive: bool,
    ) -> Option<PathTarget> {
        if word.pieces.is_empty() {
            return None;
        }
        let lexical = PathPattern::resolve(word, directory);
        if lexical.value().is_some_and(is_inert) {
            return None;
        }
        // Removing a link leaves what it points to alone, unless a trailing slash goes through it.
        let goes_through = access != Access::Delete
            || matches!(word.pieces.last(), Some(Piece::Text(text)) if text.ends_with('/') || text.ends_with("/."));
        let real = links::follow(word, directory, goes_through, &self.made, self.links, self.context)
            .filter(|real| *real != lexical);
        Some(PathTarget {
            shown: word.shown().into_owned(),
            access,
            recursive,
            lexical,
            real,
            command: None,
            redirect: false,
        })
    }

    fn doubt(&mut self, kind: UnreadableKind, what: String) {
        self.targets.unreadable.push(Unreadable { kind, what, span: None, command: None });
    }

    fn doubt_of(&mut self, kind: UnreadableKind, what: String, command: usize) {
        self.targets.unreadable.push(Unreadable { kind, what, span: None, command: Some(command) });
    }
}

fn from_directory(directory: &Directory, cwd: &PathPattern) -> PathPattern {
    match directory {
        Directory::Known(directory) => PathPattern::raw(&Word::known(directory.as_str()), cwd),
        Directory::Unknown => PathPattern::unknown("directory"),
    }
}

/// Devices and descriptors that keep nothing.
fn is_inert(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("/dev/") else { return false };
    matches!(
        rest,
        "null"
            | "zero"
            | "full"
            | "random"
            | "urandom"
            | "tty"
            | "stdin"
            | "stdout"
            | "stderr"
            | "ptmx"
            | "console"
    ) || rest == "fd"
        || rest.strip_prefix("fd/").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `/dev/tcp/HOST/PORT`, which bash takes as a connection.
fn socket_host(path: &str) -> Option<HostTarget> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    let (host, port) = rest.split_once('/')?;
    HostTarget::parse(&format!("{host}:{port}")).map(|target| HostTarget {
        scheme: Some("tcp".to_owned()),
        shown: path.to_owned(),
        ..target
    })
}

/// Variables by which the next program loads other code.
fn is_loader_variable(name: &str) -> bool {
    matches!(
        name,
        "PATH"
            | "LD_PRELOAD"
            | "LD_LIBRARY_PATH"
            | "LD_AUDIT"
            | "BASH_ENV"
            | "ENV"
            | "PROMPT_COMMAND"
            | "PYTHONPATH"
            | "PYTHONSTARTUP"
            | "NODE_OPTIONS"
            | "PERL5OPT"
            | "RUBYOPT"
            | "GIT_DIR"
            | "GIT_EXEC_PATH"
            | "GIT_SSH"
            | "GIT_SSH_COMMAND"
            | "GIT_CONFIG"
            | "GIT_CONFIG_GLOBAL"
            | "GIT_CONFIG_SYSTEM"
            | "GIT_CONFIG_COUNT"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_EDITOR"
            | "GIT_PAGER"
            | "DYLD_INSERT_LIBRARIES"
    )
}

#[cfg(test)]
mod tests;
