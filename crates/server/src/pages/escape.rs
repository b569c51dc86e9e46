//! The one way by which a value gets into a page: escaped for HTML, in text and in quoted
//! attributes, always.
//!
//! It does not ask for the template's name or for `autoescape`: only what a page marks with
//! `|safe`, and markup that a template itself has captured (`set` blocks, macros), goes in as it
//! is.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Output, Value};
use vervet_http::text::write_html;

/// Writes a value as a page shows it. What is undefined or none shows as nothing.
pub(crate) fn write_value(out: &mut Output<'_>, value: &Value) -> Result<(), Error> {
    if let Some(text) = value.as_str() {
        return Ok(if value.is_safe() {
            out.write_str(text)
        } else {
            write_html(out, text)
        }?);
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(()),
        ValueKind::Number | ValueKind::Bool => Ok(write!(out, "{value}")?),
        ValueKind::Invalid => Err(Error::new(ErrorKind::InvalidOperation, value.to_string())),
        _ => Ok(write_html(out, &value.to_string())?),
    }
}
