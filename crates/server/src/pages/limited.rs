//! The output buffer of a template, with limits.

use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::pages::limits::PageLimits;

/// The time is checked once in this many writes.
const WRITES_BETWEEN_LOOKS: u32 = 64;

/// The limit that a rendering ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExceededLimit {
    Steps,
    Output,
    Time,
}

impl ExceededLimit {
    /// The error message of this limit.
    pub(super) fn message(self, limits: &PageLimits) -> String {
        match self {
            Self::Steps => format!(
                "the page takes more than {} steps (an endless loop? otherwise raise steps_max)",
                limits.steps_max
            ),
            Self::Output => format!(
                "the page is longer than {} bytes (raise output_bytes_max)",
                limits.output_bytes_max
            ),
            Self::Time => format!(
                "the page takes more than {} ms of CPU time (raise time_max)",
                limits.time_max.as_millis()
            ),
        }
    }
}

/// The processor time that this thread has had.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, rest) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), rest.unwrap_or(0))
}

/// Writes into the buffer until a limit is reached.
pub(super) struct Limited<'a> {
    buffer: &'a mut Vec<u8>,
    bytes_max: usize,
    time_max: Duration,
    writes: u32,
    began: Option<Duration>,
    /// Why it was cut, if it was.
    pub(super) cut: Option<ExceededLimit>,
}

impl<'a> Limited<'a> {
    pub(super) fn new(buffer: &'a mut Vec<u8>, limits: &PageLimits) -> Self {
        Self {
            buffer,
            bytes_max: limits.output_bytes_max,
            time_max: limits.time_max,
            writes: 0,
            began: None,
            cut: None,
        }
    }

    /// A small page never looks at the clock; the first look is where a long one begins to count.
    /// It is the processor time of this thread: a page is not late because others have the
    /// processor.
    fn is_late(&mut self) -> bool {
        self.writes += 1;
        if !self.writes.is_multiple_of(WRITES_BETWEEN_LOOKS) {
            return false;
        }
        let now = processor_time();
        let began = *self.began.get_or_insert(now);
        now.saturating_sub(began) > self.time_max
    }

    fn cut(&mut self, cut: ExceededLimit) -> io::Error {
        self.cut = Some(cut);
        io::Error::from(io::ErrorKind::Other)
    }
}

impl io::Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > self.bytes_max {
            return Err(self.cut(ExceededLimit::Output));
        }
        if self.is_late() {
            return Err(self.cut(ExceededLimit::Time));
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
