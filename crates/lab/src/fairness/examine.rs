//! Examines the responses of one subject to one workload.

use std::net::SocketAddr;
use std::time::Duration;

use crate::document::{Difference, Log};
use crate::hash::sha256_hex;
use crate::plan::PlannedWorkload;
use crate::probe::{Answer, Probe, ProbeError};
use crate::workload::request;

/// Timeout of a response.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// What was seen, property by property, in words that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExaminedSubject {
    /// Each property with its value.
    pub properties: Vec<(Difference, String)>,
    /// What is not as the workload expects, as a sentence; nothing where all is.
    pub wrong: Option<String>,
    /// Body of the plain response.
    pub content: Vec<u8>,
}

/// Requests `target` from a subject: once, twice on a connection, with `Connection: close`, and
/// accepting gzip.
pub fn examine(
    workload: &PlannedWorkload,
    target: &str,
    address: SocketAddr,
    log: Log,
) -> Result<ExaminedSubject, String> {
    let ask = |fields: &[&str]| {
        let bytes = request(workload, target, address, fields);
        let answer = Probe::connect(address, ANSWER_MAX).and_then(|mut probe| probe.ask(&bytes));
        answer.map_err(|error| error.to_string())
    };
    let plain = ask(&[])?;
    let closing = ask(&["Connection: close"])?;
    let offered = ask(&["Accept-Encoding: gzip, br, zstd"])?;
    let kept = kept(workload, target, address).map_err(|error| error.to_string())?;
    let properties = vec![
        (Difference::Status, plain.status.to_string()),
        (
            Difference::Content,
            format!("{} bytes, sha-256 {}", plain.content.len(), sha256_hex(&plain.content)),
        ),
        (Difference::Fields, names(&plain)),
        (Difference::HeadBytes, format!("{} bytes", plain.head_bytes)),
        (Difference::Compression, coding(&offered)),
        (Difference::Logging, log.as_str().to_owned()),
        (Difference::KeepAlive, format!("{kept}; asked to close: {}", connection(&closing))),
    ];
    Ok(ExaminedSubject { properties, wrong: wrong(workload, &plain), content: plain.content })
}

/// How a response differs from what the workload expects.
pub(crate) fn wrong(workload: &PlannedWorkload, answer: &Answer) -> Option<String> {
    let expected = &workload.expected;
    if answer.status != expected.status {
        return Some(format!("expected status {}, got {}", expected.status, answer.status));
    }
    let length = answer.content.len() as u64;
    if let Some(wanted) =
        expected.length.filter(|wanted| *wanted != length && workload.request.method != "HEAD")
    {
        return Some(format!("expected {wanted} bytes, got {length}"));
    }
    let hash = sha256_hex(&answer.content);
    if let Some(wanted) = expected.sha256.as_ref().filter(|wanted| **wanted != hash) {
        return Some(format!("expected a body with SHA-256 {wanted}, got {hash}"));
    }
    let text = expected.contains.as_ref()?;
    let found = answer.content.windows(text.len().max(1)).any(|part| part == text.as_bytes());
    (!found && !text.is_empty()).then(|| format!("expected a body that contains `{text}`"))
}

/// Whether a second request on the connection gets a response, and the Connection header of the
/// first.
fn kept(
    workload: &PlannedWorkload,
    target: &str,
    address: SocketAddr,
) -> Result<String, ProbeError> {
    let mut probe = Probe::connect(address, ANSWER_MAX)?;
    let bytes = request(workload, target, address, &[]);
    let first = probe.ask(&bytes)?;
    let second = probe.ask(&bytes);
    let is_kept = if second.is_ok() { "kept" } else { "closed" };
    Ok(format!("{is_kept}, {}", connection(&first)))
}

/// The Connection header.
fn connection(answer: &Answer) -> String {
    match answer.field("connection") {
        None => "no Connection header".to_owned(),
        Some(value) => format!("Connection: {}", value.to_ascii_lowercase()),
    }
}

fn coding(answer: &Answer) -> String {
    let coding = answer.field("content-encoding").unwrap_or("identity");
    match coding {
        "identity" => "none".to_owned(),
        coding => format!("{coding}, {} bytes", answer.content.len()),
    }
}

/// The names of all fields, sorted.
fn names(answer: &Answer) -> String {
    let mut names: Vec<&str> = answer.fields.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.join(", ")
}
