//! Children that misbehave: floods, silence, orphans, escapes. Real processes, no network.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use gatewright::sandbox::{
    Background, Cancel, Clock, Ending, Environment, Finished, Keep, Limits, Program, SandboxError, Sweep,
    process_start,
};

fn shell(line: &str) -> Program {
    let mut environment = Environment::new();
    environment.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    Program::shell(line, "/").environment(environment).timeout(Duration::from_secs(30))
}

fn run(line: &str) -> Finished {
    shell(line).run().unwrap()
}

fn is_alive(id: i32) -> bool {
    // A zombie has ended; who must collect it is not our concern.
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !state.is_empty() && !state.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z')
}

fn wait_until(what: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn nothing_is_inherited() {
    let finished = Program::new("/usr/bin/env", "/").run().unwrap();
    assert_eq!(finished.ending, Ending::Exited(0));
    assert_eq!(finished.stdout.text(), "");
    let finished = Program::new("env", "/").environment({
        let mut environment = Environment::for_agent("/usr/bin:/bin".as_ref(), Path::new("/h"), "C".as_ref());
        environment.set("X", "1");
        environment
    });
    let text = finished.marker("r1").run().unwrap().stdout.text();
    let names: Vec<&str> = text.lines().map(|line| line.split('=').next().unwrap()).collect();
    for name in ["PATH", "HOME", "LANG", "TMPDIR", "X", "GATEWRIGHT_RUN"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert!(!names.iter().any(|name| name.starts_with("CARGO") || name.starts_with("GIT_")), "{names:?}");
}

#[test]
fn files_left_open_by_the_parent_are_not_passed_on() {
    use std::os::fd::AsRawFd;
    let file = std::fs::File::open("/dev/null").unwrap();
    let kept = rustix::io::fcntl_dupfd_cloexec(&file, 50).unwrap();
    rustix::io::fcntl_setfd(&kept, rustix::io::FdFlags::empty()).unwrap();
    let number = kept.as_raw_fd();
    let text = run(&format!("[ -e /proc/self/fd/{number} ] && echo leaked || echo closed")).stdout.text();
    assert_eq!(text, "closed\n");
}

#[test]
fn input_is_at_its_end_unless_given() {
    assert_eq!(run("read x; echo $?").stdout.text(), "1\n");
    let finished = shell("cat").stdin_bytes("é\0\n").run().unwrap();
    assert_eq!(finished.stdout.head, "é\0\n".as_bytes());
}

#[test]
fn input_larger_than_a_pipe_goes_both_ways_at_once() {
    let bytes: Vec<u8> = (0..3_000_000u32).map(|number| number as u8).collect();
    let finished = shell("cat").stdin_bytes(bytes.clone()).keep_stdout(Keep::whole(4_000_000)).run().unwrap();
    assert!(finished.stdout.head == bytes);
    // One that reads nothing does not hang or fail.
    assert_eq!(shell("exit 3").stdin_bytes(bytes).run().unwrap().ending, Ending::Exited(3));
}

#[test]
fn a_child_has_no_terminal_and_gains_no_privileges() {
    let text = run("(: </dev/tty) 2>/dev/null && echo tty || echo none; grep NoNewPrivs /proc/self/status")
        .stdout
        .text();
    assert_eq!(text, "none\nNoNewPrivs:\t1\n");
}

#[test]
fn endings_are_told_apart() {
    assert_eq!(run("exit 7").ending, Ending::Exited(7));
    assert_eq!(run("kill -9 $$").ending, Ending::Signaled(9));
    assert!(matches!(Program::new("no-such-program-here", "/").run(), Err(SandboxError::NotFound { .. })));
    assert!(matches!(Program::new("/bin/true", "/no/such/place").run(), Err(SandboxError::Directory { .. })));
    assert!(matches!(Program::new("/etc/passwd", "/").run(), Err(SandboxError::Start { .. })));
}

#[test]
fn a_flood_stays_small() {
    let finished = shell("yes 0123456789").timeout(Duration::from_millis(700)).run().unwrap();
    assert_eq!(finished.ending, Ending::TimedOut(Clock::Total));
    assert!(finished.stdout.omitted > 1_000_000);
    assert!(finished.stdout.head.len() + finished.stdout.tail.len() <= 64 * 1024);
    assert!(finished.stdout.text().contains("bytes left out"));
    assert!(finished.duration < Duration::from_secs(5));
}

#[test]
fn a_flood_on_one_stream_does_not_hide_the_other() {
    let finished = shell("(yes & ) ; echo end >&2; sleep 0.3; exit 4").run().unwrap();
    assert_eq!(finished.ending, Ending::Exited(4));
    assert_eq!(finished.stderr.text(), "end\n");
}

#[test]
fn an_orphan_that_holds_the_pipe_does_not_hold_us() {
    let started = Instant::now();
    let finished = run("sleep 600 & echo done");
    assert_eq!((finished.ending, finished.stdout.text().as_str()), (Ending::Exited(0), "done\n"));
    assert!(!finished.was_held);
    // One that left the group is not killed with it, but is not waited for either.
    let marker = format!("held-{}", std::process::id());
    let line = "setsid sleep 600 & p=$!; while [ $(cut -d' ' -f6 /proc/$p/stat) != $p ]; do sleep 0.01; done; echo done";
    let finished = shell(line).marker(&marker).run().unwrap();
    assert_eq!((finished.stdout.text().as_str(), finished.was_held), ("done\n", true));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(Sweep::new(&marker).run().killed.len(), 1);
}

#[test]
fn background_processes_live_on_only_when_asked_for() {
    let ended: i32 = run("sleep 600 >/dev/null 2>&1 & echo $!").stdout.text().trim().parse().unwrap();
    assert!(wait_until(|| !is_alive(ended)));
    let marker = format!("kept-{}", std::process::id());
    let program = shell("sleep 600 >/dev/null 2>&1 & echo $!").marker(&marker).background(Background::Keep);
    let kept: i32 = program.run().unwrap().stdout.text().trim().parse().unwrap();
    assert!(is_alive(kept));
    Sweep::new(&marker).run();
    assert!(wait_until(|| !is_alive(kept)));
}

#[test]
fn both_clocks_end_the_whole_group() {
    let started = Instant::now();
    let line = "trap '' TERM INT HUP; (trap '' TERM; sleep 600) & echo $!; wait";
    let finished = shell(line).timeout(Duration::from_millis(300)).run().unwrap();
    assert_eq!(finished.ending, Ending::TimedOut(Clock::Total));
    let inner: i32 = finished.stdout.text().trim().parse().unwrap();
    assert!(wait_until(|| !is_alive(inner)));

    let quiet = Duration::from_millis(300);
    let finished = shell("echo one; sleep 600").no_progress(quiet).run().unwrap();
    assert_eq!(
        (finished.ending, finished.stdout.text().as_str()),
        (Ending::TimedOut(Clock::NoProgress), "one\n")
    );
    // Dots now and then are progress, and only the total clock ends them.
    let dots = shell("while :; do printf .; sleep 0.05; done").no_progress(Duration::from_secs(5));
    assert_eq!(
        dots.timeout(Duration::from_millis(500)).run().unwrap().ending,
        Ending::TimedOut(Clock::Total)
    );
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn cancelling_ends_a_child_soon() {
    let cancel = Cancel::new();
    let later = cancel.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        later.set(15);
    });
    let finished = shell("sleep 600").cancel(&cancel).run().unwrap();
    thread.join().unwrap();
    assert_eq!(finished.ending, Ending::Cancelled);
    assert!(finished.duration < Duration::from_secs(3));
}

#[test]
fn limits_are_set_and_never_raised() {
    let limits = Limits { open_files: Some(20), file_bytes: Some(4096), ..Limits::default() };
    let text = shell("ulimit -n; ulimit -c").limits(limits).run().unwrap().stdout.text();
    assert_eq!(text, "20\n0\n");
    let big = Limits { open_files: Some(u64::MAX), ..Limits::default() };
    assert_eq!(shell("true").limits(big).run().unwrap().ending, Ending::Exited(0));
}

#[test]
fn many_at_once_do_not_mix() {
    std::thread::scope(|scope| {
        for worker in 0..8 {
            scope.spawn(move || {
                for round in 0..10 {
                    let finished = run(&format!("echo {worker}.{round}; exit {worker}"));
                    assert_eq!(finished.ending, Ending::Exited(worker));
                    assert_eq!(finished.stdout.text(), format!("{worker}.{round}\n"));
                }
            });
        }
    });
}

#[test]
fn a_sweep_finds_what_left_group_and_parent() {
    let marker = format!("sweep-{}", std::process::id());
    let line = "(setsid sh -c 'sleep 601 & sleep 602 & wait' >/dev/null 2>&1 &) ; sleep 0.1";
    shell(line).marker(&marker).run().unwrap();
    let swept = Sweep::new(&marker).run();
    assert_eq!(swept.killed.len(), 3, "{swept:?}");
    assert!(swept.left.is_empty());
    assert!(Sweep::new(&marker).run().killed.is_empty());
}

#[test]
fn a_sweep_finds_by_directory_and_spares_the_rest() {
    let top = tempfile::tempdir().unwrap();
    let inside = top.path().join("run/work");
    std::fs::create_dir_all(&inside).unwrap();
    let start = |directory: &Path| {
        let mut environment = Environment::new();
        environment.set("PATH", "/usr/bin:/bin");
        let line = "setsid env -i /bin/sleep 600 >/dev/null 2>&1 & sleep 0.1; echo $!";
        let program = Program::shell(line, directory).environment(environment).background(Background::Keep);
        program.run().unwrap().stdout.text().trim().parse::<i32>().unwrap()
    };
    let (caught, other) = (start(&inside), start(top.path()));
    let swept = Sweep::new("no-such-run").directory(&top.path().join("run")).run();
    assert_eq!(swept.killed.iter().map(|(id, ..)| *id).collect::<Vec<_>>(), [caught]);
    assert!(is_alive(other));
    assert_eq!(Sweep::new("no-such-run").directory(top.path()).run().killed.len(), 1);
}

#[test]
fn a_sweep_ends_a_chain_that_leaves_itself_behind() {
    let marker = format!("hop-{}", std::process::id());
    let top = tempfile::tempdir().unwrap();
    let script = top.path().join("hop");
    // Each link starts one other in a new session and ends: no id is ever there for long. Counted, never more
    // than a few at a time: it must be harmless even if the sweep does not work.
    let text = "n=$1\n[ \"$n\" -gt 0 ] || exit 0\nsetsid sh \"$0\" $((n - 1)) >/dev/null 2>&1 &\nexit 0\n";
    std::fs::write(&script, text).unwrap();
    let line = format!("setsid sh {} 2000 >/dev/null 2>&1 & sleep 0.1", script.display());
    shell(&line).marker(&marker).background(Background::Keep).run().unwrap();
    let swept = Sweep::new(&marker).patience(Duration::from_secs(20)).run();
    assert!(swept.left.is_empty(), "{:?}", swept.left);
    assert!(!swept.killed.is_empty());
    assert!(Sweep::new(&marker).run().killed.is_empty());
}

/// Runs one test of this file that is ignored otherwise, in a process of its own.
fn in_a_process_of_its_own(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    command
}

#[test]
fn a_subreaper_catches_what_has_no_tie_left() {
    let output = in_a_process_of_its_own("sandbox::inner_subreaper").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "run by another test in a process of its own"]
fn inner_subreaper() {
    gatewright::sandbox::become_subreaper().unwrap();
    assert!(gatewright::sandbox::Isolation::survey().layer("subreaper").unwrap().in_force);
    let line =
        "(cd / && env -i setsid /bin/sh -c '/bin/sleep 600 & /bin/sleep 600' >/dev/null 2>&1 &) ; sleep 0.1";
    shell(line).run().unwrap();
    let swept = Sweep::new("some-run").run();
    assert_eq!(swept.killed.len(), 3, "{swept:?}");
    let children = std::fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id()));
    assert_eq!(children.unwrap_or_default().trim(), "", "zombies are collected");
}

#[test]
fn children_die_with_the_process_that_started_them() {
    let top = tempfile::tempdir().unwrap();
    let file = top.path().join("pid");
    let mut command = in_a_process_of_its_own("sandbox::inner_sleeper");
    let mut parent = command.env("PID_FILE", &file).stdout(std::process::Stdio::null()).spawn().unwrap();
    let read = || std::fs::read_to_string(&file).unwrap_or_default().trim().parse::<i32>().ok();
    assert!(wait_until(|| read().is_some()));
    let child = read().unwrap();
    assert!(process_start(child).is_some());
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(wait_until(|| !is_alive(child)));
}

#[test]
#[ignore = "run by another test in a process of its own"]
fn inner_sleeper() {
    let Some(file) = std::env::var_os("PID_FILE") else { return };
    let line = format!("echo $$ > {}.new; mv {0}.new {0}; exec sleep 600", PathBuf::from(file).display());
    let _ = shell(&line).run();
}

#[test]
fn signals_set_the_flag() {
    let output = in_a_process_of_its_own("sandbox::inner_signal").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "run by another test in a process of its own"]
fn inner_signal() {
    let cancel = Cancel::new();
    gatewright::sandbox::cancel_on_signals(&cancel).unwrap();
    let line = format!("kill -TERM {}; sleep 600", std::process::id());
    let finished = shell(&line).cancel(&cancel).run().unwrap();
    assert_eq!((finished.ending, cancel.signal()), (Ending::Cancelled, Some(15)));
}
