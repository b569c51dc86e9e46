//! What answers requests: actions, of which a plan has one for each route, and their handlers, one for each reactor.

use std::fmt::Debug;

use vervet_engine::{Exchange, Outcome};
use vervet_http::status::Status;

use super::request::Request;
use crate::response::error_answer;

/// An action at work on one reactor.
pub trait Handler {
    /// Answers a request, now or later. Called on the reactor's thread: it must not block.
    fn answer(&mut self, request: &Request<'_>, exchange: Exchange<'_>) -> Outcome;

    /// Answers a GET or HEAD request whose whole path belongs to the action, from its head alone.
    /// Called only if [`Action::answers_heads`].
    fn answer_head(&mut self, _exchange: Exchange<'_>) -> Outcome {
        Outcome::Done(error_answer(Status::INTERNAL_SERVER_ERROR, ""))
    }
}

/// An action of a plan, shared by all reactors.
pub trait Action: Send + Sync + Debug {
    /// The directive that it obeys, for whoever traces a request.
    fn name(&self) -> &'static str;

    /// A handler for one reactor, made on its thread when it is first needed.
    fn handler(&self) -> Box<dyn Handler>;

    /// Whether its handlers implement [`Handler::answer_head`].
    fn answers_heads(&self) -> bool {
        false
    }

    /// Whether its failures have content of their own, which no error page replaces.
    fn has_own_content(&self) -> bool {
        false
    }
}
