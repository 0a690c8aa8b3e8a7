//! Before anything is started: repository, settings, task, policy, agent.

use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::agent::{Agent, AgentError, AgentName, Script};
use crate::config::{Layer, Origin, Resolved, Settings};
use crate::gate::outcome::OutcomeRules;
use crate::policy::Policy;
use crate::record::{self, RunStart, Setting, Status, Task};
use crate::worktree::{Base, Repository};

use super::request::{Details, Request, Stop, with_causes};
use super::sources::{Places, SourcesError, load_policy, policy_names};
use super::task::TaskFile;

/// Where a repository keeps its settings.
pub(super) const REPOSITORY_CONFIG: &str = ".gatewright/config.yml";

/// Settings that the journal names.
const TOLD: &[&str] = &[
    "on_ask",
    "gates",
    "allow",
    "protect",
    "tests.command",
    "limits.max_iterations",
    "limits.max_tool_calls",
    "limits.wall_clock_secs",
    "limits.max_files",
    "limits.max_bytes",
    "shell.enabled",
    "shell.timeout_ms",
    "allow_commit",
    "policy",
];

/// Everything that is known before the work starts.
pub(super) struct Prepared {
    pub(super) base: Base,
    pub(super) settings: Settings,
    /// Taken by the gate.
    pub(super) policy: Option<Policy>,
    pub(super) policy_digest: String,
    pub(super) outcome_rules: OutcomeRules,
    pub(super) agent: Box<dyn Agent>,
    pub(super) prompt: String,
    pub(super) deadline: Instant,
    /// What is worth knowing, one line each, with who says it.
    pub(super) notices: Vec<(&'static str, String)>,
}

/// Reads everything. `start` is filled as far as things are known, so that an early end can be told too.
pub(super) fn prepare(
    request: &Request,
    repository: &Repository,
    start: &mut RunStart,
) -> Result<Prepared, Stop> {
    let begin = Instant::now();
    start.repository = repository.root().display().to_string();
    let task = read_task(request)?;
    let prompt = request.prompt.clone().or_else(|| task.as_ref().and_then(|task| task.prompt.clone()));
    start.task = Task {
        name: task.as_ref().map(|task| task.name.clone()),
        prompt: shortened(prompt.as_deref().unwrap_or_default(), 2_000),
        digest: sha256_hex(prompt.as_deref().unwrap_or_default().as_bytes()),
    };
    let mut layers = request.layers.clone();
    layers.extend(task.map(|task| task.layer));
    let base = find_base(repository, &layers, start)?;
    if let Some(layer) = repository_layer(repository, &base)? {
        layers.push(layer);
    }
    let settings = Settings::resolve(&layers);
    start.settings =
        settings.all().iter().filter(|resolved| TOLD.contains(&resolved.key.name)).map(told).collect();
    start.may_commit = settings.is_on("allow_commit");
    refuse_what_is_not_there(&settings)?;
    let outcome_rules = super::gates::outcome_rules(&settings)?;
    let short = base.commit.short();
    let files = |path: &str| repository.base_file(&base, path).map_err(|error| with_causes(&error));
    let places = Places {
        cwd: &request.directory,
        user: request.user_folder.as_deref(),
        base: Some((&short, &files)),
    };
    let loaded = load_policy(&policy_names(&settings), &settings.policy_sections, &places, request.today);
    let (policy, sources) = loaded.map_err(policy_stop)?;
    start.policy = Some(record::PolicyRecord {
        digest: policy.digest().to_owned(),
        copy_digest: sha256_hex(policy.to_yaml().as_bytes()),
        sources,
        rules: policy.rules().count(),
    });
    let agent = find_agent(&settings, &places)?;
    start.agent = agent.name();
    let prompt = match prompt {
        Some(prompt) => prompt,
        // Recorded answers need no question.
        None if start.agent.starts_with("script:") => String::new(),
        None => return Err(Stop::usage("nothing to do: give a task file or --prompt")),
    };
    let mut notices: Vec<(&'static str, String)> =
        settings.notices.iter().map(|notice| ("settings", notice.clone())).collect();
    notices.extend(policy.notices().iter().map(|notice| ("policy", format!("{}: {notice}", notice.place()))));
    let deadline = begin + settings.limits().wall_clock.min(Duration::from_secs(60 * 60 * 24 * 365));
    let policy_digest = policy.digest().to_owned();
    Ok(Prepared {
        base,
        settings,
        policy_digest,
        policy: Some(policy),
        outcome_rules,
        agent,
        prompt,
        deadline,
        notices,
    })
}

fn read_task(request: &Request) -> Result<Option<TaskFile>, Stop> {
    let Some(name) = &request.task else { return Ok(None) };
    let bytes = super::read_file(&request.directory.join(name))
        .map_err(|why| Stop::usage(format!("cannot read the task {name}: {why}")))?;
    let text =
        String::from_utf8(bytes).map_err(|_| Stop::usage(format!("the task {name} is no UTF-8 text")))?;
    TaskFile::parse(name, &text).map(Some).map_err(Stop::faults)
}

/// The base decides which repository settings hold, so those cannot name it.
fn find_base(repository: &Repository, layers: &[Layer], start: &mut RunStart) -> Result<Base, Stop> {
    let settings = Settings::resolve(layers);
    let revision = settings.text("base").unwrap_or("HEAD");
    let base = repository.base((revision != "HEAD").then_some(revision))?;
    start.base = record::Base {
        revision: revision.to_owned(),
        commit: base.commit.to_string(),
        tree: base.tree.to_string(),
    };
    Ok(base)
}

fn repository_layer(repository: &Repository, base: &Base) -> Result<Option<Layer>, Stop> {
    let Some(bytes) = repository.base_file(base, REPOSITORY_CONFIG)? else { return Ok(None) };
    let name = format!("{}:{REPOSITORY_CONFIG}", base.commit.short());
    let text = String::from_utf8(bytes).map_err(|_| Stop::usage(format!("{name} is no UTF-8 text")))?;
    Layer::from_file(Origin::Repository, &name, &text).map(Some).map_err(Stop::faults)
}

fn refuse_what_is_not_there(settings: &Settings) -> Result<(), Stop> {
    if settings.text("on_ask") == Some("stage")
        && settings.text("non_interactive_approval") != Some("decline")
    {
        return Err(Stop::usage(
            "on_ask: stage is not built yet, no run can be parked; use deny, which refuses what needs a person",
        ));
    }
    if settings.text("non_interactive_approval") == Some("require-tty") {
        use std::io::IsTerminal;
        if !std::io::stdin().is_terminal() {
            return Err(Stop::usage(
                "a terminal is required (non_interactive_approval: require-tty), there is none",
            ));
        }
    }
    if settings.text("tests.command").is_none() && !settings.is_on("tests.skip") {
        return Err(Stop::new(
            Status::TestsNone,
            "no test command is set, so nothing would tell a good tree; give --tests COMMAND, or --no-tests",
        ));
    }
    Ok(())
}

fn find_agent(settings: &Settings, places: &Places<'_>) -> Result<Box<dyn Agent>, Stop> {
    let Some(resolved) = settings.get("agent").filter(|resolved| resolved.value.is_some()) else {
        return Err(Stop::usage("no agent: give --agent script:FILE"));
    };
    let name = settings.text("agent").unwrap_or_default();
    match AgentName::parse(name) {
        Ok(AgentName::Script(file)) => {
            let (shown, bytes) = places.read(resolved.origin, &file).map_err(|error| {
                Stop::usage(format!("cannot read the script {}: {}", error.name, error.why))
            })?;
            let text = String::from_utf8(bytes)
                .map_err(|_| Stop::usage(format!("the script {shown} is no UTF-8 text")))?;
            Ok(Box::new(Script::parse(&shown, &text).map_err(Stop::faults)?))
        }
        Err(AgentError::Script { faults }) => Err(Stop::faults(faults)),
        Err(error @ AgentError::Unknown { .. }) => Err(Stop::usage(format!("{error}; there is script:FILE"))),
    }
}

fn policy_stop(error: SourcesError) -> Stop {
    let reason = match &error {
        SourcesError::Broken(errors) => errors.to_string(),
        SourcesError::Unavailable(_) | SourcesError::NoBuiltin { .. } => error.to_string(),
    };
    let details = match error {
        SourcesError::Broken(errors) => Details::Policy(errors),
        SourcesError::Unavailable(_) | SourcesError::NoBuiltin { .. } => Details::None,
    };
    Stop { status: Status::PolicyBroken, reason: format!("{reason}; nothing was started"), details }
}

fn told(resolved: &Resolved) -> (String, Setting) {
    let value = resolved.value.as_ref().map_or(serde_json::Value::Null, crate::config::Value::to_json);
    (resolved.key.name.to_owned(), Setting { value, origin: resolved.origin.name().to_owned() })
}

/// sha256 in hex.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first `limit` characters, with a mark when there are more.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    let mut short: String = text.chars().take(limit).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
