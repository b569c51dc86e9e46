//! Targets with placeholders: `https://example.org{path}{query}`, `/new/{id}`.
//!
//! A template is parsed once, when the plan is made. The position of a placeholder decides how its
//! value is encoded: a client can choose neither the scheme nor the host of a redirect, and no
//! value ends the header that contains it.

use std::ops::Range;

use vervet_http::target::percent_encode_path;

use super::captures::{Captures, Variable};
use super::flaw::Flaw;
use super::kind::Kind;
use super::pattern::RESERVED;
use super::uri_component::Component;

/// The longest template, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 4096;

/// The purpose of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateUse {
    /// The Location of a redirect: a URI, or a path on this host.
    Location,
    /// A path and query inside the site.
    Inside,
}

/// The placeholders that the route of a template provides.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'o> {
    /// The variables of the route; `None` if its path is invalid: then every name is accepted.
    pub variables: Option<&'o [Variable]>,
    /// Whether its path ends with `*`, so that there is a `{rest}`.
    pub rest: Rest,
}

impl Offer<'_> {
    /// The offer of a route with an invalid path, to check its template for further errors.
    pub const UNKNOWN: Self = Self { variables: None, rest: Rest::There };
}

/// Whether the path of a route ends with `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// The path ends with `*`.
    There,
    /// The path does not end with `*`.
    Absent,
}

/// The values of a request.
#[derive(Debug, Clone, Copy)]
pub struct Values<'v> {
    /// The values of the variables of the route.
    pub captures: &'v Captures<'v>,
    /// The path in decoded form.
    pub path: &'v [u8],
    /// The path as it came.
    pub raw_path: &'v [u8],
    /// The query as it came, without the question mark.
    pub query: Option<&'v [u8]>,
    /// The part of the raw path that `*` stands for.
    pub rest: Option<&'v [u8]>,
    /// The host, as in Host but without port.
    pub host: &'v [u8],
    /// The scheme: `http` or `https`.
    pub scheme: &'v str,
    /// The name of the method.
    pub method: &'v str,
}

/// A template, ready to be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    segments: Box<[Segment]>,
    /// Whether it begins with a path, which then must not become `//host`.
    is_path: bool,
    /// Whether it says what the query is.
    pub(crate) has_query: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Text(Box<str>),
    Value(Source, Encode),
    /// The query with the mark that joins it to what stands before.
    Query(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Variable(usize),
    Path,
    Rest,
    Host,
    Scheme,
    Method,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encode {
    /// A value that cannot hold what must be encoded, or is encoded already.
    Not,
    /// As part of a path; slashes stay.
    Path,
    /// As a value in a query or a fragment.
    Query,
}

impl Template {
    /// Reads a template. `{{` and `}}` are braces.
    pub fn parse(text: &str, to: TemplateUse, offer: Offer<'_>) -> Result<Self, Flaw> {
        if text.is_empty() || text.len() > TEMPLATE_BYTES_MAX {
            let message = format!("a target must have 1 to {TEMPLATE_BYTES_MAX} bytes");
            return Err(Flaw::new(0..text.len(), message));
        }
        let mut reader = Reader {
            offer,
            to,
            segments: Vec::new(),
            text: String::new(),
            component: Component::Start,
            is_path: false,
            has_query: false,
        };
        reader.read(text)?;
        reader.finish(text.len())
    }

    /// The whole text, where no value stands in it.
    pub fn fixed(&self) -> Option<&str> {
        match &*self.segments {
            [Segment::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether the host of the request stands in it.
    pub fn needs_host(&self) -> bool {
        let is_host = |segment: &Segment| matches!(segment, Segment::Value(Source::Host, _));
        self.segments.iter().any(is_host)
    }

    /// Appends the text with the values of a request in it.
    pub fn render(&self, values: &Values<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => out.extend_from_slice(text.as_bytes()),
                Segment::Value(source, encode) => push_encoded(out, source.value(values), *encode),
                Segment::Query(mark) => {
                    if let Some(query) = values.query {
                        out.extend_from_slice(mark.as_bytes());
                        out.extend_from_slice(query);
                    }
                }
            }
        }
        if self.is_path {
            // Both slashes together would be the beginning of a host (RFC 3986 §4.2), and browsers
            // take `\` for `/`.
            let begins = |byte: &u8| matches!(byte, b'/' | b'\\');
            let extra = out[start + 1..].iter().take_while(|byte| begins(byte)).count();
            out.drain(start + 1..start + 1 + extra);
        }
    }
}

impl Source {
    fn value<'v>(self, values: &Values<'v>) -> &'v [u8] {
        match self {
            Self::Variable(number) => {
                values.captures.value(number, values.path).unwrap_or_default()
            }
            Self::Path => values.raw_path,
            Self::Rest => values.rest.unwrap_or_default(),
            Self::Host => values.host,
            Self::Scheme => values.scheme.as_bytes(),
            Self::Method => values.method.as_bytes(),
        }
    }
}

fn push_encoded(out: &mut Vec<u8>, value: &[u8], encode: Encode) {
    match encode {
        Encode::Not => out.extend_from_slice(value),
        Encode::Path => out.extend_from_slice(percent_encode_path(value).as_bytes()),
        Encode::Query => push_query_value(out, value),
    }
}

/// RFC 3986 §3.4 would let more stand, but `&`, `=`, `+` and `#` mean something to those who read
/// queries.
fn push_query_value(out: &mut Vec<u8>, value: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in value {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(byte);
        } else {
            out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
}

struct Reader<'o> {
    offer: Offer<'o>,
    to: TemplateUse,
    segments: Vec<Segment>,
    /// Literal text that has no segment yet.
    text: String,
    component: Component,
    is_path: bool,
    has_query: bool,
}

impl Reader<'_> {
    fn read(&mut self, template: &str) -> Result<(), Flaw> {
        let mut at = 0;
        while at < template.len() {
            let rest = &template[at..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                self.literal(&rest[..1], at)?;
                at += 2;
            } else if rest.starts_with('}') {
                let message = "unmatched `}` (write `}}` for a literal brace)";
                return Err(Flaw::new(at..at + 1, message));
            } else if rest.starts_with('{') {
                let Some(close) = rest.find('}') else {
                    let message = "missing `}` (write `{{` for a literal brace)";
                    return Err(Flaw::new(at..template.len(), message));
                };
                self.value(&rest[1..close], at..at + close + 1)?;
                at += close + 1;
            } else {
                let length = rest.find(['{', '}']).unwrap_or(rest.len());
                self.literal(&rest[..length], at)?;
                at += length;
            }
        }
        Ok(())
    }

    fn literal(&mut self, text: &str, at: usize) -> Result<(), Flaw> {
        let control = text.char_indices().find(|(_, one)| one.is_control());
        if let Some((control, one)) = control {
            let from = at + control;
            let message = "control characters are not allowed in a target";
            return Err(Flaw::new(from..from + one.len_utf8(), message));
        }
        if let Some(backslash) = text.find('\\') {
            let message = "browsers treat a backslash as a slash: write `/`, or `%5C`";
            return Err(Flaw::new(at + backslash..at + backslash + 1, message));
        }
        if self.to == TemplateUse::Inside {
            self.check_inside(text, at)?;
        }
        if self.component == Component::Start {
            self.is_path = text.starts_with('/') && !text.starts_with("//");
        }
        self.component = self.component.after(text, at)?;
        self.has_query |= self.component == Component::Query || text.contains('?');
        for character in text.chars() {
            let mut buffer = [0; 4];
            match &*character.encode_utf8(&mut buffer) {
                " " => self.text.push_str("%20"),
                plain if character.is_ascii() => self.text.push_str(plain),
                beyond => self.text.push_str(&percent_encode_path(beyond.as_bytes())),
            }
        }
        Ok(())
    }

    fn check_inside(&self, text: &str, at: usize) -> Result<(), Flaw> {
        let begins_well = text.starts_with('/') && !text.starts_with("//");
        if self.component == Component::Start && !begins_well {
            let message = "the target of a rewrite is a path: it must begin with a single `/`";
            return Err(Flaw::new(at..at + text.len(), message));
        }
        match text.find('#') {
            Some(sharp) => {
                Err(Flaw::new(at + sharp..at + sharp + 1, "a rewrite cannot have a fragment"))
            }
            None => Ok(()),
        }
    }

    fn value(&mut self, name: &str, range: Range<usize>) -> Result<(), Flaw> {
        let range = range.start + 1..range.end - 1;
        if name == "query" {
            return self.query(range);
        }
        let source = self.source(name, range.clone())?;
        let (encode, component) = self.allow(source, name, range)?;
        self.flush();
        if self.component == Component::Start {
            self.is_path = component == Component::Path;
        }
        self.segments.push(Segment::Value(source, encode));
        self.component = component;
        Ok(())
    }

    fn query(&mut self, range: Range<usize>) -> Result<(), Flaw> {
        let mark = match self.component {
            Component::Query if self.text.ends_with(['?', '&']) => "",
            Component::Query => "&",
            Component::Path | Component::Authority | Component::Start
                if self.to == TemplateUse::Location =>
            {
                "?"
            }
            Component::Path => "?",
            Component::Fragment => return Err(Flaw::new(range, "`{query}` must be before `#`")),
            _ => return Err(Flaw::new(range, "`{query}` must follow a path")),
        };
        if self.component == Component::Authority {
            // After a bare host an empty path is understood, and `/` is its usual form (RFC 9110
            // §4.2.3).
            self.text.push('/');
        }
        self.flush();
        self.segments.push(Segment::Query(mark));
        self.component = Component::Query;
        self.has_query = true;
        Ok(())
    }

    fn source(&self, name: &str, range: Range<usize>) -> Result<Source, Flaw> {
        let variables = self.offer.variables.unwrap_or_default();
        let variable = variables.iter().position(|variable| *variable.name == *name);
        match (name, variable) {
            (_, Some(number)) => Ok(Source::Variable(number)),
            ("path", _) => Ok(Source::Path),
            ("rest", _) if self.offer.rest == Rest::There => Ok(Source::Rest),
            ("rest", _) => Err(Flaw::new(range, "`{rest}` needs a route whose path ends with `*`")),
            ("host", _) => Ok(Source::Host),
            ("scheme", _) => Ok(Source::Scheme),
            ("method", _) => Ok(Source::Method),
            _ if self.offer.variables.is_none() => Ok(Source::Variable(0)),
            _ => {
                let own = variables.iter().map(|variable| &*variable.name);
                let known: Vec<_> = own.chain(RESERVED).collect();
                let message =
                    format!("unknown placeholder `{name}`: expected one of {}", known.join(", "));
                Err(Flaw::new(range, message))
            }
        }
    }

    /// How a value is encoded in this component, and the component after it.
    fn allow(
        &self,
        source: Source,
        name: &str,
        range: Range<usize>,
    ) -> Result<(Encode, Component), Flaw> {
        use Component::{Authority, Fragment, Host, Path, Query, Scheme, Start};
        let refuse = |message: String| Err(Flaw::new(range, message));
        match (self.component, source) {
            // Both begin with a slash, and so end a host.
            (Start | Authority | Path, Source::Path | Source::Rest) => Ok((Encode::Not, Path)),
            (Start, Source::Scheme) if self.to == TemplateUse::Location => {
                Ok((Encode::Not, Scheme))
            }
            (Start, _) => {
                refuse("a target must begin with `/`, a scheme, `{path}` or `{rest}`".to_owned())
            }
            (Scheme, _) => refuse("`{scheme}` must be followed by `://` and a host".to_owned()),
            (Host | Authority, source) if self.is_host(source) => Ok((Encode::Not, Authority)),
            (Host | Authority, Source::Variable(_)) => refuse(format!(
                "the client could choose the host of the redirect: \
                 give the variable a type, such as `:{name}(word)`"
            )),
            (Host | Authority, _) => refuse(format!("`{name}` cannot be part of a host")),
            (Path, _) => Ok((Encode::Path, Path)),
            (Query | Fragment, _) => Ok((Encode::Query, self.component)),
        }
    }

    /// Whether a value can be nothing but a host or a part of its name.
    fn is_host(&self, source: Source) -> bool {
        match source {
            Source::Host => true,
            Source::Variable(number) => {
                let can_be = |variable: &Variable| variable.kind != Kind::Any;
                let variables = self.offer.variables;
                variables.is_none_or(|known| known.get(number).is_some_and(can_be))
            }
            _ => false,
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.segments.push(Segment::Text(std::mem::take(&mut self.text).into_boxed_str()));
        }
    }

    fn finish(mut self, end: usize) -> Result<Template, Flaw> {
        match self.component {
            Component::Scheme | Component::Host => {
                return Err(Flaw::new(end..end, "the target has no host"));
            }
            // A whole host: path and query go along.
            Component::Authority => {
                self.flush();
                self.segments.push(Segment::Value(Source::Path, Encode::Not));
                self.segments.push(Segment::Query("?"));
                self.has_query = true;
            }
            _ => self.flush(),
        }
        Ok(Template {
            segments: self.segments.into_boxed_slice(),
            is_path: self.is_path,
            has_query: self.has_query,
        })
    }
}

#[cfg(test)]
mod tests;
