//! Building blocks of responses: the encoded head, the default error page, and responses that are
//! the same for every request. The engine adds Date, Content-Length and connection headers.

use bytes::Bytes;
use vervet_engine::exchange::COPY_BYTES_MAX;
use vervet_engine::{Content, Exchange, Outcome, Response};
use vervet_http::date::{DATE_BYTES, UnixSeconds, write_date};
use vervet_http::field::Known;
use vervet_http::status::{Class, Status};

/// A response head that is being encoded.
#[derive(Debug)]
pub(crate) struct Head(Vec<u8>);

// Status line and fields of a file come to some 250 bytes.
const HEAD_BYTES_USUAL: usize = 320;

impl Head {
    pub(crate) fn new(status: Status, server: &str) -> Self {
        let mut bytes = Vec::with_capacity(HEAD_BYTES_USUAL);
        status.write_line(&mut bytes);
        let mut head = Self(bytes);
        head.field(Known::Server, server.as_bytes());
        head
    }

    /// Appends a field line. Control bytes, which could begin another line, are left out of the
    /// value.
    pub(crate) fn field(&mut self, name: Known, value: &[u8]) {
        self.line(name.as_str(), value);
    }

    pub(crate) fn line(&mut self, name: &str, value: &[u8]) {
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b": ");
        self.0.extend(value.iter().filter(|byte| !byte.is_ascii_control()));
        self.0.extend_from_slice(b"\r\n");
    }

    pub(crate) fn date_field(&mut self, name: Known, date: UnixSeconds) {
        let mut text = [0; DATE_BYTES];
        write_date(date, &mut text);
        self.field(name, &text);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn into_response(self, status: Status, content: impl Into<Content>) -> Response {
        Response::encoded(status, Bytes::from(self.0)).content(content)
    }
}

/// An answer that is the same for every request: encoded once, shared by all reactors.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    status: Status,
    head: Bytes,
    content: Bytes,
}

impl Fixed {
    pub(crate) fn new(status: Status, head: Vec<u8>, content: Bytes) -> Self {
        Self { status, head: Bytes::from(head), content }
    }

    /// Sends the response; small content without counting a reference.
    pub(crate) fn send(&self, exchange: Exchange<'_>) -> Outcome {
        if self.content.len() <= COPY_BYTES_MAX {
            return exchange.send_whole(self.status, &self.head, &self.content);
        }
        self.outcome()
    }

    /// Returns the response, which an error page may replace.
    pub(crate) fn outcome(&self) -> Outcome {
        let response = Response::encoded(self.status, self.head.clone());
        Outcome::Done(response.content(self.content.clone()))
    }
}

/// The media type of the page.
pub(crate) const HTML: &[u8] = b"text/html; charset=utf-8";

/// The response for `status` with its default page.
pub(crate) fn error_answer(status: Status, server: &str) -> Response {
    error_answer_with(status, server, &[])
}

/// Like [`error_answer`], with further headers.
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

/// Head and content of the response for any status: an error has the default page, others have no
/// content.
pub(crate) fn explanatory_page(status: Status, server: &str) -> (Vec<u8>, String) {
    if matches!(status.class(), Class::ClientError | Class::ServerError | Class::Other) {
        return (page_head(status, server).into_bytes(), page(status));
    }
    (Head::new(status, server).into_bytes(), String::new())
}

fn page_head(status: Status, server: &str) -> Head {
    let mut head = Head::new(status, server);
    head.field(Known::ContentType, HTML);
    head
}

/// The default error page of a status.
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
        Status::BAD_REQUEST => "The request is malformed.",
        Status::UNAUTHORIZED => "A user name and password are required.",
        Status::FORBIDDEN => "Access is denied.",
        Status::NOT_FOUND => "There is no page at this address.",
        Status::METHOD_NOT_ALLOWED => "This method is not allowed at this address.",
        Status::GONE => "This page was permanently removed.",
        Status::CONTENT_TOO_LARGE => "The request is larger than the server accepts.",
        Status::TOO_MANY_REQUESTS => "Too many requests. Please try again in a moment.",
        Status::PRECONDITION_FAILED => "The file does not meet the condition of the request.",
        Status::RANGE_NOT_SATISFIABLE => "The requested range is beyond the end of the file.",
        Status::NOT_IMPLEMENTED => "The server does not support this request method.",
        Status::SERVICE_UNAVAILABLE => "The server is busy. Please try again in a moment.",
        _ if status.class() == Class::ClientError => "The request cannot be answered.",
        _ => "Something went wrong on the server.",
    }
}

/// The response to a request that a filter rejects: the default page, which an error page of the
/// site replaces.
pub(crate) fn refusal(status: Status) -> Response {
    let mut response = Response::new(status).content(page(status));
    // A constant that is a field value.
    let _ = response.set_field("Content-Type", HTML);
    response
}

/// Like [`refusal`], with Retry-After in seconds.
pub(crate) fn refusal_for(status: Status, retry_after_s: u64) -> Response {
    let mut response = refusal(status);
    // A number is always a field value.
    let _ = response.set_field("Retry-After", retry_after_s.to_string().as_bytes());
    response
}
