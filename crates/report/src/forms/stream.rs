//! A run as it happens: one JSON object a line, an interval each, and at the end the run.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::run::Run;

/// One line of the stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, for as long as its line is written"
)]
#[schemars(title = "A line of the stream of a load run")]
pub enum StreamLine<'a> {
    /// An interval has ended.
    Interval {
        /// The interval.
        interval: Cow<'a, Interval>,
    },
    /// The run has ended. It is the last line.
    Run {
        /// The whole run, its intervals too.
        run: Cow<'a, Run>,
    },
}

/// The line of an interval, with its end.
pub fn stream_interval(interval: &Interval) -> String {
    line(&StreamLine::Interval {
        interval: Cow::Borrowed(interval),
    })
}

/// The last line, with its end.
pub fn stream_run(run: &Run) -> String {
    line(&StreamLine::Run {
        run: Cow::Borrowed(run),
    })
}

fn line(line: &StreamLine<'_>) -> String {
    let mut text =
        serde_json::to_string(line).unwrap_or_else(|_| unreachable!("all keys are text"));
    text.push('\n');
    text
}

/// The whole stream at once.
pub(super) fn ndjson(run: &Run) -> String {
    let intervals = run.intervals.iter().map(stream_interval);
    intervals.chain([stream_run(run)]).collect()
}
