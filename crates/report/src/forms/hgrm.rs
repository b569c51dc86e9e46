//! A histogram as percentiles, in the text that HdrHistogram's programs write and its plotters
//! read. Values are in milliseconds.

use std::fmt::Write as _;

use crate::histogram::Histogram;

/// Lines for each halving of the distance to 100 %, as the other programs have it.
const STEPS_PER_HALVING: u32 = 5;
/// Nanoseconds in the unit of the values.
const UNIT_NS: f64 = 1e6;

/// The percentiles of a histogram. The longest line of an empty one is its head.
#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
pub fn hgrm(times: &Histogram) -> String {
    let mut text = String::from("       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    let mut whole = false;
    for (time_ns, share, count) in times.percentiles(STEPS_PER_HALVING) {
        if whole {
            break;
        }
        let value = time_ns as f64 / UNIT_NS;
        whole = share >= 1.0;
        if whole {
            let _ = writeln!(text, "{value:12.3} {share:14.12} {count:10}");
        } else {
            let _ = writeln!(
                text,
                "{value:12.3} {share:14.12} {count:10} {:14.2}",
                1.0 / (1.0 - share)
            );
        }
    }
    let (mean, sd) = (times.mean_ns() / UNIT_NS, times.sd_ns() / UNIT_NS);
    let (max, count) = (times.max_ns() as f64 / UNIT_NS, times.count());
    let _ = write!(
        text,
        "#[Mean    = {mean:12.3}, StdDeviation   = {sd:12.3}]\n\
         #[Max     = {max:12.3}, Total count    = {count:12}]\n\
         #[Buckets = {:12}, SubBuckets     = {:12}]\n",
        32, 2048
    );
    text
}
