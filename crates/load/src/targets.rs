//! Lists of requests in a file: one a line, each with fields and content below it if it has any.
//!
//! ```text
//! # a comment
//! http://127.0.0.1:8080/ weight=3
//! POST /orders
//! Content-Type: application/json
//! @order.json
//! ```

use crate::finding::{Finding, Findings, Position};
use crate::mix::WEIGHT_MAX;
use crate::request::{Common, Content, Draft, DraftPart, Fault, Url, Weighted, split_field};
use crate::template::Names;

/// The most bytes of a list.
pub const TARGETS_BYTES_MAX: usize = 64 << 20;
/// The most requests of a list.
pub const TARGETS_MAX: usize = 100_000;

/// Reads a file that another file names. Relative names start from the folder of that file.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// Parses a list, or returns all errors. Also returns the URL of the server: that of `common`, or
/// the first of the list. All others must have the same host.
pub fn parse(
    file: &str,
    text: &str,
    common: &Common<'_>,
    read: &mut ReadFile<'_>,
) -> Result<(Url, Vec<Weighted>), Vec<Finding>> {
    let mut list = List {
        common,
        base: common.base.cloned(),
        read,
        findings: Findings::new(file),
        requests: 0,
        entry: None,
        targets: Vec::new(),
    };
    if text.len() > TARGETS_BYTES_MAX {
        let message = format!("{} bytes, at most {TARGETS_BYTES_MAX}", text.len());
        list.findings.whole(message);
        return Err(list.findings.or(()).err().unwrap_or_default());
    }
    for (index, line) in text.lines().enumerate() {
        list.line(index + 1, line);
    }
    list.end_entry();
    if list.targets.is_empty() && list.findings.is_empty() {
        let message = "no requests: expected lines such as GET http://HOST:PORT/PATH";
        list.findings.whole(message);
    }
    let List { base, findings, targets, .. } = list;
    let targets = findings.or(targets)?;
    // A list without findings has a request, and a request has a URL.
    base.map(|base| (base, targets)).ok_or_else(Vec::new)
}

/// What has been read of a list.
struct List<'a, 'r> {
    common: &'a Common<'a>,
    base: Option<Url>,
    read: &'a mut ReadFile<'r>,
    findings: Findings,
    /// Number of requests so far, including invalid ones.
    requests: usize,
    entry: Option<OpenRequest>,
    targets: Vec<Weighted>,
}

/// A request whose fields are being read.
struct OpenRequest {
    name: String,
    weight: u32,
    draft: Draft,
    line: usize,
    /// Column of the target.
    target: usize,
    /// Positions of the header values.
    values: Vec<Position>,
}

impl List<'_, '_> {
    fn line(&mut self, number: usize, line: &str) {
        let text = line.trim();
        let at = |column: usize| Position { line: number, column };
        let indent = line.chars().take_while(|c| c.is_whitespace()).count() + 1;
        if text.is_empty() {
            self.end_entry();
        } else if text.starts_with('#') {
            // A comment may stand between a request and its fields.
        } else if let Some(name) = text.strip_prefix('@') {
            self.content(at(indent), name.trim());
        } else if is_field(text) {
            self.field(at(indent), text);
        } else {
            self.end_entry();
            self.request(number, line);
        }
    }

    fn request(&mut self, number: usize, line: &str) {
        self.requests += 1;
        if self.requests == TARGETS_MAX + 1 {
            let message = format!("more than {TARGETS_MAX} requests");
            self.findings.at(place_in(line, number, line), message);
        }
        if self.requests > TARGETS_MAX {
            return;
        }
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let mut weight = 1;
        if let [.., _, last] = words[..]
            && let Some(digits) = last.strip_prefix("weight=")
        {
            words.pop();
            weight = digits.parse().unwrap_or(0);
            if !(1..=WEIGHT_MAX).contains(&weight) {
                let message = format!(
                    "invalid weight \"{digits}\": expected a whole number from 1 to {WEIGHT_MAX}"
                );
                self.findings.at(place_in(line, number, last), message);
            }
        }
        let (method, target) = match words[..] {
            [target] => ("", target),
            [method, target] => (method, target),
            _ => {
                let message = "expected METHOD URL, URL, or a header NAME: VALUE";
                self.findings.at(place_in(line, number, line), message);
                return;
            }
        };
        let position = place_in(line, number, target);
        let Some(url) = self.url(position, target) else {
            return;
        };
        let before = target.find(&url.target).unwrap_or(0);
        let mut draft = Draft::get(&url);
        method.clone_into(&mut draft.method);
        self.entry = Some(OpenRequest {
            name: words.join(" "),
            weight,
            draft,
            line: number,
            target: position.column + target[..before].chars().count(),
            values: Vec::new(),
        });
    }

    /// The URL of a line: whole, or a path of the server that is known.
    fn url(&mut self, position: Position, text: &str) -> Option<Url> {
        let joined = match &self.base {
            Some(base) => base.join(text),
            None => Url::parse(text),
        };
        let url = match joined {
            Ok(url) => url,
            Err(_) if text.starts_with('/') => {
                let message =
                    "a path without a server: give the URL of the server, or write full URLs";
                self.findings.at(position, message);
                return None;
            }
            Err(error) => {
                self.findings.at(position, error.to_string());
                return None;
            }
        };
        let base = self.base.get_or_insert_with(|| url.clone());
        if !base.has_same_origin(&url) {
            let message = format!("{} is not {}: a run has one target host", url.host, base.host);
            self.findings.at(position, message);
            return None;
        }
        Some(url)
    }

    fn field(&mut self, position: Position, text: &str) {
        let Some(entry) = &mut self.entry else {
            let message = "a header, but no request above it (a URL begins with http://)";
            self.findings.at(position, message);
            return;
        };
        match split_field(text) {
            Ok(field) => {
                let value = text.chars().count() - field.1.chars().count();
                entry.draft.fields.push(field);
                entry.values.push(Position { column: position.column + value, ..position });
            }
            Err(message) => self.findings.at(position, message),
        }
    }

    fn content(&mut self, position: Position, name: &str) {
        let Some(entry) = &mut self.entry else {
            let message = "a body, but no request above it";
            self.findings.at(position, message);
            return;
        };
        if entry.draft.content != Content::None {
            self.findings.at(position, "a request has only one body");
            return;
        }
        match (self.read)(name) {
            Ok(bytes) => entry.draft.content = Content::Bytes(bytes),
            Err(error) => self.findings.at(position, format!("cannot read {name}: {error}")),
        }
    }

    /// Compiles the request whose fields have ended.
    fn end_entry(&mut self) {
        let Some(mut entry) = self.entry.take() else {
            return;
        };
        // What is common stands before the fields of the line.
        let own = entry.draft.fields.len();
        self.common.apply(&mut entry.draft);
        let common = entry.draft.fields.len() - own;
        let names = Names { columns: self.common.columns, captures: &[] };
        match entry.draft.compile(&names) {
            Ok(message) => {
                self.targets.push(Weighted { name: entry.name, weight: entry.weight, message });
            }
            Err(faults) => {
                for fault in faults {
                    let position = entry.position(&fault, common);
                    self.findings.at(position, fault.message);
                }
            }
        }
    }
}

impl OpenRequest {
    /// Where a fault is, the first `common` fields not being from the list.
    fn position(&self, fault: &Fault, common: usize) -> Position {
        let start = |column| Position { line: self.line, column };
        let (start, text) = match fault.part {
            DraftPart::Target => (start(self.target), self.draft.target.as_str()),
            DraftPart::Field(number) if number >= common => {
                (self.values[number - common], self.draft.fields[number].1.as_str())
            }
            DraftPart::Method | DraftPart::Host | DraftPart::Field(_) | DraftPart::Content => {
                (start(1), "")
            }
        };
        let before = text.get(..fault.offset).unwrap_or_default();
        Position { column: start.column + before.chars().count(), ..start }
    }
}

/// Whether a line is a field rather than a request: a name, a colon, and not the rest of a URL.
fn is_field(text: &str) -> bool {
    let Some((name, rest)) = text.split_once(':') else {
        return false;
    };
    let is_word = !name.is_empty() && !name.contains(char::is_whitespace);
    is_word && !name.starts_with('/') && !rest.starts_with("//") && name != "unix"
}

/// The position of a part of a line.
fn place_in(line: &str, number: usize, part: &str) -> Position {
    let start = part.as_ptr() as usize - line.as_ptr() as usize;
    let blank = part.chars().take_while(|c| c.is_whitespace()).count();
    Position { line: number, column: line[..start].chars().count() + blank + 1 }
}

#[cfg(test)]
mod tests;
