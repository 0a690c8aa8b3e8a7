//! Starting a child: what happens between fork and exec.
//!
//! Everything in the closure runs in a copy of this process in which only the calling thread lives, so it makes
//! system calls and touches nothing that could hold a lock: no allocation, no formatting.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use super::limits::Limits;

/// Starts `command` in a session of its own, with limits, without privileges to gain, without inherited files.
///
/// The child is killed when the calling *thread* ends, so the caller must be the one that waits for it.
#[expect(unsafe_code, reason = "code between fork and exec has no safe form")]
pub(super) fn spawn(command: &mut Command, limits: &Limits) -> io::Result<Child> {
    let limits = limits.given();
    #[cfg(target_os = "linux")]
    let parent = std::process::id();
    // SAFETY: the closure makes only async-signal-safe system calls on values it owns (`limits` was allocated
    // before the fork) and returns errors by number, which does not allocate.
    unsafe {
        command.pre_exec(move || {
            // A session of its own: no controlling terminal to prompt on, and a group to kill.
            if libc::setsid() == -1 {
                return Err(io::Error::last_os_error());
            }
            #[cfg(target_os = "linux")]
            {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0) == -1 {
                    return Err(io::Error::last_os_error());
                }
                // The parent may have died before the line above; then nobody would ever send that signal.
                if libc::getppid() as u32 != parent && parent != 1 {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
                if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1 as libc::c_ulong, 0, 0, 0) == -1 {
                    return Err(io::Error::last_os_error());
                }
                // Files that whoever started us left open are not for the child. Marked, not closed: the
                // pipe on which exec errors are reported must live until exec. Old kernels lack the call.
                let _ = libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 4);
            }
            for (resource, bound) in &limits {
                let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                if libc::getrlimit(*resource, &mut now) == -1 {
                    return Err(io::Error::last_os_error());
                }
                let bound = (*bound as libc::rlim_t).min(now.rlim_max);
                let new = libc::rlimit { rlim_cur: bound, rlim_max: bound };
                if libc::setrlimit(*resource, &new) == -1 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    // A script that was written a moment ago can still be open in a child of another thread that has not reached
    // its exec; the system then calls it busy. That passes.
    for _ in 0..50 {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            other => return other,
        }
    }
    command.spawn()
}
