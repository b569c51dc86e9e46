//! A record within a page: compressed, in base64, in an element that no browser runs or shows.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

use base64ct::{Base64, Encoding as _};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::file::{RECORD_BYTES_MAX, RecordError, record_from_json, record_to_json};
use super::lab_record::LabRecord;
use super::thinned::thinned;

/// How long the element may be, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// A record that needs more is carried with less in it.
    pub whole: usize,
    /// A record that needs more even then is carried without its runs: everything that is needed to run the lab again,
    /// and no figures.
    pub thinned: usize,
}

/// The bounds of [`embed`]: a page that is sent and kept in a repository, and one that a browser opens at all.
pub const EMBEDDED_BOUNDS: Bounds = Bounds {
    whole: 512 << 10,
    thinned: 8 << 20,
};

/// What the element begins with; nothing else in a page may.
const OPENING: &str = "<script type=\"application/gzip\" id=\"lab-record\"";
const CLOSING: &str = "</script>";
/// Characters of base64 in a line.
const LINE: usize = 120;

/// An element with a record.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The element.
    pub html: String,
    /// How much of the record is in it.
    pub carried: Carried,
    /// The length of the whole record as JSON, in bytes.
    pub json_bytes: usize,
}

/// How much of a record an element has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// All of it.
    Whole,
    /// Its counts, rates and processor times, times to one hundredth, and what was read over time in fewer pieces.
    Thinned,
    /// What was set up, and no figures.
    WithoutRuns,
}

/// Puts a record into an element, within [`EMBEDDED_BOUNDS`].
pub fn embed(record: &LabRecord) -> Result<Embedded, RecordError> {
    embed_within(record, EMBEDDED_BOUNDS)
}

/// The same with other bounds. What has no runs is embedded however long it is.
pub fn embed_within(record: &LabRecord, bounds: Bounds) -> Result<Embedded, RecordError> {
    let json = record_to_json(record)?;
    let embedded = |html, carried| Embedded {
        html,
        carried,
        json_bytes: json.len(),
    };
    let html = element(&json)?;
    if html.len() <= bounds.whole {
        return Ok(embedded(html, Carried::Whole));
    }
    let mut less = thinned(record).map_err(RecordError::Form)?;
    let html = element(&record_to_json(&less)?)?;
    if html.len() <= bounds.thinned {
        return Ok(embedded(html, Carried::Thinned));
    }
    for step in &mut less.steps {
        step.run = None;
    }
    let html = element(&record_to_json(&less)?)?;
    Ok(embedded(html, Carried::WithoutRuns))
}

/// Takes the record out of a page.
pub fn extract(page: &str) -> Result<LabRecord, RecordError> {
    let damaged = |problem: &str| RecordError::Page(problem.to_owned());
    let at = page
        .find(OPENING)
        .ok_or_else(|| damaged("there is no record in it: it is not the report of a lab"))?;
    let rest = &page[at..];
    let begin = rest
        .find('>')
        .ok_or_else(|| damaged("it ends within the record"))?
        + 1;
    let end = rest
        .find(CLOSING)
        .ok_or_else(|| damaged("it ends within the record"))?;
    let text: String = rest[begin..end.max(begin)]
        .split_ascii_whitespace()
        .collect();
    let packed = Base64::decode_vec(&text).map_err(|_| damaged("the record in it is damaged"))?;
    let mut json = Vec::new();
    GzDecoder::new(packed.as_slice())
        .take(RECORD_BYTES_MAX + 1)
        .read_to_end(&mut json)
        .map_err(|error| damaged(&format!("the record in it is damaged: {error}")))?;
    if json.len() as u64 > RECORD_BYTES_MAX {
        return Err(damaged("the record in it is longer than any"));
    }
    record_from_json(&json)
}

fn element(json: &[u8]) -> Result<String, RecordError> {
    let failed = |error: std::io::Error| RecordError::Page(error.to_string());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(json).map_err(failed)?;
    let text = Base64::encode_string(&encoder.finish().map_err(failed)?);
    let mut html = format!("{OPENING} data-json-bytes=\"{}\">\n", json.len());
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(LINE.min(rest.len()));
        let _ = writeln!(html, "{line}");
        rest = more;
    }
    html.push_str(CLOSING);
    Ok(html)
}
