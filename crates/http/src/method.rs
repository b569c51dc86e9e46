//! Request methods (RFC 9110 §9, RFC 5789).

/// A request method. `Unknown` stands for any valid token outside this list; the token itself stays with the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Transfer a representation of the resource.
    Get,
    /// As `GET`, without the content.
    Head,
    /// Let the resource process the content.
    Post,
    /// Replace the resource by the content.
    Put,
    /// Remove the resource.
    Delete,
    /// Open a tunnel.
    Connect,
    /// Ask for the communication options.
    Options,
    /// Loop the request back.
    Trace,
    /// Change the resource in part (RFC 5789).
    Patch,
    /// A valid token we do not know: 501 unless a handler takes it (RFC 9110 §9.1).
    Unknown,
}

impl Method {
    /// The method named by `token`. Methods are case-sensitive (RFC 9110 §9.1), so `get` is unknown.
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

    /// The token as written in a request line; `unknown` (no method of that name exists) for [`Method::Unknown`].
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

    /// Whether the method is read-only by definition (RFC 9110 §9.2.1).
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options | Self::Trace)
    }

    /// Whether a repeated request has the effect of one (RFC 9110 §9.2.2), so that a client may retry it.
    pub const fn is_idempotent(self) -> bool {
        self.is_safe() || matches!(self, Self::Put | Self::Delete)
    }
}
