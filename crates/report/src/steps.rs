//! Figures of one step of a scenario.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::Errors;
use crate::histogram::Histogram;

/// What one step of a scenario did, over all users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepFigures {
    /// Its name in the scenario.
    pub name: String,
    /// Requests that were answered as asked.
    pub done: u64,
    /// Requests that failed, by class. A broken assertion counts as wrong content.
    pub errors: Errors,
    /// How often each assertion was broken, by its text.
    pub assertions: BTreeMap<String, u64>,
    /// Bytes received, heads and all.
    pub bytes: u64,
    /// Response times of the requests that were answered as asked.
    pub response: Histogram,
}
