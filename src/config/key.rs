//! Every setting there is: its name, what it may hold, who may set it, its variable, its default.
//!
//! One table feeds reading, the environment, `config` listings and `docs/config.md`.

/// What a setting holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`; in the environment exactly `1` switches on.
    Switch,
    /// A whole number from 1.
    Count,
    /// Text on one line.
    Text,
    /// A list of texts; a single text stands for a list of one. The strongest layer decides.
    List,
    /// A list of texts; all layers add up.
    AddingList,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A map from names to one of these words.
    Choices(&'static [&'static str]),
    /// A section that the policy room reads.
    PolicySection,
    /// Known, but not there yet: it is refused, since ignoring a guard would leave a gate open.
    Later(&'static str),
}

/// Who may set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Flags, task, environment, user and repository.
    Anyone,
    /// Flags, environment and user: it widens what a run may do, so nothing that the repository holds sets it.
    NotRepository,
    /// Flags and environment only: the person who starts this very run.
    Starter,
}

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name, with a dot between section and key.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Who may set it.
    pub reach: Reach,
    /// Whether its value must never be shown.
    pub is_secret: bool,
    /// Its environment variable, empty for none.
    pub variable: &'static str,
    /// The names that other systems use for that variable, accepted as well.
    pub aliases: &'static [&'static str],
    /// Its default as JSON; empty for none.
    pub default: &'static str,
    /// What it does, one line.
    pub about: &'static str,
}

const fn key(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Key {
    Key { name, kind, reach: Reach::Anyone, is_secret: false, variable: "", aliases: &[], default, about }
}

impl Key {
    const fn variable(mut self, variable: &'static str, aliases: &'static [&'static str]) -> Self {
        self.variable = variable;
        self.aliases = aliases;
        self
    }

    const fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }
}

const GATES: &[&str] = &["rules", "always"];

/// All settings, in the order of the documentation.
pub static KEYS: &[Key] = &[
    key("agent", Kind::Text, "", "who answers: `script:FILE`").variable("GATEWRIGHT_AGENT", &[]),
    key("policy", Kind::List, r#"["builtin:ci"]"#, "policies that judge: `builtin:NAME` or files")
        .variable("GATEWRIGHT_POLICY", &[]),
    key("base", Kind::Text, r#""HEAD""#, "commit that the work starts from"),
    key(
        "on_ask",
        Kind::Choice(&["deny", "stage"]),
        r#""deny""#,
        "what happens to a call that needs a person",
    )
    .variable("GATEWRIGHT_ON_ASK", &[]),
    key(
        "profile",
        Kind::Choice(&["self_improve", "assist"]),
        "",
        "a set of defaults: `self_improve` gives 40 iterations",
    ),
    key("guardrails", Kind::PolicySection, "", "rules in the seed form: `enabled`, `rules`, `disable`"),
    key("gates", Kind::Choices(GATES), "{}", "per tool: judged by `rules`, or `always` asking"),
    key("allow", Kind::List, "[]", "paths that the commit may change; none given means all"),
    key("protect", Kind::AddingList, "[]", "paths that the commit must not change"),
    key("tests.command", Kind::Text, "", "the command whose success makes a tree green"),
    key("tests.timeout_secs", Kind::Count, "600", "time for one run of the tests, seconds"),
    key("tests.base", Kind::Switch, "true", "whether the tests run on the base first"),
    key("tests.skip", Kind::Switch, "false", "whether a commit needs no tests").reach(Reach::NotRepository),
    key(
        "environment",
        Kind::List,
        "[]",
        "names of variables that programs of a run get besides PATH, HOME and LANG",
    )
    .reach(Reach::NotRepository),
    key("limits.max_iterations", Kind::Count, "5", "answers of the agent"),
    key("limits.max_tool_calls", Kind::Count, "200", "tool calls"),
    key("limits.wall_clock_secs", Kind::Count, "1800", "time for the whole run, seconds"),
    key("limits.max_files", Kind::Count, "100", "changed files in the commit"),
    key("limits.max_bytes", Kind::Count, "10485760", "bytes of all changed files together"),
    key("shell.enabled", Kind::Switch, "false", "whether the tool `execute` exists")
        .variable("GATEWRIGHT_ENABLE_SHELL", &["ASSISTANT_ENABLE_SHELL"])
        .reach(Reach::NotRepository),
    key("shell.timeout_ms", Kind::Count, "30000", "time for one command, milliseconds")
        .variable("GATEWRIGHT_SHELL_TIMEOUT_MS", &["ASSISTANT_SHELL_TIMEOUT_MS"]),
    key(
        "shell.network_allowlist",
        Kind::Later("the allowlist proxy is not built yet"),
        "",
        "hosts that commands may reach",
    )
    .variable("GATEWRIGHT_SHELL_NETWORK_ALLOWLIST", &["ASSISTANT_SHELL_NETWORK_ALLOWLIST"]),
    key("read.truncate_at_bytes", Kind::Count, "65536", "a longer file is shown as head and tail")
        .variable("GATEWRIGHT_READ_TRUNCATE_AT_BYTES", &["SAMAGOTCHI_READ_TRUNCATE_AT_BYTES"]),
    key("read.preview_bytes", Kind::Count, "12288", "bytes that head and tail share")
        .variable("GATEWRIGHT_READ_PREVIEW_BYTES", &["SAMAGOTCHI_READ_PREVIEW_BYTES"]),
    key("read.hard_max_bytes", Kind::Count, "2097152", "a longer file is not read at all")
        .variable("GATEWRIGHT_READ_HARD_MAX_BYTES", &["SAMAGOTCHI_READ_HARD_MAX_BYTES"]),
    key("execute.truncate_at_bytes", Kind::Count, "65536", "a longer stream is shown as head and tail")
        .variable("GATEWRIGHT_EXECUTE_TRUNCATE_AT_BYTES", &["SAMAGOTCHI_EXECUTE_TRUNCATE_AT_BYTES"]),
    key("execute.preview_bytes", Kind::Count, "12288", "bytes that head and tail share")
        .variable("GATEWRIGHT_EXECUTE_PREVIEW_BYTES", &["SAMAGOTCHI_EXECUTE_PREVIEW_BYTES"]),
    key("identity.name", Kind::Text, r#""gatewright""#, "author and committer of the commit"),
    key("identity.email", Kind::Text, r#""gatewright@localhost""#, "their address"),
    key("allow_commit", Kind::Switch, "false", "whether the run may end in a commit")
        .variable("GATEWRIGHT_ALLOW_SELF_COMMIT", &["LICH_ALLOW_SELF_COMMIT"])
        .reach(Reach::Starter),
    key(
        "non_interactive_approval",
        Kind::Choice(&["decline", "require-tty"]),
        "",
        "`decline` declines every ask",
    )
    .variable("GATEWRIGHT_NON_INTERACTIVE_APPROVAL", &["ASSISTANT_NON_INTERACTIVE_APPROVAL"])
    .reach(Reach::NotRepository),
    key("backend.name", Kind::Text, "", "provider of the built-in loop, for agents to come")
        .variable("GATEWRIGHT_LLM_BACKEND", &["ASSISTANT_LLM_BACKEND"])
        .reach(Reach::NotRepository),
    key("backend.model", Kind::Text, "", "model of that provider")
        .variable("GATEWRIGHT_MODEL", &["ASSISTANT_MODEL"])
        .reach(Reach::NotRepository),
    key("backend.url", Kind::Text, "", "address of a proxy")
        .variable("GATEWRIGHT_PROXY_URL", &["ASSISTANT_PROXY_URL"])
        .reach(Reach::NotRepository),
    key("backend.token", Kind::Text, "", "token of the proxy")
        .variable("GATEWRIGHT_PROXY_TOKEN", &["ASSISTANT_PROXY_TOKEN"])
        .reach(Reach::NotRepository)
        .secret(),
    key("backend.api_key", Kind::Text, "", "key of the provider")
        .variable("GATEWRIGHT_API_KEY", &["ASSISTANT_API_KEY"])
        .reach(Reach::NotRepository)
        .secret(),
    key("bundles", Kind::Later("bundles are not built yet"), "", "installed bundles"),
    key("hooks", Kind::Later("hooks are not built yet"), "", "guardrail hooks"),
    key("plugins", Kind::Later("plugins are not built yet"), "", "plugin manifests"),
];

/// The setting of that name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
