//! JSON reports: schema, writing and reading.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::run::{Run, VERSION};

/// Formats the run as one JSON document, with a newline.
pub fn json(run: &Run) -> String {
    pretty(run)
}

/// Parses such a document; another version is an error.
pub fn from_json(text: &str) -> serde_json::Result<Run> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    let Versioned { version } = serde_json::from_str(text)?;
    if version == u64::from(VERSION) {
        return serde_json::from_str(text);
    }
    Err(serde::de::Error::custom(format_args!(
        "the run has version {version}, and this program reads version {VERSION}"
    )))
}

/// The JSON Schema (2020-12) of [`json`].
pub fn schema() -> String {
    pretty(&schema_of::<Run>())
}

/// The JSON Schema (2020-12) of one line of the stream.
pub fn stream_schema() -> String {
    pretty(&schema_of::<StreamLine<'static>>())
}

fn schema_of<T: schemars::JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

fn pretty(value: &impl serde::Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(value).unwrap_or_else(|_| unreachable!("all keys are text"));
    text.push('\n');
    text
}

/// One line of the stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one at a time, for as long as its line is written")]
#[schemars(title = "A line of the stream of a load run")]
pub enum StreamLine<'a> {
    /// An interval has ended.
    Interval {
        /// The interval that has ended.
        interval: Cow<'a, Interval>,
    },
    /// The run has ended; the last line.
    Run {
        /// The whole run, including its intervals.
        run: Cow<'a, Run>,
    },
}

/// Formats the line of an interval, with a newline.
pub fn stream_interval(interval: &Interval) -> String {
    line(&StreamLine::Interval { interval: Cow::Borrowed(interval) })
}

/// Formats the last line, with a newline.
pub fn stream_run(run: &Run) -> String {
    line(&StreamLine::Run { run: Cow::Borrowed(run) })
}

fn line(line: &StreamLine<'_>) -> String {
    let mut text =
        serde_json::to_string(line).unwrap_or_else(|_| unreachable!("all keys are text"));
    text.push('\n');
    text
}

/// Formats the whole stream at once.
pub(super) fn ndjson(run: &Run) -> String {
    let intervals = run.intervals.iter().map(stream_interval);
    intervals.chain([stream_run(run)]).collect()
}
