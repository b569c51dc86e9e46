//! A record from wherever it is: the folder of a lab, its file, or its journal.

use std::path::{Path, PathBuf};

use super::file::{RecordError, read_record};
use super::journal::read_journal;
use super::lab_record::LabRecord;

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

/// Reads a record: from the folder of a lab, from a journal (`.jsonl`), or from a file of JSON,
/// compressed with gzip or not. A report (`.html`) stands for the folder that it lies in.
pub fn open_record(path: &Path) -> Result<LabRecord, RecordError> {
    let is_report = path
        .extension()
        .is_some_and(|end| end == "html" || end == "htm");
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
