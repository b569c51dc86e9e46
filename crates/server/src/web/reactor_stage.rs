//! A stage at work on one reactor: with the handlers that it has needed so far.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use vervet_engine::Outcome;

use super::handler::{Action, Handler};
use super::stage::Stage;
use crate::actions::{ErrorPages, ErrorPagesAtWork};

/// A stage and this reactor's handlers for its actions.
pub(super) struct ReactorStage {
    pub(super) stage: Arc<Stage>,
    handlers: RefCell<Vec<Option<Box<dyn Handler>>>>,
    error_pages: RefCell<Vec<Option<ErrorPagesAtWork>>>,
}

impl ReactorStage {
    /// A stage of which nothing was needed yet.
    pub(super) fn new(stage: Arc<Stage>) -> Self {
        let handlers = stage.actions.iter().map(|_| None).collect();
        let pages = stage.error_pages.len();
        Self {
            stage,
            handlers: RefCell::new(handlers),
            error_pages: RefCell::new(vec![None; pages]),
        }
    }

    /// The stage that follows. What both have keeps its handlers, and so its caches.
    pub(super) fn followed_by(&self, stage: Arc<Stage>) -> Self {
        let mut next = Self::new(stage);
        let place = |action: &Arc<dyn Action>| Arc::as_ptr(action).cast::<()>();
        let before = self.stage.actions.iter().map(place).zip(0..);
        let before: HashMap<_, usize> = before.collect();
        let mut kept = self.handlers.borrow_mut();
        let handlers = next.handlers.get_mut();
        for (action, handler) in next.stage.actions.iter().zip(handlers) {
            // An exchange that began before and is asked again makes a handler anew.
            let number = before.get(&place(action)).copied();
            *handler = number.and_then(|number| kept.get_mut(number)?.take());
        }
        drop(kept);
        next
    }

    /// Lets the handler of an action answer.
    pub(super) fn act(
        &self,
        action: usize,
        answer: impl FnOnce(&mut dyn Handler) -> Outcome,
    ) -> Option<Outcome> {
        let mut handlers = self.handlers.borrow_mut();
        let handler = handlers.get_mut(action)?;
        let made = || {
            self.stage
                .actions
                .get(action)
                .map(|action| action.handler())
        };
        if handler.is_none() {
            *handler = made();
        }
        handler.as_mut().map(|handler| answer(&mut **handler))
    }

    /// The pages of a number, made when a request that may need them comes.
    pub(super) fn error_pages(&self, number: usize) -> Option<ErrorPagesAtWork> {
        let mut error_pages = self.error_pages.borrow_mut();
        let made = error_pages.get_mut(number)?;
        if made.is_none() {
            *made = self.stage.error_pages.get(number).map(ErrorPages::at_work);
        }
        made.clone()
    }
}
