//! Time series as CSV (RFC 4180) with a header line. Times are in nanoseconds; unknown values are
//! empty.

use std::fmt::Write as _;

use crate::errors::{ErrorClass, Errors};
use crate::run::Run;

/// Formats the intervals, one per line.
pub fn csv_intervals(run: &Run) -> String {
    let mut text = String::from("start_ms,length_ms,asked,done,rate_per_s,failed");
    add_classes(&mut text);
    // Programs read columns by their place: what is new stands at the end.
    text.push_str(",p50_ns,p99_ns,max_ns,bytes,generator_cpu_permille");
    text.push_str(",generator_lag_ns,connections\r\n");
    for interval in &run.intervals {
        let known = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let asked = known(interval.asked);
        let _ = write!(
            text,
            "{},{},{asked},{},{:.3}",
            interval.start_ms,
            interval.length_ms,
            interval.done,
            interval.rate()
        );
        add_errors(&mut text, &interval.errors);
        let _ = write!(
            text,
            ",{},{},{},{},{},{},{}\r\n",
            known(interval.p50_ns),
            known(interval.p99_ns),
            known(interval.max_ns),
            interval.bytes,
            interval.generator_cpu_permille,
            interval.generator_lag_ns,
            interval.connections
        );
    }
    text
}

fn add_classes(text: &mut String) {
    for class in ErrorClass::ALL {
        text.push(',');
        text.push_str(class.name());
    }
}

fn add_errors(text: &mut String, errors: &Errors) {
    let _ = write!(text, ",{}", errors.total());
    for class in ErrorClass::ALL {
        let _ = write!(text, ",{}", errors.count(class));
    }
}
