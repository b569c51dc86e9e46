//! A run as a record holds it: the text of its JSON. A record has hundreds of runs with several histograms each, which
//! take a thousand times the memory once they are read; so each is read when somebody asks for it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use vervet_report::Run;

/// The JSON of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredRun {
    json: Box<RawValue>,
}

impl StoredRun {
    /// Keeps a run.
    pub fn of(run: &Run) -> serde_json::Result<Self> {
        let json = serde_json::value::to_raw_value(run)?;
        Ok(Self { json })
    }

    /// Reads it. A run of another version, or one that is none, is an error.
    pub fn read(&self) -> serde_json::Result<Run> {
        let run: Run = serde_json::from_str(self.json())?;
        if run.version == vervet_report::VERSION {
            return Ok(run);
        }
        Err(serde::de::Error::custom(format_args!(
            "the run has version {}, and this program reads version {}",
            run.version,
            vervet_report::VERSION
        )))
    }

    /// The text of the JSON.
    pub fn json(&self) -> &str {
        self.json.get()
    }
}

impl PartialEq for StoredRun {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}
