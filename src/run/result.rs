//! What the agent left: judged, tested on exactly that tree, then a commit or a patch.

use crate::gate::Gate;
use crate::record::{
    self, Change, Event, Outcome, PATCH_FILE, Patch, Status, Tests, TestsResult, Trailer, trailer,
};
use crate::tool::{Bench, TestEnding};
use crate::verdict::{Decision, Verdict};
use crate::worktree::{
    ChangeKind, ChangeLimits, Changes, CommitPlan, Fork, Identity, Repository, result_ref,
};

use super::engine::Run;
use super::gates::judge_outcome;
use super::prepare::{Prepared, sha256_hex, shortened};
use super::request::Stop;
use super::tests::{skipped_event, test_tree, tests_event};
use super::work::Worked;

/// Judges, tests, commits; gives back how the run ended.
pub(super) fn judge_and_commit(
    run: &mut Run<'_>,
    fork: &Fork,
    prepared: &Prepared,
    gate: &Gate,
    bench: &Bench,
    repository: &Repository,
    worked: &Worked,
) -> Result<(Status, String), Stop> {
    let changes = fork.changes(&ChangeLimits::default())?;
    for notice in &changes.notices {
        run.notice("outcome", notice.to_string())?;
    }
    if changes.is_empty() && !changes.notices.iter().any(crate::worktree::Notice::is_incomplete) {
        return Ok(without_changes(worked));
    }
    let message = message_of(run, prepared, &changes, worked)?;
    let votes = judge_outcome(fork, &changes, gate.policy(), &prepared.outcome_rules, Some(&message))?;
    let decision = Decision::fold(votes);
    tell_outcome(run, &changes, &decision)?;
    if decision.verdict != Verdict::Allow {
        let why = decision.deciding_vote().map(|vote| vote.reason.clone()).unwrap_or_default();
        return Err(Stop::new(Status::OutcomeRefused, format!("the change is refused: {why}")));
    }
    let left = |run: &mut Run<'_>, status: Status, reason: String| {
        leave_patch(run, fork, &changes, &reason, None)?;
        Err(Stop::new(status, reason))
    };
    if let Some(budget) = &worked.budget {
        return left(run, Status::Budget, format!("a budget ran out: {budget}"));
    }
    if worked.complaints > 0 {
        return left(run, Status::Failed, "the script expected something else, see the notices".to_owned());
    }
    let tree = changes.tree.to_string();
    let tests = match prepared.settings.text("tests.command") {
        Some(command) if !prepared.settings.is_on("tests.skip") => {
            let tests = test_tree(fork, changes.tree, "tree", bench, command)?;
            let event = tests_event(&tests, &tree, true);
            run.recorder.write(&Event::Tests(Box::new(event.clone())))?;
            match tests.ending {
                TestEnding::Green => event,
                TestEnding::Red(code) => {
                    return left(
                        run,
                        Status::TestsRed,
                        format!("the tests are red on the changed tree (exit code {code})"),
                    );
                }
                TestEnding::NoVerdict(why) => {
                    return left(run, Status::TestsNone, format!("the tests on the changed tree: {why}"));
                }
                TestEnding::Canceled => return Err(Stop::canceled()),
            }
        }
        _ => {
            let event = skipped_event(&tree);
            run.recorder.write(&Event::Tests(Box::new(event.clone())))?;
            event
        }
    };
    run.stop_if_canceled()?;
    // Nothing is moved into a repository that is not as it was.
    let differences = run.integrity(&[])?;
    if !differences.is_empty() {
        run.tell_integrity(differences)?;
    }
    if prepared.settings.is_on("allow_commit") {
        commit(run, fork, prepared, repository, &changes, &tests, worked, message)
    } else {
        let reason = "committing was not permitted for this run".to_owned();
        let permit = run.permit().to_owned();
        leave_patch(run, fork, &changes, &reason, Some(permit))?;
        Ok((
            Status::Ok,
            "the change is good and left as a patch, since committing was not permitted".to_owned(),
        ))
    }
}

fn without_changes(worked: &Worked) -> (Status, String) {
    if let Some(budget) = &worked.budget {
        (Status::Budget, format!("a budget ran out: {budget}"))
    } else if worked.complaints > 0 {
        (Status::Failed, "the script expected something else, see the notices".to_owned())
    } else if worked.calls > 0 && worked.calls == worked.refused {
        (Status::Escalated, "every call was refused and nothing changed".to_owned())
    } else {
        (Status::Unchanged, "nothing changed".to_owned())
    }
}

fn tell_outcome(run: &mut Run<'_>, changes: &Changes, decision: &Decision) -> Result<(), Stop> {
    let list: Vec<Change> = changes
        .list
        .iter()
        .map(|change| Change {
            path: change.path.to_string(),
            kind: match change.kind {
                ChangeKind::Added => record::ChangeKind::Added,
                ChangeKind::Modified => record::ChangeKind::Modified,
                ChangeKind::Deleted => record::ChangeKind::Deleted,
                ChangeKind::Mode | ChangeKind::Type => record::ChangeKind::TypeChanged,
            },
            bytes: change.after.map_or(0, |side| side.bytes),
        })
        .collect();
    let policy_files_changed = list
        .iter()
        .map(|change| change.path.clone())
        .filter(|path| path.starts_with(".gatewright/"))
        .collect();
    run.recorder.write(&Event::Outcome(Box::new(Outcome {
        tree: changes.tree.to_string(),
        changes: list,
        verdict: decision.verdict,
        votes: decision.votes.clone(),
        policy_files_changed,
    })))?;
    Ok(())
}

fn files_of(changes: &Changes) -> Vec<String> {
    changes.list.iter().map(|change| change.path.to_string()).collect()
}

fn leave_patch(
    run: &mut Run<'_>,
    fork: &Fork,
    changes: &Changes,
    reason: &str,
    permit: Option<String>,
) -> Result<(), Stop> {
    let bytes = fork.patch(changes.tree)?;
    run.folder.write(PATCH_FILE, &bytes)?;
    run.recorder.write(&Event::Patch(Box::new(Patch {
        file: PATCH_FILE.to_owned(),
        digest: sha256_hex(&bytes),
        tree: changes.tree.to_string(),
        files: files_of(changes),
        reason: reason.to_owned(),
        permit,
    })))?;
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "called once, with everything a commit is made of in sight")]
fn commit(
    run: &mut Run<'_>,
    fork: &Fork,
    prepared: &Prepared,
    repository: &Repository,
    changes: &Changes,
    tests: &Tests,
    worked: &Worked,
    message: String,
) -> Result<(Status, String), Stop> {
    let result = match tests.result {
        TestsResult::Green => format!("green on tree {} ({})", tests.tree, tests.digest),
        TestsResult::Red
        | TestsResult::Missing
        | TestsResult::Killed
        | TestsResult::TimedOut
        | TestsResult::Skipped => "left out by request".to_owned(),
    };
    let trailers: Vec<(String, String)> = [
        (trailer::RUN, run.id.clone()),
        (trailer::POLICY, prepared.policy_digest.clone()),
        (trailer::TESTS, result.clone()),
        (trailer::REFUSED, worked.refused.to_string()),
        (trailer::JOURNAL, run.recorder.head()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .to_vec();
    let identity = identity_of(prepared, repository);
    let plan = CommitPlan {
        tree: changes.tree,
        message: message.clone(),
        trailers: trailers.clone(),
        author: identity.clone(),
        committer: identity,
        time: jiff::Timestamp::now().as_second(),
    };
    let id = fork.build_commit(&plan)?;
    let branch = result_ref(&run.id);
    run.stop_if_canceled()?;
    fork.transfer(id, &branch)?;
    run.recorder.write(&Event::Commit(Box::new(record::Commit {
        branch: branch.clone(),
        id: id.to_string(),
        tree: changes.tree.to_string(),
        parent: prepared.base.commit.to_string(),
        subject: message.lines().next().unwrap_or_default().to_owned(),
        files: files_of(changes),
        trailers: trailers.into_iter().map(|(key, value)| Trailer { key, value }).collect(),
        attestation: Some(format!("tests {result}")),
    })))?;
    match repository.moved_since(&prepared.base) {
        Ok(Some(0)) => {}
        Ok(Some(count)) => {
            run.notice("base", format!("what is checked out is {count} commits ahead of the base"))?
        }
        Ok(None) => run.notice("base", "what is checked out does not contain the base")?,
        // Only a remark would be lost.
        Err(_) => {}
    }
    let differences = run.integrity(&[(branch.clone(), id)])?;
    run.tell_integrity(differences)?;
    Ok((Status::Ok, format!("one commit on {}", branch.trim_start_matches("refs/heads/"))))
}

fn identity_of(prepared: &Prepared, repository: &Repository) -> Identity {
    let settings = &prepared.settings;
    let is_set = |name: &str| {
        settings.get(name).is_some_and(|resolved| resolved.origin != crate::config::Origin::Default)
    };
    let mut identity = repository.identity();
    if is_set("identity.name") {
        identity.name = settings.text("identity.name").unwrap_or_default().to_owned();
    }
    if is_set("identity.email") {
        identity.email = settings.text("identity.email").unwrap_or_default().to_owned();
    }
    identity
}

/// The agent's message, or the first line of the task.
fn message_of(
    run: &mut Run<'_>,
    prepared: &Prepared,
    changes: &Changes,
    worked: &Worked,
) -> Result<String, Stop> {
    let Some(proposal) = &worked.proposal else {
        let first = prepared
            .prompt
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or("Change by an agent");
        return Ok(shortened(first, 72));
    };
    let is_named = |path: &str| {
        proposal.paths.iter().any(|named| path == named || path.starts_with(&format!("{named}/")))
    };
    let unnamed: Vec<String> = files_of(changes).into_iter().filter(|path| !is_named(path)).collect();
    if !unnamed.is_empty() {
        run.notice(
            "commit",
            format!(
                "the agent's proposal does not name these changed files; they are in the commit: {}",
                unnamed.join(", ")
            ),
        )?;
    }
    Ok(proposal.message.clone())
}
