//! `[[rule]]`: what a figure of a subject must reach.

use vervet_config::{Size, Text, section};

use super::Figure;

section! {
    /// What a figure of a subject must reach. Figures are divided repeat by repeat; the rule is met
    /// by the median of these ratios, not met if their whole 95 % interval misses the bound, and
    /// inconclusive otherwise. A rule that is not met fails nothing: the report says so.
    pub struct Rule {
        /// The workload. With several values of `congestion` the rule is checked for each.
        pub workload: Text,
        /// The subject.
        pub subject: Text,
        /// The figure.
        pub figure: Figure,
        /// The smallest ratio that meets the rule.
        pub at_least: Option<f64>,
        /// The largest ratio that meets the rule.
        pub at_most: Option<f64>,
        /// The subjects that it is compared with; of several the one with the most requests per
        /// CPU-second. `ceiling` is the canned-response server.
        pub against: Vec<Text>,
        /// Compare with the same subject under this workload.
        pub against_workload: Option<Text>,
        /// Compare with this number of bytes.
        pub against_size: Option<Size>,
    }
}
