//! A subject that runs.

use std::fmt;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::children::Children;
use super::folder::{CopyError, copy_app};
use super::program::SubjectProgram;
use super::ready::free_port;
use super::ready::{self, NotReady};
use crate::adapter::{Launch, Process, Setup, Traffic};
use crate::plan::{PlannedSubject, SubjectStart};
use crate::probe::{self, ProbeError};

/// How often another port is tried when one that was free is taken before the subject has it.
const TRIES_MAX: u32 = 3;
/// Time in which a subject that no longer responds may exit.
const END_MAX: Duration = Duration::from_secs(2);
/// Maximum output of a subject that is shown.
const SAID_BYTES_MAX: usize = 2000;

/// What is to be started, and for what.
#[derive(Clone, Copy, Debug)]
pub struct StartOptions<'a> {
    /// The subject that is started.
    pub subject: &'a PlannedSubject,
    /// The program of the subject.
    pub found: &'a SubjectProgram,
    /// The load that the server will receive.
    pub traffic: Traffic,
    /// The folder of the generated files.
    pub site: &'a Path,
    /// Parent of the scratch folder; leftovers of an earlier start are removed.
    pub work: &'a Path,
    /// The folder of the lab file.
    pub lab: &'a Path,
    /// Its cores; none: all.
    pub cores: &'a [u32],
    /// The command of the ceiling, but for `--listen ADDRESS`.
    pub ceiling: &'a [String],
}

/// A subject that runs, until it is dropped.
#[derive(Debug)]
pub struct Running {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The commands it was started with, and the configurations written for it.
    pub launch: Launch,
    children: Children,
    log: PathBuf,
}

/// Why a subject does not run.
#[derive(Debug)]
pub enum StartError {
    /// A file or process of the lab's own.
    System(io::Error),
    /// The application cannot be copied.
    App(CopyError),
    /// The subject was started, but did not become ready; with the end of its output.
    NotReady(NotReady, String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => write!(f, "cannot start: {error}"),
            Self::App(error) => error.fmt(f),
            Self::NotReady(why, said) if said.is_empty() => write!(f, "{why}; no output"),
            Self::NotReady(why, said) => write!(f, "{why}; output: {said}"),
        }
    }
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl Running {
    /// Starts a subject on a free port and waits until it is ready.
    pub fn start(wanted: &StartOptions<'_>) -> Result<Self, StartError> {
        let mut tries = 1;
        loop {
            let result = Self::try_start(wanted);
            let taken = matches!(
                result,
                Err(StartError::NotReady(NotReady::Ended(_) | NotReady::Foreign(_), _))
            );
            if !taken || tries == TRIES_MAX {
                return result;
            }
            tries += 1;
        }
    }

    fn try_start(wanted: &StartOptions<'_>) -> Result<Self, StartError> {
        let folder = wanted.work.join(&wanted.subject.name);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => fs::create_dir_all(&folder)?,
        }
        let (address, launch) = if let SubjectStart::Address(address) = &wanted.subject.start {
            (*address, Launch::default())
        } else {
            let port = free_port()?;
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            (address, launch(wanted, &folder, port)?)
        };
        for (name, text) in &launch.files {
            fs::write(folder.join(name), text)?;
        }
        let log = folder.join("output.log");
        let mut running = Self { address, launch, children: Children::default(), log };
        let subject = wanted.subject;
        let within = subject.ready_within;
        for part in &running.launch.parts {
            if let Some(file) = &part.after {
                ready::wait_for(&mut running.children, file, within)
                    .map_err(|why| StartError::NotReady(why, running.said()))?;
            }
            running.children.start(part, wanted.cores, &folder, &running.log)?;
        }
        ready::wait(&mut running.children, address, subject.ready.as_deref(), within)
            .map_err(|why| StartError::NotReady(why, running.said()))?;
        Ok(running)
    }

    /// Waits this long, or until it has ended.
    pub fn settle(&mut self, time: Duration) {
        self.children.wait_until(Instant::now() + time, || false);
    }

    /// The processes that were started.
    pub fn pids(&self) -> Vec<u32> {
        self.children.pids()
    }

    /// How it ended, if it has by itself.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.children.ended()
    }

    /// Whether the subject still responds to a request. If not, it gets a moment to exit:
    /// connections close before the process exits.
    pub fn answers(&mut self, request: &[u8]) -> bool {
        let deadline = Instant::now() + END_MAX;
        loop {
            match probe::once(self.address, request, END_MAX) {
                Ok(_) | Err(ProbeError::Malformed(_)) => return true,
                // A full queue or unfinished work does not mean that it ended.
                Err(error) if error.is_late() => return true,
                Err(_) if self.children.ended().is_some() || Instant::now() >= deadline => {
                    return false;
                }
                Err(_) => self.children.pause(),
            }
        }
    }

    /// Where adapters have it write its access log.
    pub fn access_log(&self) -> PathBuf {
        self.log.with_file_name("access.log")
    }

    /// The end of its output.
    pub fn said(&self) -> String {
        end_of(&self.log)
    }

    /// Ends all of its processes.
    pub fn stop(mut self) {
        self.children.stop();
    }
}

/// The end of an output file.
pub(crate) fn end_of(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let from = bytes.len().saturating_sub(SAID_BYTES_MAX);
    String::from_utf8_lossy(&bytes[from..]).trim().to_owned()
}

/// What is started on a port.
fn launch(wanted: &StartOptions<'_>, folder: &Path, port: u16) -> Result<Launch, StartError> {
    let subject = wanted.subject;
    let program = wanted.found.program.clone().unwrap_or_default();
    let app = match &subject.app {
        Some(app) => Some(copy_app(app, folder).map_err(StartError::App)?),
        None => None,
    };
    let fill = |text: &String| {
        text.replace("{port}", &port.to_string())
            .replace("{site}", &wanted.site.display().to_string())
            .replace("{folder}", &folder.display().to_string())
            .replace("{file}", &wanted.lab.display().to_string())
    };
    let mut launch = match &subject.start {
        SubjectStart::Adapter(adapter, settings) => (adapter.launch)(&Setup {
            program: &program,
            port,
            folder,
            site: wanted.site,
            app: app.as_deref(),
            settings,
            log: subject.log,
            traffic: wanted.traffic,
        }),
        SubjectStart::Command(command) => {
            let arguments: Vec<String> = command.iter().skip(1).map(fill).collect();
            Launch::new(&program, arguments.iter().map(String::as_str))
        }
        SubjectStart::Ceiling => {
            let listen = format!("127.0.0.1:{port}");
            let command = wanted.ceiling.iter().cloned().chain(["--canned".to_owned(), listen]);
            Launch {
                files: Vec::new(),
                parts: vec![Process { command: command.collect(), ..Process::default() }],
            }
        }
        SubjectStart::Address(_) => Launch::default(),
    };
    if !subject.beside.is_empty() {
        launch.parts.insert(
            0,
            Process { command: subject.beside.iter().map(fill).collect(), ..Process::default() },
        );
    }
    for (name, value) in &subject.environment {
        launch = launch.variable(name, value);
    }
    Ok(launch)
}
