//! A record within a page: compressed, in base64, in an element that no browser runs or shows.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

use base64ct::{Base64, Encoding as _};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::file::{RecordError, record_from_json, record_to_json};
use super::lab_record::LabRecord;
use super::thinned::{Course, condensed, thinned};

/// How long a page with a record may be, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// A page that would be longer with a record carries less of it.
    pub page: usize,
    /// Where no page stays within that, a record whose element needs more than this even with the least in it is carried
    /// without its runs: everything that is needed to run the lab again, and no figures.
    pub element: usize,
}

/// The bounds of [`embed`]: a page that is sent and kept in a repository, and one that a browser opens at all.
pub const EMBEDDED_BOUNDS: Bounds = Bounds {
    page: 1 << 20,
    element: 8 << 20,
};

/// The longest JSON that is unpacked out of a page, in bytes: a page of one megabyte may say that it holds a thousand, and
/// must not fill the memory. No longer one is put into a page.
pub const UNPACKED_BYTES_MAX: usize = 256 << 20;

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
    /// Its counts, rates and processor times, of its times what figures are told of, and its course in fewer pieces still.
    Condensed,
    /// The same, with the course and the slowest requests of some steps only.
    PartlyCourse,
    /// What was set up, and no figures.
    WithoutRuns,
}

/// The page that a record is put into.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// How many bytes it has without the record.
    pub bytes: usize,
    /// The steps whose course it shows, by their places in the order.
    pub shown_in_full: BTreeSet<u32>,
}

/// Puts a record into an element for a page, within [`EMBEDDED_BOUNDS`].
pub fn embed(record: &LabRecord, page: &Place) -> Result<Embedded, RecordError> {
    embed_within(record, page, EMBEDDED_BOUNDS)
}

/// The same with other bounds. What has no runs is embedded however long it is.
pub fn embed_within(
    record: &LabRecord,
    page: &Place,
    bounds: Bounds,
) -> Result<Embedded, RecordError> {
    let json = record_to_json(record)?;
    let json_bytes = json.len();
    let room = bounds.page.saturating_sub(page.bytes);
    let mut carried = Carried::Whole;
    let mut html = element_within(&json, room)?;
    let most = bounds.element.max(room);
    let less = [
        (Carried::Thinned, room),
        (Carried::Condensed, room),
        (Carried::PartlyCourse, room),
        (Carried::Condensed, most),
        (Carried::PartlyCourse, most),
        (Carried::WithoutRuns, usize::MAX),
    ];
    for (how, bytes_max) in less {
        if html.is_none() {
            let with_less = with_less(record, page, how).map_err(RecordError::Form)?;
            html = element_within(&record_to_json(&with_less)?, bytes_max)?;
            carried = how;
        }
    }
    let html =
        html.ok_or_else(|| RecordError::Page("the record is too long for any".to_owned()))?;
    Ok(Embedded {
        html,
        carried,
        json_bytes,
    })
}

/// The record with as much in it as is carried.
fn with_less(record: &LabRecord, page: &Place, carried: Carried) -> serde_json::Result<LabRecord> {
    match carried {
        Carried::Whole => Ok(record.clone()),
        Carried::Thinned => thinned(record),
        Carried::Condensed => condensed(record, Course::OfAll),
        Carried::PartlyCourse => condensed(record, Course::Of(&page.shown_in_full)),
        Carried::WithoutRuns => {
            let mut less = condensed(record, Course::Of(&BTreeSet::new()))?;
            for step in &mut less.steps {
                step.run = None;
            }
            Ok(less)
        }
    }
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
    record_from_json(&unpacked(&packed, UNPACKED_BYTES_MAX)?)
}

/// What was packed, as long as it is not longer than so many bytes.
fn unpacked(packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, RecordError> {
    let mut json = Vec::new();
    GzDecoder::new(packed)
        .take(bytes_max as u64 + 1)
        .read_to_end(&mut json)
        .map_err(|error| RecordError::Page(format!("the record in it is damaged: {error}")))?;
    if json.len() > bytes_max {
        let problem = format!("the record in it is longer than {bytes_max} bytes");
        return Err(RecordError::Page(problem));
    }
    Ok(json)
}

/// The element of a record, unless it is longer than so many bytes or could not be read again.
fn element_within(json: &[u8], bytes_max: usize) -> Result<Option<String>, RecordError> {
    if json.len() > UNPACKED_BYTES_MAX {
        return Ok(None);
    }
    let html = element(json)?;
    Ok((html.len() <= bytes_max).then_some(html))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unpacked_has_a_bound() {
        // A thousand times as long as what is packed.
        let length = 1 << 20;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![b' '; length]).unwrap();
        let packed = encoder.finish().unwrap();
        assert!(packed.len() * 500 < length);
        assert_eq!(unpacked(&packed, length).unwrap().len(), length);
        let error = unpacked(&packed, length - 1).unwrap_err().to_string();
        assert!(error.contains("longer than 1048575 bytes"), "{error}");
    }
}
