//! Field sections (heads and trailers) as lines: finding the end, and explaining what the tokenizer
//! refused.
//!
//! The search for the end looks at every LF, so a line that ends without CR is an offence as soon
//! as it is there.

use super::violation::Violation;
use crate::field::{is_token, is_value_byte};

/// Which kind of section is searched for its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Start line and field lines; one empty line before it is skipped (RFC 9112 §2.2).
    Head,
    /// Field lines only; may consist of the closing empty line alone.
    Trailers,
}

/// The range of a complete section in the input.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// Offset of the first byte of the first line.
    pub(super) from: usize,
    /// Offset after the empty line that ends the section.
    pub(super) to: usize,
}

/// Finds the end of the section at the start of `input`, at most `bytes_max` away; `None` if it is
/// incomplete.
///
/// `scanned` bytes were searched by earlier calls on shorter input and are not searched again, so a
/// head of n bytes costs n however it arrives.
pub(super) fn find_end(
    input: &[u8],
    scanned: &mut u32,
    section: Section,
    bytes_max: usize,
) -> Result<Option<Span>, Violation> {
    let window = &input[..input.len().min(bytes_max)];
    let start = (*scanned as usize).min(window.len());
    for found in memchr::memchr_iter(b'\n', &window[start..]) {
        let at = start + found;
        if at == 0 || window[at - 1] != b'\r' {
            return Err(Violation::BareLf);
        }
        let line_is_empty = at == 1 || window[at - 2] == b'\n';
        if !line_is_empty {
            continue;
        }
        match (section, at) {
            (Section::Head, 1) => {}
            (Section::Head, 3) => return Err(Violation::LeadingEmptyLines),
            _ => {
                let from =
                    if section == Section::Head && window.starts_with(b"\r\n") { 2 } else { 0 };
                *scanned = 0;
                return Ok(Some(Span { from, to: at + 1 }));
            }
        }
    }
    *scanned = u32::try_from(window.len()).unwrap_or(u32::MAX);
    match section {
        _ if input.len() < bytes_max => Ok(None),
        Section::Head => Err(Violation::HeadTooLarge),
        Section::Trailers => Err(Violation::TrailersTooLarge),
    }
}

/// Finds the first violation, in reading order, in field lines that `httparse` rejected.
#[cold]
pub(super) fn explain_fields(lines: &[u8]) -> Violation {
    let mut space_before = Violation::FieldLeadingSpace;
    for line in lines.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        if let Some(violation) = explain_line(line, space_before) {
            return violation;
        }
        space_before = Violation::FieldFolded;
    }
    Violation::FieldName
}

/// `space_before` is what whitespace at the beginning of the line means.
fn explain_line(line: &[u8], space_before: Violation) -> Option<Violation> {
    if matches!(line[0], b' ' | b'\t') {
        return Some(space_before);
    }
    let Some(colon) = memchr::memchr(b':', line) else {
        return Some(Violation::FieldName);
    };
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if name.ends_with(b" ") || name.ends_with(b"\t") {
        return Some(Violation::FieldSpaceBeforeColon);
    }
    if !is_token(name) {
        return Some(Violation::FieldName);
    }
    match value.iter().find(|&&byte| !is_value_byte(byte)) {
        Some(b'\r') => Some(Violation::BareCr),
        Some(_) => Some(Violation::FieldValue),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Section, find_end};

    /// The bytes already searched are changed under the search: it must not notice.
    #[test]
    fn looks_at_no_byte_twice() {
        let mut scanned = 0;
        let early = b"GET / HTTP/1.1\r\nHost: a\r\n";
        assert!(matches!(find_end(early, &mut scanned, Section::Head, 100), Ok(None)));
        assert_eq!(scanned as usize, early.len());
        let mut late = [b'\n'; 25];
        late[23..].copy_from_slice(b"\r\n");
        let late = [&late[..], b"\r\n"].concat();
        let span = find_end(&late, &mut scanned, Section::Head, 100).unwrap().unwrap();
        assert_eq!((span.from, span.to), (0, 27));
        assert_eq!(scanned, 0, "the next section is searched from its start");
    }
}
