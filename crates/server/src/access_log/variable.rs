//! The variables of format strings. A variable is one row of the table below: its name, its
//! documentation, its name in JSON lines, when its value is known, and how the value is written.

use vervet_config::nearest;
use vervet_engine::http::field::{Fields, Known, is_token};

use crate::matching::hosts::lower_case;

use super::clock::TimeStyle;
use super::layout::Line;
use super::request::RequestInfo;
use super::value_writer::ValueWriter;

/// A variable of a format string, as the reference documents it.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name: the text between the braces, before a colon.
    pub name: &'static str,
    /// What may follow the colon.
    pub argument: Argument,
    /// What the variable writes, as a phrase.
    pub meaning: &'static str,
    /// The equivalent variable of nginx; empty if there is none.
    pub nginx: &'static str,
    /// Its members of JSON lines, in the order of the table.
    pub(super) json: &'static [JsonMember],
    pub(super) value: fn(&str) -> Value,
}

/// What a variable takes after a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// It takes no argument.
    None,
    /// The name of a field, cookie or parameter: a token (RFC 9110 §5.6.2).
    Name,
    /// One of these words; the first is the default.
    OneOf(&'static [&'static str]),
}

/// A member of a JSON line. It is left out where the value is not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonMember {
    pub(super) name: &'static str,
    /// The argument of the variable.
    pub(super) argument: &'static str,
    pub(super) kind: JsonKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonKind {
    Text,
    Number,
}

const fn text(name: &'static str, argument: &'static str) -> JsonMember {
    JsonMember { name, argument, kind: JsonKind::Text }
}

const fn number(name: &'static str) -> JsonMember {
    JsonMember { name, argument: "", kind: JsonKind::Number }
}

/// When a value is known, and so what it is written from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// With the head of the request: from a [`RequestInfo`].
    Request,
    /// With the head of the response: from its bytes.
    Response,
    /// When the exchange has ended: from a [`Line`].
    End,
}

/// Makes the table of variables and the type of their values. Each row is
///
/// ```text
/// Variant(ArgumentType): "name", argument, "nginx", [JSON members], "meaning",
///     Stage |writer, source, argument| writes the value; false if it is not known;
/// ```
macro_rules! variables {
    (@at Request Request, $out:ident $from:ident, $writer:ident $source:ident, $write:expr) => {{
        let ($writer, $source) = ($out, $from);
        $write
    }};
    (@at Response Response, $out:ident $from:ident, $writer:ident $source:ident, $write:expr) => {{
        let ($writer, $source) = ($out, $from);
        $write
    }};
    (@at End End, $out:ident $from:ident, $writer:ident $source:ident, $write:expr) => {{
        let ($writer, $source) = ($out, $from);
        $write
    }};
    (@at $asked:ident $stage:ident, $($rest:tt)*) => {
        false
    };
    ($(
        $Variant:ident $(($Argument:ty))?: $name:literal, $argument:expr, $nginx:literal,
        [$($json:expr),*], $meaning:literal,
        $stage:ident |$writer:ident, $source:ident $(, $parameter:ident)?| $write:expr;
    )*) => {
        /// All variables, in the order of the reference.
        #[allow(unused_variables, reason = "not every variable has an argument")]
        pub const VARIABLES: &[Variable] = &[$(Variable {
            name: $name,
            argument: $argument,
            meaning: $meaning,
            nginx: $nginx,
            json: &[$($json),*],
            value: |argument| Value::$Variant $((<$Argument>::from(argument)))?,
        },)*];

        /// What a piece of a line is made from.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(super) enum Value {
            $(#[doc = $meaning] $Variant $(($Argument))?,)*
        }

        #[allow(unused_variables, reason = "each function has the rows of one stage")]
        impl Value {
            pub(super) fn stage(&self) -> Stage {
                match self {
                    $(Self::$Variant { .. } => Stage::$stage,)*
                }
            }

            /// Writes a value of the request; false if it is not known.
            pub(super) fn write_request(
                &self,
                out: &mut ValueWriter<'_>,
                info: &RequestInfo<'_>,
            ) -> bool {
                match self {
                    $(Self::$Variant $(($parameter))? => {
                        variables!(@at Request $stage, out info, $writer $source, $write)
                    })*
                }
            }

            /// Writes a value of the head of the response; false if it is not known.
            pub(super) fn write_response(&self, out: &mut ValueWriter<'_>, head: &[u8]) -> bool {
                match self {
                    $(Self::$Variant $(($parameter))? => {
                        variables!(@at Response $stage, out head, $writer $source, $write)
                    })*
                }
            }

            /// Writes a value that is known when the exchange has ended; false if it is not known.
            pub(super) fn write_end(&self, out: &mut ValueWriter<'_>, line: &Line<'_>) -> bool {
                match self {
                    $(Self::$Variant $(($parameter))? => {
                        variables!(@at End $stage, out line, $writer $source, $write)
                    })*
                }
            }
        }
    };
}

use Argument::{Name, OneOf};
const NOTHING: Argument = Argument::None;

variables! {
    Time(TimeStyle): "time", OneOf(TimeStyle::WORDS), "$time_local", [text("time", "iso_ms")],
        "when the response ended, in UTC: `common` (21/Nov/2026:19:30:00 +0000), `iso` \
        (2026-11-21T19:30:00Z), `iso_ms`, `unix` (seconds since 1970), `unix_ms` (the same with \
        milliseconds), `clock` (19:30:00)",
        End |out, line, style| out.time(line.clock, *style);
    Client: "client", NOTHING, "$remote_addr", [text("client", "")],
        "address of the client: the peer, or what trusted proxies report",
        End |out, line| out.address(line.client());
    Peer: "peer", NOTHING, "$realip_remote_addr", [text("peer", "")],
        "address of the peer of the socket; `unix:` over a unix socket",
        End |out, line| {
            if out.omits_defaults() && line.client() == line.peer() {
                return false;
            }
            out.address(line.peer())
        };
    Port: "port", NOTHING, "$remote_port", [],
        "port of the peer",
        End |out, line| out.optional_number(line.finished.peer.map(|peer| peer.port().into()));
    Request: "request", NOTHING, "$request", [],
        "request line: method, target, version",
        Request |out, info| {
            out.method(info.head);
            out.plain(b" ");
            out.text(info.head.target);
            out.plain(b" ");
            out.plain(info.head.version.as_str().as_bytes())
        };
    Method: "method", NOTHING, "$request_method", [text("method", "")],
        "request method",
        Request |out, info| out.method(info.head);
    Target: "target", NOTHING, "$request_uri", [text("target", "")],
        "request target as sent",
        Request |out, info| out.text(info.head.target);
    Path: "path", NOTHING, "$uri", [],
        "path, decoded",
        Request |out, info| out.text(info.path);
    Query: "query", NOTHING, "$args", [],
        "query string without its question mark",
        Request |out, info| out.optional(info.query);
    Parameter(Box<str>): "query", Name, "$arg_NAME", [],
        "one parameter of the query string, as sent",
        Request |out, info, name| out.optional(parameter(info.query, name));
    Version: "version", NOTHING, "$server_protocol", [text("version", "")],
        "HTTP version, such as HTTP/1.1",
        Request |out, info| out.plain(info.head.version.as_str().as_bytes());
    Scheme: "scheme", NOTHING, "$scheme", [],
        "http or https",
        Request |out, info| out.plain(info.scheme.as_bytes());
    Host: "host", NOTHING, "$host", [text("host", "")],
        "requested host, in lower case and without port",
        Request |out, info| !info.host.is_empty() && out.text(&lower_case(info.host));
    Field(FieldName): "field", Name, "$http_NAME",
        [text("referer", "referer"), text("user_agent", "user-agent")],
        "a header field of the request; repeated fields are joined by commas",
        Request |out, info, name| write_field(out, &info.head.fields, name);
    Cookie(Box<str>): "cookie", Name, "$cookie_NAME", [],
        "a cookie of the request",
        Request |out, info, name| out.optional(cookie(&info.head.fields, name));
    User: "user", NOTHING, "$remote_user", [text("user", "")],
        "authenticated user",
        Request |out, info| out.optional(info.user);
    RequestId: "request_id", NOTHING, "$request_id", [text("request_id", "")],
        "request ID",
        Request |out, info| match &info.request_id {
            // Digits need no escape.
            Some(id) if id.is_own() => out.plain(id.as_bytes()),
            Some(id) => out.text(id.as_bytes()),
            None => false,
        };
    Status: "status", NOTHING, "$status", [number("status")],
        "status code",
        End |out, line| out.status(line.finished.status);
    Bytes: "bytes", NOTHING, "$body_bytes_sent", [number("bytes")],
        "bytes of the response body that were sent: fewer than its length if the client left",
        End |out, line| out.number(line.finished.content_bytes);
    Milliseconds: "duration_ms", NOTHING, "", [number("duration_ms")],
        "time from the complete request head to the end of the response, in milliseconds",
        End |out, line| out.number(line.finished.duration_ms);
    Seconds: "duration", NOTHING, "$request_time", [],
        "the same in seconds with three decimals",
        End |out, line| out.seconds(line.finished.duration_ms);
    Response(Box<str>): "response", Name, "$sent_http_NAME", [],
        "a header field of the response",
        Response |out, head, name| out.optional(response_field(head, name));
    Site: "site", NOTHING, "$server_name", [text("site", "")],
        "name of the site",
        End |out, line| out.optional(line.names.site(line.origin()).map(str::as_bytes));
    Route: "route", NOTHING, "", [text("route", "")],
        "name of the route",
        End |out, line| out.optional(line.names.route(line.origin()).map(str::as_bytes));
    Listener: "listener", NOTHING, "$server_addr", [],
        "name of the listener",
        Request |out, info| out.text(info.listener.as_bytes());
    ConnectionRequests: "connection_requests", NOTHING, "$connection_requests", [],
        "number of the request on its connection, from 1",
        Request |out, info| out.optional_number(info.connection_requests);
    Sample: "sample", NOTHING, "", [number("sample")],
        "how many requests the line stands for: N if one in N is logged, otherwise 1",
        End |out, line| {
            if out.omits_defaults() && line.sample <= 1 {
                return false;
            }
            out.number(line.sample.into())
        };
    Fault: "fault", NOTHING, "", [text("fault", "")],
        "why a response was incomplete, or why the request was refused",
        End |out, line| out.optional(line.finished.fault.map(str::as_bytes));
}

impl Value {
    pub(super) fn needs_request_id(&self) -> bool {
        *self == Self::RequestId
    }
}

/// The name of a field of the request, by its number where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldName {
    Known(Known),
    Other(Box<str>),
}

impl From<&str> for FieldName {
    fn from(name: &str) -> Self {
        Known::lookup(name.as_bytes()).map_or_else(|| Self::Other(name.into()), Self::Known)
    }
}

fn write_field(out: &mut ValueWriter<'_>, fields: &Fields<'_>, name: &FieldName) -> bool {
    match name {
        FieldName::Known(known) if fields.is_repeated(*known) => {
            write_joined(out, fields.all(*known))
        }
        FieldName::Known(known) => out.optional(fields.get(*known)),
        FieldName::Other(name) => write_joined(out, fields.named(name)),
    }
}

fn write_joined<'a>(out: &mut ValueWriter<'_>, values: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut is_known = false;
    for value in values {
        if is_known {
            out.text(b", ");
        }
        is_known = out.text(value);
    }
    is_known
}

/// The value of a cookie (RFC 6265 §4.2.1).
fn cookie<'a>(fields: &Fields<'a>, name: &str) -> Option<&'a [u8]> {
    fields
        .all(Known::Cookie)
        .flat_map(|line| line.split(|byte| *byte == b';'))
        .find_map(|pair| value_of(pair.trim_ascii(), name))
}

/// The value of a parameter, not decoded; empty if it has no equals sign.
fn parameter<'a>(query: Option<&'a [u8]>, name: &str) -> Option<&'a [u8]> {
    query?.split(|byte| *byte == b'&').find_map(|pair| {
        let bare = (pair == name.as_bytes()).then_some(&pair[pair.len()..]);
        value_of(pair, name).or(bare)
    })
}

fn value_of<'a>(pair: &'a [u8], name: &str) -> Option<&'a [u8]> {
    pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=")
}

/// The value of the first field line of this name in the head of a response.
fn response_field<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    head.split(|byte| *byte == b'\n').skip(1).find_map(|line| {
        let (field, value) = line.split_at_checked(name.len())?;
        let value = value.strip_prefix(b":")?;
        field.eq_ignore_ascii_case(name.as_bytes()).then(|| value.trim_ascii())
    })
}

/// Why a text does not name a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VariableError {
    /// No variable has this name.
    Unknown { nearest: Option<&'static str> },
    /// The variable takes no argument.
    NoArgument,
    /// The name after the colon is missing or not a token.
    NeedsName,
    /// The argument is not one of these words.
    UnknownWord { words: &'static [&'static str], nearest: Option<&'static str> },
}

/// The value of `name` or `name:argument`.
pub(super) fn parse_variable(text: &str) -> Result<Value, VariableError> {
    let (name, argument) = match text.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (text, None),
    };
    let mut error = None;
    for variable in VARIABLES.iter().filter(|variable| variable.name == name) {
        match (variable.argument, argument) {
            (Argument::None | OneOf(_), None) => return Ok((variable.value)("")),
            (Name, Some(name)) if is_token(name.as_bytes()) => return Ok((variable.value)(name)),
            (OneOf(words), Some(word)) if words.contains(&word) => {
                return Ok((variable.value)(word));
            }
            (OneOf(words), Some(word)) => {
                let nearest = nearest(word, words.iter().copied());
                error = Some(VariableError::UnknownWord { words, nearest });
            }
            (Name, _) => error = Some(VariableError::NeedsName),
            (Argument::None, Some(_)) => error = error.or(Some(VariableError::NoArgument)),
        }
    }
    Err(error.unwrap_or_else(|| {
        let names = VARIABLES.iter().map(|variable| variable.name);
        VariableError::Unknown { nearest: nearest(name, names) }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_response_are_found_by_their_whole_name() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nETag:\"x\"\r\nX: \r\n";
        let check = |name: &str, expected: Option<&[u8]>| {
            assert_eq!(response_field(head, name), expected, "{name}");
        };
        check("content-type", Some(b"text/plain"));
        check("ETAG", Some(b"\"x\""));
        check("x", Some(b""));
        check("content", None);
        check("http/1.1 200 ok", None);
    }

    /// A table of one variable that nothing else knows: its row is all that it takes.
    #[allow(dead_code, unreachable_pub, reason = "made by the macro")]
    mod one_row {
        use super::super::*;

        /// As the one outside, for the values of this table.
        pub struct Variable {
            pub name: &'static str,
            pub argument: Argument,
            pub meaning: &'static str,
            pub nginx: &'static str,
            pub json: &'static [JsonMember],
            pub value: fn(&str) -> Value,
        }

        variables! {
            MastHeight: "mast_height", NOTHING, "$mast", [number("mast_m")],
                "how tall the mast is, in metres",
                Request |out, info| out.optional_number(info.connection_requests);
        }
    }

    #[test]
    fn adding_a_variable_touches_its_row_only() {
        let [variable] = one_row::VARIABLES else {
            panic!("one row");
        };
        assert_eq!((variable.name, variable.json[0].name), ("mast_height", "mast_m"));
        assert_eq!((variable.value)("").stage(), Stage::Request);
        // No other file matches on a variable; `format.rs` names those of the built-in formats.
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/access_log");
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let is_exempt = path.ends_with("variable.rs") || path.ends_with("format.rs");
            let text = std::fs::read_to_string(&path).unwrap();
            let knows_values = text.contains("super::variable") && text.contains("Value::");
            assert!(is_exempt || !knows_values, "{path:?}");
        }
    }
}
