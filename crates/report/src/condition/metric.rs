//! The figures that a condition can name, and their values in a run.

use std::fmt;

use crate::errors::ErrorClass;
use crate::histogram::Histogram;
use crate::run::Run;

use super::statement::Quantity;

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// A time: `p99`, `service.mean`, `connect.max`.
    Time(Timing, Stat),
    /// Successful responses per second: `rate`.
    Rate,
    /// Bytes received per second, including heads and failed responses: `throughput`.
    Throughput,
    /// Body bytes of successful responses per second: `goodput`.
    Goodput,
    /// The number of successful responses: `done`.
    Done,
    /// Failed requests, as a number or a share: `errors`, `errors.refused`.
    Errors(Option<ErrorClass>, Amount),
    /// Requests in flight at the end: `censored`.
    Censored,
    /// Failed rules of the audit: `audit`, which without a comparison means `audit>0`.
    Audit,
}

/// The kinds of times of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Time to open a connection.
    Connect,
    /// Time to the first byte of the response.
    FirstByte,
    /// Response time, from the due time; the default.
    Response,
    /// Service time, from sending the request.
    Service,
}

/// A statistic of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stat {
    /// The minimum of the times.
    Min,
    /// The arithmetic mean of the times.
    Mean,
    /// The standard deviation: `sd`.
    Sd,
    /// The maximum of the times.
    Max,
    /// A percentile, above 0 and up to 100.
    Percentile(f64),
}

/// How failed requests are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// The number of failed requests.
    Count,
    /// The percentage of finished requests.
    Percent,
}

/// The names of figures, with common percentiles only, for messages and completion.
pub(super) const NAMES: &[&str] = &[
    "p50",
    "p75",
    "p90",
    "p95",
    "p99",
    "p99.9",
    "p99.99",
    "min",
    "mean",
    "sd",
    "max",
    "rate",
    "throughput",
    "goodput",
    "done",
    "errors",
    "censored",
    "audit",
];

/// The names of kinds of times, as written before a dot.
pub(super) const TIMINGS: [Timing; 4] =
    [Timing::Response, Timing::Service, Timing::FirstByte, Timing::Connect];

impl Metric {
    /// Parses the name of a figure; `None` if it is unknown.
    pub(super) fn named(name: &str) -> Option<Self> {
        let metric = match name {
            "rate" => Self::Rate,
            "throughput" => Self::Throughput,
            "goodput" => Self::Goodput,
            "done" => Self::Done,
            "errors" => Self::Errors(None, Amount::Count),
            "censored" => Self::Censored,
            "audit" => Self::Audit,
            _ => return Self::of_part(name),
        };
        Some(metric)
    }

    /// Parses a figure with a dot in its name, or one of the response time.
    fn of_part(name: &str) -> Option<Self> {
        if let Some(class) = name.strip_prefix("errors.") {
            let class = ErrorClass::ALL.into_iter().find(|known| known.name() == class)?;
            return Some(Self::Errors(Some(class), Amount::Count));
        }
        for timing in TIMINGS {
            if let Some(rest) = name.strip_prefix(timing.name()) {
                return Some(Self::Time(timing, Stat::named(rest.strip_prefix('.')?)?));
            }
        }
        Some(Self::Time(Timing::Response, Stat::named(name)?))
    }

    /// The quantity of the figure.
    pub fn quantity(self) -> Quantity {
        match self {
            Self::Time(..) => Quantity::Time,
            Self::Rate => Quantity::Rate,
            Self::Throughput | Self::Goodput => Quantity::BytesPerSecond,
            Self::Errors(_, Amount::Percent) => Quantity::Percent,
            Self::Errors(_, Amount::Count) | Self::Done | Self::Censored | Self::Audit => {
                Quantity::Count
            }
        }
    }

    /// The value in a run, in the unit of its quantity; `None` if not measured.
    pub fn value(self, run: &Run) -> Option<f64> {
        let value = match self {
            Self::Time(timing, stat) => return stat.value(timing.times(run)),
            Self::Rate => run.achieved.rate(),
            Self::Throughput => run.achieved.per_second(run.achieved.bytes_received),
            Self::Goodput => run.achieved.goodput(),
            Self::Done => float(run.achieved.done),
            Self::Censored => float(run.censored.count),
            Self::Audit => float(run.failed_rules().count() as u64),
            Self::Errors(class, amount) => {
                let count =
                    class.map_or_else(|| run.errors.total(), |class| run.errors.count(class));
                match amount {
                    Amount::Count => float(count),
                    Amount::Percent if run.finished() == 0 => return None,
                    Amount::Percent => float(count) * 100.0 / float(run.finished()),
                }
            }
        };
        Some(value)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

impl Timing {
    /// The name in a condition.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::FirstByte => "first_byte",
            Self::Response => "response",
            Self::Service => "service",
        }
    }

    fn times(self, run: &Run) -> &Histogram {
        match self {
            Self::Connect => &run.timings.connect,
            Self::FirstByte => &run.timings.first_byte,
            Self::Response => &run.timings.response,
            Self::Service => &run.timings.service,
        }
    }
}

impl Stat {
    fn named(name: &str) -> Option<Self> {
        match name {
            "min" => Some(Self::Min),
            "mean" => Some(Self::Mean),
            "sd" => Some(Self::Sd),
            "max" => Some(Self::Max),
            _ => {
                let digits = name.strip_prefix('p')?;
                if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
                    return None;
                }
                let percent: f64 = digits.parse().ok()?;
                (percent > 0.0 && percent <= 100.0).then_some(Self::Percentile(percent))
            }
        }
    }

    fn value(self, times: &Histogram) -> Option<f64> {
        let value = match self {
            _ if times.is_empty() => return None,
            Self::Min => float(times.min_ns()),
            Self::Mean => times.mean_ns(),
            Self::Sd => times.sd_ns(),
            Self::Max => float(times.max_ns()),
            Self::Percentile(percent) => float(times.quantile_ns(percent / 100.0)),
        };
        Some(value)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(Timing::Response, stat) => write!(f, "{stat}"),
            Self::Time(timing, stat) => write!(f, "{}.{stat}", timing.name()),
            Self::Rate => f.write_str("rate"),
            Self::Throughput => f.write_str("throughput"),
            Self::Goodput => f.write_str("goodput"),
            Self::Done => f.write_str("done"),
            Self::Errors(None, _) => f.write_str("errors"),
            Self::Errors(Some(class), _) => write!(f, "errors.{}", class.name()),
            Self::Censored => f.write_str("censored"),
            Self::Audit => f.write_str("audit"),
        }
    }
}

impl fmt::Display for Stat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Min => f.write_str("min"),
            Self::Mean => f.write_str("mean"),
            Self::Sd => f.write_str("sd"),
            Self::Max => f.write_str("max"),
            Self::Percentile(percent) => write!(f, "p{percent}"),
        }
    }
}
