//! Metrics as OpenMetrics 1.0 text, which Prometheus and compatible tools scrape over HTTP.
//!
//! This module writes the text format and nothing else: which metrics exist, and how they are
//! counted, is the caller's.

use std::fmt::{self, Display, Write};

/// The media type of the text, for the Content-Type field of a response.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Units that a `# UNIT` line announces where the name of a family ends with them.
const UNITS: [&str; 3] = ["seconds", "bytes", "ratio"];

/// The type of a metric family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A count that only grows. Sample names end with `_total`.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// Values counted in cumulative buckets.
    Histogram,
    /// Constant text, as labels of a sample with the value 1. Sample names end with `_info`.
    Info,
}

impl MetricKind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Info => "info",
        }
    }

    fn sample_suffix(self) -> &'static str {
        match self {
            Self::Counter => "_total",
            Self::Info => "_info",
            Self::Gauge | Self::Histogram => "",
        }
    }
}

/// The labels of a sample: names and values. Values are escaped when they are written.
pub type Labels<'a> = &'a [(&'a str, &'a dyn Display)];

/// Writes metric families one after the other. A sample belongs to the family begun last.
#[derive(Debug)]
pub struct OpenMetrics {
    text: String,
    prefix: &'static str,
    family: &'static str,
    kind: MetricKind,
}

impl OpenMetrics {
    /// An empty text. The name of every family begins with `prefix`, which may be empty.
    pub fn new(prefix: &'static str) -> Self {
        Self { text: String::new(), prefix, family: "", kind: MetricKind::Gauge }
    }

    /// Begins a family: its name without the prefix and without the suffix of its kind, and one
    /// sentence that explains it.
    pub fn family(&mut self, name: &'static str, kind: MetricKind, help: &str) {
        self.family = name;
        self.kind = kind;
        let (text, prefix) = (&mut self.text, self.prefix);
        // Writing to a String does not fail; the same holds below.
        let _ = writeln!(text, "# TYPE {prefix}{name} {}", kind.name());
        let unit = name.rsplit_once('_').map(|(_, unit)| unit);
        if let Some(unit) = unit.filter(|unit| UNITS.contains(unit)) {
            let _ = writeln!(text, "# UNIT {prefix}{name} {unit}");
        }
        let _ = writeln!(text, "# HELP {prefix}{name} {}", Escaped(&help));
    }

    /// Adds a sample to the family.
    pub fn sample(&mut self, labels: Labels<'_>, value: impl Display) {
        self.line(self.kind.sample_suffix(), labels, &value);
    }

    /// Writes a family that has one sample without labels.
    pub fn single(
        &mut self,
        name: &'static str,
        kind: MetricKind,
        help: &str,
        value: impl Display,
    ) {
        self.family(name, kind, help);
        self.sample(&[], value);
    }

    /// Adds a histogram to the family. Each bucket is its inclusive upper bound and the count of
    /// values in it alone, in ascending order; `above` counts values above the last bound.
    pub fn histogram<B: Display>(
        &mut self,
        labels: Labels<'_>,
        buckets: impl IntoIterator<Item = (B, u64)>,
        above: u64,
        sum: impl Display,
    ) {
        let mut count = 0_u64;
        for (bound, in_bucket) in buckets {
            count = count.saturating_add(in_bucket);
            self.bucket(labels, &bound, count);
        }
        count = count.saturating_add(above);
        self.bucket(labels, &"+Inf", count);
        self.line("_count", labels, &count);
        self.line("_sum", labels, &sum);
    }

    /// The text with the end marker that the format requires.
    pub fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }

    fn bucket(&mut self, labels: Labels<'_>, bound: &dyn Display, count: u64) {
        let labels = [labels, &[("le", bound)]].concat();
        self.line("_bucket", &labels, &count);
    }

    fn line(&mut self, suffix: &str, labels: Labels<'_>, value: &dyn Display) {
        let (prefix, family) = (self.prefix, self.family);
        let _ = write!(self.text, "{prefix}{family}{suffix}");
        let mut before = '{';
        for (name, value) in labels {
            let _ = write!(self.text, "{before}{name}=\"{}\"", Escaped(*value));
            before = ',';
        }
        if before == ',' {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }
}

/// Milliseconds as seconds, with a decimal point: `0.005`, `1.0`.
#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
pub fn seconds_from_ms(time_ms: u64) -> impl Display {
    Seconds(time_ms as f64 / 1e3)
}

/// Nanoseconds as seconds, with a decimal point.
#[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
pub fn seconds_from_ns(time_ns: u64) -> impl Display {
    Seconds(time_ns as f64 / 1e9)
}

/// Always with a decimal point or an exponent: parsers compare the bounds of buckets as text.
struct Seconds(f64);

impl Display for Seconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

/// Text within quotes or after `# HELP`: backslashes, quotes and line feeds are escaped.
struct Escaped<'a, T: ?Sized>(&'a T);

impl<T: Display + ?Sized> Display for Escaped<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaper(formatter), "{}", self.0)
    }
}

struct Escaper<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaper<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|letter| match letter {
            '\\' => self.0.write_str("\\\\"),
            '"' => self.0.write_str("\\\""),
            '\n' => self.0.write_str("\\n"),
            letter => self.0.write_char(letter),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_written_as_the_specification_requires() {
        let mut text = OpenMetrics::new("");
        text.family("a", MetricKind::Counter, "What \"a\"\nis.");
        text.sample(&[], 1);
        text.sample(&[("x", &1), ("y", &"a\\b\"c\nd")], u64::MAX);
        text.single("b_bytes", MetricKind::Gauge, "B.", 2);
        text.family("c", MetricKind::Info, "C.");
        text.sample(&[("version", &"1")], 1);
        let expected = "# TYPE a counter\n# HELP a What \\\"a\\\"\\nis.\na_total 1\n\
            a_total{x=\"1\",y=\"a\\\\b\\\"c\\nd\"} 18446744073709551615\n\
            # TYPE b_bytes gauge\n# UNIT b_bytes bytes\n# HELP b_bytes B.\nb_bytes 2\n\
            # TYPE c info\n# HELP c C.\nc_info{version=\"1\"} 1\n# EOF\n";
        assert_eq!(text.finish(), expected);
    }

    #[test]
    fn every_name_of_a_family_has_the_prefix_and_buckets_are_cumulative() {
        let mut text = OpenMetrics::new("p_");
        text.family("d_seconds", MetricKind::Histogram, "D.");
        let buckets = [(seconds_from_ms(5), 2), (seconds_from_ms(10_000), 1)];
        text.histogram(&[("s", &"x")], buckets, 1, seconds_from_ms(12_340));
        let expected = "# TYPE p_d_seconds histogram\n# UNIT p_d_seconds seconds\n\
            # HELP p_d_seconds D.\n\
            p_d_seconds_bucket{s=\"x\",le=\"0.005\"} 2\n\
            p_d_seconds_bucket{s=\"x\",le=\"10.0\"} 3\n\
            p_d_seconds_bucket{s=\"x\",le=\"+Inf\"} 4\n\
            p_d_seconds_count{s=\"x\"} 4\np_d_seconds_sum{s=\"x\"} 12.34\n# EOF\n";
        assert_eq!(text.finish(), expected);
    }

    #[test]
    fn seconds_have_a_point_and_no_needless_digits() {
        let check = |time_ms, expected: &str| {
            assert_eq!(seconds_from_ms(time_ms).to_string(), expected);
            assert_eq!(seconds_from_ns(time_ms * 1_000_000).to_string(), expected);
        };
        check(0, "0.0");
        check(5, "0.005");
        check(250, "0.25");
        check(1000, "1.0");
        check(10_000, "10.0");
    }
}
