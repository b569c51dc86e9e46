//! The journal of a lab while it runs: a file of lines, each one JSON, each on the disk before the
//! next thing happens.
//!
//! The first line is the head, followed by the fairness table and the steps; the last line marks
//! the end of the lab. If a lab is killed or the machine loses power, at most the last line is
//! truncated; it is ignored when the journal is read and overwritten when the lab is resumed.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::lab_record::LAB_RECORD_VERSION;
use super::{FairnessRow, Head, LabRecord, Step, TaskStep};

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalLine {
    /// What was set up: the first line, and no other.
    Begin {
        /// The version of the form: [`LAB_RECORD_VERSION`].
        version: u32,
        /// What was set up.
        head: Box<Head>,
    },
    /// What the fairness gate saw. A later one replaces an earlier one.
    Fairness(Vec<FairnessRow>),
    /// A step that is done.
    Step(Box<Step>),
    /// A step of a lab of tasks that is done.
    Task(Box<TaskStep>),
    /// The lab was completed.
    End {
        /// When, in milliseconds of Unix time.
        ended_unix_ms: u64,
    },
}

/// A journal that is open for writing.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

/// The incomplete last line of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TruncatedLine {
    /// Offset of the truncated line in bytes.
    pub at: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
}

/// Why a journal cannot be read.
#[derive(Debug)]
pub enum JournalError {
    /// The file cannot be read or written.
    File(io::Error),
    /// The journal has no complete line.
    Empty,
    /// It was written by a program that writes another form.
    Version(u32),
    /// An invalid line, counted from 1.
    Line(usize, String),
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Empty => {
                f.write_str("the journal has no complete line: no step was run, start again")
            }
            Self::Version(version) => write!(
                f,
                "unsupported journal version {version}, expected {LAB_RECORD_VERSION}: \
                 use the release that wrote it, or start again"
            ),
            Self::Line(line, problem) => write!(
                f,
                "line {line} of the journal is invalid: {problem}; only the last line may be \
                 truncated, so another program changed the file"
            ),
        }
    }
}

impl std::error::Error for JournalError {}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl Journal {
    /// Begins a journal with its head. The file must not exist.
    pub fn create(path: &Path, head: &Head) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let mut journal = Self { file };
        journal.append(&JournalLine::Begin {
            version: LAB_RECORD_VERSION,
            head: Box::new(head.clone()),
        })?;
        // The file is there after a loss of power only once its folder says so.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(journal)
    }

    /// Continues a journal: returns its record, and cuts off a truncated last line.
    pub fn resume(path: &Path) -> Result<(Self, LabRecord, Option<TruncatedLine>), JournalError> {
        let (record, torn) = read_journal(path)?;
        let mut file = OpenOptions::new().write(true).open(path)?;
        if let Some(torn) = torn {
            file.set_len(torn.at)?;
        }
        file.seek(SeekFrom::End(0))?;
        Ok((Self { file }, record, torn))
    }

    /// Adds a line, and returns once it is on the disk.
    pub fn append(&mut self, entry: &JournalLine) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.sync_data()
    }
}

/// Reads a journal: its record, and the truncated last line if there is one.
pub fn read_journal(path: &Path) -> Result<(LabRecord, Option<TruncatedLine>), JournalError> {
    let bytes = fs::read(path)?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let torn = (whole < bytes.len())
        .then_some(TruncatedLine { at: whole as u64, bytes: (bytes.len() - whole) as u64 });
    let mut lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n');
    let first = lines.next().ok_or(JournalError::Empty)?;
    let mut record = begin(first)?;
    let mut orders = BTreeSet::new();
    for (index, line) in lines.enumerate() {
        let wrong = |problem: String| JournalError::Line(index + 2, problem);
        match serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))? {
            JournalLine::Begin { .. } => return Err(wrong("a second head".to_owned())),
            JournalLine::Fairness(rows) => record.fairness = rows,
            JournalLine::Step(step) => {
                once(&mut orders, step.order).map_err(wrong)?;
                record.steps.push(*step);
            }
            JournalLine::Task(step) => {
                once(&mut orders, step.order).map_err(wrong)?;
                record.tasks.push(*step);
            }
            JournalLine::End { ended_unix_ms } => record.ended_unix_ms = Some(ended_unix_ms),
        }
    }
    Ok((record, torn))
}

/// Rejects a step that is already in the journal.
fn once(orders: &mut BTreeSet<u32>, order: u32) -> Result<(), String> {
    if orders.insert(order) { Ok(()) } else { Err(format!("step {order} occurs twice")) }
}

/// What is looked at in the first line before anything else.
#[derive(Deserialize)]
struct FirstLine {
    begin: Versioned,
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

fn begin(line: &[u8]) -> Result<LabRecord, JournalError> {
    let wrong = |error: serde_json::Error| JournalError::Line(1, error.to_string());
    let FirstLine { begin } = serde_json::from_slice(line).map_err(wrong)?;
    if begin.version != LAB_RECORD_VERSION {
        return Err(JournalError::Version(begin.version));
    }
    match serde_json::from_slice(line).map_err(wrong)? {
        JournalLine::Begin { head, .. } => Ok(LabRecord::new(*head)),
        _ => Err(JournalError::Line(1, "the head is missing".to_owned())),
    }
}
