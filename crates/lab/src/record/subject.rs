//! A server under test, as it was found and started.

use serde::{Deserialize, Serialize};

/// A server under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its name in the lab file; unique.
    pub name: String,
    /// What starts it: `nginx`, `gunicorn`, `command`.
    pub adapter: String,
    /// What it is there for.
    pub role: Role,
    /// What it says its version is.
    pub version: Option<String>,
    /// The command line that it was started with, with its flags.
    pub command: Vec<String>,
    /// The configuration that was written for it, as text; empty where it has none.
    pub configuration: String,
    /// The cores that it may run on, as `taskset` writes them; none: all.
    pub cores: Option<String>,
    /// Whether it took part.
    pub state: SubjectState,
}

/// What a subject is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It is compared with the others.
    Contestant,
    /// The built-in server of canned answers: what this kernel can do. Never ranked.
    Ceiling,
}

/// Whether a subject took part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectState {
    /// It was found and has its steps.
    Present,
    /// It took no part.
    Skipped {
        /// Why: not installed, refused by the fairness gate.
        reason: String,
    },
}

impl Subject {
    /// Whether it took part and is compared.
    pub fn is_contestant(&self) -> bool {
        self.role == Role::Contestant && self.state == SubjectState::Present
    }
}
