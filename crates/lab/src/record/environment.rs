//! The machine and its settings, as named facts. How they are read is the business of whoever fills them in.

use serde::{Deserialize, Serialize};

/// What was known of the machine when the lab began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// In the order in which they are shown. Names are unique.
    pub facts: Vec<Fact>,
}

impl Environment {
    /// The value of a fact.
    pub fn value(&self, name: &str) -> Option<&str> {
        let fact = self.facts.iter().find(|fact| fact.name == name)?;
        Some(&fact.value)
    }

    /// Adds a fact.
    pub fn add(&mut self, group: &str, name: &str, value: impl Into<String>, weight: Weight) {
        self.facts.push(Fact {
            group: group.to_owned(),
            name: name.to_owned(),
            value: value.into(),
            weight,
        });
    }
}

/// One thing that was known, for example the congestion control of TCP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it belongs to: `cpu`, `kernel`, `limits`, `vervet`.
    pub group: String,
    /// The name that its source gives it: `model name`, `net.core.somaxconn`.
    pub name: String,
    /// The value as its source writes it.
    pub value: String,
    /// Whether figures may differ because of it.
    pub weight: Weight,
}

/// Whether two environments that differ in a fact give figures that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Figures may differ because of it: a comparison tells when it does.
    Decides,
    /// For the reader only: the load before the lab, the time of the day.
    Informs,
}
