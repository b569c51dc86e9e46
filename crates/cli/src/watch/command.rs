//! The steps of `vervet watch`: find or start the target, open the outputs, sample, and return the
//! exit status.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use vervet_watch::{FindError, Summary, Watcher};

use super::arguments::{Format, WatchArguments};
use super::data::{Csv, Document, JsonLines};
use super::live::Live;
use super::summary;
use super::table::{Lines, Table};
use super::watch_loop::{Ending, Schedule, View, WatchLoop, signals};
use crate::console;
use crate::failure::Failure;
use crate::terminal::{Colours, Output, Screen, show_cursor_on_panic};

/// The target is ambiguous.
const USAGE: u8 = 2;

/// The target does not exist, or exited before the end of the watch.
const TARGET_LOST: u8 = 4;

/// The exit status of a program that a signal ended is this plus the number of the signal.
const BY_SIGNAL: i32 = 128;

/// Watches.
pub(crate) fn watch(arguments: &WatchArguments) -> Result<ExitCode, Failure> {
    let signals = signals().map_err(Failure::Output)?;
    let (program, watcher) = match &arguments.target {
        Some(target) => (None, Watcher::open(target)),
        None => match Program::start(&arguments.command) {
            Ok(program) => {
                let watcher = Watcher::open_child(program.id());
                (Some(program), watcher)
            }
            Err(error) => return Ok(not_started(arguments, &error)),
        },
    };
    let mut watcher = match watcher {
        Ok(watcher) => watcher,
        Err(error) => return Ok(not_found(&error)),
    };
    let schedule = Schedule {
        interval: arguments.interval,
        duration: arguments.duration,
        count: arguments.count,
    };
    let course =
        WatchLoop { watcher: &mut watcher, schedule, signals: &signals, views: views(arguments)? };
    let (ending, summary) = match course.run() {
        Ok(ended) => ended,
        Err(error) => {
            let stopped = program.map(|program| program.stop(&signals)).transpose();
            stopped.map_err(Failure::Output)?;
            return Err(unwritten(arguments, error));
        }
    };
    if says_summary_apart(arguments) {
        console::message_block(&summary::text(&watcher.subject(), &summary));
    }
    if let Some(program) = program {
        return finish(program, ending, &signals);
    }
    Ok(code(ending, schedule, &summary))
}

fn code(ending: Ending, schedule: Schedule, summary: &Summary) -> ExitCode {
    match ending {
        Ending::Signal(signal) if schedule.is_bounded() => by_signal(signal),
        Ending::TreeEnded if schedule.is_bounded() => {
            console::message(format_args!(
                "the last process exited after {:.3} s, before -d or -n",
                super::rates::seconds(summary.duration_us)
            ));
            ExitCode::from(TARGET_LOST)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// The command goes with the watch: what was not ended by itself is asked to end, and waited for.
fn finish(program: Program, ending: Ending, signals: &Receiver<i32>) -> Result<ExitCode, Failure> {
    let status = match ending {
        Ending::TreeEnded => program.status(),
        _ => program.stop(signals),
    };
    let status = status.map_err(Failure::Output)?;
    Ok(match ending {
        Ending::Signal(signal) => by_signal(signal),
        _ => status,
    })
}

fn by_signal(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(BY_SIGNAL + signal).unwrap_or(u8::MAX))
}

fn not_started(arguments: &WatchArguments, error: &io::Error) -> ExitCode {
    let program = arguments.command.first().cloned().unwrap_or_default();
    console::message(format_args!("cannot start {}: {error}", program.display()));
    ExitCode::from(TARGET_LOST)
}

fn not_found(error: &FindError) -> ExitCode {
    console::message(format_args!("{error}"));
    match error {
        FindError::Ambiguous(_) => ExitCode::from(USAGE),
        _ => ExitCode::from(TARGET_LOST),
    }
}

fn unwritten(arguments: &WatchArguments, error: io::Error) -> Failure {
    match &arguments.output {
        Some(path) => Failure::Write(path.clone(), error),
        None => Failure::Output(error),
    }
}

/// Whether what is written has no place for it, or is not where somebody looks.
fn says_summary_apart(arguments: &WatchArguments) -> bool {
    match &arguments.output {
        Some(_) => !shows_live(arguments),
        None => arguments.format == Some(Format::Csv),
    }
}

fn shows_live(arguments: &WatchArguments) -> bool {
    let has_screen = arguments.command.is_empty() && !arguments.plain;
    has_screen && Output::Stdout.is_screen()
}

/// A command has standard output for itself, so what is said of it goes to standard error.
fn views(arguments: &WatchArguments) -> Result<Vec<Box<dyn View>>, Failure> {
    let mut views: Vec<Box<dyn View>> = Vec::new();
    let live = || -> Box<dyn View> {
        show_cursor_on_panic(Output::Stdout);
        let size = || Output::Stdout.size();
        Box::new(Live::new(Screen::new(Output::Stdout, size, Colours::from_environment())))
    };
    if let Some(path) = &arguments.output {
        let file = File::create(path).map_err(Failure::write(path))?;
        let format = arguments.format.unwrap_or(Format::Json);
        views.push(view(format, Lines::AsTheyCome, BufWriter::new(file)));
        if shows_live(arguments) {
            views.push(live());
        }
        return Ok(views);
    }
    let format = arguments.format.unwrap_or(Format::Table);
    views.push(if !arguments.command.is_empty() {
        view(format, Lines::Summary, io::stderr())
    } else if format == Format::Table && shows_live(arguments) {
        live()
    } else {
        view(format, Lines::AsTheyCome, io::stdout())
    });
    Ok(views)
}

fn view(format: Format, lines: Lines, to: impl Write + 'static) -> Box<dyn View> {
    match format {
        Format::Table => Box::new(Table::new(to, lines)),
        Format::Json => Box::new(Document::new(to)),
        Format::Ndjson => Box::new(JsonLines::new(to)),
        Format::Csv => Box::new(Csv::new(to)),
    }
}

/// How long the command may take to end after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it is checked whether the command has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A running command. It is reaped after its last sample.
#[derive(Debug)]
struct Program(Child);

impl Program {
    /// Starts it with the standard streams of this program.
    fn start(command: &[OsString]) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let child = Command::new(program).args(arguments).spawn()?;
        Ok(Self(child))
    }

    /// Its process ID, which is not reused before [`Program::status`].
    fn id(&self) -> u32 {
        self.0.id()
    }

    /// Waits for its end; the exit status is that of a shell.
    fn status(mut self) -> io::Result<ExitCode> {
        Ok(exit_code(self.0.wait()?))
    }

    /// Sends SIGTERM and waits. The process is killed at the next signal or on timeout.
    fn stop(mut self, signals: &Receiver<i32>) -> io::Result<ExitCode> {
        // Fails if it has ended.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let deadline = Instant::now() + STOP_TIMEOUT;
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(exit_code(status));
            }
            let again = signals.recv_timeout(LOOK_EVERY).is_ok();
            if again || Instant::now() >= deadline {
                self.0.kill()?;
                return Ok(exit_code(self.0.wait()?));
            }
        }
    }
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let by_signal = || status.signal().map(|signal| signal + BY_SIGNAL);
    let code = status.code().or_else(by_signal).unwrap_or_default();
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
