//! `status = 404`: a status with its default page, or without content if it has none.

use bytes::Bytes;
use vervet_config::{Diagnostic, section};
use vervet_engine::{Exchange, Outcome};
use vervet_http::status::{Class, Status};

use super::{ActionDirective, OpenAction};
use crate::matching::Offer;
use crate::resources::{Opened, Resources};
use crate::response::Fixed;
use crate::response::explanatory_page;
use crate::web::{Action, Handler, Request};

section! {
    /// Responds with a status and its default page: `status = 404`.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/old/*"
    /// status = 410
    /// ```
    pub struct StatusCode short(code) {
        /// The status, from 200 to 999. Statuses that need more than a page are not allowed:
        /// redirects, 401, 407, 405, 206, 304 and 416.
        pub code: u16,
    }
}

impl ActionDirective for StatusCode {
    fn check(&self, _: Offer<'_>) -> Result<(), Diagnostic> {
        StatusAction::new(self, "").map(drop)
    }

    fn open(&self, _: Offer<'_>, resources: &mut Resources<'_>) -> Opened<OpenAction> {
        OpenAction::ready(StatusAction::new(self, resources.server))
    }
}

/// Answers every request with one status.
#[derive(Debug, Clone)]
struct StatusAction(Fixed);

impl StatusAction {
    /// Prepares the response; an error if the status needs more than a page.
    fn new(status: &StatusCode, server: &str) -> Result<Self, Diagnostic> {
        let status = &status.code;
        let code = *status.value();
        let refuse = |reason: &str| {
            let message = format!("`status` cannot be {code}: {reason}");
            Err(Diagnostic::error(status.span(), message))
        };
        let Some(known) = Status::new(code).filter(|known| known.class() != Class::Informational)
        else {
            return refuse("expected a status from 200 to 999");
        };
        match code {
            206 | 304 | 416 => return refuse("it is only for range and conditional requests"),
            301 | 302 | 303 | 307 | 308 => return refuse("use `redirect`, which has a target"),
            401 | 407 => return refuse("it needs a challenge: use `auth`"),
            405 => {
                return refuse("it lists the allowed methods: set `method` in the other routes");
            }
            _ => {}
        }
        let (head, content) = explanatory_page(known, server);
        Ok(Self(Fixed::new(known, head, Bytes::from(content))))
    }
}

impl Action for StatusAction {
    fn name(&self) -> &'static str {
        "status"
    }

    fn handler(&self) -> Box<dyn Handler> {
        Box::new(self.clone())
    }
}

impl Handler for StatusAction {
    fn answer(&mut self, _: &Request<'_>, _: Exchange<'_>) -> Outcome {
        self.0.outcome()
    }
}
