//! The record of a lab on disk: setup, requests and measurements, the journal written step by step,
//! and the final file. `statistics` interprets them.

mod file;
mod journal;
mod lab_record;
mod step;

pub use file::{
    COMPRESSED_RECORD_FILE, JOURNAL_FILE, RECORD_BYTES_MAX, RECORD_FILE, RecordError, open_record,
    read_record, record_file, record_from_json, record_to_json, write_record,
};
pub use journal::{Journal, JournalError, JournalLine, TruncatedLine, read_journal};
pub use lab_record::{
    Against, Asset, Bound, Environment, Fact, FairnessRow, FairnessVerdict, Head, History,
    LAB_RECORD_VERSION, LabFile, LabRecord, OldFigure, Role, Rule, Shortened, Subject,
    SubjectState, Weight, Workload,
};
pub use step::{
    Connections, LoadPoint, LoadShape, Outcome, Phase, ServerFigures, Step, StoredRun, TaskStep,
    Watched, WatchedSample,
};
