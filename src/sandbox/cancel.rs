//! The flag that ends waits early, and the signals that set it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use super::SandboxError;

/// A flag shared by everything that waits. Once set it stays set.
///
/// Every [`super::Program`] that holds it kills its child within a twentieth of a second.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicI32>);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Sets the flag. `signal` is the number of the signal behind it, 0 for none.
    pub fn set(&self, signal: i32) {
        // The first reason stays: it decides the exit code.
        let _ = self.0.compare_exchange(0, signal.max(0) + 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst) != 0
    }

    /// The signal that set it, if it was one.
    pub fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::SeqCst) {
            0 | 1 => None,
            stored => Some(stored - 1),
        }
    }
}

/// Lets SIGINT, SIGTERM and SIGHUP set `cancel` instead of ending this process, from a thread of its own.
///
/// # Errors
/// When the signal handlers or the thread cannot be made.
pub fn cancel_on_signals(cancel: &Cancel) -> Result<(), SandboxError> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |source| SandboxError::Setup { what: "listen for signals", source };
    let cancel = cancel.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (mut interrupt, mut terminate, mut hangup) = {
        // Handlers are installed here, before returning: a signal that follows is never missed.
        let _inside = runtime.enter();
        (
            signal(SignalKind::interrupt()).map_err(failed)?,
            signal(SignalKind::terminate()).map_err(failed)?,
            signal(SignalKind::hangup()).map_err(failed)?,
        )
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            runtime.block_on(async move {
                loop {
                    let number = tokio::select! {
                        _ = interrupt.recv() => libc::SIGINT,
                        _ = terminate.recv() => libc::SIGTERM,
                        _ = hangup.recv() => libc::SIGHUP,
                    };
                    cancel.set(number);
                }
            });
        })
        .map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let cancel = Cancel::new();
        assert!(!cancel.is_set());
        cancel.set(libc::SIGTERM);
        cancel.clone().set(libc::SIGINT);
        assert_eq!(cancel.signal(), Some(libc::SIGTERM));
    }

    #[test]
    fn a_reason_without_signal_is_still_set() {
        let cancel = Cancel::new();
        cancel.set(0);
        assert!(cancel.is_set());
        assert_eq!(cancel.signal(), None);
    }
}
