//! Status codes (RFC 9110 §15 and the registry).

/// A status code, 100 to 999 (RFC 9112 §4: three digits; codes above 599 are valid on the wire and
/// have no class).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Status(u16);

/// The class of a status code, its first digit (RFC 9110 §15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// 1xx: interim, a final response follows.
    Informational,
    /// 2xx: the request was successful.
    Success,
    /// 3xx: further action is needed.
    Redirection,
    /// 4xx: the request cannot be fulfilled.
    ClientError,
    /// 5xx: the server failed to fulfil a valid request.
    ServerError,
    /// 600 and above: outside the standard; treat as [`Class::ServerError`].
    Other,
}

macro_rules! statuses {
    ($($name:ident = $code:literal, $reason:literal;)*) => {
        impl Status {
            $(
                #[doc = concat!("`", $code, " ", $reason, "`")]
                pub const $name: Self = Self($code);
            )*

            /// Returns the reason phrase of the registry; empty for an unregistered code.
            pub const fn reason(self) -> &'static str {
                match self.0 {
                    $($code => $reason,)*
                    _ => "",
                }
            }
        }
    };
}

statuses! {
    CONTINUE = 100, "Continue";
    SWITCHING_PROTOCOLS = 101, "Switching Protocols";
    EARLY_HINTS = 103, "Early Hints";
    OK = 200, "OK";
    CREATED = 201, "Created";
    ACCEPTED = 202, "Accepted";
    NON_AUTHORITATIVE_INFORMATION = 203, "Non-Authoritative Information";
    NO_CONTENT = 204, "No Content";
    RESET_CONTENT = 205, "Reset Content";
    PARTIAL_CONTENT = 206, "Partial Content";
    MULTI_STATUS = 207, "Multi-Status";
    MULTIPLE_CHOICES = 300, "Multiple Choices";
    MOVED_PERMANENTLY = 301, "Moved Permanently";
    FOUND = 302, "Found";
    SEE_OTHER = 303, "See Other";
    NOT_MODIFIED = 304, "Not Modified";
    TEMPORARY_REDIRECT = 307, "Temporary Redirect";
    PERMANENT_REDIRECT = 308, "Permanent Redirect";
    BAD_REQUEST = 400, "Bad Request";
    UNAUTHORIZED = 401, "Unauthorized";
    FORBIDDEN = 403, "Forbidden";
    NOT_FOUND = 404, "Not Found";
    METHOD_NOT_ALLOWED = 405, "Method Not Allowed";
    NOT_ACCEPTABLE = 406, "Not Acceptable";
    PROXY_AUTHENTICATION_REQUIRED = 407, "Proxy Authentication Required";
    REQUEST_TIMEOUT = 408, "Request Timeout";
    CONFLICT = 409, "Conflict";
    GONE = 410, "Gone";
    LENGTH_REQUIRED = 411, "Length Required";
    PRECONDITION_FAILED = 412, "Precondition Failed";
    CONTENT_TOO_LARGE = 413, "Content Too Large";
    URI_TOO_LONG = 414, "URI Too Long";
    UNSUPPORTED_MEDIA_TYPE = 415, "Unsupported Media Type";
    RANGE_NOT_SATISFIABLE = 416, "Range Not Satisfiable";
    EXPECTATION_FAILED = 417, "Expectation Failed";
    MISDIRECTED_REQUEST = 421, "Misdirected Request";
    UNPROCESSABLE_CONTENT = 422, "Unprocessable Content";
    TOO_EARLY = 425, "Too Early";
    UPGRADE_REQUIRED = 426, "Upgrade Required";
    PRECONDITION_REQUIRED = 428, "Precondition Required";
    TOO_MANY_REQUESTS = 429, "Too Many Requests";
    REQUEST_HEADER_FIELDS_TOO_LARGE = 431, "Request Header Fields Too Large";
    INTERNAL_SERVER_ERROR = 500, "Internal Server Error";
    NOT_IMPLEMENTED = 501, "Not Implemented";
    BAD_GATEWAY = 502, "Bad Gateway";
    SERVICE_UNAVAILABLE = 503, "Service Unavailable";
    GATEWAY_TIMEOUT = 504, "Gateway Timeout";
    HTTP_VERSION_NOT_SUPPORTED = 505, "HTTP Version Not Supported";
}

impl Status {
    /// Returns the status with this code; `None` outside 100 to 999.
    pub const fn new(code: u16) -> Option<Self> {
        match code {
            100..=999 => Some(Self(code)),
            _ => None,
        }
    }

    /// Returns the three-digit code.
    pub const fn code(self) -> u16 {
        self.0
    }

    /// Returns the class, by the first digit.
    pub const fn class(self) -> Class {
        match self.0 {
            ..200 => Class::Informational,
            200..300 => Class::Success,
            300..400 => Class::Redirection,
            400..500 => Class::ClientError,
            500..600 => Class::ServerError,
            600.. => Class::Other,
        }
    }

    /// Returns whether a response with this status can have content: not 1xx, 204 and 304 (RFC 9112
    /// §6.3).
    pub const fn allows_content(self) -> bool {
        !matches!(self.0, ..200 | 204 | 304)
    }

    /// Returns whether the response is final, not interim. 101 is final: what follows it is no
    /// longer HTTP/1.1 (RFC 9110 §15.2.2).
    pub const fn is_final(self) -> bool {
        matches!(self.0, 101 | 200..)
    }

    /// Appends the status line with its CRLF to `out`.
    pub fn write_line(self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HTTP/1.1 ");
        out.extend_from_slice(itoa::Buffer::new().format(self.0).as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.reason().as_bytes());
        out.extend_from_slice(b"\r\n");
    }
}
