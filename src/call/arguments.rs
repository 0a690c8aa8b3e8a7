//! What the arguments of a call say: command lines, paths, addresses, patches.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::shell::Access;

/// Keys whose values are paths, on any tool.
const PATH_KEYS: &[&str] = &[
    "file_path",
    "filePath",
    "filepath",
    "file",
    "path",
    "notebook_path",
    "target_file",
    "targetFile",
    "absolute_path",
    "dir_path",
    "directory",
    "dir",
    "folder",
    "filename",
    "file_name",
    "relative_workspace_path",
    "relative_path",
    "repo_path",
    "uri",
    "paths",
    "files",
    "file_paths",
    "filePaths",
    "directories",
    "include",
    "source",
    "src",
    "destination",
    "dest",
    "target",
    "old_path",
    "new_path",
    "from_path",
    "to_path",
    "output",
    "output_path",
    "output_file",
    "outputPath",
    "input_file",
    "input_path",
    "local_path",
    "save_path",
    "root",
    "cwd",
    "workdir",
];

/// Of [`PATH_KEYS`], those whose values are as often something else; they count when they look like a path.
const DOUBTFUL_KEYS: &[&str] =
    &["source", "src", "destination", "dest", "target", "output", "include", "root", "uri"];

/// Keys that hold lists of parts of a call, each with keys of its own.
const LIST_KEYS: &[&str] =
    &["edits", "files", "operations", "changes", "operation", "action", "items", "moves"];

/// Keys that say where a command starts.
const DIRECTORY_KEYS: &[&str] =
    &["workdir", "working_directory", "workingDirectory", "working_dir", "cwd", "dir_path", "directory"];

/// The arguments as an object; a string that holds one is decoded once more.
pub(super) fn object(args: &Value) -> Cow<'_, Map<String, Value>> {
    match args {
        Value::Object(map) => Cow::Borrowed(map),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(map)) => Cow::Owned(map),
            _ => Cow::Owned(Map::new()),
        },
        _ => Cow::Owned(Map::new()),
    }
}

/// A path in the arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GivenPath {
    /// As written.
    pub path: String,
    /// How it is touched where its key says so.
    pub access: Option<Access>,
}

/// Paths in the arguments, in order, each once.
pub(super) fn paths(args: &Map<String, Value>) -> Vec<GivenPath> {
    let mut found = Vec::new();
    gather(args, 0, &mut found);
    found
}

fn gather(args: &Map<String, Value>, depth: usize, found: &mut Vec<GivenPath>) {
    let add = |path: &str, access: Option<Access>, found: &mut Vec<GivenPath>| {
        let given = GivenPath { path: local_path(path), access };
        if !given.path.is_empty() && !found.contains(&given) {
            found.push(given);
        }
    };
    for (key, value) in args {
        if PATH_KEYS.contains(&key.as_str()) {
            let is_doubtful = DOUBTFUL_KEYS.contains(&key.as_str());
            let is_path = |text: &str| {
                !is_address(text)
                    && (!is_doubtful || looks_like_path(text))
                    && text.len() <= 4_096
                    && !text.contains('\n')
            };
            match value {
                Value::String(text) if is_path(text) => add(text, access_of_key(key), found),
                Value::Array(list) => {
                    for text in list.iter().filter_map(Value::as_str).filter(|text| is_path(text)) {
                        add(text, access_of_key(key), found);
                    }
                }
                _ => {}
            }
        }
        if depth < 3 && LIST_KEYS.contains(&key.as_str()) {
            match value {
                Value::Array(list) => {
                    list.iter().filter_map(Value::as_object).for_each(|part| gather(part, depth + 1, found));
                }
                Value::Object(part) => gather(part, depth + 1, found),
                _ => {}
            }
        }
    }
}

fn access_of_key(key: &str) -> Option<Access> {
    match key {
        "destination" | "dest" | "new_path" | "to_path" | "output" | "output_path" | "output_file"
        | "outputPath" | "save_path" => Some(Access::Write),
        "input_file" | "input_path" | "cwd" | "workdir" => Some(Access::Read),
        _ => None,
    }
}

fn looks_like_path(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        && (text.starts_with(['/', '.', '~']) || text.starts_with("file:") || text.contains('/'))
}

/// Whether a text is an address of the network.
pub(super) fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && !scheme.eq_ignore_ascii_case("file")
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// A path without the dress of a `file:` address.
pub(super) fn local_path(text: &str) -> String {
    let rest = match text.get(..5) {
        Some(scheme) if scheme.eq_ignore_ascii_case("file:") => &text[5..],
        _ => return text.to_owned(),
    };
    let rest = match rest.strip_prefix("//") {
        Some(rest) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => rest,
    };
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(&byte) = rest.as_bytes().get(at) {
        let escaped = (byte == b'%').then(|| rest.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) => {
                bytes.push(value);
                at += 3;
            }
            None => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Addresses in the arguments of a tool that is no fetch: values that are one as a whole.
pub(super) fn addresses(args: &Map<String, Value>) -> Vec<String> {
    fn gather(value: &Value, depth: usize, found: &mut Vec<String>) {
        match value {
            Value::String(text) if is_address(text.trim()) && !text.trim().contains(char::is_whitespace) => {
                found.push(text.trim().to_owned());
            }
            Value::Array(list) if depth < 4 => list.iter().for_each(|value| gather(value, depth + 1, found)),
            Value::Object(map) if depth < 4 => map.values().for_each(|value| gather(value, depth + 1, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for value in args.values() {
        gather(value, 0, &mut found);
    }
    found
}

/// Addresses that a fetch names; where it has only a request in words, every one in there.
pub(super) fn fetched(args: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for key in ["url", "urls", "uri", "link", "href"] {
        match args.get(key) {
            Some(Value::String(text)) => found.push(text.clone()),
            Some(Value::Array(list)) => {
                found.extend(list.iter().filter_map(Value::as_str).map(str::to_owned))
            }
            _ => {}
        }
    }
    if let Some(Value::Object(action)) = args.get("action") {
        found.extend(action.get("url").and_then(Value::as_str).map(str::to_owned));
    }
    if found.is_empty()
        && let Some(prompt) = args.get("prompt").and_then(Value::as_str)
    {
        let mut rest = prompt;
        while let Some(at) = rest.find("://") {
            let start = rest[..at]
                .rfind(|c: char| !c.is_ascii_alphanumeric())
                .map_or(0, |i| i + rest[i..].chars().next().map_or(1, char::len_utf8));
            let end = rest[at..]
                .find(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`' | ')'))
                .map_or(rest.len(), |end| at + end);
            found.push(rest[start..end].to_owned());
            rest = &rest[end..];
        }
    }
    found
}

/// A command line in the arguments of a shell tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// To be read as shell.
    Shell(String),
    /// Typed into a program that runs; where, is not known.
    Typed(String),
    /// A patch, although the tool runs commands.
    Patch(String),
}

/// The command lines of a shell call; the error says what is odd.
pub(super) fn lines(tool: &str, args: &Value) -> Result<Vec<Line>, String> {
    let map = object(args);
    let folded = tool.to_ascii_lowercase();
    let is_typed = folded.ends_with("write_stdin") || map.get("is_input").is_some_and(is_true);
    if let Some(typed) =
        map.get("chars").or_else(|| map.get("input")).filter(|_| is_typed).and_then(Value::as_str)
    {
        return Ok(vec![Line::Typed(typed.to_owned())]);
    }
    if let Some(interpreter) = interpreter(&folded) {
        let code = map
            .get("code")
            .or_else(|| map.get("script"))
            .or_else(|| map.get("input"))
            .and_then(Value::as_str);
        return match code.or_else(|| args.as_str().filter(|_| map.is_empty())) {
            Some(code) => Ok(vec![Line::Shell(format!("{interpreter} {}", quote(code)))]),
            None => Err("call without code".to_owned()),
        };
    }
    if let (true, Value::String(text)) = (map.is_empty(), args) {
        return Ok(vec![Line::Shell(text.clone())]);
    }
    let inner = map.get("action").and_then(Value::as_object);
    let mut found = Vec::new();
    // All of them count: which one a tool runs is not ours to guess.
    for key in ["command", "cmd", "script", "commands", "command_line", "commandLine", "args", "argv"] {
        let Some(value) = map.get(key).or_else(|| inner.and_then(|inner| inner.get(key))) else { continue };
        let is_list_of_lines = key == "commands";
        match value {
            Value::String(text) if is_typed => found.push(Line::Typed(text.clone())),
            Value::String(text) => found.push(Line::Shell(text.clone())),
            Value::Array(list) => {
                let words: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
                let words = words.ok_or_else(|| format!("`{key}` holds something that is no text"))?;
                if is_list_of_lines {
                    found.extend(words.into_iter().map(|line| Line::Shell(line.to_owned())));
                } else if !words.is_empty() {
                    found.push(argv(&words));
                }
            }
            Value::Null => {}
            _ => return Err(format!("`{key}` is no text")),
        }
    }
    if found.is_empty() { Err("shell call without a command".to_owned()) } else { Ok(found) }
}

fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true) || value.as_str() == Some("true")
}

/// The program that runs what a tool for code is given.
fn interpreter(folded: &str) -> Option<&'static str> {
    Some(match folded.rsplit('.').next()? {
        "python"
        | "run_ipython"
        | "execute_ipython_cell"
        | "code_execution"
        | "code_interpreter"
        | "code_interpreter_call" => "python3 -c",
        _ => return None,
    })
}

/// Words as the line that starts them.
fn argv(words: &[&str]) -> Line {
    match words {
        ["apply_patch" | "applypatch", patch] => Line::Patch((*patch).to_owned()),
        // The usual dress is taken off, so that places in the line are those that people see.
        [shell, flags, line]
            if is_shell(shell) && matches!(*flags, "-c" | "-lc" | "-cl" | "-ic" | "-lic") =>
        {
            Line::Shell((*line).to_owned())
        }
        [shell, "-l" | "--login", "-c", line] if is_shell(shell) => Line::Shell((*line).to_owned()),
        words => Line::Shell(words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")),
    }
}

fn is_shell(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("sh" | "bash" | "dash" | "zsh" | "ash"))
}

/// A word as bash reads it back.
pub(super) fn quote(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | ',' | '+' | '@' | '=' | '%')
    };
    if !word.is_empty() && word.chars().all(is_plain) && !word.contains('=') {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}

/// The directory that a shell call says it starts in.
pub(super) fn directory(args: &Map<String, Value>) -> Option<&str> {
    let inner = args.get("action").and_then(Value::as_object);
    DIRECTORY_KEYS
        .iter()
        .find_map(|key| args.get(*key).or_else(|| inner.and_then(|inner| inner.get(*key))))
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// Variables that a shell call sets for its command.
pub(super) fn environment(args: &Map<String, Value>) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let decoded;
    let map = match args.get("env").or_else(|| args.get("environment")) {
        Some(Value::Object(map)) => map,
        Some(value @ Value::String(_)) => {
            decoded = object(value);
            &decoded
        }
        _ => return Vec::new(),
    };
    map.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// The patch text of a call, whichever key carries it.
pub(super) fn patch(tool: &str, args: &Value) -> Option<String> {
    if let Value::String(text) = args
        && object(args).is_empty()
    {
        return Some(text.clone());
    }
    let map = object(args);
    let is_patch_tool =
        tool.to_ascii_lowercase().contains("patch") || tool.to_ascii_lowercase().contains("diff");
    for key in ["patch", "input", "patchText", "patch_text", "diff", "command", "unified_diff", "content"] {
        let text = match map.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(list)) => match list.iter().filter_map(Value::as_str).next_back() {
                Some(last) => last.to_owned(),
                None => continue,
            },
            _ => continue,
        };
        if matches!(key, "patch" | "patchText" | "patch_text")
            || is_patch_tool
            || text.contains("*** Begin Patch")
        {
            return Some(text);
        }
    }
    None
}

/// What an argument named `command` or `type` of an editing tool asks for.
pub(super) fn editor_command(args: &Map<String, Value>) -> Option<(&'static str, Access)> {
    let operation = args.get("operation").and_then(Value::as_object);
    let word = args
        .get("command")
        .or_else(|| operation.and_then(|operation| operation.get("type")))
        .and_then(Value::as_str)?;
    Some(match word {
        "view" => ("read", Access::Read),
        "create" | "write" | "create_file" => ("write", Access::Write),
        "delete_file" | "delete" => ("delete", Access::Delete),
        _ => ("edit", Access::Write),
    })
}

/// How a tool of a server touches paths, by the words of its name.
pub(super) fn guess_access(tool: &str) -> Access {
    const DELETE: &[&str] =
        &["delete", "remove", "rm", "unlink", "purge", "destroy", "drop", "prune", "move", "rename"];
    const WRITE: &[&str] = &[
        "write", "create", "update", "edit", "set", "put", "add", "insert", "append", "save", "modify",
        "patch", "replace", "commit", "push", "upload", "make", "mkdir", "copy", "init", "apply", "checkout",
        "reset", "store",
    ];
    const READ: &[&str] = &[
        "read", "list", "get", "search", "find", "view", "show", "log", "status", "diff", "describe",
        "fetch", "query", "stat", "info", "tree", "blame", "cat", "head", "tail", "grep", "count", "check",
        "exists", "open", "download",
    ];
    let mut words: Vec<String> = Vec::new();
    for (index, c) in tool.char_indices() {
        if !c.is_alphanumeric() {
            words.push(String::new());
        } else {
            if words.is_empty() || c.is_uppercase() && !tool[..index].ends_with(char::is_uppercase) {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
    }
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if has(DELETE) {
        Access::Delete
    } else if has(WRITE) || !has(READ) {
        Access::Write
    } else {
        Access::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_found_under_many_names() {
        let found = |args: Value| -> Vec<String> {
            paths(&object(&args)).into_iter().map(|given| given.path).collect()
        };
        assert_eq!(found(json!({"file_path": "a", "content": "path: b"})), ["a"]);
        assert_eq!(found(json!({"repo_path": "/r", "files": ["x", "../y"]})), ["/r", "x", "../y"]);
        assert_eq!(found(json!({"edits": [{"path": "a"}, {"filePath": "b"}]})), ["a", "b"]);
        assert_eq!(found(json!({"source": "the docs", "target": "main"})), Vec::<String>::new());
        assert_eq!(found(json!({"source": "a/b", "destination": "/etc/x"})), ["a/b", "/etc/x"]);
        assert_eq!(found(json!({"uri": "file:///etc/pass%77d"})), ["/etc/passwd"]);
        assert_eq!(found(json!({"uri": "https://a/b"})), Vec::<String>::new());
        assert_eq!(found(json!("{\"path\":\"a\"}")), ["a"]);
    }

    #[test]
    fn lines_come_in_many_shapes() {
        let shell = |text: &str| Line::Shell(text.to_owned());
        for (tool, args, expected) in [
            ("Bash", json!({"command": "ls"}), vec![shell("ls")]),
            ("exec_command", json!({"cmd": "ls", "workdir": "/x"}), vec![shell("ls")]),
            ("shell", json!({"command": ["bash", "-lc", "git push"]}), vec![shell("git push")]),
            ("shell", json!({"command": ["rm", "-rf", "a b", ";", "x"]}), vec![shell("rm -rf 'a b' ';' x")]),
            ("shell", json!({"command": ["git", "A=1"]}), vec![shell("git 'A=1'")]),
            ("shell_call", json!({"action": {"commands": ["a", "b"]}}), vec![shell("a"), shell("b")]),
            ("shell", json!({"command": ["apply_patch", "*** x"]}), vec![Line::Patch("*** x".to_owned())]),
            ("write_stdin", json!({"chars": "y\n", "session_id": 1}), vec![Line::Typed("y\n".to_owned())]),
            ("python", json!({"code": "print('x')"}), vec![shell("python3 -c 'print('\\''x'\\'')'")]),
        ] {
            assert_eq!(lines(tool, &args), Ok(expected), "{tool} {args}");
        }
        for args in [json!({}), json!(null), json!({"command": 7}), json!({"command": ["a", 7]})] {
            assert!(lines("Bash", &args).is_err(), "{args}");
        }
    }

    #[test]
    fn fetches_without_a_url_are_read_from_the_request() {
        let found = |args: Value| fetched(&object(&args));
        assert_eq!(found(json!({"url": "https://a/", "prompt": "see https://b/"})), ["https://a/"]);
        assert_eq!(
            found(json!({"prompt": "read (https://a/x) and ähttp://b/."})),
            ["https://a/x", "http://b/."]
        );
    }

    #[test]
    fn access_is_guessed_from_the_name() {
        for (tool, access) in [
            ("mcp_git_git_log", Access::Read),
            ("mcp_git_git_add", Access::Write),
            ("mcp_fs_getFileInfo", Access::Read),
            ("mcp_fs_write_file", Access::Write),
            ("mcp_fs_delete", Access::Delete),
            ("mcp_x_frobnicate", Access::Write),
            ("mcp_x_get_or_create", Access::Write),
        ] {
            assert_eq!(guess_access(tool), access, "{tool}");
        }
    }
}
