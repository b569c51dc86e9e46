//! Protocol versions of the HTTP/1 family.

/// The version a peer announced in its start line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// `HTTP/1.0`: closes after each exchange unless `keep-alive` was asked for; knows no chunks.
    Http10,
    /// `HTTP/1.1`.
    Http11,
}

impl Version {
    /// The version as written in a start line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
        }
    }
}
