//! Converts each entry to a step or a resource of a step, or skips it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::DateTime;

use super::archive::{Archive, HarEntry, Page, Pair, Request};
use super::write::write;
use crate::finding::{Finding, Findings, Position};
use crate::request::Url;

/// The most bytes of a recording.
pub const HAR_BYTES_MAX: usize = 256 << 20;
/// The most entries of a recording.
pub const ENTRIES_MAX: usize = 10_000;

// Each may become a step.
const _: () = assert!(ENTRIES_MAX <= crate::scenario::STEPS_MAX);

/// Minimum gap between two entries that counts as think time; shorter ones are the browser's own
/// work.
const THINK_MIN_MS: i64 = 100;

/// Headers that are left out: those of the connection, those set automatically, and those for the
/// browser's own cache, cookies and policies. Also those that begin with `:` or `sec-`.
const DROPPED: [&str; 17] = [
    "connection",
    "content-length",
    "cookie",
    "dnt",
    "host",
    "http2-settings",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "priority",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
];

/// What to do with entries of other hosts than the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// They are left out, with a note.
    First,
    /// There may be none.
    All,
}

/// A scenario made from a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The scenario as TOML.
    pub document: String,
    /// Why entries were left out, one sentence each.
    pub notes: Vec<String>,
}

/// A step of the scenario to be.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) request: String,
    pub(super) fields: Vec<Pair>,
    pub(super) content: Content,
    pub(super) status: i64,
    pub(super) resources: Vec<String>,
    /// Milliseconds until the next step.
    pub(super) think_ms: i64,
    /// The title of the page that it begins.
    pub(super) page: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    None,
    Text(String),
    Form(Vec<Pair>),
}

/// An entry whose parts have been read.
struct ParsedEntry<'a> {
    entry: &'a HarEntry,
    url: Url,
    /// Milliseconds since 1970.
    start: i64,
    end: i64,
}

/// Makes a scenario of a recording.
pub fn convert(file: &str, text: &[u8], hosts: Hosts) -> Result<Converted, Vec<Finding>> {
    let mut findings = Findings::new(file);
    if text.len() > HAR_BYTES_MAX {
        findings.whole(format!("{} bytes, at most {HAR_BYTES_MAX}", text.len()));
        return Err(findings.or(()).err().unwrap_or_default());
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let archive: Archive = match serde_json::from_slice(text) {
        Ok(archive) => archive,
        Err(error) => {
            let position = Position { line: error.line(), column: error.column() };
            // The position stands before the sentence already.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            findings.at(position, format!("not a valid HAR 1.2 document: {message}"));
            return Err(findings.or(()).err().unwrap_or_default());
        }
    };
    let log = archive.log;
    if log.entries.is_empty() || log.entries.len() > ENTRIES_MAX {
        let message = format!("{} entries; expected 1 to {ENTRIES_MAX}", log.entries.len());
        findings.whole(message);
    }
    let mut notes = BTreeMap::new();
    let mut entries = read(&log.entries, &mut findings, &mut notes);
    let base = entries.first().map(|first| first.url.clone());
    if let Some(base) = &base {
        keep_one_host(&mut entries, base, hosts, &mut findings, &mut notes);
    } else if findings.is_empty() {
        findings.whole("no entry can be replayed");
    }
    let base = findings.or(base)?;
    let Some(base) = base else {
        return Err(Vec::new());
    };
    entries.sort_by_key(|entry| entry.start);
    let mut steps = steps(&entries, &log.pages, &mut notes);
    let common = common_fields(&mut steps);
    let notes: Vec<String> =
        notes.into_iter().map(|(what, count)| format!("{count} {what}")).collect();
    let document = write(file, &base.host, &common, &steps, &notes);
    Ok(Converted { document, notes })
}

/// Parses times and URLs. `https` is treated like `http`: the target is chosen when the scenario is
/// run.
fn read<'a>(
    entries: &'a [HarEntry],
    findings: &mut Findings,
    notes: &mut BTreeMap<String, usize>,
) -> Vec<ParsedEntry<'a>> {
    let mut list = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let number = index + 1;
        let url = entry.request.url.as_str();
        let plain = match url.split_once("://") {
            Some(("http" | "https", rest)) => format!("http://{rest}"),
            Some(("ws" | "wss", _)) => {
                note(notes, "entries of WebSockets are left out");
                continue;
            }
            _ => {
                note(notes, "entries without a server (data, blob) are left out");
                continue;
            }
        };
        if entry.response.status < 100 {
            note(notes, "entries without a response are left out");
            continue;
        }
        let start = DateTime::parse_from_rfc3339(&entry.started_date_time);
        match (Url::parse(&plain), start) {
            (Ok(url), Ok(start)) => {
                let start = start.timestamp_millis();
                list.push(ParsedEntry {
                    entry,
                    url,
                    start,
                    end: start.saturating_add(milliseconds(entry.time)),
                });
            }
            (Err(error), _) => findings.whole(format!("entry {number}: {url:?}: {error}")),
            (_, Err(_)) => findings.whole(format!(
                "entry {number}: invalid startedDateTime {:?}: expected a time such as 2026-11-22T10:00:00.000Z",
                entry.started_date_time
            )),
        }
    }
    list
}

/// How long an exchange took; what is negative or absurd took no time.
#[allow(clippy::cast_possible_truncation)] // the cast saturates, and the range is checked before
fn milliseconds(time: Option<f64>) -> i64 {
    match time {
        Some(time) if time > 0.0 && time < 1e9 => time as i64,
        _ => 0,
    }
}

fn note(notes: &mut BTreeMap<String, usize>, what: &str) {
    *notes.entry(what.to_owned()).or_default() += 1;
}

/// Keeps the entries of one host: a run has one target host.
fn keep_one_host(
    entries: &mut Vec<ParsedEntry<'_>>,
    base: &Url,
    hosts: Hosts,
    findings: &mut Findings,
    notes: &mut BTreeMap<String, usize>,
) {
    entries.retain(|entry| {
        if base.has_same_origin(&entry.url) {
            return true;
        }
        note(notes, &format!("entries of {} are left out", entry.url.host));
        if hosts == Hosts::All {
            findings.whole(format!(
                "{} is not {}: a run has one target host (leave out --single-host to skip other hosts)",
                entry.url.host, base.host
            ));
        }
        false
    });
}

/// Groups entries by page: the first of a page is a step with the page's plain resources, all else
/// is a step of its own.
fn steps(
    entries: &[ParsedEntry<'_>],
    pages: &[Page],
    notes: &mut BTreeMap<String, usize>,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    // Where the step of each page is, and when the last entry so far was answered.
    let mut page_steps: BTreeMap<&str, usize> = BTreeMap::new();
    let mut last_end = None;
    for read in entries {
        let page = read.entry.pageref.as_deref();
        let page_step = page.and_then(|page| page_steps.get(page).copied());
        let gap = last_end.map_or(0, |end| read.start.saturating_sub(end));
        last_end = last_end.max(Some(read.end));
        match page_step {
            Some(step) if is_resource(read) && step + 1 == steps.len() => {
                steps[step].resources.push(target(&read.url));
                continue;
            }
            _ => {}
        }
        if let Some(previous) = steps.last_mut()
            && gap >= THINK_MIN_MS
        {
            previous.think_ms = gap.min(think_max_ms());
        }
        let begun = page.filter(|_| page_step.is_none());
        if let Some(page) = begun {
            page_steps.insert(page, steps.len());
        }
        let title = begun.and_then(|page| pages.iter().find(|known| known.id == page));
        steps.push(step(read, title.map(|page| page.title.clone()), notes));
    }
    steps
}

fn think_max_ms() -> i64 {
    i64::try_from(crate::scenario::THINK_MAX.as_millis()).unwrap_or(i64::MAX)
}

/// What a page brings with it: a GET that went well, without content and without data for scripts.
fn is_resource(read: &ParsedEntry<'_>) -> bool {
    let HarEntry { request, response, .. } = read.entry;
    let kind = response.content.mime_type.as_str();
    let is_data = kind.contains("json") || kind.contains("html");
    let went_well = (200..300).contains(&response.status) || response.status == 304;
    request.method == "GET" && request.post_data.is_none() && went_well && !is_data
}

fn step(read: &ParsedEntry<'_>, page: Option<String>, notes: &mut BTreeMap<String, usize>) -> Step {
    let Request { method, headers, post_data, .. } = &read.entry.request;
    let mut fields = Vec::new();
    for pair in headers {
        let name = pair.name.to_ascii_lowercase();
        let is_odd = !vervet_http::field::is_token(name.as_bytes())
            || pair.value.chars().any(char::is_control);
        if name == "cookie" {
            note(notes, "Cookie headers are left out: each user gets its own cookies");
        } else if !(is_odd || name.starts_with("sec-") || DROPPED.contains(&name.as_str())) {
            fields.push(Pair { name: pair.name.clone(), value: escape(&pair.value) });
        }
    }
    let content = match post_data {
        Some(data) if is_form(&data.mime_type) && !data.params.is_empty() => {
            Content::Form(data.params.iter().map(decode_pair).collect())
        }
        Some(data) => Content::Text(escape(&data.text)),
        None => Content::None,
    };
    let is_repeated =
        |name: &str, pairs: &[Pair]| pairs.iter().filter(|it| it.name == name).count() > 1;
    // A table has each name once.
    let content = match content {
        Content::Form(pairs) if pairs.iter().any(|pair| is_repeated(&pair.name, &pairs)) => {
            let text = post_data.as_ref().map(|data| escape(&data.text));
            Content::Text(text.unwrap_or_default())
        }
        content => content,
    };
    let path = read.url.target.split('?').next().unwrap_or_default();
    Step {
        name: format!("{method} {path}"),
        request: format!("{method} {}", target(&read.url)),
        fields: merge(fields),
        content,
        // Without the fields of its cache a browser would have got the whole.
        status: match read.entry.response.status {
            304 => 200,
            status => status,
        },
        resources: Vec::new(),
        think_ms: 0,
        page,
    }
}

fn is_form(kind: &str) -> bool {
    kind.starts_with("application/x-www-form-urlencoded")
}

/// Recorders write parameters encoded or decoded; decoding what needs none changes a literal `%41`
/// only.
fn decode_pair(pair: &Pair) -> Pair {
    let decode = |text: &str| {
        let raw = text.replace('&', "%26").replace('=', "%3D");
        let decoded = vervet_http::target::query_pairs(raw.as_bytes()).next();
        decoded.map_or(String::new(), |(key, _)| escape(&String::from_utf8_lossy(&key)))
    };
    Pair { name: decode(&pair.name), value: decode(&pair.value) }
}

/// Lines of one name become one, as RFC 9110 §5.3 allows.
fn merge(fields: Vec<Pair>) -> Vec<Pair> {
    let mut merged: Vec<Pair> = Vec::new();
    for pair in fields {
        let same = |known: &&mut Pair| known.name.eq_ignore_ascii_case(&pair.name);
        match merged.iter_mut().find(same) {
            Some(known) => {
                known.value.push_str(", ");
                known.value.push_str(&pair.value);
            }
            None => merged.push(pair),
        }
    }
    merged
}

/// Takes out the fields that all steps have alike.
fn common_fields(steps: &mut [Step]) -> Vec<Pair> {
    let Some(first) = steps.first() else {
        return Vec::new();
    };
    let is_common = |pair: &Pair| steps.iter().all(|step| step.fields.contains(pair));
    let common: Vec<Pair> = first.fields.iter().filter(|pair| is_common(pair)).cloned().collect();
    for step in steps {
        step.fields.retain(|pair| !common.contains(pair));
    }
    common
}

/// The target without spaces, which would divide the request line.
fn target(url: &Url) -> String {
    let mut text = String::new();
    for byte in escape(&url.target).bytes() {
        if byte.is_ascii_graphic() {
            text.push(char::from(byte));
        } else {
            // Writing into a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Escapes the braces of a recording, which are not variables.
fn escape(text: &str) -> String {
    text.replace('{', "{{")
}
