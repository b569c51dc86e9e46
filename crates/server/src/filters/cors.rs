//! Cross-origin resource sharing (the Fetch standard, "CORS protocol"): answers preflights, and
//! adds the headers with which a browser lets a script read a response.
//!
//! Responses to other origins lack these headers, which is how the protocol denies access. This
//! filter runs before authentication, because browsers send no credentials with a preflight.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, FromText, Text, TextShape, Time, section};
use vervet_engine::Response;
use vervet_http::field::{Known, is_token};
use vervet_http::method::Method;
use vervet_http::status::Status;

use super::FilterDirective;
use super::field_text::FieldName;
use super::host_pattern::HostPattern;
use crate::resources::{Opened, Resources};
use crate::web::{Edit, Edits, Pipeline, Request, RequestFilter, Verdict};

section! {
    /// Cross-origin resource sharing (CORS): which scripts of other origins may read responses:
    /// `cors = "*"` for all, or `cors = ["https://app.example.org"]`. The server answers preflight
    /// requests itself.
    ///
    /// ```toml
    /// cors = { origins = ["https://*.example.org"], methods = ["GET", "PUT"], credentials = true }
    /// ```
    pub struct Cors short(origins) {
        /// Origins that may read responses: `"https://app.example.org"`, `"https://*.example.org"`
        /// for all subdomains, or `"*"` for all.
        pub origins: Vec<Origin> = ["*"],
        /// Methods that scripts may use; `"*"` for all. GET, HEAD and POST are always allowed by
        /// browsers.
        pub methods: Vec<Token> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
        /// Request headers that scripts may send; `"*"` for all. Without `credentials`, `"*"` does
        /// not include Authorization.
        pub fields: Vec<Token> = ["*"],
        /// Response headers that scripts may read, in addition to the CORS-safelisted ones.
        pub expose: Vec<FieldName>,
        /// Whether requests may include cookies and passwords. Not allowed with the origin `"*"`.
        pub credentials: bool = false,
        /// How long browsers may cache the response to a preflight request.
        pub max_age: Time = "10m" in "0s"..="1d",
    }
}

/// A token of HTTP, such as a method, or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(Text);

/// An origin: a scheme, a host and perhaps a port; `*` is any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Any origin, written as `*`.
    Any,
    /// The one that `null` stands for: pages without an origin, such as files and sandboxed frames.
    Null,
    /// Origins with this scheme, host or subdomains, and port.
    Of {
        /// The scheme in lower case.
        scheme: String,
        /// The hosts that it matches.
        host: HostPattern,
        /// The port, if it is not the default of the scheme.
        port: Option<u16>,
    },
}

/// CORS rules, prepared for requests.
#[derive(Debug)]
pub struct CorsRules {
    origins: Vec<Origin>,
    is_any: bool,
    credentials: Credentials,
    methods: Vec<Token>,
    fields: Vec<Token>,
    max_age_s: u64,
    /// Header edits for responses to a listed origin, without the origin itself.
    granted: Arc<[Edit]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credentials {
    Refused,
    Allowed,
}

impl FilterDirective for Cors {
    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        let filter = resources.keeper.share(self, CorsRules::new)?;
        pipeline.filters.push(filter);
        Ok(())
    }
}

impl CorsRules {
    /// The rules of a section.
    pub fn new(section: &Cors) -> Result<Self, Diagnostics> {
        let is_any = section.origins.contains(&Origin::Any);
        let credentials =
            if *section.credentials { Credentials::Allowed } else { Credentials::Refused };
        if is_any && credentials == Credentials::Allowed {
            let message =
                "`credentials` with the origin `*` would let every site read the data of visitors";
            let problem = Diagnostic::error(section.credentials.span(), message);
            return Err(problem
                .note_at(section.origins.span(), "list the allowed origins here")
                .into());
        }
        let mut granted = Vec::new();
        if credentials == Credentials::Allowed {
            granted
                .push(Edit::Set("Access-Control-Allow-Credentials".into(), Cow::Borrowed(b"true")));
        }
        if !section.expose.is_empty() {
            let names: Vec<_> = section.expose.iter().map(FieldName::as_str).collect();
            granted.push(Edit::Set(
                "Access-Control-Expose-Headers".into(),
                names.join(", ").into_bytes().into(),
            ));
        }
        Ok(Self {
            origins: section.origins.to_vec(),
            is_any,
            credentials,
            methods: section.methods.to_vec(),
            fields: section.fields.to_vec(),
            max_age_s: section.max_age.as_secs(),
            granted: granted.into(),
        })
    }

    fn allows(&self, origin: &[u8]) -> bool {
        self.origins.iter().any(|known| known.matches(origin))
    }

    /// The value of Access-Control-Allow-Origin for a listed origin.
    fn allow_origin(&self, origin: &[u8]) -> Cow<'static, [u8]> {
        if self.is_any { Cow::Borrowed(b"*") } else { Cow::Owned(origin.to_vec()) }
    }

    fn preflight(&self, request: &Request<'_>, origin: &[u8]) -> Response {
        let asked = |name: &str| request.head.fields.named(name).next();
        let mut response = Response::new(Status::NO_CONTENT);
        let mut set = |name: &str, value: &[u8]| {
            // What was received in a field can be sent in one.
            let _ = response.set_field(name, value);
        };
        set("Vary", b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
        if !self.allows(origin) {
            return response;
        }
        set("Access-Control-Allow-Origin", &self.allow_origin(origin));
        if self.credentials == Credentials::Allowed {
            set("Access-Control-Allow-Credentials", b"true");
        }
        if let Some(methods) =
            listed(&self.methods, asked("Access-Control-Request-Method"), self.credentials)
        {
            set("Access-Control-Allow-Methods", &methods);
        }
        if let Some(fields) =
            listed(&self.fields, asked("Access-Control-Request-Headers"), self.credentials)
        {
            set("Access-Control-Allow-Headers", &fields);
        }
        set("Access-Control-Max-Age", self.max_age_s.to_string().as_bytes());
        response
    }
}

/// The value of a header that lists what is allowed; `None` if nothing is. With credentials, `*` is
/// not a wildcard, so the requested names are repeated.
fn listed<'a>(
    allowed: &[Token],
    asked: Option<&'a [u8]>,
    credentials: Credentials,
) -> Option<Cow<'a, [u8]>> {
    if credentials == Credentials::Allowed && allowed.iter().any(|token| token.0 == "*") {
        return asked.map(Cow::Borrowed);
    }
    let tokens: Vec<_> = allowed.iter().map(|token| token.0.as_str()).collect();
    (!tokens.is_empty()).then(|| Cow::Owned(tokens.join(", ").into_bytes()))
}

impl RequestFilter for CorsRules {
    fn name(&self) -> &'static str {
        "cors"
    }

    fn check(&self, request: &mut Request<'_>, edits: &mut Edits) -> Verdict {
        let fields = &request.head.fields;
        let origin = fields.get(Known::Origin).filter(|_| !fields.is_repeated(Known::Origin));
        let asks = fields.named("Access-Control-Request-Method").next().is_some();
        if let (Method::Options, Some(origin), true) = (request.head.method, origin, asks) {
            return Verdict::Answer(self.preflight(request, origin));
        }
        // Caches have to know, for the next origin may get another answer.
        if !self.is_any {
            edits.push(Edit::Add("Vary".into(), Cow::Borrowed(b"Origin")));
        }
        if let Some(origin) = origin.filter(|origin| self.allows(origin)) {
            edits.push(Edit::Set("Access-Control-Allow-Origin".into(), self.allow_origin(origin)));
            edits.share(&self.granted);
        }
        Verdict::Pass
    }
}

impl Origin {
    fn matches(&self, origin: &[u8]) -> bool {
        let (scheme, host, port) = match self {
            Self::Any => return true,
            Self::Null => return origin == b"null",
            Self::Of { scheme, host, port } => (scheme, host, port),
        };
        let parts = str::from_utf8(origin).ok().and_then(split);
        parts.is_some_and(|found| {
            found.0 == scheme && host.matches(found.1.as_bytes()) && found.2 == *port
        })
    }
}

/// Scheme, host and port as a browser writes them: in lower case, without the scheme's own port.
fn split(origin: &str) -> Option<(&str, &str, Option<u16>)> {
    let (scheme, rest) = origin.split_once("://")?;
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (rest, None),
    };
    Some((scheme, host, port))
}

impl FromText for Origin {
    const SHAPE: TextShape =
        TextShape { noun: "origin", example: "https://app.example.org", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "*" => return Ok(Self::Any),
            "null" => return Ok(Self::Null),
            _ => {}
        }
        let (scheme, host, port) =
            split(text).ok_or("expected a scheme, `://`, a host and optionally a port")?;
        let is_scheme = |letter: u8| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"+-.".contains(&letter)
        };
        if scheme.is_empty() || !scheme.bytes().all(is_scheme) {
            return Err(format!("`{scheme}` is not a lower-case scheme"));
        }
        let own = matches!((scheme, port), ("http", Some(80)) | ("https", Some(443)));
        if own {
            return Err("browsers omit the default port of the scheme: remove it".to_owned());
        }
        let host = HostPattern::from_text(host).map_err(|reason| match host.split_once('/') {
            Some(_) => "an origin has no path and no slash at its end".to_owned(),
            None => reason,
        })?;
        Ok(Self::Of { scheme: scheme.to_owned(), host, port })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => formatter.write_str("*"),
            Self::Null => formatter.write_str("null"),
            Self::Of { scheme, host, port: None } => write!(formatter, "{scheme}://{host}"),
            Self::Of { scheme, host, port: Some(port) } => {
                write!(formatter, "{scheme}://{host}:{port}")
            }
        }
    }
}

impl FromText for Token {
    const SHAPE: TextShape = TextShape { noun: "token", example: "PUT", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        if !is_token(text.as_bytes()) {
            return Err("expected a token (RFC 9110), without spaces and commas".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use vervet_config::read_text;

    use super::*;

    #[track_caller]
    fn rules(text: &str) -> Result<CorsRules, Diagnostics> {
        let read = read_text::<Cors>("test.toml", text);
        CorsRules::new(&read.value.unwrap_or_else(|| panic!("{text}: {:?}", read.diagnostics)))
    }

    #[track_caller]
    fn check(origins: &str, rows: &[(&str, bool)]) {
        let rules = rules(&format!("origins = {origins}")).unwrap();
        for (origin, expected) in rows {
            assert_eq!(rules.allows(origin.as_bytes()), *expected, "{origin} by {origins}");
        }
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        for text in [
            "",
            "example.org",
            "https://",
            "://a",
            "https://a/",
            "https://a/b",
            "HTTPS://a",
            "https://a:443",
            "http://a:80",
            "https://a:x",
            "https://a:",
            "https://a b",
            "https://*",
            "*.a",
            "https://a,https://b",
        ] {
            assert!(Origin::from_text(text).is_err(), "{text}");
        }
        for text in [
            "*",
            "null",
            "https://a",
            "https://*.a.example:8443",
            "http://[::1]:80800",
            "capacitor://localhost",
        ] {
            match Origin::from_text(text) {
                Ok(origin) => assert_eq!(origin.to_string(), text),
                Err(_) => assert_eq!(text, "http://[::1]:80800"),
            }
        }
    }

    #[test]
    fn credentials_for_all_are_refused() {
        for text in ["credentials = true", "origins = ['https://a', '*']\ncredentials = true"] {
            let problems = rules(text).unwrap_err();
            let messages: Vec<_> = problems.iter().map(|found| &found.message).collect();
            assert!(messages[0].starts_with("`credentials` with the origin `*`"), "{messages:?}");
        }
        assert!(rules("origins = ['https://a']\ncredentials = true").is_ok());
        assert!(rules("").is_ok());
    }

    #[test]
    fn other_origins_are_not_allowed() {
        check(
            "['https://a.example', 'https://*.b.example', 'http://c.example:8080']",
            &[
                ("http://a.example", false),
                ("https://a.example:8443", false),
                ("https://a.example.evil", false),
                ("https://evila.example", false),
                ("https://b.example", false),
                ("https://xb.example", false),
                ("http://c.example", false),
                ("null", false),
                ("", false),
                ("https://a.example, https://evil", false),
                ("\u{e4}", false),
                ("https://a.example", true),
                ("https://x.b.example", true),
                ("https://x.y.b.example", true),
                ("http://c.example:8080", true),
            ],
        );
        check("['*']", &[("https://any", true), ("null", true)]);
        check("['null']", &[("https://any", false), ("null", true)]);
        check(
            "['https://[::1]', 'https://[::1]:81']",
            &[("https://[::1]", true), ("https://[::1]:81", true), ("https://[::1]:82", false)],
        );
    }
}
