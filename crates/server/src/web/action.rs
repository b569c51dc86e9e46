//! What answers requests: actions, one for each route of a plan, and their handlers, one for each
//! reactor.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use vervet_engine::{Exchange, Outcome};
use vervet_http::status::Status;

use super::error_pages::{ErrorPages, ReactorErrorPages};
use super::request::Request;
use super::stage::Stage;
use crate::response::error_answer;

/// The part of an action that belongs to one reactor.
pub trait Handler {
    /// Answers a request, now or later. Called on the reactor's thread: it must not block.
    fn answer(&mut self, request: &Request<'_>, exchange: Exchange<'_>) -> Outcome;
}

/// An action of a plan, shared by all reactors.
pub trait Action: Send + Sync + Debug {
    /// The name of its directive, for traces.
    fn name(&self) -> &'static str;

    /// A handler for one reactor, made on the reactor's thread when it is first needed.
    fn handler(&self) -> Box<dyn Handler>;

    /// Whether its failures have content of their own, which no error page replaces.
    fn has_own_content(&self) -> bool {
        false
    }
}

/// A stage on one reactor, with the handlers and error pages that the reactor has needed so far.
pub(super) struct ReactorStage {
    pub(super) stage: Arc<Stage>,
    handlers: RefCell<Vec<Option<Box<dyn Handler>>>>,
    error_pages: RefCell<Vec<Option<ReactorErrorPages>>>,
}

impl ReactorStage {
    /// A stage without handlers.
    pub(super) fn new(stage: Arc<Stage>) -> Self {
        let handlers = stage.actions.iter().map(|_| None).collect();
        let pages = stage.error_pages.len();
        Self {
            stage,
            handlers: RefCell::new(handlers),
            error_pages: RefCell::new(vec![None; pages]),
        }
    }

    /// The next stage. Actions that both stages have keep their handlers, and so their caches.
    pub(super) fn followed_by(&self, stage: Arc<Stage>) -> Self {
        let mut next = Self::new(stage);
        let address = |action: &Arc<dyn Action>| Arc::as_ptr(action).cast::<()>();
        let before = self.stage.actions.iter().map(address).zip(0..);
        let before: HashMap<_, usize> = before.collect();
        let mut kept = self.handlers.borrow_mut();
        let handlers = next.handlers.get_mut();
        for (action, handler) in next.stage.actions.iter().zip(handlers) {
            // An exchange that began before the change and is resumed makes a new handler.
            let number = before.get(&address(action)).copied();
            *handler = number.and_then(|number| kept.get_mut(number)?.take());
        }
        drop(kept);
        next
    }

    /// Answers a request by the action of this number.
    #[inline]
    pub(super) fn run_action(
        &self,
        action: usize,
        request: &Request<'_>,
        exchange: Exchange<'_>,
    ) -> Outcome {
        let mut handlers = self.handlers.borrow_mut();
        match handlers.get_mut(action) {
            Some(Some(handler)) => handler.answer(request, exchange),
            Some(slot) if action < self.stage.actions.len() => {
                let handler = slot.insert(self.stage.actions[action].handler());
                handler.answer(request, exchange)
            }
            _ => {
                let status = Status::INTERNAL_SERVER_ERROR;
                Outcome::Done(error_answer(status, &self.stage.server))
            }
        }
    }

    /// The error pages of this number, made when a request that may need them comes.
    pub(super) fn error_pages(&self, number: usize) -> Option<ReactorErrorPages> {
        let mut error_pages = self.error_pages.borrow_mut();
        let pages = error_pages.get_mut(number)?;
        if pages.is_none() {
            *pages = self.stage.error_pages.get(number).map(ErrorPages::for_reactor);
        }
        pages.clone()
    }
}
