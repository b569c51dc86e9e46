//! The one way by which a value gets into a page: escaped for HTML, in text and in quoted attributes, always.
//!
//! It does not ask for the template's name or for `autoescape`: only what a page marks with `|safe`, and markup that
//! a template itself has captured (`set` blocks, macros), goes in as it is.

use std::fmt::{self, Write};

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Output, Value};

/// Writes a value as a page shows it. What is undefined or none shows as nothing.
pub(crate) fn write_value(out: &mut Output<'_>, value: &Value) -> Result<(), Error> {
    if let Some(text) = value.as_str() {
        return Ok(if value.is_safe() {
            out.write_str(text)
        } else {
            write_escaped(out, text)
        }?);
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(()),
        ValueKind::Number | ValueKind::Bool => Ok(write!(out, "{value}")?),
        ValueKind::Invalid => Err(Error::new(ErrorKind::InvalidOperation, value.to_string())),
        _ => Ok(write_escaped(out, &value.to_string())?),
    }
}

/// Writes text so that it is nothing but text between tags and in quoted attributes.
pub(crate) fn write_escaped(out: &mut dyn Write, text: &str) -> fmt::Result {
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let Some(escaped) = escaped(byte) else {
            continue;
        };
        if written < at {
            out.write_str(&text[written..at])?;
        }
        out.write_str(escaped)?;
        written = at + 1;
    }
    if written < text.len() {
        out.write_str(&text[written..])?;
    }
    Ok(())
}

/// The five characters of HTML that can end a text or an attribute value, as the engine's own filters write them.
/// A number for the apostrophe: HTML 4 has no `&apos;`.
const fn escaped(byte: u8) -> Option<&'static str> {
    match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'"' => Some("&quot;"),
        b'\'' => Some("&#x27;"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut out = String::new();
        write_escaped(&mut out, text).unwrap();
        assert_eq!(out, expected);
    }

    #[test]
    fn markup_becomes_text() {
        check(
            "<b title='1' id=\"2\">&amp;</b>",
            "&lt;b title=&#x27;1&#x27; id=&quot;2&quot;&gt;&amp;amp;&lt;/b&gt;",
        );
    }

    #[test]
    fn text_stays_as_it_is() {
        check("", "");
        check("Grüße, 世界 / `x` = {1}", "Grüße, 世界 / `x` = {1}");
    }

    #[test]
    fn each_place_of_a_text_is_looked_at() {
        check("<a", "&lt;a");
        check("a<", "a&lt;");
        check("<<", "&lt;&lt;");
        check("ä<ä", "ä&lt;ä");
    }
}
