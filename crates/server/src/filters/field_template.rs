//! Header values with variables of the request: `{client}`, `{user}@{host}`.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use vervet_config::{FromText, TextShape};
use vervet_http::target::Scheme;

use super::field_text::check_value;
use crate::access_log::RequestId;
use crate::web::Request;

/// A header value with variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTemplate {
    text: String,
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Text(String),
    Variable(Variable),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    Client,
    Host,
    Method,
    Path,
    RequestId,
    Scheme,
    User,
}

const VARIABLES: [(&str, Variable); 7] = [
    ("client", Variable::Client),
    ("host", Variable::Host),
    ("method", Variable::Method),
    ("path", Variable::Path),
    ("request_id", Variable::RequestId),
    ("scheme", Variable::Scheme),
    ("user", Variable::User),
];

/// The values of the variables; those that a request does not have are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct FieldValues<'a> {
    /// The address of the client.
    pub client: Option<IpAddr>,
    /// The host of the request, without port.
    pub host: &'a [u8],
    /// The method of the request.
    pub method: &'a [u8],
    /// The path as sent.
    pub path: &'a [u8],
    /// The ID of the request.
    pub request_id: Option<&'a [u8]>,
    /// The scheme: `http` or `https`.
    pub scheme: &'a [u8],
    /// The name of the authenticated user.
    pub user: Option<&'a [u8]>,
}

impl<'a> FieldValues<'a> {
    /// The values of a request.
    pub fn new(request: &'a Request<'_>) -> Self {
        Self {
            client: request.client(),
            host: &request.host,
            method: request.head.method_token.as_bytes(),
            path: &request.raw_path,
            request_id: request.request_id.as_ref().map(RequestId::as_bytes),
            scheme: match request.scheme {
                Scheme::Http => b"http",
                Scheme::Https => b"https",
            },
            user: request.user.as_deref().map(str::as_bytes),
        }
    }

    fn get(&self, variable: Variable) -> Cow<'a, [u8]> {
        match variable {
            Variable::Client => {
                let text = self.client.map_or(String::new(), |client| client.to_string());
                Cow::Owned(text.into_bytes())
            }
            Variable::Host => Cow::Borrowed(self.host),
            Variable::Method => Cow::Borrowed(self.method),
            Variable::Path => Cow::Borrowed(self.path),
            Variable::RequestId => Cow::Borrowed(self.request_id.unwrap_or_default()),
            Variable::Scheme => Cow::Borrowed(self.scheme),
            Variable::User => Cow::Borrowed(self.user.unwrap_or_default()),
        }
    }
}

impl FieldTemplate {
    /// The value, where it is the same for all requests.
    pub fn fixed(&self) -> Option<Cow<'static, [u8]>> {
        match &*self.segments {
            [] => Some(Cow::Borrowed(b"")),
            [Segment::Text(text)] => Some(Cow::Owned(text.clone().into_bytes())),
            _ => None,
        }
    }

    /// The value for a request.
    pub fn render(&self, values: &FieldValues<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => out.extend_from_slice(text.as_bytes()),
                Segment::Variable(variable) => {
                    let value = values.get(*variable);
                    out.extend(value.iter().filter(|byte| !byte.is_ascii_control()));
                }
            }
        }
        out
    }
}

impl FromText for FieldTemplate {
    const SHAPE: TextShape = TextShape { noun: "header value", example: "{client}", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        check_value(text)?;
        let segments = parse(text)?;
        Ok(Self { text: text.to_owned(), segments })
    }
}

impl fmt::Display for FieldTemplate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn parse(text: &str) -> Result<Vec<Segment>, String> {
    let mut segments = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        literal.push_str(before);
        if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
            literal.push_str(&from[..1]);
            rest = after;
            continue;
        }
        let inner = from.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let Some((name, after)) = inner else {
            return Err("unmatched brace (write `{{` or `}}` for a literal brace)".to_owned());
        };
        let known = VARIABLES.iter().find(|(known, _)| *known == name);
        let Some((_, variable)) = known else {
            let names: Vec<_> = VARIABLES.iter().map(|(known, _)| format!("{{{known}}}")).collect();
            return Err(format!(
                "unknown variable `{{{name}}}` (expected one of {})",
                names.join(", ")
            ));
        };
        if !literal.is_empty() {
            segments.push(Segment::Text(std::mem::take(&mut literal)));
        }
        segments.push(Segment::Variable(*variable));
        rest = after;
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        segments.push(Segment::Text(literal));
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: FieldValues<'_> = FieldValues {
        client: None,
        host: b"a.example",
        method: b"GET",
        path: b"/%0A",
        request_id: Some(b"7f"),
        scheme: b"https",
        user: Some(b"a\r\nSet-Cookie: x"),
    };

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        let error = FieldTemplate::from_text(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let template = FieldTemplate::from_text(text).unwrap();
        assert_eq!(String::from_utf8(template.render(&VALUES)).unwrap(), expected, "{text}");
        assert_eq!(template.to_string(), text);
    }

    #[test]
    fn what_is_no_template_is_refused() {
        check_error("a{", "unmatched brace");
        check_error("a}", "unmatched brace");
        check_error("{a}{", "unknown variable `{a}` (expected one of {client}, {host}");
        check_error("{{}", "unmatched brace");
        check_error("{}", "unknown variable `{}`");
        check_error("{ host }", "unknown variable `{ host }`");
        check_error("a\r\nb", "the value must not contain line breaks");
    }

    #[test]
    fn variables_stand_for_what_the_request_has() {
        check("", "");
        check("a", "a");
        check("{{a}}", "{a}");
        check("{{{host}}}", "{a.example}");
        check("<{client}>", "<>");
        check("{method} {scheme}://{host}{path} {request_id}", "GET https://a.example/%0A 7f");
    }

    #[test]
    fn no_variable_ends_the_line() {
        check("{user}", "aSet-Cookie: x");
    }
}
