//! The audit: whether the results of a run are valid. Each rule is one function, and one line in
//! [`RULES`].
//!
//! A rule checks the run and the generator's evidence, and always reports the numbers, also when it
//! passes.

mod rules;

use vervet_report::{Finding, Run};

/// What the generator knows beyond the report, for the rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// Outstanding requests integrated over the window, in request-nanoseconds.
    pub(crate) area_ns: u128,
    /// The same counted from each request: how long it was under way, by whatever end it left.
    pub(crate) sojourns_ns: u128,
    /// Successful responses of each connection's user.
    pub(crate) answers: Vec<u64>,
}

/// A rule; `None` if it does not apply.
type Rule = fn(&Run, &Evidence) -> Option<Finding>;

/// All rules, in the order of the report.
const RULES: &[Rule] = &[
    rules::threads,
    rules::cpu,
    rules::lag,
    rules::rate_asked,
    rules::littles_law,
    rules::listen_overflows,
    rules::retransmits,
    rules::enough,
    rules::failed_requests,
    rules::window_length,
    rules::even,
    rules::p99_and_mean,
    rules::mean_and_median,
];

/// Applies all rules.
pub(crate) fn findings(run: &Run, evidence: &Evidence) -> Vec<Finding> {
    let rules = RULES.iter();
    rules.filter_map(|rule| rule(run, evidence)).collect()
}

#[cfg(test)]
mod tests;
