//! The JSON format of a watch: one document, or one record per line. The schema in
//! `docs/reference/watch.schema.json` is generated from these types.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::sample::Sample;
use crate::summary::Summary;
use crate::watcher::Subject;

/// The version of the format. It increases when a member changes its meaning or is removed, not
/// when one is added.
pub const FORMAT_VERSION: u32 = 1;

/// The target of a watch, the machine and the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    /// The version of the format.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// The program that wrote it.
    pub program: String,
    /// The machine that it ran on.
    pub machine: Machine,
    /// The processes that were watched.
    pub subject: Subject,
    /// When the first sample was taken, in milliseconds since 1970.
    pub begin_unix_ms: u64,
    /// The requested interval between samples, in microseconds.
    pub interval_us: u64,
}

/// The machine that a watch ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The hostname of the machine.
    pub name: String,
    /// The release of the kernel.
    pub kernel: String,
    /// Number of CPUs that the watch may run on.
    pub processors: u32,
}

impl Machine {
    /// The machine that this program runs on.
    pub fn here() -> Self {
        let system = rustix::system::uname();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            name: system.nodename().to_string_lossy().into_owned(),
            kernel: system.release().to_string_lossy().into_owned(),
            processors: u32::try_from(processors).unwrap_or(u32::MAX),
        }
    }
}

/// A watch as one document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// The target, the machine and the time.
    pub head: Head,
    /// The samples in their order.
    pub samples: Vec<Sample>,
    /// The summary of the samples.
    pub summary: Summary,
}

/// A line of a watch: the head first, then samples, the summary last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// The target, the machine and the time.
    Head(Head),
    /// A sample of the tree.
    Sample(Box<Sample>),
    /// The summary of the samples.
    Summary(Box<Summary>),
}

/// The JSON output of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A watch of processes")]
#[serde(untagged)]
pub enum Written {
    /// The whole file as one document.
    Document(Box<Document>),
    /// A line of the file.
    Record(Record),
}

impl Written {
    /// The schema of the format, as JSON Schema.
    pub fn schema() -> Schema {
        schemars::schema_for!(Written)
    }
}
