//! The gates of a run, made from its settings: intent and outcome.

use std::path::{Path, PathBuf};

use crate::call::{Context, PathGlob};
use crate::config::{GateWord, Settings};
use crate::gate::outcome::{self, OutcomeRules, judge_changes, judge_message};
use crate::gate::{ClassGate, ClassGates, Gate, GateSettings, Places};
use crate::policy::Policy;
use crate::verdict::{Origin, Verdict, Vote};
use crate::worktree::{ChangeKind, Changes, Fork, Notice, Repository};

use super::request::Stop;

/// Bytes of one changed file that are read for checks on content.
const READ_LIMIT: u64 = 4 << 20;

/// Where things lie that a run must not change.
pub(super) struct Ground<'a> {
    pub(super) repository: &'a Repository,
    pub(super) fork: &'a Fork,
    /// The run's folder and the ledger, as far as they lie outside the run's place.
    pub(super) records: Vec<PathBuf>,
    pub(super) user_folder: Option<&'a Path>,
}

/// The intent gate.
pub(super) fn intent(policy: Policy, settings: &Settings, ground: &Ground<'_>) -> Gate {
    let mut classes = ClassGates::default();
    for (tool, word) in settings.gates() {
        let gate = match word {
            GateWord::Rules => ClassGate::Rules,
            GateWord::Always => ClassGate::Always,
        };
        classes.set(&tool, gate);
    }
    let work = ground.fork.work();
    let places = Places {
        state: ground.records.clone(),
        extensions: Vec::new(),
        policies: Vec::new(),
        configs: std::iter::once(work.join(".gatewright"))
            .chain(ground.user_folder.map(Path::to_path_buf))
            .collect(),
        hooks: Vec::new(),
        git: vec![
            ground.repository.common_dir().to_owned(),
            ground.repository.git_dir().to_owned(),
            ground.fork.git_dir(),
        ],
        worktree: Some(work),
    };
    let mut gate = GateSettings::for_run(classes, places.protected());
    gate.guardrails_enabled = policy.is_enabled();
    Gate::new(policy, gate)
}

/// Globs of a setting.
fn globs(settings: &Settings, name: &str) -> Result<Vec<PathGlob>, Stop> {
    settings
        .list(name)
        .iter()
        .map(|text| PathGlob::parse(text).map_err(|error| Stop::usage(format!("{name}: `{text}`: {error}"))))
        .collect()
}

/// Limits and globs of the outcome gate; checked before anything starts.
pub(super) fn outcome_rules(settings: &Settings) -> Result<OutcomeRules, Stop> {
    let limits = settings.limits();
    Ok(OutcomeRules {
        allowed: globs(settings, "allow")?,
        protected: globs(settings, "protect")?,
        most_files: limits.files,
        most_bytes: limits.bytes,
        ..OutcomeRules::default()
    })
}

/// What the outcome gate says about the changed tree, and about the message of its commit.
pub(super) fn judge_outcome(
    fork: &Fork,
    changes: &Changes,
    policy: Option<&Policy>,
    rules: &OutcomeRules,
    message: Option<&str>,
) -> Result<Vec<Vote>, Stop> {
    let mut facts = Vec::new();
    for change in &changes.list {
        let read = |side: Option<crate::worktree::Side>| match side {
            Some(side) if side.mode != outcome::SUBMODULE_MODE && side.bytes <= READ_LIMIT => {
                fork.blob(side.id).map(Some).map_err(Stop::from)
            }
            _ => Ok(None),
        };
        facts.push(outcome::Change {
            path: String::from_utf8_lossy(change.path.as_bytes()).into_owned(),
            kind: match change.kind {
                ChangeKind::Added => outcome::ChangeKind::Added,
                ChangeKind::Modified | ChangeKind::Mode => outcome::ChangeKind::Modified,
                ChangeKind::Deleted => outcome::ChangeKind::Deleted,
                ChangeKind::Type => outcome::ChangeKind::Type,
            },
            old_mode: change.before.map(|side| side.mode),
            new_mode: change.after.map(|side| side.mode),
            bytes: change.after.map_or(0, |side| side.bytes),
            content: read(change.after)?,
            old_content: read(change.before)?,
        });
    }
    let context = Context { root: fork.work(), cwd: fork.work(), home: Some(fork.home()) };
    let mut votes = judge_changes(&facts, rules, policy, &context);
    votes.extend(message.into_iter().flat_map(judge_message));
    votes.extend(changes.notices.iter().filter(|notice| is_fatal(notice)).map(|notice| Vote {
        verdict: Verdict::Deny,
        reason: notice.to_string(),
        origin: Origin::Outcome { check: "tree".into() },
        hint: None,
        scopes: Vec::new(),
        part: None,
        subject: notice.path().map(ToString::to_string),
    }));
    Ok(votes)
}

/// Whether what the worktree holds cannot be in a commit, or must not be.
fn is_fatal(notice: &Notice) -> bool {
    notice.is_incomplete() || matches!(notice, Notice::NestedRepository(_) | Notice::OutwardLink(..))
}
