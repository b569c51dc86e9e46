//! Checks of a document that open nothing: names of logs, and media types.

use std::collections::HashSet;

use vervet_config::{Diagnostic, Diagnostics, Setting, Span, Text};
use vervet_http::media_type::MediaType;

use super::hosts::unknown;
use crate::access_log::check_logs;
use crate::settings::Document;

/// Finds access logs that are invalid, names of logs that do not exist, and logs that nothing
/// writes to.
pub(super) fn logs(document: &Document, found: &mut Diagnostics) {
    check_logs(&document.log, found);
    let known: Vec<&str> = document.log.names().chain(document.log.unread()).collect();
    let is_known: HashSet<&str> = known.iter().copied().collect();
    // A section that could not be read at all may have any name.
    let is_unread = known.is_empty() && !document.log.is_default();
    let mut used = HashSet::new();
    let mut are_all_known = true;
    let mut check = |names: Option<&[Setting<Text>]>| {
        for name in names.unwrap_or_default() {
            if is_known.contains(name.as_str()) {
                used.insert(name.value().clone());
            } else {
                are_all_known = false;
                let problem = unknown(name, "log", &known);
                found.push(if is_unread { problem.consequence() } else { problem });
            }
        }
    };
    for site in document.site.iter() {
        check(site.log.value().as_deref());
        for route in site.route.iter() {
            check(route.log.value().as_deref());
        }
    }
    // A misspelled name has been reported.
    let unused =
        document.log.iter().filter(|(name, _)| are_all_known && !used.contains(name.value()));
    for (name, _) in unused {
        let message = format!("nothing is logged to `{}`: no site or route names it", name.value());
        let expected = format!("`log = [\"{}\"]` in a site or a route", name.value());
        found.push(Diagnostic::warning(name.span(), message).expected(expected).consequence());
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
