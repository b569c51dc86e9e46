//! `respond = "text"`: responds with content from the configuration.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use vervet_config::{Diagnostic, Setting, Text, section};
use vervet_engine::{Exchange, Outcome};
use vervet_http::conditional::{Validators, Verdict};
use vervet_http::etag::EntityTag;
use vervet_http::field::Known;
use vervet_http::method::Method;
use vervet_http::status::{Class, Status};

use super::{ActionDirective, OpenAction};
use crate::files::FileRequest;
use crate::matching::Offer;
use crate::resources::{Opened, Resources};
use crate::response::Fixed;
use crate::response::Head;
use crate::response::error_answer;
use crate::web::{Action, Handler, Request};

section! {
    /// Responds with content from the configuration, for all methods. Set one of `text`, `html` and
    /// `json`.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/robots.txt"
    /// respond = "User-agent: *\nDisallow: /private/\n"
    ///
    /// [[site.route]]
    /// path = "/maintenance"
    /// respond = { status = 503, html = "<h1>Back at noon</h1>" }
    /// ```
    pub struct Respond short(text) {
        /// The status. A response with 200 has an ETag, and conditional requests can get 304.
        pub status: u16 = 200 in 200..=599,
        /// Content of type `text/plain; charset=utf-8`.
        pub text: Option<Text>,
        /// Content of type `text/html; charset=utf-8`.
        pub html: Option<Text>,
        /// Content of type `application/json`.
        pub json: Option<Text>,
        /// The media type; if not set, that of `text`, `html` or `json`.
        pub r#type: Option<Text>,
    }
}

/// Answers every request with the same content.
#[derive(Debug, Clone)]
struct RespondAction {
    whole: Fixed,
    /// For conditional requests, if the status is 200.
    tagged: Option<Tagged>,
    server: Box<str>,
}

#[derive(Debug, Clone)]
struct Tagged {
    tag: Box<[u8]>,
    not_modified: Fixed,
}

impl ActionDirective for Respond {
    fn check(&self, _: Offer<'_>) -> Result<(), Diagnostic> {
        RespondAction::new(self, "").map(drop)
    }

    fn open(&self, _: Offer<'_>, resources: &mut Resources<'_>) -> Opened<OpenAction> {
        OpenAction::ready(RespondAction::new(self, resources.server))
    }
}

impl RespondAction {
    /// Encodes the answer.
    fn new(settings: &Respond, server: &str) -> Result<Self, Diagnostic> {
        let status = status(&settings.status)?;
        let (content, media_type) = content(settings)?;
        let content = Bytes::from(content.to_owned());
        let tag = (status == Status::OK).then(|| tag(&content, media_type));
        let mut head = Head::new(status, server);
        if let Some(tag) = &tag {
            head.field(Known::ETag, tag);
        }
        head.field(Known::ContentType, media_type.as_bytes());
        let whole = Fixed::new(status, head.into_bytes(), content);
        let tagged = tag.map(|tag| {
            let mut head = Head::new(Status::NOT_MODIFIED, server);
            head.field(Known::ETag, &tag);
            let not_modified = Fixed::new(Status::NOT_MODIFIED, head.into_bytes(), Bytes::new());
            Tagged { tag, not_modified }
        });
        Ok(Self { whole, tagged, server: Box::from(server) })
    }
}

fn status(setting: &Setting<u16>) -> Result<Status, Diagnostic> {
    let code = *setting.value();
    let known = Status::new(code)
        .filter(|known| known.class() != Class::Informational && known.allows_content());
    known.ok_or_else(|| {
        let message =
            format!("a response with status {code} has no body: use `status` instead of `respond`");
        Diagnostic::error(setting.span(), message)
    })
}

/// The content and its type, where there is exactly one.
fn content(settings: &Respond) -> Result<(&str, &str), Diagnostic> {
    const TEXT: &str = "text/plain; charset=utf-8";
    const HTML: &str = "text/html; charset=utf-8";
    const JSON: &str = "application/json";
    let given = [(&settings.text, TEXT), (&settings.html, HTML), (&settings.json, JSON)];
    let mut given = given.into_iter().filter(|(setting, _)| setting.value().is_some());
    let (Some((setting, usual)), another) = (given.next(), given.next()) else {
        let span = settings.status.span();
        let message = "`respond` has no content";
        return Err(Diagnostic::error(span, message).expected("`text`, `html` or `json`"));
    };
    if let Some((another, _)) = another {
        let message = "`respond` has more than one content";
        return Err(Diagnostic::error(another.span(), message)
            .note_at(setting.span(), "the other one is here"));
    }
    let text = setting.value().as_deref().unwrap_or_default();
    if usual == JSON
        && let Err(error) = serde_json::from_str::<serde_json::Value>(text)
    {
        let message = format!("invalid JSON: {error}");
        return Err(Diagnostic::error(setting.span(), message));
    }
    let media_type = settings.r#type.value().as_deref();
    if media_type.is_some_and(|own| own.is_empty() || own.chars().any(char::is_control)) {
        return Err(Diagnostic::error(settings.r#type.span(), "`type` is not a valid media type")
            .expected("such as `text/css`"));
    }
    Ok((text, media_type.unwrap_or(usual)))
}

/// Strong, and the same in every process that has the same configuration. Equal tags of different
/// contents would take a collision of 64 bits.
fn tag(content: &[u8], media_type: &str) -> Box<[u8]> {
    let mut hasher = DefaultHasher::new();
    (content, media_type).hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish()).into_bytes().into_boxed_slice()
}

impl Action for RespondAction {
    fn name(&self) -> &'static str {
        "respond"
    }

    fn handler(&self) -> Box<dyn Handler> {
        Box::new(self.clone())
    }

    fn has_own_content(&self) -> bool {
        true
    }
}

impl Handler for RespondAction {
    fn answer(&mut self, request: &Request<'_>, exchange: Exchange<'_>) -> Outcome {
        let is_read = matches!(request.head.method, Method::Get | Method::Head);
        let Some(tagged) = self.tagged.as_ref().filter(|_| is_read) else {
            return self.whole.send(exchange);
        };
        let file_request =
            FileRequest::new(request.head.method, &request.raw_path, &request.head.fields);
        if file_request.is_unconditional() {
            return self.whole.send(exchange);
        }
        let current = Validators { etag: EntityTag::parse(&tagged.tag), last_modified: None };
        match file_request.verdict(&current) {
            Verdict::Proceed => self.whole.send(exchange),
            Verdict::NotModified => tagged.not_modified.send(exchange),
            Verdict::PreconditionFailed => {
                Outcome::Done(error_answer(Status::PRECONDITION_FAILED, &self.server))
            }
        }
    }
}
