//! One child from start to end: what it is, how long it may take, what is kept of it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::capture::{Captured, Keep, Recorder};
use super::environment::{Environment, MARKER};
use super::pipes::{Input, Stderr, Stdout};
use super::{Cancel, Limits, SandboxError, spawn, sweep};

/// How often a wait looks at the cancel flag.
const TICK: Duration = Duration::from_millis(50);
/// How long pipes are still read after the main process has ended, when somebody else holds them.
const GRACE: Duration = Duration::from_millis(150);

/// What happens to the rest of the process group when the main process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// It is killed.
    End,
    /// It lives on until the run is swept: a server started in one command and used by the next.
    Keep,
}

/// Which clock ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The time for the whole program.
    Total,
    /// The time without any output.
    NoProgress,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, sent by the kernel or by another process.
    Signaled(i32),
    /// Killed by us because a clock ran out.
    TimedOut(Clock),
    /// Killed by us because the cancel flag was set.
    Cancelled,
}

impl Ending {
    /// Whether the program ended by itself with 0.
    pub fn is_success(self) -> bool {
        self == Ending::Exited(0)
    }
}

/// What is known about a child that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// What is kept of its standard output.
    pub stdout: Captured,
    /// What is kept of its standard error.
    pub stderr: Captured,
    /// From start to end.
    pub duration: Duration,
    /// Whether somebody it had started still held an output pipe when reading stopped.
    pub was_held: bool,
}

#[derive(Debug)]
enum StdinSource {
    Closed,
    Bytes(Vec<u8>),
    File(File),
}

/// Everything about one child before it starts.
///
/// Defaults: an empty environment, input that is at its end, ten minutes, 64 KiB of each output, no core dumps,
/// the whole process group killed at the end.
#[derive(Debug)]
pub struct Program {
    program: OsString,
    args: Vec<OsString>,
    directory: PathBuf,
    environment: Environment,
    stdin: StdinSource,
    timeout: Duration,
    no_progress: Option<Duration>,
    stdout: Keep,
    stderr: Keep,
    limits: Limits,
    cancel: Option<Cancel>,
    background: Background,
}

impl Program {
    /// A program by absolute path, or by a name looked up in the `PATH` of its own environment.
    pub fn new(program: impl AsRef<OsStr>, directory: impl AsRef<Path>) -> Program {
        Program {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            directory: directory.as_ref().to_owned(),
            environment: Environment::new(),
            stdin: StdinSource::Closed,
            timeout: Duration::from_secs(600),
            no_progress: None,
            stdout: Keep::default(),
            stderr: Keep::default(),
            limits: Limits::default(),
            cancel: None,
            background: Background::End,
        }
    }

    /// `line` as a POSIX shell command.
    pub fn shell(line: impl AsRef<OsStr>, directory: impl AsRef<Path>) -> Program {
        Program::new("/bin/sh", directory).arg("-c").arg(line)
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Program {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Program {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Replaces the environment; the child gets exactly this.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Program {
        self.environment = environment;
        self
    }

    /// Marks the child and what it starts as belonging to a run, so that a [`super::Sweep`] finds them.
    #[must_use]
    pub fn marker(mut self, run: &str) -> Program {
        self.environment.set(MARKER, run);
        self
    }

    /// What the child reads; without it, its input is at its end at once.
    #[must_use]
    pub fn stdin_bytes(mut self, bytes: impl Into<Vec<u8>>) -> Program {
        self.stdin = StdinSource::Bytes(bytes.into());
        self
    }

    /// Lets the child read a file.
    #[must_use]
    pub fn stdin_file(mut self, file: File) -> Program {
        self.stdin = StdinSource::File(file);
        self
    }

    /// The time for the whole program, after which its group is killed.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Program {
        self.timeout = timeout;
        self
    }

    /// The time without any output after which its group is killed.
    #[must_use]
    pub fn no_progress(mut self, quiet: Duration) -> Program {
        self.no_progress = Some(quiet);
        self
    }

    /// How much of standard output is kept.
    #[must_use]
    pub fn keep_stdout(mut self, keep: Keep) -> Program {
        self.stdout = keep;
        self
    }

    /// How much of standard error is kept.
    #[must_use]
    pub fn keep_stderr(mut self, keep: Keep) -> Program {
        self.stderr = keep;
        self
    }

    /// Replaces the resource limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Program {
        self.limits = limits;
        self
    }

    /// Ends the child when `cancel` is set.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Program {
        self.cancel = Some(cancel.clone());
        self
    }

    /// What happens to the rest of its process group at its end.
    #[must_use]
    pub fn background(mut self, background: Background) -> Program {
        self.background = background;
        self
    }

    /// Starts the child and waits for its end.
    ///
    /// Always comes back: when the main process ends, when a clock runs out, when the cancel flag is set.
    ///
    /// # Errors
    /// Only when the child cannot be started or watched; a child that fails is a [`Finished`].
    pub fn run(self) -> Result<Finished, SandboxError> {
        if !self.directory.is_dir() {
            return Err(SandboxError::Directory { directory: self.directory });
        }
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.directory).env_clear().envs(self.environment.iter());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut bytes = Vec::new();
        command.stdin(match self.stdin {
            StdinSource::Closed => Stdio::null(),
            StdinSource::Bytes(given) => {
                bytes = given;
                Stdio::piped()
            }
            StdinSource::File(file) => Stdio::from(file),
        });
        let started = Instant::now();
        let program = self.program;
        let mut child = spawn::spawn(&mut command, &self.limits).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => SandboxError::NotFound { program: program.clone() },
            _ => SandboxError::Start { program: program.clone(), source },
        })?;
        let own = sweep::OwnChild::register(child.id());
        let clocks = Clocks {
            started,
            total: self.timeout,
            no_progress: self.no_progress,
            cancel: self.cancel,
            background: self.background,
        };
        let watched = watch(&mut child, &bytes, self.stdout, self.stderr, &clocks);
        if watched.is_err() {
            // Never leave a child behind that nobody watches.
            let _ = kill_process_group(pid_of(&child), Signal::KILL);
            let _ = child.wait();
        }
        drop(own);
        watched.map_err(|source| SandboxError::Watch { program, source })
    }
}

struct Clocks {
    started: Instant,
    total: Duration,
    no_progress: Option<Duration>,
    cancel: Option<Cancel>,
    background: Background,
}

impl Clocks {
    /// Why the child must end now, or how long it may go on without another look.
    fn verdict(&self, last_output: Instant) -> Result<Duration, Ending> {
        if self.cancel.as_ref().is_some_and(Cancel::is_set) {
            return Err(Ending::Cancelled);
        }
        let left = self.total.saturating_sub(self.started.elapsed());
        if left.is_zero() {
            return Err(Ending::TimedOut(Clock::Total));
        }
        let mut wait = left;
        if let Some(quiet) = self.no_progress {
            let left = quiet.saturating_sub(last_output.elapsed());
            if left.is_zero() {
                return Err(Ending::TimedOut(Clock::NoProgress));
            }
            wait = wait.min(left);
        }
        Ok(if self.cancel.is_some() { wait.min(TICK) } else { wait })
    }
}

// INVARIANT: the id of a child that was started and not yet reaped is positive.
fn pid_of(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// Whether the main process has ended; it stays unreaped, so that its id still names its group.
fn has_ended(pid: Pid) -> io::Result<bool> {
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT)
        {
            Ok(status) => return Ok(status.is_some()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A descriptor that becomes readable when the process ends, where the system has such a thing.
#[cfg(target_os = "linux")]
fn end_notice(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_notice(_pid: Pid) -> Option<OwnedFd> {
    None
}

fn watch(child: &mut Child, stdin: &[u8], out: Keep, err: Keep, clocks: &Clocks) -> io::Result<Finished> {
    let pid = pid_of(child);
    let notice = end_notice(pid);
    let mut input = Input::new(child.stdin.take(), stdin)?;
    let mut stdout = Stdout::new(child.stdout.take(), Recorder::new(out))?;
    let mut stderr = Stderr::new(child.stderr.take(), Recorder::new(err))?;
    let mut buffer = vec![0; 64 * 1024];
    let mut last_output = clocks.started;
    let mut killed = None;
    let mut ended_at: Option<Instant> = None;
    loop {
        if ended_at.is_none() && has_ended(pid)? {
            ended_at = Some(Instant::now());
            if clocks.background == Background::End || killed.is_some() {
                let _ = kill_process_group(pid, Signal::KILL);
            }
        }
        let open = stdout.fd().is_some() || stderr.fd().is_some();
        let wait = match ended_at {
            Some(_) if !open => break,
            Some(at) => match GRACE.checked_sub(at.elapsed()) {
                Some(left) => left,
                None => break,
            },
            None => match clocks.verdict(last_output) {
                Ok(wait) => wait,
                Err(ending) => {
                    if killed.is_none() {
                        killed = Some(ending);
                        let _ = kill_process_group(pid, Signal::KILL);
                    }
                    TICK
                }
            },
        };
        let wait =
            if notice.is_none() && ended_at.is_none() { wait.min(Duration::from_millis(5)) } else { wait };
        wait_for_any(&input, &stdout, &stderr, notice.as_ref().filter(|_| ended_at.is_none()), wait)?;
        if ended_at.is_none() {
            input.pump();
        }
        let taken = stdout.pump(&mut buffer)? + stderr.pump(&mut buffer)?;
        if taken > 0 {
            last_output = Instant::now();
        }
    }
    let was_held = stdout.fd().is_some() || stderr.fd().is_some();
    let status = child.wait()?;
    let ending = killed.unwrap_or_else(|| {
        use std::os::unix::process::ExitStatusExt;
        match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Signaled(signal.unwrap_or(0)),
        }
    });
    Ok(Finished {
        ending,
        stdout: stdout.recorder.finish(),
        stderr: stderr.recorder.finish(),
        duration: clocks.started.elapsed(),
        was_held,
    })
}

/// Sleeps until something can be read or written, the child ends, or `wait` is over.
fn wait_for_any(
    input: &Input<'_>,
    stdout: &Stdout,
    stderr: &Stderr,
    notice: Option<&OwnedFd>,
    wait: Duration,
) -> io::Result<()> {
    let mut fds = Vec::with_capacity(4);
    fds.extend(input.fd().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
    fds.extend(stdout.fd().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
    fds.extend(stderr.fd().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
    fds.extend(notice.map(|fd| PollFd::new(fd, PollFlags::IN)));
    // A millisecond is added so that a wait that was rounded down does not spin.
    let wait = wait.saturating_add(Duration::from_millis(1)).min(Duration::from_secs(3600));
    let timeout = Timespec::try_from(wait).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
