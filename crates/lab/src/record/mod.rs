//! What a lab leaves on the disk: the record of everything that was set up, asked and seen, the journal that it is
//! written to step by step, and the one file that it becomes. Values and their files; what they mean is said by
//! `statistics`.

mod environment;
mod fairness;
mod file;
mod journal;
mod lab_record;
mod open;
mod rule;
mod step;
mod stored_run;
mod subject;
mod task;
mod watched;

pub use environment::{Environment, Fact, Weight};
pub use fairness::{FairnessRow, FairnessVerdict};
pub use file::{
    RECORD_BYTES_MAX, RecordError, read_record, record_from_json, record_to_json, write_record,
};
pub use journal::{Entry, Journal, JournalError, Torn, read_journal};
pub use lab_record::{
    Asset, Head, History, LAB_RECORD_VERSION, LabFile, LabRecord, OldFigure, Shortened, Workload,
};
pub use open::{COMPRESSED_RECORD_FILE, JOURNAL_FILE, RECORD_FILE, open_record, record_file};
pub use rule::{Against, Bound, Rule};
pub use step::{Connections, LoadPoint, LoadShape, Outcome, Step};
pub use stored_run::StoredRun;
pub use subject::{Role, Subject, SubjectState};
pub use task::{Phase, TaskStep};
pub use watched::{ServerFigures, Watched, WatchedSample};
