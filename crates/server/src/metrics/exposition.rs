//! Numbers as text that Prometheus and its like read (OpenMetrics 1.0).

use std::fmt::Write as _;

use super::histogram::{BOUNDS_MS, Durations};

/// The media type of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What kind of number a family has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Durations in buckets.
    Histogram,
    /// Text that does not change, as labels of the number 1.
    Info,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Info => "info",
        }
    }

    /// What the names of samples end with.
    fn end(self) -> &'static str {
        match self {
            Self::Counter => "_total",
            Self::Info => "_info",
            Self::Gauge | Self::Histogram => "",
        }
    }
}

/// Labels of a sample: names and values.
type Labels<'a> = &'a [(&'a str, &'a str)];

/// Text with families of numbers, one after the other.
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
    family: &'static str,
    kind: Option<Kind>,
}

impl Exposition {
    /// No families yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a family: a name without the end that its kind has, and what it means.
    pub fn family(&mut self, name: &'static str, kind: Kind, help: &str) {
        self.family = name;
        self.kind = Some(kind);
        // Writing to a String does not fail; so below.
        let _ = writeln!(self.text, "# TYPE {name} {}", kind.name());
        if let Some((_, unit)) = name
            .rsplit_once('_')
            .filter(|(_, end)| ["seconds", "bytes"].contains(end))
        {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {}", escaped(help));
    }

    /// Adds a number to the family.
    pub fn sample(&mut self, labels: Labels<'_>, number: u64) {
        let end = self.kind.map_or("", Kind::end);
        self.name(end, labels, None);
        let _ = writeln!(self.text, " {number}");
    }

    /// Adds a time to the family, which is in seconds.
    pub fn sample_ms(&mut self, labels: Labels<'_>, milliseconds: u64) {
        let end = self.kind.map_or("", Kind::end);
        self.name(end, labels, None);
        let _ = writeln!(self.text, " {}", seconds(milliseconds));
    }

    /// A family with one number.
    pub fn single(&mut self, name: &'static str, kind: Kind, help: &str, number: u64) {
        self.family(name, kind, help);
        self.sample(&[], number);
    }

    /// Adds durations to the family.
    pub fn durations(&mut self, labels: Labels<'_>, durations: &Durations) {
        let mut below = 0;
        let bounds = BOUNDS_MS.iter().map(|bound| seconds(*bound));
        let bounds = bounds.chain(["+Inf".to_owned()]);
        for (bound, count) in bounds.zip(durations.buckets) {
            below += count;
            self.name("_bucket", labels, Some(("le", &bound)));
            let _ = writeln!(self.text, " {below}");
        }
        self.name("_count", labels, None);
        let _ = writeln!(self.text, " {below}");
        self.name("_sum", labels, None);
        let _ = writeln!(self.text, " {}", seconds(durations.sum_ms));
    }

    /// The text with its end.
    pub fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }

    fn name(&mut self, end: &str, labels: Labels<'_>, last: Option<(&str, &str)>) {
        self.text.push_str(self.family);
        self.text.push_str(end);
        let mut before = '{';
        for (name, value) in labels.iter().copied().chain(last) {
            let _ = write!(self.text, "{before}{name}=\"{}\"", escaped(value));
            before = ',';
        }
        if before == ',' {
            self.text.push('}');
        }
    }
}

/// A text within quotes or behind HELP.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// Milliseconds as seconds, with a point and no more digits than there are.
fn seconds(milliseconds: u64) -> String {
    let text = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') {
        format!("{short}0")
    } else {
        short.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_written_as_the_standard_has_them() {
        let mut text = Exposition::new();
        text.family("a", Kind::Counter, "What \"a\"\nis.");
        text.sample(&[], 1);
        text.sample(&[("x", "1"), ("y", "a\\b\"c\nd")], u64::MAX);
        text.family("b_bytes", Kind::Gauge, "B.");
        text.sample(&[], 2);
        text.family("c", Kind::Info, "C.");
        text.sample(&[("version", "1")], 1);
        let expected = "# TYPE a counter\n# HELP a What \\\"a\\\"\\nis.\na_total 1\n\
            a_total{x=\"1\",y=\"a\\\\b\\\"c\\nd\"} 18446744073709551615\n\
            # TYPE b_bytes gauge\n# UNIT b_bytes bytes\n# HELP b_bytes B.\nb_bytes 2\n\
            # TYPE c info\n# HELP c C.\nc_info{version=\"1\"} 1\n# EOF\n";
        assert_eq!(text.finish(), expected);
    }

    #[test]
    fn durations_are_cumulative_and_in_seconds() {
        let mut durations = Durations::default();
        durations.buckets[0] = 2;
        durations.buckets[14] = 1;
        durations.sum_ms = 12_340;
        let mut text = Exposition::new();
        text.family("d_seconds", Kind::Histogram, "D.");
        text.durations(&[("s", "x")], &durations);
        let text = text.finish();
        for line in [
            "d_seconds_bucket{s=\"x\",le=\"0.005\"} 2",
            "d_seconds_bucket{s=\"x\",le=\"10.0\"} 2",
            "d_seconds_bucket{s=\"x\",le=\"+Inf\"} 3",
            "d_seconds_count{s=\"x\"} 3",
            "d_seconds_sum{s=\"x\"} 12.34",
        ] {
            assert!(text.lines().any(|has| has == line), "{line}\n{text}");
        }
    }

    #[test]
    fn seconds_are_short() {
        let check = |milliseconds, expected: &str| assert_eq!(seconds(milliseconds), expected);
        check(0, "0.0");
        check(5, "0.005");
        check(250, "0.25");
        check(1000, "1.0");
        check(10_000, "10.0");
    }
}
