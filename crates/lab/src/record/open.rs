//! A record from wherever it is: the folder of a lab, its file, its journal, or a report.

use std::fs;
use std::path::Path;

use super::embedded::extract;
use super::file::{RECORD_BYTES_MAX, RecordError, read_record};
use super::journal::read_journal;
use super::lab_record::LabRecord;
use super::step::Outcome;

/// The name of a record in the folder of its lab.
pub const RECORD_FILE: &str = "lab.json";
/// The name of the journal in the folder of its lab.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// Reads a record: from `lab.json` or else the journal of a folder, from a journal (`.jsonl`), from a report (`.html`),
/// or from a file of JSON.
pub fn open_record(path: &Path) -> Result<LabRecord, RecordError> {
    if path.is_dir() {
        let whole = path.join(RECORD_FILE);
        let journal = path.join(JOURNAL_FILE);
        return match (whole.exists(), journal.exists()) {
            (true, _) => read_record(&whole),
            (false, true) => open_journal(&journal),
            (false, false) => Err(RecordError::Nothing(path.to_owned())),
        };
    }
    match path.extension().and_then(|end| end.to_str()) {
        Some("jsonl") => open_journal(path),
        Some("html" | "htm") => open_page(path),
        _ => read_record(path),
    }
}

/// The same, and refuses one whose figures were left out because a page is not to grow too large.
pub fn open_figures(path: &Path) -> Result<LabRecord, RecordError> {
    let record = open_record(path)?;
    let mut measured = record
        .steps
        .iter()
        .filter(|step| step.outcome == Outcome::Measured);
    if measured.clone().next().is_some() && measured.all(|step| step.run.is_none()) {
        return Err(RecordError::WithoutRuns(path.to_owned()));
    }
    Ok(record)
}

fn open_journal(path: &Path) -> Result<LabRecord, RecordError> {
    let (record, _torn) =
        read_journal(path).map_err(|error| RecordError::Journal(path.to_owned(), error))?;
    Ok(record)
}

fn open_page(path: &Path) -> Result<LabRecord, RecordError> {
    let failed = |error| RecordError::File(path.to_owned(), error);
    let bytes = fs::metadata(path).map_err(failed)?.len();
    if bytes > RECORD_BYTES_MAX {
        return Err(RecordError::TooLong(path.to_owned(), bytes));
    }
    extract(&fs::read_to_string(path).map_err(failed)?)
}
