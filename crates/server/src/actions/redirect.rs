//! `redirect = "https://example.org"`: redirects to another URL.

use bytes::Bytes;
use vervet_config::{Diagnostic, Setting, Text, section};
use vervet_engine::{Content, Exchange, Outcome};
use vervet_http::field::Known;
use vervet_http::status::Status;

use super::{ActionDirective, OpenAction};
use crate::matching::{Offer, Template, TemplateUse};
use crate::resources::{Opened, Resources};
use crate::response::Fixed;
use crate::response::Head;
use crate::response::error_answer;
use crate::web::{Action, Handler, Request};

section! {
    /// Redirects the client to another URL.
    ///
    /// ```toml
    /// [[site]]
    /// hosts = ["www.example.org"]
    /// [[site.route]]
    /// redirect = { to = "https://example.org", status = 308 }
    ///
    /// [[site.route]]
    /// path = "/blog/:id(number)"
    /// redirect = "/posts/{id}{query}"
    /// ```
    pub struct Redirect short(to) {
        /// The target: a path on this host, or an absolute URL. If it is only a scheme and a host,
        /// path and query of the request are appended.
        ///
        /// Placeholders: `{NAME}` is a variable of the route's path, `{path}` the path of the
        /// request, `{rest}` the part that `*` matches, `{query}` the query with its question mark,
        /// `{host}` the host without port, `{scheme}` and `{method}` those of the request; `{{` and
        /// `}}` are literal braces. Values are percent-encoded as needed. The host of a URL can
        /// contain only `{host}`, and variables of a type other than `any`.
        pub to: Text,
        /// 301 (moved permanently), 302 (found, temporary), 303 (see other, fetched by GET), 307
        /// and 308 (like 302 and 301, but the client keeps the method). Browsers cache 301 and 308
        /// for a long time: try with 302 or 307 first.
        pub status: u16 = 302,
    }
}

/// Answers every request with a redirect.
#[derive(Debug, Clone)]
struct RedirectAction {
    status: Status,
    to: Target,
    server: Box<str>,
}

#[derive(Debug, Clone)]
enum Target {
    Fixed(Fixed),
    Filled(Box<Template>),
}

impl ActionDirective for Redirect {
    fn check(&self, offer: Offer<'_>) -> Result<(), Diagnostic> {
        RedirectAction::new(self, offer, "").map(drop)
    }

    fn open(&self, offer: Offer<'_>, resources: &mut Resources<'_>) -> Opened<OpenAction> {
        OpenAction::ready(RedirectAction::new(self, offer, resources.server))
    }
}

impl RedirectAction {
    /// Parses the target with the placeholders of the route.
    fn new(settings: &Redirect, offer: Offer<'_>, server: &str) -> Result<Self, Diagnostic> {
        let status = status(&settings.status)?;
        let template = Template::parse(&settings.to, TemplateUse::Location, offer)
            .map_err(|flaw| flaw.at(settings.to.span(), &settings.to))?;
        let to = match template.fixed() {
            Some(location) => Target::Fixed(Fixed::new(
                status,
                head(status, location.as_bytes(), server).into_bytes(),
                Bytes::new(),
            )),
            None => Target::Filled(Box::new(template)),
        };
        Ok(Self { status, to, server: Box::from(server) })
    }
}

fn status(setting: &Setting<u16>) -> Result<Status, Diagnostic> {
    let code = *setting.value();
    let known = matches!(code, 301 | 302 | 303 | 307 | 308);
    Status::new(code).filter(|_| known).ok_or_else(|| {
        let message = format!("`status` cannot be {code}: it is not a redirect status");
        Diagnostic::error(setting.span(), message).expected("301, 302, 303, 307 or 308")
    })
}

fn head(status: Status, location: &[u8], server: &str) -> Head {
    let mut head = Head::new(status, server);
    head.field(Known::Location, location);
    head
}

impl Action for RedirectAction {
    fn name(&self) -> &'static str {
        "redirect"
    }

    fn handler(&self) -> Box<dyn Handler> {
        Box::new(self.clone())
    }
}

impl Handler for RedirectAction {
    fn answer(&mut self, request: &Request<'_>, exchange: Exchange<'_>) -> Outcome {
        let template = match &self.to {
            Target::Fixed(fixed) => return fixed.send(exchange),
            Target::Filled(template) => template,
        };
        if template.needs_host() && request.host.is_empty() {
            // HTTP/1.0 without Host: there is no telling where to.
            return Outcome::Done(error_answer(Status::BAD_REQUEST, &self.server));
        }
        let mut location = Vec::with_capacity(128);
        let rest = request.rest();
        template.render(&request.template_values(rest.as_deref()), &mut location);
        let head = head(self.status, &location, &self.server);
        Outcome::Done(head.into_response(self.status, Content::Empty))
    }
}
