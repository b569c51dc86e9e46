//! Whether a run may be believed. Each rule is one function in a file of its own kind, and one line
//! in [`RULES`].
//!
//! A rule checks the run and the generator's evidence, and always reports the numbers, also when it
//! passes.

mod answers;
mod generator;
mod network;
mod queueing;
mod times;
mod words;

use vervet_report::{Finding, Run};

use words::{Words, above, number};

/// What the generator knows beyond the report: what rules need and nobody else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// Requests under way summed over the window, in request-nanoseconds: counted when requests
    /// come and go.
    pub(crate) area_ns: u128,
    /// The same counted from each request: how long it was under way, by whatever end it left.
    pub(crate) sojourns_ns: u128,
    /// Good answers of each connection's user.
    pub(crate) answers: Vec<u64>,
}

/// A rule: nothing where it does not apply.
type Rule = fn(&Run, &Evidence) -> Option<Finding>;

/// All rules, in the order of the report.
const RULES: &[Rule] = &[
    generator::threads,
    generator::cpu,
    generator::lag,
    queueing::rate_asked,
    queueing::littles_law,
    network::listen_overflows,
    network::retransmits,
    answers::enough,
    answers::even,
    times::p99_and_mean,
    times::mean_and_median,
];

/// What all rules say.
pub(crate) fn findings(run: &Run, evidence: &Evidence) -> Vec<Finding> {
    let rules = RULES.iter();
    rules.filter_map(|rule| rule(run, evidence)).collect()
}

#[cfg(test)]
mod tests;
