//! Writes the journal of a run and lets whoever watches see each line.

use crate::record::{Entry, Event, Journal, RecordError, Report};

/// Sees every line of the journal once it is written.
pub type Observer<'a> = &'a mut dyn FnMut(&Entry);

/// The journal of one run.
pub(super) struct Recorder<'a> {
    journal: Journal,
    observer: Observer<'a>,
    /// Whether a line could not be written; nothing may happen any more that would need one.
    failed: Option<String>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(journal: Journal, observer: Observer<'a>) -> Self {
        Self { journal, observer, failed: None }
    }

    /// Writes a line.
    pub(super) fn write(&mut self, event: &Event) -> Result<(), RecordError> {
        match self.journal.append(event) {
            Ok(entry) => {
                (self.observer)(&entry);
                Ok(())
            }
            Err(error) => {
                self.failed = Some(error.to_string());
                Err(error)
            }
        }
    }

    /// Writes a line of the end, where a failure must not keep the rest from being cleared away.
    pub(super) fn try_write(&mut self, event: &Event) {
        let _ = self.write(event);
    }

    /// Why the journal is not whole, if it is not.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    pub(super) fn head(&self) -> String {
        self.journal.head().to_owned()
    }

    pub(super) fn report(&self) -> Report {
        self.journal.report()
    }

    pub(super) fn sync(&self) {
        // A disk that does not sync has said so when the line was written.
        let _ = self.journal.sync();
    }
}
