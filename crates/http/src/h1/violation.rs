//! Protocol violations of a peer, and the response to each.

use crate::status::Status;

macro_rules! violations {
    ($($variant:ident, $clause:literal, $status:ident, $message:literal;)*) => {
        /// A violation of RFC 9110 or 9112, or of a limit, by the peer.
        ///
        /// Each of them ends the connection: nothing may be parsed after a message whose end is
        /// uncertain (RFC 9112 §11.2).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Violation {
            $(#[doc = concat!($clause, ": ", $message, ".")] $variant,)*
        }

        impl Violation {
            /// Every violation, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The clause that was violated, such as `RFC 9112 §6.3`, or the limit.
            pub const fn clause(self) -> &'static str {
                match self { $(Self::$variant => $clause,)* }
            }

            /// The status that a server responds with. A client reports 502.
            pub const fn status(self) -> Status {
                match self { $(Self::$variant => Status::$status,)* }
            }

            /// A short description of the violation.
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }
        }
    };
}

violations! {
    LeadingEmptyLines, "RFC 9112 §2.2", BAD_REQUEST, "sent more than one empty line before the start line";
    BareLf, "RFC 9112 §2.2", BAD_REQUEST, "ended a line with LF alone";
    BareCr, "RFC 9112 §2.2", BAD_REQUEST, "sent CR without LF";
    RequestLine, "RFC 9112 §3", BAD_REQUEST, "sent a request line that is not method, target and version with one space between";
    MethodToken, "RFC 9112 §3.1", BAD_REQUEST, "sent a method that is not a token";
    TargetByte, "RFC 9112 §3.2", BAD_REQUEST, "sent a request target with a byte that must be percent-encoded";
    TargetTooLong, "limit target_bytes_max", URI_TOO_LONG, "sent a request target over the limit";
    VersionMissing, "RFC 9112 §3", BAD_REQUEST, "sent a request line without a version";
    VersionMalformed, "RFC 9112 §2.3", BAD_REQUEST, "sent a version that is not HTTP/ (upper case), digit, dot, digit";
    VersionUnsupported, "RFC 9110 §15.6.6", HTTP_VERSION_NOT_SUPPORTED, "asked for a version other than HTTP/1.0 and HTTP/1.1";
    StatusLine, "RFC 9112 §4", BAD_GATEWAY, "sent a status line that is not version, three digits and reason";
    HeadTooLarge, "limit head_bytes_max", REQUEST_HEADER_FIELDS_TOO_LARGE, "sent a head over the limit";
    FieldsTooMany, "limit fields_max", REQUEST_HEADER_FIELDS_TOO_LARGE, "sent more field lines than the limit";
    FieldLeadingSpace, "RFC 9112 §2.2", BAD_REQUEST, "began the first field line with whitespace";
    FieldFolded, "RFC 9112 §5.2", BAD_REQUEST, "folded a field line";
    FieldSpaceBeforeColon, "RFC 9112 §5.1", BAD_REQUEST, "put whitespace between a field name and its colon";
    FieldName, "RFC 9110 §5.1", BAD_REQUEST, "sent a field name that is not a token, or a field line without a colon";
    FieldValue, "RFC 9110 §5.5", BAD_REQUEST, "sent a control byte in a field value";
    HostMissing, "RFC 9112 §3.2", BAD_REQUEST, "sent no Host in an HTTP/1.1 request";
    HostRepeated, "RFC 9112 §3.2", BAD_REQUEST, "sent more than one Host";
    HostMalformed, "RFC 9112 §3.2", BAD_REQUEST, "sent a Host that is not a host with an optional port";
    ContentTypeRepeated, "RFC 9110 §5.3", BAD_REQUEST, "sent more than one Content-Type";
    ContentLengthRepeated, "RFC 9112 §6.3", BAD_REQUEST, "sent more than one Content-Length";
    ContentLengthMalformed, "RFC 9110 §8.6", BAD_REQUEST, "sent a Content-Length that is not digits alone";
    ContentLengthTooLarge, "RFC 9110 §8.6", CONTENT_TOO_LARGE, "announced more content than can be counted";
    TransferEncodingWithLength, "RFC 9112 §6.3", BAD_REQUEST, "sent Transfer-Encoding together with Content-Length";
    TransferEncodingInOldVersion, "RFC 9112 §6.1", BAD_REQUEST, "sent Transfer-Encoding in HTTP/1.0";
    TransferEncodingNotChunked, "RFC 9112 §6.3", BAD_REQUEST, "sent a Transfer-Encoding whose last coding is not chunked, or which has chunked twice";
    TransferEncodingUnknown, "RFC 9112 §6.1", NOT_IMPLEMENTED, "sent a transfer coding other than chunked";
    TransferEncodingUnexpected, "RFC 9112 §6.1", BAD_GATEWAY, "sent Transfer-Encoding in a response that must not have it";
    ChunkSizeMalformed, "RFC 9112 §7.1", BAD_REQUEST, "sent a chunk size that is not hexadecimal digits";
    ChunkSizeTooLarge, "RFC 9112 §7.1", CONTENT_TOO_LARGE, "sent a chunk size that cannot be counted";
    ChunkLineTooLong, "limit CHUNK_LINE_BYTES_MAX", BAD_REQUEST, "sent a chunk line over the limit";
    ChunkExtensionMalformed, "RFC 9112 §7.1.1", BAD_REQUEST, "sent something after a chunk size that is not a chunk extension";
    ChunkEndMissing, "RFC 9112 §7.1", BAD_REQUEST, "sent a chunk that does not end with CRLF where its size says";
    TrailersTooLarge, "limit trailer_bytes_max", REQUEST_HEADER_FIELDS_TOO_LARGE, "sent a trailer section over the limit";
    TrailerForbidden, "RFC 9110 §6.5.1", BAD_REQUEST, "sent a field as a trailer that only means something in a head";
    Truncated, "RFC 9112 §8", BAD_REQUEST, "closed the connection inside a message";
    Unsolicited, "RFC 9112 §9.2", BAD_GATEWAY, "sent bytes that answer no request";
    SwitchUnasked, "RFC 9110 §7.8", BAD_GATEWAY, "switched protocols without having been asked to";
}

impl Violation {
    /// Returns whether the connection must be closed after the response, which holds for all
    /// violations.
    pub const fn closes(self) -> bool {
        true
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "peer {} ({})", self.message(), self.clause())
    }
}

impl std::error::Error for Violation {}
