//! The media types of a document, which answers carry as they are written.

use vervet_config::{Diagnostic, Diagnostics, Span};
use vervet_http::media_type::MediaType;

use crate::settings::Document;

/// Finds invalid media types, and extensions that no file has.
pub(super) fn check(document: &Document, found: &mut Diagnostics) {
    for (extension, media_type) in document.media_types.iter() {
        if let Some(bare) = extension.strip_prefix('.') {
            let message = format!("an extension is written without its dot: `{bare}`");
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
        let message = format!("`{}` is not a media type", text.escape_debug());
        found.push(
            Diagnostic::error(span, message)
                .expected("a type and a subtype, such as `text/markdown`"),
        );
    }
}
