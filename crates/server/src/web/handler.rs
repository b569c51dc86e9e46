//! What answers requests: actions, of which a plan has one for each route, and their handlers, one for each reactor.

use std::fmt::Debug;

use vervet_engine::{Exchange, Outcome};

use super::request::Request;

/// An action at work on one reactor.
pub trait Handler {
    /// Answers a request, now or later. Called on the reactor's thread: it must not block.
    fn answer(&mut self, request: &Request<'_>, exchange: Exchange<'_>) -> Outcome;
}

/// An action of a plan, shared by all reactors.
pub trait Action: Send + Sync + Debug {
    /// The directive that it obeys, for whoever traces a request.
    fn name(&self) -> &'static str;

    /// A handler for one reactor, made on its thread when it is first needed.
    fn handler(&self) -> Box<dyn Handler>;

    /// Whether its failures have content of their own, which no error page replaces.
    fn has_own_content(&self) -> bool {
        false
    }
}
