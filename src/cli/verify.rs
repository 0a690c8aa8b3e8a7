//! `verify`: proof that journal, policy, report and commit belong together.

use clap::Args;

use crate::policy::{NoLibrary, Policy, Source};
use crate::record::{CommitFacts, Event, Facts, RunFiles, Trailer, read_journal, verify as compare};
use crate::sandbox::Cancel;
use crate::worktree::{Repository, UserContext};

use super::exit::Exit;
use super::failure::{Failure, with_causes};
use super::report::find_run;
use super::screen::{Screen, harmless};
use super::setup::Setup;

/// Prove that journal, policy, report and commit of a run belong together
///
/// Reads the run's folder and the repository that the journal names. A single changed byte is a finding, and the
/// exit code is 13.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// A run: its id or the beginning of it, `last`, or its folder
    #[arg(value_name = "RUN")]
    run: String,
    /// How the answer is written
    #[arg(long)]
    json: bool,
}

pub(super) fn verify(args: &VerifyArgs, setup: &Setup, screen: &mut Screen) -> Result<Exit, Failure> {
    let folder = find_run(&args.run, setup)?;
    let files = RunFiles::read(folder.path())?;
    let facts = facts(&files)?;
    let findings = compare(&files, &facts);
    if args.json {
        let list: Vec<serde_json::Value> = findings
            .iter()
            .map(|finding| serde_json::json!({"what": finding.what, "detail": finding.detail}))
            .collect();
        let document =
            serde_json::json!({"v": 1, "run": folder.id(), "holds": findings.is_empty(), "findings": list});
        screen.line(&serde_json::to_string_pretty(&document).unwrap_or_default())?;
    } else if findings.is_empty() {
        screen.line(&format!("run {}: journal, policy, report and commit belong together", folder.id()))?;
    } else {
        for finding in &findings {
            screen.line(&format!("{}: {}", harmless(finding.what), harmless(&finding.detail)))?;
        }
    }
    Ok(if findings.is_empty() { Exit::Fine } else { Exit::Integrity })
}

fn facts(files: &RunFiles) -> Result<Facts, Failure> {
    let mut facts = Facts::default();
    let Some(journal) = &files.journal else { return Ok(facts) };
    let read = read_journal(journal.as_slice())?;
    let started = read.entries.first().map(|entry| entry.time);
    if let Some(bytes) = &files.policy {
        let source = Source { name: "policy.yml".into(), bytes: bytes.clone() };
        // The day of the run: an exception that has ended since was in force then.
        let today = started
            .map_or_else(super::setup::today, |time| time.to_zoned_datetime(jiff::tz::TimeZone::UTC).date());
        let loaded = Policy::load(&[source], &NoLibrary, today);
        facts.policy_digest =
            Some(loaded.map(|policy| policy.digest().to_owned()).map_err(|error| error.to_string()));
    }
    let mut repository = None;
    for entry in &read.entries {
        match &entry.event {
            Event::RunStart(start) => repository = Some(start.repository.clone()),
            Event::Commit(commit) => {
                facts.commit =
                    Some(look_at(repository.as_deref().unwrap_or_default(), &commit.id, &commit.branch));
            }
            _ => {}
        }
    }
    Ok(facts)
}

fn look_at(repository: &str, id: &str, branch: &str) -> Result<CommitFacts, String> {
    let user = UserContext::from_environment(|name| std::env::var_os(name));
    let repository = Repository::open(std::path::Path::new(repository), &user, &Cancel::new())
        .map_err(|error| with_causes(&error))?;
    let seen = repository.look_at_commit(id, branch).map_err(|error| with_causes(&error))?;
    Ok(CommitFacts {
        branch_points_to: seen.branch_points_to,
        id: seen.id,
        tree: seen.tree,
        parents: seen.parents,
        subject: seen.subject,
        trailers: seen.trailers.into_iter().map(|(key, value)| Trailer { key, value }).collect(),
        files: seen.files,
    })
}
