//! Where lines run: a folder with stand-in programs that record how they were started, and nothing else on the path.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Programs that only record it; `no` fails.
const RECORDERS: &[&str] = &["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "no", "rm", "git"];
/// Programs that record it and then do their work.
const WORKERS: &[&str] = &["cat", "env", "timeout", "nice", "nohup", "xargs", "sh", "bash"];

/// What the limits of a line are, and how it is started.
const WRAPPER: &str = "ulimit -t 2 -f 2000; exec \"$1\" -c \"$2\"";

pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("programs");
        fs::create_dir(&programs).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        for name in RECORDERS.iter().chain(WORKERS) {
            let mut text = "#!/bin/sh\nr=\nfor w in \"${0##*/}\" \"$@\"; do r=\"$r$w\u{1f}\"; done\n\
                            printf '%s\u{1e}' \"$r\" >> \"$GW_LOG\"\n"
                .to_owned();
            if *name == "no" {
                text.push_str("exit 1\n");
            }
            if WORKERS.contains(name)
                && let Some(real) = ["/usr/bin", "/bin"]
                    .map(|folder| Path::new(folder).join(name))
                    .iter()
                    .find(|path| path.exists())
            {
                text.push_str(&format!("unset r w\nexec '{}' \"$@\"\n", real.display()));
            }
            let path = programs.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Runs a line in a fresh folder; answers with that folder and the argument lists of what was started.
    pub(crate) fn run(&self, bash: &Path, line: &str, number: u64) -> (PathBuf, Vec<Vec<String>>) {
        let work = self.folder.path().join(format!("work{number}"));
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::write(work.join("one.txt"), "one\n").unwrap();
        fs::write(work.join("sub/two.txt"), "two\n").unwrap();
        let log = self.folder.path().join(format!("log{number}"));
        let mut child = Command::new("/bin/sh")
            .args(["-c", WRAPPER, "sh"])
            .arg(bash)
            .arg(line)
            .current_dir(&work)
            .env_clear()
            .env("PATH", self.folder.path().join("programs"))
            .env("HOME", self.home())
            .env("GW_LOG", &log)
            .env("LC_ALL", "C.UTF-8")
            // Functions that call each other for ever.
            .env("FUNCNEST", "12")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let began = Instant::now();
        while child.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_micros(500));
        }
        if line.contains('&') || line.contains("<(") {
            std::thread::sleep(Duration::from_millis(20));
        }
        if let Ok(id) = i32::try_from(child.id())
            && let Some(group) = rustix::process::Pid::from_raw(id)
        {
            // What still runs in its group was started by the line.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        child.wait().unwrap();
        let text = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
        let started = text
            .split('\u{1e}')
            .filter(|entry| entry.ends_with('\u{1f}'))
            .map(|entry| {
                entry.strip_suffix('\u{1f}').unwrap_or(entry).split('\u{1f}').map(str::to_owned).collect()
            })
            .collect();
        let _ = fs::remove_dir_all(&work);
        let _ = fs::remove_file(&log);
        (work, started)
    }
}
