//! Findings of the audit, which checks whether the figures of a run are reliable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The finding of one rule of the audit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Name of the rule, such as `generator_cpu`, `rate_asked` or `littles_law`.
    pub rule: String,
    /// The verdict of the rule.
    pub verdict: Verdict,
    /// The measured value with its unit: "97 % of a core".
    pub measured: String,
    /// The bound of the rule with its unit: "at most 85 % of a core".
    pub bound: String,
    /// What the finding means for the figures.
    pub meaning: String,
    /// What to do about the finding; empty if nothing.
    pub advice: String,
}

/// The verdict of a rule.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The figures are reliable.
    Passed,
    /// Interpret the figures with care.
    Warning,
    /// The figures must not be used to rank servers.
    Failed,
}

impl Verdict {
    /// The name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}
