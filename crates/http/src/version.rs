//! Protocol versions of the HTTP/1 family.

/// The protocol version of a start line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// `HTTP/1.0`: closes after each exchange unless `keep-alive` was requested; does not know the
    /// chunked coding.
    Http10,
    /// `HTTP/1.1` (RFC 9112): persistent connections.
    Http11,
}

impl Version {
    /// Returns the version as written in a start line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
        }
    }
}
