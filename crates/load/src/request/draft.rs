//! A request as users write it, and the rules to compile it to a message.

use std::collections::HashSet;

use base64ct::{Base64, Encoding as _};
use vervet_http::field::{is_token, is_value_byte};
use vervet_http::method::Method;

use super::Url;
use super::message::{Body, Message};
use crate::finding::did_you_mean;
use crate::template::{Names, Template, TemplateContext, TemplateFault};

/// A request as it is described. All texts but the method may have variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The method. If empty: GET, or POST with a body.
    pub method: String,
    /// Path and query, or a full URL for a proxy; `*` for OPTIONS.
    pub target: String,
    /// The Host header, unless `fields` has one.
    pub host: String,
    /// Names and values, in order.
    pub fields: Vec<(String, String)>,
    /// Credentials for the Authorization header, unless `fields` has one.
    pub credentials: Option<Credentials>,
    /// The body of a request.
    pub content: Content,
    /// Who sets Content-Length and Transfer-Encoding.
    pub framing: Framing,
}

/// The body of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// The request has no body.
    #[default]
    None,
    /// A text with variables.
    Text(String),
    /// Bytes as they are.
    Bytes(Vec<u8>),
    /// Pairs of names and values, encoded as forms are; both may have variables.
    Form(Vec<(String, String)>),
}

/// Who sets Content-Length and Transfer-Encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// The rules do, and fields of these names are refused: two that disagree smuggle a second
    /// request past a proxy (RFC 9112 §11.2).
    #[default]
    ByRule,
    /// The user does, right or wrong: for tests of servers with such requests.
    AsWritten,
}

/// A user and a password for basic authentication (RFC 7617).
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials(String);

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Credentials")
    }
}

impl Credentials {
    /// Of `user:password`; without a colon the password is empty.
    pub fn new(text: &[u8]) -> Self {
        let mut pair = text.to_vec();
        if !pair.contains(&b':') {
            pair.push(b':');
        }
        Self(Base64::encode_string(&pair))
    }

    /// Decodes the percent-encoded user information of a URL.
    pub(super) fn decode(text: &str) -> Self {
        // A form's plus is a plus here.
        let text = text.replace('+', "%2B");
        let name = vervet_http::target::query_pairs(text.as_bytes());
        let mut decoded = Vec::new();
        for (index, (key, value)) in name.enumerate() {
            if index > 0 {
                decoded.push(b'&');
            }
            decoded.extend_from_slice(&key);
            if !value.is_empty() {
                decoded.push(b'=');
                decoded.extend_from_slice(&value);
            }
        }
        Self::new(&decoded)
    }

    /// The value of `Authorization`.
    pub fn field_value(&self) -> String {
        format!("Basic {}", self.0)
    }
}

/// An error in a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The part of the draft that has the error.
    pub part: DraftPart,
    /// The byte offset in that part.
    pub offset: usize,
    /// The message: what is invalid and what was expected.
    pub message: String,
}

/// A part of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftPart {
    /// The method of the request.
    Method,
    /// The path and query.
    Target,
    /// The value of Host.
    Host,
    /// A header field, by its index.
    Field(usize),
    /// The body of the request.
    Content,
}

impl Fault {
    fn new(part: DraftPart, message: impl Into<String>) -> Self {
        Self { part, offset: 0, message: message.into() }
    }
}

impl Draft {
    /// A GET of what a URL names.
    pub fn get(url: &super::Url) -> Self {
        Self {
            target: url.target.clone(),
            host: url.host.clone(),
            credentials: url.credentials.clone(),
            ..Self::default()
        }
    }

    /// Adds headers, except those with an existing name.
    pub fn add_defaults(&mut self, defaults: &[(String, String)]) {
        let taken: HashSet<String> =
            self.fields.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        let missing =
            defaults.iter().filter(|(name, _)| !taken.contains(&name.to_ascii_lowercase()));
        self.fields.splice(..0, missing.cloned());
    }

    /// Whether there is a header of this name.
    pub fn has_field(&self, name: &str) -> bool {
        let mut names = self.fields.iter().map(|(name, _)| name);
        names.any(|known| known.eq_ignore_ascii_case(name))
    }

    /// The method with its default.
    pub fn method(&self) -> &str {
        match (self.method.as_str(), &self.content) {
            ("", Content::None) => "GET",
            ("", _) => "POST",
            (method, _) => method,
        }
    }

    /// Compiles the draft, or returns all errors.
    pub fn compile(&self, names: &Names<'_>) -> Result<Message, Vec<Fault>> {
        let mut faults = Vec::new();
        faults.extend(self.check_method());
        let target = self.compile_target(names, &mut faults);
        let fields = self.compile_fields(names, &mut faults);
        let body = self.compile_content(names, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Message::new(self.method(), target, fields, body))
    }

    fn check_method(&self) -> Option<Fault> {
        let method = self.method();
        let upper = method.to_ascii_uppercase();
        if !is_token(method.as_bytes()) {
            let message = format!("invalid method {method:?}: expected a word such as GET");
            return Some(Fault::new(DraftPart::Method, message));
        }
        if method == "CONNECT" {
            let message = "CONNECT is not supported";
            return Some(Fault::new(DraftPart::Method, message));
        }
        let is_meant = Method::from_token(upper.as_bytes()) != Method::Unknown;
        (is_meant && method != upper).then(|| {
            let message = format!(
                "invalid method {method}: did you mean {upper}? (methods are case-sensitive)"
            );
            Fault::new(DraftPart::Method, message)
        })
    }

    fn compile_target(&self, names: &Names<'_>, faults: &mut Vec<Fault>) -> Template {
        let target = self.target.as_str();
        let is_allowed = target.starts_with('/')
            || target.starts_with("http://")
            || (target == "*" && self.method() == "OPTIONS");
        if !is_allowed {
            let message = format!("the target {target:?} does not begin with a slash");
            faults.push(Fault::new(DraftPart::Target, message));
        } else if target.chars().any(char::is_control) {
            let message = "the target has a control character";
            faults.push(Fault::new(DraftPart::Target, message));
        }
        keep(Template::compile(target, TemplateContext::Target, names), DraftPart::Target, faults)
    }

    /// Host, what the user wrote, and what follows from the rest, in this order.
    fn compile_fields(&self, names: &Names<'_>, faults: &mut Vec<Fault>) -> Template {
        let mut lines = Template::default();
        let mut hosts = 0;
        if !self.has_field("host") {
            if !is_value(&self.host) {
                faults.push(Fault::new(DraftPart::Host, "the host has a control character"));
            }
            lines.append(Template::fixed(format!("Host: {}\r\n", self.host)));
        }
        for (number, (name, value)) in self.fields.iter().enumerate() {
            let part = DraftPart::Field(number);
            if let Some(message) = self.refusal(name, value) {
                faults.push(Fault::new(part, message));
                continue;
            }
            hosts += usize::from(name.eq_ignore_ascii_case("host"));
            if hosts > 1 {
                faults.push(Fault::new(part, "a request has only one Host header"));
            }
            let value =
                keep(Template::compile(value.trim(), TemplateContext::Field, names), part, faults);
            lines.append(Template::fixed(format!("{name}: ")));
            lines.append(value);
            lines.append(Template::fixed("\r\n"));
        }
        if let Some(credentials) = &self.credentials
            && !self.has_field("authorization")
        {
            let value = credentials.field_value();
            lines.append(Template::fixed(format!("Authorization: {value}\r\n")));
        }
        if matches!(self.content, Content::Form(_)) && !self.has_field("content-type") {
            let line = "Content-Type: application/x-www-form-urlencoded\r\n";
            lines.append(Template::fixed(line));
        }
        lines
    }

    /// Why a header is not allowed in the request.
    fn refusal(&self, name: &str, value: &str) -> Option<String> {
        if !is_token(name.as_bytes()) {
            return Some(format!(
                "invalid header name {name:?}: expected letters, digits and hyphens, then a colon"
            ));
        }
        if !is_value(value) {
            return Some(format!("the value of {name} has a control character"));
        }
        let frames = is_framing(name);
        (frames && self.framing == Framing::ByRule)
            .then(|| format!("{name} is set automatically; leave it out"))
    }

    fn compile_content(&self, names: &Names<'_>, faults: &mut Vec<Fault>) -> Body {
        let is_framed = self.fields.iter().any(|(name, _)| is_framing(name));
        let body = match &self.content {
            // RFC 9110 §8.6: a method that anticipates content says that there is none.
            Content::None if matches!(self.method(), "POST" | "PUT" | "PATCH") => {
                Body::fixed(Vec::new())
            }
            Content::None => return Body::None,
            Content::Bytes(bytes) => Body::fixed(bytes.clone()),
            Content::Text(text) => Body::new(keep(
                Template::compile(text, TemplateContext::Content, names),
                DraftPart::Content,
                faults,
            )),
            Content::Form(pairs) => Body::new(compile_form(pairs, names, faults)),
        };
        if is_framed { body.unframed() } else { body }
    }
}

fn compile_form(
    pairs: &[(String, String)],
    names: &Names<'_>,
    faults: &mut Vec<Fault>,
) -> Template {
    let mut form = Template::default();
    for (index, (name, value)) in pairs.iter().enumerate() {
        if index > 0 {
            form.append(Template::fixed("&"));
        }
        for (text, end) in [(name, "="), (value, "")] {
            let text = Template::compile(text, TemplateContext::Form, names);
            form.append(keep(text, DraftPart::Content, faults));
            form.append(Template::fixed(end));
        }
    }
    form
}

/// The template, or an empty one whose faults are noted.
fn keep(
    compiled: Result<Template, Vec<TemplateFault>>,
    part: DraftPart,
    faults: &mut Vec<Fault>,
) -> Template {
    compiled.unwrap_or_else(|found| {
        faults.extend(found.into_iter().map(|fault| Fault {
            part,
            offset: fault.offset,
            message: fault.message,
        }));
        Template::default()
    })
}

fn is_value(text: &str) -> bool {
    text.bytes().all(is_value_byte)
}

fn is_framing(name: &str) -> bool {
    name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding")
}

/// Splits `Name: value` as it is typed.
pub fn split_field(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if is_token(name.trim_end().as_bytes()) && is_value(value) => {
            Ok((name.trim_end().to_owned(), value.trim().to_owned()))
        }
        _ => {
            let hint = did_you_mean(text, ["Accept", "Cookie", "Host", "User-Agent"]);
            Err(format!("invalid header {text:?}{hint}: expected NAME: VALUE"))
        }
    }
}

/// What all requests of a run share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Common<'a> {
    /// The server. Paths in lists and scenarios are meant there.
    pub base: Option<&'a Url>,
    /// Default headers, which those of a request replace.
    pub fields: &'a [(String, String)],
    /// For `Authorization`, unless a request has its own.
    pub credentials: Option<&'a Credentials>,
    /// Who sets Content-Length and Transfer-Encoding.
    pub framing: Framing,
    /// Columns of the feed.
    pub columns: &'a [String],
}

impl Common<'_> {
    /// Adds missing parts to a draft. Default headers come before its own.
    pub fn apply(&self, draft: &mut Draft) {
        draft.add_defaults(self.fields);
        if draft.credentials.is_none() {
            draft.credentials = self.credentials.cloned();
        }
        draft.framing = self.framing;
    }
}
