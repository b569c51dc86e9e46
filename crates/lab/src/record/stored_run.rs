//! A run as a record holds it: the text of its JSON. A record has hundreds of runs with several histograms each, which
//! take a thousand times the memory once they are read; so each is read when somebody asks for it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The JSON of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredRun {
    json: Box<RawValue>,
}

impl StoredRun {
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
