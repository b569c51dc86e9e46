//! Writes lines to a descriptor that may block: standard output, a pipe, a device. Files share the
//! code that writes whole lines.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};

use super::settings::StreamName;
use super::sink::SinkState;
use super::target::{OnError, Output, WriteError};

/// A descriptor that is written for as long as it takes.
#[derive(Debug)]
pub(super) struct StreamOutput(LineWriter);

impl StreamOutput {
    pub(super) fn new(file: File) -> Self {
        Self(LineWriter::new(file))
    }

    pub(super) fn standard(stream: StreamName) -> io::Result<Self> {
        let descriptor = match stream {
            StreamName::Stdout => io::stdout().as_fd().try_clone_to_owned(),
            StreamName::Stderr => io::stderr().as_fd().try_clone_to_owned(),
        };
        Ok(Self::new(File::from(descriptor?)))
    }
}

impl Output for StreamOutput {
    fn write(&mut self, lines: &[u8], _state: &Arc<SinkState>) -> Result<(), WriteError> {
        self.0.write(lines)
    }
}

/// Writes whole lines, and ends a line that a full disk has cut.
#[derive(Debug)]
pub(super) struct LineWriter {
    file: File,
    /// The last line was not written to its end.
    within_line: bool,
}

impl LineWriter {
    pub(super) fn new(file: File) -> Self {
        Self { file, within_line: false }
    }

    /// Writes whole lines, however long it takes.
    pub(super) fn write(&mut self, lines: &[u8]) -> Result<(), WriteError> {
        if self.within_line {
            self.write_bytes(b"\n").map_err(|error| WriteError { written: 0, ..error })?;
            self.within_line = false;
        }
        let result = self.write_bytes(lines);
        if let Err(error) = &result {
            let written = &lines[..error.written];
            self.within_line = written.last().is_some_and(|byte| *byte != b'\n');
        }
        result
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let mut written = 0;
        let failed = |written, error| WriteError { written, error, then: OnError::Drop };
        while written < bytes.len() {
            match self.file.write(&bytes[written..]) {
                Ok(0) => return Err(failed(written, ErrorKind::WriteZero.into())),
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait_for_room(),
                Err(error) => return Err(failed(written, error)),
            }
        }
        Ok(())
    }

    /// Standard output does not block if another process that shares it has set it so.
    fn wait_for_room(&self) {
        let mut one = [PollFd::new(&self.file, PollFlags::OUT)];
        // An interrupted wait is followed by another attempt.
        let _ = poll(&mut one, None);
    }
}
