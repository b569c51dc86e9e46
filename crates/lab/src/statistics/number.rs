//! Counts as numbers to compute with.

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}
