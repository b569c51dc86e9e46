//! How a watch is written down: one document, or one record a line. The types are the format; its
//! schema is made from them and committed as `docs/reference/watch.schema.json`.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::sample::Sample;
use crate::summary::Summary;
use crate::watcher::Subject;

/// The version of the format. It is raised when a member changes its meaning or goes; one that is
/// new does not count.
pub const FORMAT_VERSION: u32 = 1;

/// What was watched, where and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    /// The version of the format.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// Which program wrote it.
    pub program: String,
    /// The machine.
    pub machine: Machine,
    /// What was watched.
    pub subject: Subject,
    /// When the first sample was taken, in milliseconds since 1970.
    pub begin_unix_ms: u64,
    /// Microseconds between two samples, as asked for.
    pub interval_us: u64,
}

/// The machine that a watch ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Its name in the network.
    pub name: String,
    /// The release of its kernel.
    pub kernel: String,
    /// Processors that the watch may run on.
    pub processors: u32,
}

impl Machine {
    /// The one that this runs on.
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
    /// What was watched.
    pub head: Head,
    /// In their order.
    pub samples: Vec<Sample>,
    /// What they come to.
    pub summary: Summary,
}

/// A line of a watch that is written as it goes: the head first, then samples, the summary last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// What is watched.
    Head(Head),
    /// One sample.
    Sample(Box<Sample>),
    /// What they come to.
    Summary(Box<Summary>),
}

/// What a watch writes as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A watch of processes")]
#[serde(untagged)]
pub enum Written {
    /// A whole file.
    Document(Box<Document>),
    /// A line.
    Record(Record),
}

impl Written {
    /// The schema of the format, as JSON Schema.
    pub fn schema() -> Schema {
        schemars::schema_for!(Written)
    }
}
