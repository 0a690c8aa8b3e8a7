//! The three pipes of a child, pumped without blocking.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{ChildStderr, ChildStdin, ChildStdout};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::capture::Recorder;

/// Makes reads and writes return at once.
pub(super) fn unblock(fd: impl AsFd) -> std::io::Result<()> {
    let flags = fcntl_getfl(&fd)?;
    fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?;
    Ok(())
}

/// An output pipe with the recorder of what came out of it.
pub(super) struct Output<R> {
    pipe: Option<R>,
    pub(super) recorder: Recorder,
}

impl<R: Read + AsFd> Output<R> {
    pub(super) fn new(pipe: Option<R>, recorder: Recorder) -> std::io::Result<Output<R>> {
        if let Some(pipe) = &pipe {
            unblock(pipe)?;
        }
        Ok(Output { pipe, recorder })
    }

    /// The descriptor while the pipe is open.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there, bounded so that a flood on one pipe does not starve clocks. Returns bytes read.
    pub(super) fn pump(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut taken = 0;
        let Some(pipe) = self.pipe.as_mut() else { return Ok(0) };
        for _ in 0..16 {
            match pipe.read(buffer) {
                Ok(0) => {
                    self.pipe = None;
                    break;
                }
                Ok(count) => {
                    self.recorder.take(&buffer[..count]);
                    taken += count;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }
}

/// The standard output of a child.
pub(super) type Stdout = Output<ChildStdout>;
/// The standard error of a child.
pub(super) type Stderr = Output<ChildStderr>;

/// The input pipe with what is still to be written.
pub(super) struct Input<'a> {
    pipe: Option<ChildStdin>,
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(super) fn new(pipe: Option<ChildStdin>, bytes: &'a [u8]) -> std::io::Result<Input<'a>> {
        if let Some(pipe) = &pipe {
            unblock(pipe)?;
        }
        let mut input = Input { pipe, rest: bytes };
        input.close_if_done();
        Ok(input)
    }

    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Writes what the child takes. A child that stopped reading is no error.
    pub(super) fn pump(&mut self) {
        while let Some(pipe) = self.pipe.as_mut() {
            match pipe.write(self.rest) {
                Ok(count) => self.rest = &self.rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.pipe = None,
            }
            self.close_if_done();
        }
    }

    fn close_if_done(&mut self) {
        if self.rest.is_empty() {
            self.pipe = None;
        }
    }
}
