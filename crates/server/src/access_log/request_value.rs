//! The values that a request's head decides, as they stand in a line.

use vervet_engine::http::field::{Fields, Known};
use vervet_engine::http::h1::RequestHead;
use vervet_engine::http::method::Method;

use super::facts::RequestFacts;
use super::layout::{Form, Piece, put};
use super::number::push_number;
use super::pretty;
use super::variable::{FieldName, Value};

/// Appends the value of a piece. Says whether it is known.
pub(super) fn push(out: &mut Vec<u8>, piece: &Piece, facts: &RequestFacts<'_>) -> bool {
    let (head, form) = (facts.head, piece.form);
    match &piece.value {
        Value::Request => {
            push_method(out, head, form);
            out.push(b' ');
            put(out, head.target, form);
            out.push(b' ');
            push_known(out, head.version.as_str())
        }
        Value::Method => push_method(out, head, form),
        Value::AlignedMethod => {
            let begin = out.len();
            push_method(out, head, form);
            pretty::pad_method(out, begin)
        }
        Value::Target => put(out, head.target, form),
        Value::Version => push_known(out, head.version.as_str()),
        Value::Scheme => push_known(out, facts.scheme),
        Value::Path => put(out, facts.path, form),
        Value::Query => put_option(out, facts.query, form),
        Value::Host => put_option(out, Some(facts.host).filter(|host| !host.is_empty()), form),
        Value::User => put_option(out, facts.user, form),
        Value::RequestId => put_option(out, facts.request_id, form),
        Value::Listener => put(out, facts.listener.as_bytes(), form),
        Value::ConnectionRequests => match facts.connection_requests {
            Some(number) => push_number(out, number),
            None => false,
        },
        Value::Field(name) => push_field(out, &head.fields, name, form),
        Value::Cookie(name) => put_option(out, cookie(&head.fields, name), form),
        Value::Parameter(name) => put_option(out, parameter(facts.query, name), form),
        // The others are known later.
        _ => false,
    }
}

/// Appends what stands for a value of a request that nobody could read. Says whether anything does.
pub(super) fn push_absent(out: &mut Vec<u8>, value: &Value) -> bool {
    if *value != Value::AlignedMethod {
        return false;
    }
    let begin = out.len();
    out.push(b'-');
    pretty::pad_method(out, begin)
}

/// A method that we know needs no look at its bytes.
fn push_method(out: &mut Vec<u8>, head: &RequestHead<'_>, form: Form) -> bool {
    match head.method {
        Method::Unknown => put(out, head.method_token.as_bytes(), form),
        method => push_known(out, method.as_str()),
    }
}

fn push_known(out: &mut Vec<u8>, text: &str) -> bool {
    out.extend_from_slice(text.as_bytes());
    true
}

fn put_option(out: &mut Vec<u8>, value: Option<&[u8]>, form: Form) -> bool {
    value.is_some_and(|value| put(out, value, form))
}

fn push_field(out: &mut Vec<u8>, fields: &Fields<'_>, name: &FieldName, form: Form) -> bool {
    match name {
        FieldName::Known(known) if !fields.is_repeated(*known) => {
            put_option(out, fields.get(*known), form)
        }
        FieldName::Known(known) => push_joined(out, fields.all(*known), form),
        FieldName::Other(name) => push_joined(out, fields.named(name), form),
    }
}

fn push_joined<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = &'a [u8]>, form: Form) -> bool {
    let mut any = false;
    for value in values {
        if any {
            put(out, b", ", form);
        }
        any = put(out, value, form);
    }
    any
}

/// The value of a cookie (RFC 6265 §4.2.1).
fn cookie<'a>(fields: &Fields<'a>, name: &str) -> Option<&'a [u8]> {
    fields
        .all(Known::Cookie)
        .flat_map(|line| line.split(|byte| *byte == b';'))
        .find_map(|pair| named(pair.trim_ascii(), name))
}

/// The value of a parameter, not decoded; empty where it has no equals sign.
fn parameter<'a>(query: Option<&'a [u8]>, name: &str) -> Option<&'a [u8]> {
    query?.split(|byte| *byte == b'&').find_map(|pair| {
        let bare = (pair == name.as_bytes()).then_some(&pair[pair.len()..]);
        named(pair, name).or(bare)
    })
}

fn named<'a>(pair: &'a [u8], name: &str) -> Option<&'a [u8]> {
    pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=")
}
