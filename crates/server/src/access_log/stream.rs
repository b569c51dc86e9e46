//! Lines into a descriptor that is waited for: standard output, a pipe, a device; and the writing of bytes that files
//! share with them.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};

use super::outlet::Shared;
use super::target::{Output, Refusal, Then};

/// One of the streams that a program begins with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Out,
    Error,
}

/// A descriptor that takes lines for as long as it takes.
#[derive(Debug)]
pub(super) struct StreamOutput(Pen);

impl StreamOutput {
    pub(super) fn new(file: File) -> Self {
        Self(Pen::new(file))
    }

    pub(super) fn standard(stream: Stream) -> io::Result<Self> {
        let descriptor = match stream {
            Stream::Out => io::stdout().as_fd().try_clone_to_owned(),
            Stream::Error => io::stderr().as_fd().try_clone_to_owned(),
        };
        Ok(Self::new(File::from(descriptor?)))
    }
}

impl Output for StreamOutput {
    fn write(&mut self, lines: &[u8], _shared: &Arc<Shared>) -> Result<(), Refusal> {
        self.0.write(lines)
    }
}

/// Writes whole lines, and ends the half of one that a full disk left.
#[derive(Debug)]
pub(super) struct Pen {
    file: File,
    /// A line was begun and could not be ended.
    within_line: bool,
}

impl Pen {
    pub(super) fn new(file: File) -> Self {
        Self {
            file,
            within_line: false,
        }
    }

    /// Writes whole lines, and waits as long as it takes.
    pub(super) fn write(&mut self, lines: &[u8]) -> Result<(), Refusal> {
        if self.within_line {
            self.write_bytes(b"\n").map_err(|refusal| Refusal {
                written: 0,
                ..refusal
            })?;
            self.within_line = false;
        }
        let result = self.write_bytes(lines);
        if let Err(refusal) = &result {
            let taken = &lines[..refusal.written];
            self.within_line = taken.last().is_some_and(|byte| *byte != b'\n');
        }
        result
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let mut written = 0;
        let refusal = |written, error| Refusal {
            written,
            error,
            then: Then::Drop,
        };
        while written < bytes.len() {
            match self.file.write(&bytes[written..]) {
                Ok(0) => return Err(refusal(written, ErrorKind::WriteZero.into())),
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait_for_room(),
                Err(error) => return Err(refusal(written, error)),
            }
        }
        Ok(())
    }

    /// Standard output may be set not to block by whoever shares it.
    fn wait_for_room(&self) {
        let mut one = [PollFd::new(&self.file, PollFlags::OUT)];
        // An interrupted wait is followed by another try.
        let _ = poll(&mut one, None);
    }
}
