//! A record as one file of JSON: read with its version looked at first, written whole or not at
//! all.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use flate2::read::GzDecoder;
use serde::Deserialize;

use super::journal::{JournalError, read_journal};
use super::lab_record::{LAB_RECORD_VERSION, LabRecord};

/// The longest file that is read as a record, in bytes: a file that is none must not fill the
/// memory.
pub const RECORD_BYTES_MAX: u64 = 1 << 30;

/// Why a record cannot be read.
#[derive(Debug)]
pub enum RecordError {
    /// The file cannot be read or written.
    File(PathBuf, io::Error),
    /// It is longer than [`RECORD_BYTES_MAX`].
    TooLong(PathBuf),
    /// It was written by a program that writes another form.
    Version(u32),
    /// It is not a record.
    Form(serde_json::Error),
    /// A journal cannot be read.
    Journal(PathBuf, JournalError),
    /// A folder without a lab in it.
    Nothing(PathBuf),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
            Self::TooLong(path) => write!(
                f,
                "{}: too large for a record: more than {RECORD_BYTES_MAX} bytes",
                path.display()
            ),
            Self::Version(version) => write!(
                f,
                "unsupported record version {version}, expected {LAB_RECORD_VERSION}: \
                 use the release that wrote it, or run the lab again"
            ),
            Self::Form(error) => write!(f, "invalid record of a lab: {error}"),
            Self::Journal(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Nothing(path) => write!(
                f,
                "{}: no lab.json, lab.json.gz or journal.jsonl in this folder: expected a folder that \
                 `vervet lab run` wrote",
                path.display()
            ),
        }
    }
}

impl std::error::Error for RecordError {}

/// What is looked at before anything else.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Reads a record from a file of JSON; from a compressed one where its name ends with `.gz`.
pub fn read_record(path: &Path) -> Result<LabRecord, RecordError> {
    let failed = |error| RecordError::File(path.to_owned(), error);
    let file = File::open(path).map_err(failed)?;
    let mut json = Vec::new();
    let read = if path.extension().is_some_and(|end| end == "gz") {
        GzDecoder::new(file).take(RECORD_BYTES_MAX + 1).read_to_end(&mut json)
    } else {
        file.take(RECORD_BYTES_MAX + 1).read_to_end(&mut json)
    };
    let bytes = read.map_err(failed)? as u64;
    if bytes > RECORD_BYTES_MAX {
        return Err(RecordError::TooLong(path.to_owned()));
    }
    record_from_json(&json)
}

/// Reads a record from JSON. Its version decides before its form does.
pub fn record_from_json(json: &[u8]) -> Result<LabRecord, RecordError> {
    let Versioned { version } = serde_json::from_slice(json).map_err(RecordError::Form)?;
    if version != LAB_RECORD_VERSION {
        return Err(RecordError::Version(version));
    }
    serde_json::from_slice(json).map_err(RecordError::Form)
}

/// A record as JSON, in one line.
pub fn record_to_json(record: &LabRecord) -> Result<Vec<u8>, RecordError> {
    serde_json::to_vec(record).map_err(RecordError::Form)
}

/// Writes a record as a file of JSON: first under another name, so that no
/// reader sees half of one.
pub fn write_record(path: &Path, record: &LabRecord) -> Result<(), RecordError> {
    let json = record_to_json(record)?;
    let mut beside = path.to_owned().into_os_string();
    beside.push(".new");
    let write = || -> io::Result<()> {
        let mut file = File::create(&beside)?;
        file.write_all(&json)?;
        file.write_all(b"\n")?;
        file.sync_data()?;
        fs::rename(&beside, path)
    };
    write().map_err(|error| RecordError::File(path.to_owned(), error))
}

/// The name of a record in the folder of its lab.
pub const RECORD_FILE: &str = "lab.json";
/// The name of a record that was compressed with gzip, as `gzip lab.json` leaves it.
pub const COMPRESSED_RECORD_FILE: &str = "lab.json.gz";
/// The name of the journal in the folder of its lab.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// The file of a lab's folder that its record is read from: `lab.json`, `lab.json.gz`, or else
/// the journal of a lab that is running or was interrupted.
pub fn record_file(folder: &Path) -> Option<PathBuf> {
    [RECORD_FILE, COMPRESSED_RECORD_FILE, JOURNAL_FILE]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|file| file.exists())
}

/// Reads a record from the folder of a lab, a journal (`.jsonl`), or a JSON file, possibly
/// compressed with gzip. A report (`.html`) means its folder.
pub fn open_record(path: &Path) -> Result<LabRecord, RecordError> {
    let is_report = path.extension().is_some_and(|end| end == "html" || end == "htm");
    let folder = match path.parent() {
        Some(parent) if is_report && parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) if is_report => parent,
        _ => path,
    };
    let file = if folder.is_dir() {
        record_file(folder).ok_or_else(|| RecordError::Nothing(folder.to_owned()))?
    } else {
        path.to_owned()
    };
    if file.extension().is_none_or(|end| end != "jsonl") {
        return read_record(&file);
    }
    let (record, _truncated) =
        read_journal(&file).map_err(|error| RecordError::Journal(file, error))?;
    Ok(record)
}
