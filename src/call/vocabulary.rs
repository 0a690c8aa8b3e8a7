//! The tool vocabularies of the known agents, and what class each tool is of.

/// What kind of thing a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// Runs a command line.
    Shell,
    /// Reads files.
    Read,
    /// Writes a file whole.
    Write,
    /// Changes a file, or several by a patch.
    Edit,
    /// Fetches a URL.
    Fetch,
    /// Makes a commit.
    Commit,
    /// Runs the operator's tests.
    Test,
    /// Keeps the agent's own books: todo lists, plans, questions.
    Bookkeeping,
    /// A tool of an MCP server.
    Mcp,
    /// Not known.
    Unknown,
}

/// The tools of the group `shell`.
pub const SHELL_GROUP: [&str; 2] = ["execute", "task_create"];

/// Names as agents write them, without underscores, dashes and case, and the canonical name of each.
const NAMES: &[(&str, &str)] = &[
    // Command lines.
    ("bash", "execute"),
    ("sh", "execute"),
    ("shell", "execute"),
    ("execute", "execute"),
    ("executebash", "execute"),
    ("executecommand", "execute"),
    ("execcommand", "execute"),
    ("shellcommand", "execute"),
    ("commandexecution", "execute"),
    ("localshell", "execute"),
    ("localshellcall", "execute"),
    ("shellcall", "execute"),
    ("exec", "execute"),
    ("run", "execute"),
    ("runcommand", "execute"),
    ("runshellcommand", "execute"),
    ("runterminalcmd", "execute"),
    ("runterminalcommand", "execute"),
    ("runinterminal", "execute"),
    ("terminal", "execute"),
    ("bashsession", "execute"),
    ("powershell", "execute"),
    ("developershell", "execute"),
    ("mcpdevelopershell", "execute"),
    ("unifiedexec", "execute"),
    ("writestdin", "execute"),
    ("writebash", "execute"),
    ("monitor", "execute"),
    ("python", "execute"),
    ("runipython", "execute"),
    ("executeipythoncell", "execute"),
    ("codeexecution", "execute"),
    ("codeinterpreter", "execute"),
    ("codeinterpretercall", "execute"),
    ("taskcreate", "task_create"),
    // Reading.
    ("read", "read"),
    ("readfile", "read"),
    ("view", "read"),
    ("viewfile", "read"),
    ("viewimage", "read"),
    ("notebookread", "read"),
    ("readmanyfiles", "read"),
    ("cat", "read"),
    ("openfile", "read"),
    ("open", "read"),
    ("goto", "read"),
    ("getfilecontents", "read"),
    ("ls", "list"),
    ("list", "list"),
    ("listdir", "list"),
    ("listdirectory", "list"),
    ("listfiles", "list"),
    ("glob", "list"),
    ("findfiles", "list"),
    ("filesearch", "list"),
    ("globfilesearch", "list"),
    ("grep", "search"),
    ("search", "search"),
    ("grepsearch", "search"),
    ("searchfiles", "search"),
    ("searchfilecontent", "search"),
    ("searchdir", "search"),
    ("searchfile", "search"),
    ("codebasesearch", "search"),
    ("semanticsearch", "search"),
    ("grepfiles", "search"),
    ("find", "search"),
    ("findfile", "search"),
    ("lsp", "search"),
    ("readlints", "search"),
    // Writing.
    ("write", "write"),
    ("writefile", "write"),
    ("createfile", "write"),
    ("create", "write"),
    ("savefile", "write"),
    ("writetofile", "write"),
    ("edit", "edit"),
    ("editfile", "edit"),
    ("multiedit", "edit"),
    ("notebookedit", "edit"),
    ("editnotebook", "edit"),
    ("replace", "edit"),
    ("strreplace", "edit"),
    ("searchreplace", "edit"),
    ("insert", "edit"),
    ("append", "edit"),
    ("insertedit", "edit"),
    ("inserteditintofile", "edit"),
    ("replacestringinfile", "edit"),
    ("replaceinfile", "edit"),
    ("applydiff", "edit"),
    ("applypatch", "edit"),
    ("applypatchcall", "edit"),
    ("applypatchfreeform", "edit"),
    ("filechange", "edit"),
    ("patch", "edit"),
    ("strreplaceeditor", "edit"),
    ("strreplacebasededittool", "edit"),
    ("fileeditor", "edit"),
    ("texteditor", "edit"),
    ("developertexteditor", "edit"),
    ("delete", "delete"),
    ("deletefile", "delete"),
    ("removefile", "delete"),
    ("remove", "delete"),
    ("movefile", "move"),
    ("renamefile", "move"),
    ("move", "move"),
    ("rename", "move"),
    // The network.
    ("webfetch", "fetch_url"),
    ("fetch", "fetch_url"),
    ("fetchurl", "fetch_url"),
    ("browse", "fetch_url"),
    ("browsernavigate", "fetch_url"),
    ("webbrowsergo", "fetch_url"),
    ("readwebpage", "fetch_url"),
    ("readurlcontent", "fetch_url"),
    ("openpage", "fetch_url"),
    ("websearch", "web_search"),
    ("websearchcall", "web_search"),
    ("googlewebsearch", "web_search"),
    // Commits and tests.
    ("gitcommit", "git_commit"),
    ("runtests", "run_tests"),
    // The agent's own books.
    ("todowrite", "todo"),
    ("todoread", "todo"),
    ("updateplan", "todo"),
    ("writetodos", "todo"),
    ("managetodolist", "todo"),
    ("think", "think"),
    ("finish", "finish"),
    ("submit", "finish"),
    ("exitplanmode", "plan_mode"),
    ("enterplanmode", "plan_mode"),
    ("askuserquestion", "question"),
    ("requestuserinput", "question"),
    ("askuser", "question"),
    ("question", "question"),
    ("skill", "skill"),
    ("activateskill", "skill"),
    ("toolsearch", "tool_search"),
    ("reportintent", "report_intent"),
    ("updatetopic", "report_intent"),
    ("structuredoutput", "finish"),
    ("taskget", "task_get"),
    ("taskoutput", "task_get"),
    ("bashoutput", "task_get"),
    ("readbash", "task_get"),
    ("readbackgroundoutput", "task_get"),
    ("tasklist", "task_list"),
    ("listbash", "task_list"),
    ("taskupdate", "todo"),
    ("taskstop", "task_stop"),
    ("killshell", "task_stop"),
    ("killbash", "task_stop"),
    ("stopbash", "task_stop"),
    ("taskwait", "task_wait"),
    ("wait", "task_wait"),
    ("task", "delegate"),
    ("agent", "delegate"),
    ("spawnagent", "delegate"),
    ("invokeagent", "delegate"),
    ("dispatchagent", "delegate"),
    ("codebaseinvestigator", "delegate"),
    ("delegate", "delegate"),
    ("delegateresult", "delegate_result"),
    ("memorywrite", "memory_write"),
    ("sendemail", "send_email"),
];

/// The canonical name of a tool (`Bash` is `execute`).
///
/// `mcp__server__tool` becomes `mcp_server_tool`; a name that no vocabulary holds stays as it is.
pub fn canonical_tool(name: &str) -> String {
    let name = name.trim();
    let bare = ["functions.", "default_api.", "container.", "tools."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    let folded: String =
        bare.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect();
    // An underscore more or less must not turn the tool of a server into one of ours.
    if let Some(rest) = bare.strip_prefix("mcp__").or_else(|| bare.strip_prefix("mcp."))
        && !rest.is_empty()
    {
        let (server, tool) = rest.split_once("__").or_else(|| rest.split_once('.')).unwrap_or((rest, ""));
        return if tool.is_empty() { format!("mcp_{server}") } else { format!("mcp_{server}_{tool}") };
    }
    if !bare.starts_with("mcp_")
        && let Some((_, canonical)) = NAMES.iter().find(|(known, _)| *known == folded)
    {
        return (*canonical).to_owned();
    }
    match bare.split_once("__") {
        // `extension__tool`, as some agents name the tools of servers.
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => format!("mcp_{server}_{tool}"),
        _ => bare.to_owned(),
    }
}

/// The class of a canonical tool name.
pub fn tool_class(canonical: &str) -> ToolClass {
    match canonical {
        "execute" | "task_create" => ToolClass::Shell,
        "read" | "list" | "search" => ToolClass::Read,
        "write" => ToolClass::Write,
        "edit" | "delete" | "move" => ToolClass::Edit,
        "fetch_url" | "web_search" => ToolClass::Fetch,
        "git_commit" => ToolClass::Commit,
        "run_tests" => ToolClass::Test,
        "todo" | "think" | "finish" | "plan_mode" | "question" | "skill" | "tool_search"
        | "report_intent" | "task_get" | "task_list" | "task_stop" | "task_wait" | "delegate"
        | "delegate_result" | "memory_write" => ToolClass::Bookkeeping,
        name if name.starts_with("mcp_") => ToolClass::Mcp,
        _ => ToolClass::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_agents_come_to_one() {
        for (name, expected) in [
            ("Bash", "execute"),
            ("functions.exec_command", "execute"),
            ("container.exec", "execute"),
            ("run_shell_command", "execute"),
            ("developer__shell", "execute"),
            ("write_stdin", "execute"),
            ("MultiEdit", "edit"),
            ("NotebookEdit", "edit"),
            ("apply_patch", "edit"),
            ("read_file", "read"),
            ("ReadFile", "read"),
            ("list_directory", "list"),
            ("Grep", "search"),
            ("WebFetch", "fetch_url"),
            ("GitCommit", "git_commit"),
            ("TodoWrite", "todo"),
            ("Task", "delegate"),
            ("mcp__github__create_issue", "mcp_github_create_issue"),
            ("mcp__plugin_a_b__x_y", "mcp_plugin_a_b_x_y"),
            ("mcp__claude_ai_Bash__Read", "mcp_claude_ai_Bash_Read"),
            ("mcp_github_create_issue", "mcp_github_create_issue"),
            ("memory__store", "mcp_memory_store"),
            ("FancyWrite", "FancyWrite"),
            ("mcp__", "mcp__"),
        ] {
            assert_eq!(canonical_tool(name), expected, "{name}");
        }
        assert_eq!(tool_class("FancyWrite"), ToolClass::Unknown);
        assert_eq!(tool_class("mcp_x_y"), ToolClass::Mcp);
    }

    #[test]
    fn every_known_name_is_written_once_and_has_a_class() {
        let mut seen = std::collections::BTreeSet::new();
        for (name, canonical) in NAMES {
            assert!(seen.insert(name), "{name} twice");
            assert_eq!(canonical_tool(name), *canonical);
            assert!(tool_class(canonical) != ToolClass::Unknown || *canonical == "send_email", "{canonical}");
        }
    }
}
