//! Proof that journal, policy, report and commit of a run belong together.

use std::path::Path;

use super::journal::sha256_hex;
use super::{
    Commit, Event, Format, JOURNAL_FILE, POLICY_FILE, REPORT_FILE, RecordError, Report, RunStart, Trailer,
    read_journal, render,
};

/// Keys of the commit trailers that [`verify`] knows.
pub mod trailer {
    /// The run's id.
    pub const RUN: &str = "Gatewright-Run";
    /// sha256 of the effective policy.
    pub const POLICY: &str = "Gatewright-Policy";
    /// What the tests on exactly this tree came to, with their digest.
    pub const TESTS: &str = "Gatewright-Tests";
    /// How many calls were refused.
    pub const REFUSED: &str = "Gatewright-Refused";
    /// sha256 of the journal's last line when the commit was built: ties the journal to the commit.
    pub const JOURNAL: &str = "Gatewright-Journal";
}

/// The files of a run's folder; `None` for one that is not there.
#[derive(Debug, Clone, Default)]
pub struct RunFiles {
    /// The journal.
    pub journal: Option<Vec<u8>>,
    /// The copy of the effective policy.
    pub policy: Option<Vec<u8>>,
    /// The report.
    pub report: Option<Vec<u8>>,
    /// The patch, under the name that the journal gives.
    pub patch: Option<Vec<u8>>,
}

impl RunFiles {
    /// Reads the files of `folder`.
    ///
    /// # Errors
    /// A file is there and cannot be read.
    pub fn read(folder: &Path) -> Result<Self, RecordError> {
        let file = |name: &str| match std::fs::read(folder.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(RecordError::Open { path: folder.join(name), source }),
        };
        Ok(Self {
            journal: file(JOURNAL_FILE)?,
            policy: file(POLICY_FILE)?,
            report: file(REPORT_FILE)?,
            patch: file(super::PATCH_FILE)?,
        })
    }
}

/// A commit as git has it now, gathered by whoever calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitFacts {
    /// Id that the branch points to now.
    pub branch_points_to: Option<String>,
    /// Id of the commit that was looked at.
    pub id: String,
    /// Its tree.
    pub tree: String,
    /// Its parents.
    pub parents: Vec<String>,
    /// First line of its message.
    pub subject: String,
    /// Its trailers.
    pub trailers: Vec<Trailer>,
    /// Paths that it changes against its first parent.
    pub files: Vec<String>,
}

/// Facts from outside the run's folder; `None` for what was not looked at.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Digest of the policy copy as the policy room computes it, or why it does not load.
    pub policy_digest: Option<Result<String, String>>,
    /// The commit that the journal names, or why git cannot show it.
    pub commit: Option<Result<CommitFacts, String>>,
}

/// Something that does not hold together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where: `journal`, `policy`, `report`, `commit`, `patch`.
    pub what: &'static str,
    /// What is wrong, one line.
    pub detail: String,
}

/// Compares all parts of a run with each other; an empty answer is the proof.
pub fn verify(files: &RunFiles, facts: &Facts) -> Vec<Finding> {
    let mut findings = Findings(Vec::new());
    let Some(bytes) = &files.journal else {
        findings.add("journal", "is missing");
        return findings.0;
    };
    let read = match read_journal(bytes.as_slice()) {
        Ok(read) => read,
        Err(error) => {
            findings.add("journal", error.to_string());
            return findings.0;
        }
    };
    if let Some(problem) = &read.problem {
        findings.add("journal", problem.to_string());
    }
    if read.torn_bytes > 0 {
        findings.add("journal", format!("the last line is not finished ({} bytes)", read.torn_bytes));
    }
    let mut start = None;
    let mut commit = None;
    let mut patch = None;
    for entry in &read.entries {
        match &entry.event {
            Event::RunStart(event) => start = Some(event.as_ref()),
            Event::Commit(event) => commit = Some((event.as_ref(), entry.seq)),
            Event::Patch(event) => patch = Some(event.as_ref()),
            Event::TestsOnBase(_)
            | Event::TurnStart(_)
            | Event::Gate(_)
            | Event::ToolCallStarted(_)
            | Event::Approval(_)
            | Event::ToolResult(_)
            | Event::HookNotice(_)
            | Event::Notice(_)
            | Event::Checkpoint(_)
            | Event::CheckpointDiscarded(_)
            | Event::Outcome(_)
            | Event::Tests(_)
            | Event::Integrity(_)
            | Event::Cleanup(_)
            | Event::TurnEnd(_)
            | Event::RunEnd(_) => {}
        }
    }
    let report = Report::fold(&read.entries);
    if !report.journal.has_end {
        findings.add("journal", "the run has no end: the runner was killed, or lines were taken off");
    }
    let Some(start) = start else {
        findings.add("journal", "has no run_start");
        return findings.0;
    };
    policy(&mut findings, files, facts, start);
    match &files.report {
        None => findings.add("report", "is missing"),
        Some(bytes) if *bytes != render(&report, Format::Json, false).as_bytes() => {
            findings.add("report", "is not what the journal says");
        }
        Some(_) => {}
    }
    if let Some(patch) = patch {
        match &files.patch {
            None => findings.add("patch", "is missing"),
            Some(bytes) if sha256_hex(bytes) != patch.digest => {
                findings.add("patch", "was changed after the run")
            }
            Some(_) => {}
        }
    }
    match (commit, &facts.commit) {
        (None, _) => {}
        (Some(_), None) => findings.add("commit", "was not looked at"),
        (Some(_), Some(Err(problem))) => findings.add("commit", problem.clone()),
        (Some((commit, seq)), Some(Ok(found))) => {
            compare(&mut findings, commit, found);
            trailers(&mut findings, commit, start);
            let before = read.entries.iter().filter(|entry| entry.seq < seq);
            let mut digests = before.map(|entry| entry.digest.as_str());
            if let Some(trailer) = commit.trailers.iter().find(|trailer| trailer.key == trailer::JOURNAL)
                && !digests.any(|digest| digest == trailer.value)
            {
                findings.add("journal", "is not the one that the commit names");
            }
            if report.outcome.as_ref().is_some_and(|outcome| outcome.tree != commit.tree) {
                findings.add("commit", "its tree is not the one that was judged");
            }
            if report.tests_on_tree.as_ref().is_some_and(|tests| tests.tree != commit.tree) {
                findings.add("commit", "its tree is not the one that was tested");
            }
        }
    }
    findings.0
}

struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, what: &'static str, detail: impl Into<String>) {
        self.0.push(Finding { what, detail: detail.into() });
    }
}

fn policy(findings: &mut Findings, files: &RunFiles, facts: &Facts, start: &RunStart) {
    let Some(policy) = &start.policy else { return };
    match &files.policy {
        None => findings.add("policy", "the copy is missing"),
        Some(bytes) if sha256_hex(bytes) != policy.copy_digest => {
            findings.add("policy", "the copy was changed after the run");
        }
        Some(_) => {}
    }
    match &facts.policy_digest {
        Some(Ok(digest)) if *digest != policy.digest => {
            findings.add("policy", "the copy is not the policy that judged");
        }
        Some(Err(problem)) => findings.add("policy", format!("the copy does not load: {problem}")),
        Some(Ok(_)) | None => {}
    }
}

fn compare(findings: &mut Findings, commit: &Commit, found: &CommitFacts) {
    let mut differs = |what: &str, journal: &str, git: &str| {
        if journal != git {
            findings.add("commit", format!("{what} is {git}, the journal says {journal}"));
        }
    };
    differs("the id", &commit.id, &found.id);
    differs(
        &format!("the branch {}", commit.branch),
        &commit.id,
        found.branch_points_to.as_deref().unwrap_or("missing"),
    );
    differs("the tree", &commit.tree, &found.tree);
    differs("the parent", &commit.parent, &found.parents.join(" "));
    differs("the subject", &commit.subject, &found.subject);
    let mut files = (commit.files.clone(), found.files.clone());
    files.0.sort();
    files.1.sort();
    differs("the list of files", &files.0.join(", "), &files.1.join(", "));
    let joined = |trailers: &[Trailer]| {
        trailers.iter().map(|one| format!("{}: {}", one.key, one.value)).collect::<Vec<_>>()
    };
    differs("the trailers", &joined(&commit.trailers).join(", "), &joined(&found.trailers).join(", "));
}

fn trailers(findings: &mut Findings, commit: &Commit, start: &RunStart) {
    let digest = start.policy.as_ref().map(|policy| policy.digest.as_str());
    for (key, expected) in [(trailer::RUN, Some(start.run.as_str())), (trailer::POLICY, digest)] {
        let found =
            commit.trailers.iter().find(|trailer| trailer.key == key).map(|trailer| trailer.value.as_str());
        if found != expected {
            findings.add("commit", format!("trailer {key} is {}", found.unwrap_or("missing")));
        }
    }
}
