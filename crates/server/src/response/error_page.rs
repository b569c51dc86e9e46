//! The page that says what is wrong: one small document for every failure, readable without script
//! or style.

use vervet_engine::Response;
use vervet_http::field::Known;
use vervet_http::status::{Class, Status};

use crate::response::Head;

/// The media type of the page.
pub(crate) const HTML: &[u8] = b"text/html; charset=utf-8";

/// The answer for `status` with a short page of our own.
pub(crate) fn error_answer(status: Status, server: &str) -> Response {
    error_answer_with(status, server, &[])
}

/// As [`error_answer`], with further fields.
pub(crate) fn error_answer_with(
    status: Status,
    server: &str,
    fields: &[(Known, &[u8])],
) -> Response {
    let mut head = page_head(status, server);
    for (name, value) in fields {
        head.field(*name, value);
    }
    head.into_response(status, page(status))
}

/// Head and content of the answer for any status: with the page for a failure, without content for
/// others.
pub(crate) fn explanatory_page(status: Status, server: &str) -> (Vec<u8>, String) {
    if matches!(
        status.class(),
        Class::ClientError | Class::ServerError | Class::Other
    ) {
        return (page_head(status, server).into_bytes(), page(status));
    }
    (Head::new(status, server).into_bytes(), String::new())
}

fn page_head(status: Status, server: &str) -> Head {
    let mut head = Head::new(status, server);
    head.field(Known::ContentType, HTML);
    head
}

/// The page.
pub(crate) fn page(status: Status) -> String {
    let (code, reason) = (status.code(), status.reason());
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>{code} {reason}</title>\n<style>body{{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;\
         margin:18vh auto 0;padding:0 1.25rem}}h1{{font-size:1.5rem;font-weight:600;margin:0 0 .5rem}}\
         p{{margin:0;opacity:.75}}</style>\n<h1>{code} {reason}</h1>\n<p>{}</p>\n</html>\n",
        explanation(status)
    )
}

fn explanation(status: Status) -> &'static str {
    match status {
        Status::BAD_REQUEST => "The address is malformed.",
        Status::UNAUTHORIZED => "This is open to those who have the password.",
        Status::FORBIDDEN => "This is not open to visitors.",
        Status::NOT_FOUND => "There is nothing at this address.",
        Status::METHOD_NOT_ALLOWED => "This cannot be done at this address.",
        Status::GONE => "What was at this address is gone for good.",
        Status::CONTENT_TOO_LARGE => "What was sent is larger than this server takes.",
        Status::TOO_MANY_REQUESTS => "That was too much at once. Please try again in a moment.",
        Status::PRECONDITION_FAILED => "The file is not in the state that the request asks for.",
        Status::RANGE_NOT_SATISFIABLE => "The part asked for lies beyond the end of the file.",
        Status::NOT_IMPLEMENTED => "This server does not know the method of the request.",
        Status::SERVICE_UNAVAILABLE => "The server is busy. Please try again in a moment.",
        _ if status.class() == Class::ClientError => "The request cannot be answered.",
        _ => "Something went wrong on the server.",
    }
}
