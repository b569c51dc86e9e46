//! What the fairness gate saw: for each workload and property, what each subject answered.

use serde::{Deserialize, Serialize};

/// One property of the answers to one workload, over all subjects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FairnessRow {
    /// The workload's name.
    pub workload: String,
    /// What was looked at: `status`, `content sha-256`, `field bytes`, `compression`, `log`, `keep-alive`.
    pub property: String,
    /// Subject and value, in the order of the subjects.
    pub values: Vec<(String, String)>,
    /// What became of it.
    pub verdict: FairnessVerdict,
}

/// What the gate made of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FairnessVerdict {
    /// All subjects alike.
    Equal,
    /// They differ, the lab file admits it, and the report says so.
    Differs,
    /// They differ and the lab file does not admit it: no step was run.
    Refused,
}
