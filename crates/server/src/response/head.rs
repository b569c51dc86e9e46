//! Response heads, encoded once: a status line and field lines. Date, Content-Length and what
//! concerns the connection are the engine's.

use bytes::Bytes;
use vervet_engine::{Content, Response};
use vervet_http::date::{DATE_BYTES, UnixSeconds, write_date};
use vervet_http::field::Known;
use vervet_http::status::Status;

/// A head being written.
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
        self.0
            .extend(value.iter().filter(|byte| !byte.is_ascii_control()));
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
