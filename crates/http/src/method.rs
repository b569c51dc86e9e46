//! Request methods (RFC 9110 §9, RFC 5789).

/// A request method. `Unknown` stands for any valid token outside this list; the token itself is in
/// the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET: transfer a representation of the resource.
    Get,
    /// HEAD: as GET, without the content.
    Head,
    /// POST: let the resource process the content.
    Post,
    /// PUT: replace the resource by the content.
    Put,
    /// DELETE: remove the resource.
    Delete,
    /// CONNECT: open a tunnel.
    Connect,
    /// OPTIONS: ask for the communication options.
    Options,
    /// TRACE: loop the request back.
    Trace,
    /// PATCH: change the resource in part (RFC 5789).
    Patch,
    /// An unknown valid token: 501 unless a handler accepts it (RFC 9110 §9.1).
    Unknown,
}

impl Method {
    /// Returns the method named by `token`. Methods are case-sensitive (RFC 9110 §9.1), so `get` is
    /// unknown.
    #[inline]
    pub const fn from_token(token: &[u8]) -> Self {
        match token {
            b"GET" => Self::Get,
            b"HEAD" => Self::Head,
            b"POST" => Self::Post,
            b"PUT" => Self::Put,
            b"DELETE" => Self::Delete,
            b"CONNECT" => Self::Connect,
            b"OPTIONS" => Self::Options,
            b"TRACE" => Self::Trace,
            b"PATCH" => Self::Patch,
            _ => Self::Unknown,
        }
    }

    /// Returns the token as written in a request line; `unknown` for [`Method::Unknown`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
            Self::Options => "OPTIONS",
            Self::Trace => "TRACE",
            Self::Patch => "PATCH",
            Self::Unknown => "unknown",
        }
    }

    /// Returns whether the method is read-only by definition (RFC 9110 §9.2.1).
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options | Self::Trace)
    }
}
