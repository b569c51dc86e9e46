//! A run as JSON, its schema, and reading it back.

use std::borrow::Cow;
use std::fmt;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::run::{Run, VERSION};

/// Why a text is not a valid report.
#[derive(Debug)]
pub enum ReadError {
    /// It is not of this form.
    Form(serde_json::Error),
    /// It is of a version that this program does not know.
    Version(u64),
}

/// The run as one document, with a line end.
pub fn json(run: &Run) -> String {
    pretty(run)
}

/// Reads such a document.
pub fn from_json(text: &str) -> Result<Run, ReadError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    let Versioned { version } = serde_json::from_str(text).map_err(ReadError::Form)?;
    if version != u64::from(VERSION) {
        return Err(ReadError::Version(version));
    }
    serde_json::from_str(text).map_err(ReadError::Form)
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

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(error) => write!(f, "not a report of a load test: {error}"),
            Self::Version(version) => write!(
                f,
                "this report is of version {version}, and this program reads version {VERSION}: use the one that wrote it"
            ),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Form(error) => Some(error),
            Self::Version(_) => None,
        }
    }
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
    /// The run has ended. It is the last line.
    Run {
        /// The whole run, its intervals too.
        run: Cow<'a, Run>,
    },
}

/// The line of an interval, with its end.
pub fn stream_interval(interval: &Interval) -> String {
    line(&StreamLine::Interval { interval: Cow::Borrowed(interval) })
}

/// The last line, with its end.
pub fn stream_run(run: &Run) -> String {
    line(&StreamLine::Run { run: Cow::Borrowed(run) })
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
