//! A directory listing as JSON, with the same entries in the same order as the page.

use std::fmt::Write;

use vervet_http::target::percent_encode_path;

use crate::files::listing::{Completeness, Listed, ListedEntry};
use crate::files::root::Kind;
use crate::timestamp::rfc3339;

/// The document. A name that is not UTF-8 is shown with U+FFFD; `link` is exact for every name.
pub(crate) fn write(listed: &Listed) -> String {
    let mut out = String::with_capacity(128 + 128 * listed.entries.len());
    let path = match (String::from_utf8_lossy(&listed.mount), &*listed.path) {
        (mount, []) => format!("{mount}/"),
        (mount, path) => format!("{mount}/{}/", String::from_utf8_lossy(path)),
    };
    out.push_str("{\"path\":");
    push_string(&mut out, &path);
    let complete = listed.completeness == Completeness::All;
    // Writing into a String does not fail.
    let _ = write!(out, ",\"complete\":{complete},\"entries\":[");
    for (number, entry) in listed.entries.iter().enumerate() {
        out.push_str(if number == 0 { "\n" } else { ",\n" });
        push_entry(&mut out, entry);
    }
    out.push_str("\n]}\n");
    out
}

fn push_entry(out: &mut String, entry: &ListedEntry) {
    out.push_str("{\"name\":");
    push_string(out, &String::from_utf8_lossy(&entry.name));
    let (kind, slash) = match entry.kind {
        Kind::Directory => ("directory", "/"),
        Kind::File => ("file", ""),
    };
    let _ = write!(out, ",\"kind\":\"{kind}\"");
    if entry.kind == Kind::File {
        let _ = write!(out, ",\"size\":{}", entry.size);
    }
    let modified = rfc3339(entry.modified);
    let link = percent_encode_path(&entry.name);
    let _ = write!(out, ",\"modified\":\"{modified}\",\"link\":\"{link}{slash}\"}}");
}

/// A JSON string (RFC 8259 §7), quotes included.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut out = String::new();
        push_string(&mut out, text);
        assert_eq!(out, expected);
    }

    #[test]
    fn strings_cannot_end_early() {
        check("", r#""""#);
        check("a\"b\\c", r#""a\"b\\c""#);
        check("\n\r\t\u{0}\u{1b}\u{7f}\u{85}", r#""\n\r\t\u0000\u001b\u007f\u0085""#);
        check("ü/サ", "\"ü/サ\"");
    }
}
