//! Counts as numbers to compute with.

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

/// A share; 0 if the total is 0.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}

/// Nanoseconds as milliseconds.
pub(crate) fn milliseconds(time_ns: u64) -> f64 {
    number(time_ns) / 1e6
}
