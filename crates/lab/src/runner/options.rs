//! What running a lab needs in addition to its plan, and how it may fail.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::generator::{MeasureError, Measurer};
use crate::fairness::Refusal;
use crate::record::{JournalError, RecordError, Step, TaskStep};
use crate::workload::FileError;

/// What running a lab needs in addition to its plan.
pub struct Options<'a> {
    /// The folder of the record.
    pub out: PathBuf,
    /// This program with its version and commit.
    pub program: String,
    /// Command of the canned-response server, without `--content FILE` and `--listen ADDRESS`.
    pub ceiling: Vec<String>,
    /// The load generator to measure with.
    pub measurer: &'a mut dyn Measurer,
    /// The receiver of progress messages.
    pub progress: &'a mut dyn Progress,
    /// Set when the lab is interrupted.
    pub interrupted: &'a AtomicBool,
}

/// Receives the progress of a lab.
pub trait Progress {
    /// A message for the user.
    fn message(&mut self, text: &str);
    /// Step `done` of `of` was recorded.
    fn step(&mut self, done: usize, of: usize, step: &Step);
    /// Step `done` of `of` of a lab of tasks was recorded.
    fn task(&mut self, done: usize, of: usize, step: &TaskStep);
}

/// Why a lab was not completed. The steps until then are on disk.
#[derive(Debug)]
pub enum RunError {
    /// The folder of the record, or the private one.
    Folder(PathBuf, io::Error),
    /// Another lab is writing there.
    Busy(PathBuf),
    /// The journal of a started lab is invalid.
    Journal(PathBuf, JournalError),
    /// The record cannot be read or written.
    Record(RecordError),
    /// The folder has a record of another lab, or of this one with other options.
    Differs(PathBuf, &'static str),
    /// Files of the lab.
    Files(FileError),
    /// No subject is there.
    NobodyThere,
    /// The responses of the subjects differ.
    Unfair(Refusal),
    /// The generator could not work.
    Measure(MeasureError),
    /// The lab was interrupted.
    Interrupted,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path, error) => write!(f, "cannot write to {}: {error}", path.display()),
            Self::Busy(path) => write!(f, "another lab is writing to {}", path.display()),
            Self::Journal(path, error) => {
                write!(f, "cannot resume the lab in {}: {error}", path.display())
            }
            Self::Record(error) => error.fmt(f),
            Self::Differs(path, what) => write!(
                f,
                "{} contains a lab with {what}: use another folder, or remove it to start again",
                path.display()
            ),
            Self::Files(error) => error.fmt(f),
            Self::NobodyThere => {
                f.write_str("no subject of the lab is installed (labs/setup installs some)")
            }
            Self::Unfair(refusal) => refusal.fmt(f),
            Self::Measure(error) => write!(f, "cannot generate load: {error}"),
            Self::Interrupted => f.write_str("interrupted: run the same command again to resume"),
        }
    }
}

impl std::error::Error for RunError {}
