//! The variables of a format string: their names, what they take, what they mean, and what they become.

use vervet_config::nearest;
use vervet_engine::http::field::{Known, is_token};

use super::when::Style;

/// One variable of a format string, for readers of the reference.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// What stands between the braces, before the colon.
    pub name: &'static str,
    /// What may stand behind a colon.
    pub argument: Argument,
    /// What it writes.
    pub meaning: &'static str,
    /// What nginx calls it; empty where it has nothing like it.
    pub nginx: &'static str,
    value: fn(&str) -> Value,
}

/// What a variable takes behind a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Nothing.
    None,
    /// A field name, a cookie's or a parameter's: a token (RFC 9110 §5.6.2).
    Name,
    /// One of these words, or nothing for the first.
    OneOf(&'static [&'static str]),
}

/// What a piece of a line is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    // What the request decides, written down when it comes.
    Request,
    Method,
    Target,
    Path,
    Query,
    Version,
    Host,
    User,
    Scheme,
    Listener,
    RequestId,
    ConnectionRequests,
    Field(FieldName),
    Cookie(Box<str>),
    Parameter(Box<str>),
    /// The method, padded for the aligned format.
    AlignedMethod,
    // What the response decides.
    Response(Box<str>),
    // What is known at the end.
    Site,
    Route,
    Client,
    Peer,
    /// The peer, where it is not the client.
    Forwarder,
    Port,
    Time(Style),
    Status,
    Bytes,
    Milliseconds,
    Seconds,
    Fault,
    Sample,
    /// The same, where it is more than one.
    Sampled,
    // The aligned format's own.
    ColoredStatus,
    AlignedSize,
    AlignedMilliseconds,
    AlignedClient,
    FaultInBrackets,
}

/// When a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// With the request's head.
    Request,
    /// With the response's head.
    Response,
    /// When the exchange has ended.
    End,
}

/// A field name, by its number where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldName {
    Known(Known),
    Other(Box<str>),
}

impl FieldName {
    fn of(name: &str) -> Self {
        Known::lookup(name.as_bytes()).map_or_else(|| Self::Other(name.into()), Self::Known)
    }
}

impl Value {
    pub(super) fn stage(&self) -> Stage {
        match self {
            Self::Request
            | Self::Method
            | Self::Target
            | Self::Path
            | Self::Query
            | Self::Version
            | Self::Host
            | Self::User
            | Self::Scheme
            | Self::Listener
            | Self::RequestId
            | Self::ConnectionRequests
            | Self::Field(_)
            | Self::Cookie(_)
            | Self::Parameter(_)
            | Self::AlignedMethod => Stage::Request,
            Self::Response(_) => Stage::Response,
            _ => Stage::End,
        }
    }
}

/// The styles of a time, in UTC all.
const STYLES: &[&str] = &["common", "iso", "iso_ms", "unix", "unix_ms", "clock"];

fn style(name: &str) -> Style {
    match name {
        "iso" => Style::Rfc3339,
        "iso_ms" => Style::Rfc3339Milliseconds,
        "unix" => Style::Unix,
        "unix_ms" => Style::UnixMilliseconds,
        "clock" => Style::OfDay,
        _ => Style::Common,
    }
}

macro_rules! variables {
    ($($name:literal, $argument:expr, $nginx:literal, $meaning:literal, $value:expr;)*) => {
        /// All variables, in the order of the reference.
        pub const VARIABLES: &[Variable] = &[$(Variable {
            name: $name,
            argument: $argument,
            meaning: $meaning,
            nginx: $nginx,
            value: $value,
        },)*];
    };
}

use Argument::{Name, OneOf};
const NOTHING: Argument = Argument::None;

variables! {
    "client", NOTHING, "$remote_addr", "address of the client: the peer, or what trusted forwarders say", |_| Value::Client;
    "peer", NOTHING, "$realip_remote_addr", "address of the socket's peer; `unix:` over a unix socket", |_| Value::Peer;
    "port", NOTHING, "$remote_port", "port of the peer", |_| Value::Port;
    "user", NOTHING, "$remote_user", "who signed in", |_| Value::User;
    "time", OneOf(STYLES), "$time_local", "when the answer ended, in UTC: `common` (21/Nov/2026:19:30:00 +0000), `iso` \
        (2026-11-21T19:30:00Z), `iso_ms`, `unix` (seconds since 1970), `unix_ms` (the same with milliseconds), `clock` \
        (19:30:00)", |name| Value::Time(style(name));
    "request", NOTHING, "$request", "the request line: method, target, version", |_| Value::Request;
    "method", NOTHING, "$request_method", "the method", |_| Value::Method;
    "target", NOTHING, "$request_uri", "the target as sent", |_| Value::Target;
    "path", NOTHING, "$uri", "the path, decoded", |_| Value::Path;
    "query", NOTHING, "$args", "the query without its question mark", |_| Value::Query;
    "query", Name, "$arg_NAME", "one parameter of the query, as sent", |name| Value::Parameter(name.into());
    "version", NOTHING, "$server_protocol", "the version, such as HTTP/1.1", |_| Value::Version;
    "scheme", NOTHING, "$scheme", "http or https", |_| Value::Scheme;
    "host", NOTHING, "$host", "the host that was asked for, in lower case and without port", |_| Value::Host;
    "status", NOTHING, "$status", "the status", |_| Value::Status;
    "bytes", NOTHING, "$body_bytes_sent", "bytes of content sent", |_| Value::Bytes;
    "duration_ms", NOTHING, "", "from the complete head to the end of the answer, in milliseconds", |_| Value::Milliseconds;
    "duration", NOTHING, "$request_time", "the same in seconds with three decimals", |_| Value::Seconds;
    "site", NOTHING, "$server_name", "name of the site", |_| Value::Site;
    "route", NOTHING, "", "name of the route", |_| Value::Route;
    "listener", NOTHING, "$server_addr", "name of the listener", |_| Value::Listener;
    "connection_requests", NOTHING, "$connection_requests", "which request of its connection, from 1", |_| Value::ConnectionRequests;
    "request_id", NOTHING, "$request_id", "the request id", |_| Value::RequestId;
    "field", Name, "$http_NAME", "a field of the request; several lines of it joined by commas", |name| Value::Field(FieldName::of(name));
    "cookie", Name, "$cookie_NAME", "a cookie of the request", |name| Value::Cookie(name.into());
    "response", Name, "$sent_http_NAME", "a field of the response", |name| Value::Response(name.into());
    "fault", NOTHING, "", "why an answer did not reach its end, or why the request was refused", |_| Value::Fault;
    "sample", NOTHING, "", "how many requests the line stands for: N where one in N is logged, otherwise 1", |_| Value::Sample;
}

/// Why there is no such variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    Name {
        nearest: Option<&'static str>,
    },
    /// It takes nothing behind a colon.
    TakesNothing,
    /// What is behind the colon is missing or no token.
    NeedsName,
    /// What is behind the colon is none of these.
    Word {
        words: &'static [&'static str],
        nearest: Option<&'static str>,
    },
}

/// The value of `name` or `name:argument`.
pub(super) fn value(text: &str) -> Result<Value, Unknown> {
    let (name, argument) = match text.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (text, None),
    };
    let mut refusal = None;
    for variable in VARIABLES.iter().filter(|variable| variable.name == name) {
        match (variable.argument, argument) {
            (Argument::None | Argument::OneOf(_), None) => return Ok((variable.value)("")),
            (Argument::Name, Some(name)) if is_token(name.as_bytes()) => {
                return Ok((variable.value)(name));
            }
            (Argument::OneOf(words), Some(word)) if words.contains(&word) => {
                return Ok((variable.value)(word));
            }
            (Argument::OneOf(words), Some(word)) => {
                let nearest = nearest(word, words.iter().copied());
                refusal = Some(Unknown::Word { words, nearest });
            }
            (Argument::Name, _) => refusal = Some(Unknown::NeedsName),
            (Argument::None, Some(_)) => refusal = refusal.or(Some(Unknown::TakesNothing)),
        }
    }
    Err(refusal.unwrap_or_else(|| Unknown::Name {
        nearest: nearest(name, VARIABLES.iter().map(|variable| variable.name)),
    }))
}
