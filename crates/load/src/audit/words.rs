//! Texts of findings, and the bounds that a number is compared with.

use vervet_report::{Finding, Verdict};

/// What a rule says of itself; the rest of a [`Finding`] is what it measured.
pub(super) struct Words {
    pub(super) rule: &'static str,
    pub(super) bound: &'static str,
    pub(super) meaning: &'static str,
    pub(super) advice: &'static str,
}

impl Words {
    pub(super) fn finding(&self, verdict: Verdict, measured: String) -> Finding {
        let advice = match verdict {
            Verdict::Passed => "",
            Verdict::Warning | Verdict::Failed => self.advice,
        };
        Finding {
            rule: self.rule.to_owned(),
            verdict,
            measured,
            bound: self.bound.to_owned(),
            meaning: self.meaning.to_owned(),
            advice: advice.to_owned(),
        }
    }
}

/// Failed above one bound, a warning above another.
pub(super) fn above(value: f64, warning: f64, failed: f64) -> Verdict {
    match value {
        _ if value > failed => Verdict::Failed,
        _ if value > warning => Verdict::Warning,
        _ => Verdict::Passed,
    }
}

/// A count as a number to calculate with.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts below 2^53; above, the last digits do not matter"
)]
pub(super) fn number(count: u64) -> f64 {
    count as f64
}
