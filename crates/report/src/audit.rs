//! Whether a run may be believed: what the generator checked of itself and of the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one rule of the audit found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule, as documents name it: `generator_cpu`, `rate_asked`, `littles_law`.
    pub rule: String,
    /// What the rule says of the run.
    pub verdict: Verdict,
    /// What was measured, with its unit: "97 % of a core".
    pub measured: String,
    /// What the rule allows, with its unit: "at most 85 % of a core".
    pub bound: String,
    /// What it means for the figures, in words for somebody new to this.
    pub meaning: String,
    /// What to do about it; empty where nothing is to be done.
    pub advice: String,
}

/// What a rule says of a run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing against the figures.
    Passed,
    /// The figures hold, with a reservation.
    Warning,
    /// The figures must not be used to rank servers.
    Failed,
}

impl Verdict {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}
