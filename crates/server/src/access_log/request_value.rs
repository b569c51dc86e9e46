//! The values that a request's head decides, as they stand in a line.

use vervet_engine::http::field::{Fields, Known};
use vervet_engine::http::h1::RequestHead;
use vervet_engine::http::method::Method;

use super::facts::RequestFacts;
use super::layout::{Form, Found, put};
use super::pretty;
use super::request_id::RequestId;
use super::variable::{FieldName, Value};

/// The value of a piece in a request.
pub(super) fn find<'a>(value: &Value, facts: &'a RequestFacts<'_>) -> Found<'a> {
    let head = facts.head;
    match value {
        Value::Method => method(head),
        Value::Target => Found::Foreign(head.target),
        Value::Version => Found::Own(head.version.as_str().as_bytes()),
        Value::Scheme => Found::Own(facts.scheme.as_bytes()),
        Value::Path => Found::Foreign(facts.path),
        Value::Query => Found::foreign(facts.query),
        Value::Host => Found::foreign(Some(facts.host).filter(|host| !host.is_empty())),
        Value::User => Found::foreign(facts.user),
        Value::RequestId => id(facts.request_id.as_ref()),
        Value::Listener => Found::Foreign(facts.listener.as_bytes()),
        Value::ConnectionRequests => facts
            .connection_requests
            .map_or(Found::Nothing, Found::Number),
        Value::Field(name) => field(&head.fields, name),
        Value::Cookie(name) => Found::foreign(cookie(&head.fields, name)),
        Value::Parameter(name) => Found::foreign(parameter(facts.query, name)),
        Value::Request | Value::AlignedMethod => Found::Composed,
        // The others are known later.
        _ => Found::Nothing,
    }
}

/// Appends a value that is put together from several.
pub(super) fn compose(out: &mut Vec<u8>, value: &Value, facts: &RequestFacts<'_>, form: Form) {
    let head = facts.head;
    match value {
        Value::Request => {
            method(head).push(out, form);
            out.push(b' ');
            put(out, head.target, form);
            out.push(b' ');
            out.extend_from_slice(head.version.as_str().as_bytes());
        }
        Value::AlignedMethod => {
            let begin = out.len();
            method(head).push(out, form);
            pretty::pad_method(out, begin);
        }
        Value::Field(FieldName::Known(name)) => push_joined(out, head.fields.all(*name), form),
        Value::Field(FieldName::Other(name)) => push_joined(out, head.fields.named(name), form),
        _ => {}
    }
}

/// The value of a piece for a request that nobody could read.
pub(super) fn find_absent(value: &Value) -> Found<'static> {
    match value {
        Value::AlignedMethod => Found::Own(pretty::NO_METHOD),
        _ => Found::Nothing,
    }
}

/// A method that we know needs no look at its bytes.
fn method<'a>(head: &RequestHead<'a>) -> Found<'a> {
    match head.method {
        Method::Unknown => Found::Foreign(head.method_token.as_bytes()),
        method => Found::Own(method.as_str().as_bytes()),
    }
}

/// Digits need no look either, and part nothing.
fn id<'a>(id: Option<&'a RequestId<'_>>) -> Found<'a> {
    match id {
        Some(id) if id.is_own() => Found::Own(id.as_bytes()),
        id => Found::foreign(id.map(RequestId::as_bytes)),
    }
}

fn field<'a>(fields: &Fields<'a>, name: &FieldName) -> Found<'a> {
    let mut values = match name {
        FieldName::Known(known) if fields.is_repeated(*known) => return Found::Composed,
        FieldName::Known(known) => return Found::foreign(fields.get(*known)),
        FieldName::Other(name) => fields.named(name),
    };
    match (values.next(), values.next()) {
        (_, Some(_)) => Found::Composed,
        (value, None) => Found::foreign(value),
    }
}

fn push_joined<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = &'a [u8]>, form: Form) {
    for (number, value) in values.enumerate() {
        if number > 0 {
            put(out, b", ", form);
        }
        put(out, value, form);
    }
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
