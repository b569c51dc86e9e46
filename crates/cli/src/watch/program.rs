//! A command that is started to be watched, and its end.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// What a shell adds to the number of the signal that ended a program.
const ENDED_BY_SIGNAL: i32 = 128;

/// How long a command may take to end when it is asked to.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A running command. It is reaped when nothing more is to be read of it.
#[derive(Debug)]
pub(crate) struct Program(Child);

impl Program {
    /// Starts it with our own standard streams.
    pub(crate) fn start(command: &[OsString]) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let child = Command::new(program).args(arguments).spawn()?;
        Ok(Self(child))
    }

    /// Its process number, which stays its own until [`Program::status`].
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Waits for its end, and says what a shell would.
    pub(crate) fn status(mut self) -> io::Result<ExitCode> {
        Ok(code(self.0.wait()?))
    }

    /// Asks it to end, and waits. One that does not is killed, at the next signal or when patience
    /// ends.
    pub(crate) fn stop(mut self, signals: &Receiver<i32>) -> io::Result<ExitCode> {
        // One that has ended is not there to be asked.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let deadline = Instant::now() + STOP_PATIENCE;
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(code(status));
            }
            let again = signals.recv_timeout(LOOK_EVERY).is_ok();
            if again || Instant::now() >= deadline {
                self.0.kill()?;
                return Ok(code(self.0.wait()?));
            }
        }
    }
}

fn code(status: ExitStatus) -> ExitCode {
    let by_signal = || status.signal().map(|signal| signal + ENDED_BY_SIGNAL);
    let code = status.code().or_else(by_signal).unwrap_or_default();
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
