//! Checks of a document that open nothing: names of logs, and media types.

use vervet_config::{Diagnostic, Diagnostics, Setting, Span, Text};
use vervet_http::media_type::MediaType;

use super::hosts::unknown;
use crate::access_log::check_logs;
use crate::settings::Document;

/// Finds access logs that are invalid, and names of logs that do not exist.
pub(super) fn logs(document: &Document, found: &mut Diagnostics) {
    check_logs(&document.log, found);
    let known: Vec<&str> = document.log.names().collect();
    let mut check = |names: Option<&[Setting<Text>]>| {
        for name in names.unwrap_or_default() {
            if !known.contains(&name.as_str()) {
                found.push(unknown(name, "log", &known));
            }
        }
    };
    for site in document.site.iter() {
        check(site.log.value().as_deref());
        for route in site.route.iter() {
            check(route.log.value().as_deref());
        }
    }
}

/// Finds invalid media types, and extensions that no file has.
pub(super) fn media_types(document: &Document, found: &mut Diagnostics) {
    for (extension, media_type) in document.media_types.iter() {
        if let Some(bare) = extension.strip_prefix('.') {
            let message = format!("write the extension without its dot: `{bare}`");
            found.push(Diagnostic::error(extension.span(), message));
        }
        check_type(media_type, extension.span(), found);
    }
    let default = &document.default_media_type;
    check_type(default, default.span(), found);
}

fn check_type(text: &str, span: Span, found: &mut Diagnostics) {
    let is_line = !text.chars().any(char::is_control);
    if MediaType::parse(text.as_bytes()).is_none() || !is_line {
        let message = format!("invalid media type `{}`", text.escape_debug());
        found.push(
            Diagnostic::error(span, message)
                .expected("a type and a subtype, such as `text/markdown`"),
        );
    }
}
