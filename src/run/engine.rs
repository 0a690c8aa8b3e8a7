//! The stages of a run, in order, and the end that always comes.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::gate::Gate;
use crate::gate::gatekeeper::Gatekeeper;
use crate::record::{
    Cleanup, Difference, Event, Integrity, JOURNAL_FILE, Journal, JudgedIn, Layer, Notice, POLICY_FILE,
    REPORT_FILE, RunEnd, RunStart, Status, render,
};
use crate::sandbox::{Cancel, Environment, Isolation, Sweep, become_subreaper};
use crate::state::{Lock, RunFolder, State};
use crate::tool::{Bench, TestEnding};
use crate::worktree::{Claim, Fork, Leftovers, ObjectId, Repository, Snapshot, WorktreeError};

use super::gates::{self, Ground};
use super::prepare::{Prepared, prepare};
use super::recorder::{Observer, Recorder};
use super::request::{Details, Ended, Request, RunError, Stop, with_causes};
use super::tests::{skipped_event, test_tree, tests_event};
use super::work::{Work, Worked};
use super::{result, sources};

/// Does one task, from preparation to report.
///
/// Every ending has a report, failures to prepare included; `observer` sees each line of the journal.
///
/// # Errors
/// Only when there is no place for journal and report.
pub fn run(request: &Request, observer: Observer<'_>) -> Result<Ended, RunError> {
    // Without it a run goes on; the report says that processes may escape the sweep.
    let _ = become_subreaper();
    let id = new_id();
    // Git is never interrupted half-way: its calls are short, and cleaning up needs it too.
    let repository = Repository::open(&request.directory, &request.user, &Cancel::new());
    if let Ok(repository) = &repository {
        refuse_inside(request, repository.root())?;
    }
    let folder = make_folder(request, &id)?;
    if let Ok(repository) = &repository
        && folder.path().starts_with(repository.root())
    {
        // Or else the folder itself would be a change of the user's repository.
        folder.write(".gitignore", b"*\n")?;
    }
    let recorder = Recorder::new(Journal::create(&folder.file(JOURNAL_FILE))?, observer);
    let mut run = Run {
        request,
        id,
        folder,
        recorder,
        fork: None,
        claim: None,
        before: None,
        lock: None,
        worked: Worked::default(),
    };
    let ending = run.stages(repository);
    Ok(run.finish(ending))
}

/// How the stages ended when nothing stopped them.
struct Done {
    status: Status,
    reason: String,
}

pub(super) struct Run<'a> {
    request: &'a Request,
    pub(super) id: String,
    pub(super) folder: RunFolder,
    pub(super) recorder: Recorder<'a>,
    fork: Option<Fork>,
    claim: Option<Claim>,
    before: Option<(Repository, Snapshot)>,
    lock: Option<Lock>,
    worked: Worked,
}

impl Run<'_> {
    fn stages(&mut self, repository: Result<Repository, WorktreeError>) -> Result<Done, Stop> {
        let mut start = RunStart {
            run: self.id.clone(),
            gatewright: env!("CARGO_PKG_VERSION").to_owned(),
            isolation: isolation(),
            ..RunStart::default()
        };
        let prepared = repository.map_err(Stop::from).and_then(|repository| {
            let prepared = prepare(self.request, &repository, &mut start)?;
            Ok((repository, prepared))
        });
        let (repository, mut prepared) = match prepared {
            Ok(prepared) => prepared,
            Err(stop) => {
                self.recorder.try_write(&Event::RunStart(Box::new(start)));
                return Err(stop);
            }
        };
        let work = self.folder.work().join("work");
        let shown = |path: &Path| path.display().to_string();
        start.judged_in = JudgedIn {
            root: shown(&work),
            cwd: shown(&work),
            home: Some(shown(&self.folder.work().join("home"))),
        };
        let copy = prepared.policy.as_ref().map(crate::policy::Policy::to_yaml).unwrap_or_default();
        self.folder.write(POLICY_FILE, copy.as_bytes())?;
        self.recorder.write(&Event::RunStart(Box::new(start)))?;
        for (from, text) in std::mem::take(&mut prepared.notices) {
            self.notice(from, text)?;
        }
        self.clear_leftovers()?;
        self.lock = Some(Lock::on_folder(repository.common_dir(), "the repository")?);
        repository.check_result_ref(&self.id)?;
        self.before = Some((repository.clone(), Snapshot::take(&repository)?));
        self.stop_if_canceled()?;
        self.claim = Some(Claim::enter(&self.ledger(), &self.id, self.folder.work(), repository.root())?);
        self.fork = Some(Fork::create(&repository, &prepared.base, self.folder.work())?);
        self.stop_if_canceled()?;
        let bench = self.bench(&prepared)?;
        self.test_base(&prepared, &bench)?;
        let gate = self.gate(&mut prepared)?;
        self.work(&mut prepared, &gate, &bench)?;
        self.judge_and_commit(&prepared, &gate, &bench, &repository)
    }

    fn gate(&self, prepared: &mut Prepared) -> Result<Gate, Stop> {
        let Some(fork) = &self.fork else { return Err(Stop::new(Status::Failed, "there is no fork")) };
        let Some((repository, _)) = &self.before else {
            return Err(Stop::new(Status::Failed, "there is no proof"));
        };
        let files = [JOURNAL_FILE, POLICY_FILE, REPORT_FILE, "report.md", "run-id"]
            .map(|name| self.folder.file(name));
        let mut records = files.to_vec();
        if let Some(state) = &self.request.state {
            records.extend(["runs", "ledger", "locks"].map(|name| state.root().join(name)));
        }
        let ground = Ground { repository, fork, records, user_folder: self.request.user_folder.as_deref() };
        let Some(policy) = prepared.policy.take() else {
            return Err(Stop::new(Status::Failed, "there is no policy"));
        };
        Ok(gates::intent(policy, &prepared.settings, &ground))
    }

    fn work(&mut self, prepared: &mut Prepared, gate: &Gate, bench: &Bench) -> Result<(), Stop> {
        let home = self.folder.work().join("home");
        let work = Work {
            gate,
            bench,
            limits: prepared.settings.limits(),
            is_shell_enabled: prepared.settings.is_on("shell.enabled"),
            home: &home,
            gatekeeper: RefCell::new(Gatekeeper::new(prepared.settings.is_on("allow_commit"))),
            memory: RefCell::default(),
        };
        self.worked = work.run(prepared.agent.as_mut(), &mut self.recorder)?;
        // Nothing of the agent may still run when the tree is read.
        self.sweep();
        self.stop_if_canceled()
    }

    fn judge_and_commit(
        &mut self,
        prepared: &Prepared,
        gate: &Gate,
        bench: &Bench,
        repository: &Repository,
    ) -> Result<Done, Stop> {
        let worked = std::mem::take(&mut self.worked);
        let Some(fork) = self.fork.take() else { return Err(Stop::new(Status::Failed, "there is no fork")) };
        let done = result::judge_and_commit(self, &fork, prepared, gate, bench, repository, &worked);
        self.fork = Some(fork);
        self.worked = worked;
        done.map(|(status, reason)| Done { status, reason })
    }

    fn test_base(&mut self, prepared: &Prepared, bench: &Bench) -> Result<(), Stop> {
        let tree = prepared.base.tree;
        let Some(command) = prepared.settings.text("tests.command") else { return Ok(()) };
        if !prepared.settings.is_on("tests.base") || prepared.settings.is_on("tests.skip") {
            self.recorder.write(&Event::TestsOnBase(Box::new(skipped_event(&tree.to_string()))))?;
            return Ok(());
        }
        let Some(fork) = &self.fork else { return Ok(()) };
        let tests = test_tree(fork, tree, "base", bench, command)?;
        self.recorder.write(&Event::TestsOnBase(Box::new(tests_event(&tests, &tree.to_string(), true))))?;
        match tests.ending {
            TestEnding::Green => Ok(()),
            TestEnding::Red(code) => Err(Stop::new(
                Status::BaseRed,
                format!("the tests are red on the base already (exit code {code}); nothing was started"),
            )),
            TestEnding::NoVerdict(why) => {
                Err(Stop::new(Status::TestsNone, format!("the tests on the base: {why}")))
            }
            TestEnding::Canceled => Err(Stop::canceled()),
        }
    }

    fn bench(&self, prepared: &Prepared) -> Result<Bench, Stop> {
        let Some(fork) = &self.fork else { return Err(Stop::new(Status::Failed, "there is no fork")) };
        let variable = |name: &str| self.request.environment.get(name).map(String::as_str);
        let path = variable("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
        let lang = variable("LANG").unwrap_or("C.UTF-8");
        let mut environment = Environment::for_agent(path.as_ref(), &fork.home(), lang.as_ref());
        for name in prepared.settings.list("environment") {
            if is_private(name) {
                return Err(Stop::usage(format!("environment: {name} is never given to programs of a run")));
            }
            if let Some(value) = variable(name) {
                environment.set(name, value);
            }
        }
        fork.isolate(&mut environment);
        let settings = &prepared.settings;
        Ok(Bench {
            root: std::fs::canonicalize(fork.work()).map_err(|error| {
                Stop::new(Status::Failed, format!("the worktree cannot be opened: {error}"))
            })?,
            run: self.id.clone(),
            environment,
            cancel: self.request.cancel.clone(),
            deadline: prepared.deadline,
            shell_timeout: Duration::from_millis(settings.count("shell.timeout_ms")),
            tests: settings.text("tests.command").map(str::to_owned),
            tests_timeout: Duration::from_secs(settings.count("tests.timeout_secs")),
            read: settings.read_limits(),
            streams: settings.stream_limits(),
        })
    }

    /// What killed runs left, those of this state tree.
    fn clear_leftovers(&mut self) -> Result<(), Stop> {
        for leftover in Leftovers::find(&self.ledger()).unwrap_or_default() {
            let run = leftover.run().to_owned();
            let text = match leftover.clear() {
                Ok(cleared) if cleared.removal.is_complete() => format!("cleared what run {run} had left"),
                Ok(_) => format!("run {run} left something that cannot be removed"),
                Err(error) => format!("what run {run} left cannot be cleared: {}", with_causes(&error)),
            };
            self.notice("cleanup", text)?;
        }
        Ok(())
    }

    pub(super) fn notice(&mut self, from: &str, text: impl Into<String>) -> Result<(), Stop> {
        self.recorder
            .write(&Event::Notice(Notice { from: from.to_owned(), text: text.into() }))
            .map_err(Stop::from)
    }

    pub(super) fn stop_if_canceled(&self) -> Result<(), Stop> {
        if self.request.cancel.is_set() { Err(Stop::canceled()) } else { Ok(()) }
    }

    pub(super) fn permit(&self) -> &str {
        &self.request.permit
    }

    fn ledger(&self) -> PathBuf {
        ledger_of(self.request, &self.folder)
    }

    pub(super) fn sweep(&self) -> usize {
        Sweep::new(&self.id).directory(self.folder.work()).run().killed.len()
    }

    /// Compares the user's repository with what it was. `expected` are refs that the run itself made.
    pub(super) fn integrity(&mut self, expected: &[(String, ObjectId)]) -> Result<Vec<Difference>, Stop> {
        let Some((repository, before)) = &self.before else { return Ok(Vec::new()) };
        let now = Snapshot::take(repository)?;
        let area = |area: crate::worktree::Area| format!("{area:?}").to_lowercase();
        Ok(before
            .compare(&now, expected)
            .into_iter()
            .map(|difference| Difference { what: area(difference.area), how: difference.what })
            .collect())
    }

    pub(super) fn tell_integrity(&mut self, differences: Vec<Difference>) -> Result<(), Stop> {
        let compared = [
            "settings with includes",
            "hooks",
            "refs and HEAD",
            "worktrees",
            "index",
            "files",
            "locks",
            "the rest of .git",
        ];
        let reason = differences.first().map(|first| format!("{}: {}", first.what, first.how));
        let more = differences.len().saturating_sub(1);
        self.recorder.write(&Event::Integrity(Integrity {
            differences,
            compared: compared.map(str::to_owned).to_vec(),
        }))?;
        match reason {
            None => Ok(()),
            Some(first) => {
                let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
                Err(Stop::new(
                    Status::Integrity,
                    format!("the repository is not as it was before the run: {first}{more}"),
                ))
            }
        }
    }

    /// The end of every run: proof, clearing away, report.
    fn finish(mut self, ending: Result<Done, Stop>) -> Ended {
        let (mut status, mut reason, details) = match ending {
            Ok(done) => (done.status, done.reason, Details::None),
            Err(stop) => (stop.status, stop.reason, stop.details),
        };
        let mut processes_ended = self.sweep();
        if self.before.is_some() && self.recorder.report().integrity.is_none() {
            let compared = self.integrity(&[]).and_then(|differences| self.tell_integrity(differences));
            if let Err(stop) = compared
                && stop.status == Status::Integrity
            {
                (status, reason) = (stop.status, stop.reason);
            }
        }
        let mut leftovers = Vec::new();
        if let Some(fork) = self.fork.take() {
            let place = fork.place().to_owned();
            match fork.remove() {
                Ok(removal) => {
                    leftovers
                        .extend(removal.left.iter().map(|(path, why)| format!("{}: {why}", path.display())));
                }
                Err(error) => leftovers.push(format!("{}: {}", place.display(), with_causes(&error))),
            }
        } else if self.claim.is_some() {
            // The fork was begun and not finished.
            let _ = crate::worktree::remove_directory(self.folder.work());
        }
        if let Some(parent) = self.folder.work().parent().filter(|parent| parent.ends_with("work")) {
            // Only when it is empty: other runs may be at work.
            let _ = std::fs::remove_dir(parent);
        }
        processes_ended += self.sweep();
        if leftovers.is_empty()
            && let Some(claim) = self.claim.take()
            && let Err(error) = claim.leave()
        {
            leftovers.push(with_causes(&error));
        }
        self.lock = None;
        if self.recorder.report().run.is_empty() {
            self.recorder.try_write(&Event::RunStart(Box::new(RunStart {
                run: self.id.clone(),
                ..RunStart::default()
            })));
        }
        self.recorder.try_write(&Event::Cleanup(Cleanup {
            leftovers,
            processes_ended: u32::try_from(processes_ended).unwrap_or(u32::MAX),
        }));
        if let Some(failure) = self.recorder.failure() {
            reason = format!("{reason}; the journal is not whole: {failure}");
            if status.exit_code() == 0 {
                status = Status::Failed;
            }
        }
        self.recorder.try_write(&Event::RunEnd(RunEnd {
            status,
            exit_code: status.exit_code(),
            reason,
            reply: self.worked.reply.take(),
        }));
        self.recorder.sync();
        let mut report = self.recorder.report();
        let formats =
            [(REPORT_FILE, crate::record::Format::Json), ("report.md", crate::record::Format::Markdown)];
        for (name, format) in formats {
            if let Err(error) = self.folder.write(name, render(&report, format, false).as_bytes()) {
                report.leftovers.push(with_causes(&error));
            }
        }
        Ended { report, folder: self.folder.path().to_owned(), details }
    }
}

/// Names of variables that hold what is the runner's own.
fn is_private(name: &str) -> bool {
    let upper = name.to_uppercase();
    ["GATEWRIGHT_", "ASSISTANT_", "LICH_", "SAMAGOTCHI_", "GIT_"]
        .iter()
        .any(|prefix| upper.starts_with(prefix))
        || ["TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY"].iter().any(|part| upper.contains(part))
        || ["SSH_AUTH_SOCK", "GPG_AGENT_INFO", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV"]
            .contains(&name)
}

fn make_folder(request: &Request, id: &str) -> Result<RunFolder, RunError> {
    let Some(out) = &request.out else {
        return match &request.state {
            Some(state) => Ok(state.new_run(id)?),
            None => Err(crate::state::StateError::Nowhere.into()),
        };
    };
    let state = request.state.as_ref().filter(|state| state.is_writable());
    let folder = State::new_run_at(&request.directory.join(out), id, state)?;
    // Without a state tree the run is simply not listed.
    if let Some(state) = state {
        let _ = state.remember(&folder);
    }
    Ok(folder)
}

/// Where the ledger of runs lies: in the state tree, or beside the journal where that cannot be written.
fn ledger_of(request: &Request, folder: &RunFolder) -> PathBuf {
    match &request.state {
        Some(state) if state.is_writable() => state.root().to_owned(),
        _ => folder.path().to_owned(),
    }
}

/// Fork and worktree must not lie in what is being worked on. Journal and report may, where git ignores them.
fn refuse_inside(request: &Request, root: &Path) -> Result<(), RunError> {
    let path = match (&request.out, &request.state) {
        (_, Some(state)) if state.is_writable() => state.root().to_owned(),
        (Some(out), _) => request.directory.join(out),
        (None, Some(state)) => state.root().to_owned(),
        (None, None) => return Ok(()),
    };
    let real = sources::real_path(&path);
    if real.starts_with(root) { Err(RunError::Inside { path: real, root: root.to_owned() }) } else { Ok(()) }
}

fn isolation() -> Vec<Layer> {
    Isolation::survey()
        .layers
        .into_iter()
        .map(|layer| Layer {
            name: layer.name.to_owned(),
            in_force: layer.in_force,
            required: false,
            note: layer.why,
        })
        .collect()
}

/// Sorts by time, and is the name of a folder and a branch.
fn new_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let random = std::hash::RandomState::new().build_hasher().finish();
    format!("{now}-{:06x}", random & 0x00ff_ffff)
}
