//! The short way of a request. Most small configurations have one site whose one route takes every
//! path, with nothing to do before or after its action. Whether a listener is such a one is decided
//! when a plan is staged, so that its requests pay for no phase that they do not have.

use vervet_engine::{Exchange, Outcome};
use vervet_http::method::Method;
use vervet_http::status::Status;

use super::service::{Web, lower_case, without_port};
use super::stage::{Finish, Passage, RouteEnd, SiteStage, Stage};
use crate::access_log::{LogSet, Origin, RequestInfo};
use crate::response::error_answer;

/// What answers every request of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    action: usize,
    origin: Origin,
    logs: LogSet,
}

impl Stage {
    /// Finds the listeners whose requests can take the short way. To be called when the stage is
    /// complete.
    pub(crate) fn find_direct(&mut self) {
        let needs = self.logs.needs();
        if needs.responses || needs.paths || self.tracer.is_some() {
            return;
        }
        for listener in self.listeners.values_mut() {
            let site = listener
                .hosts
                .only_site()
                .and_then(|site| self.sites.get(site));
            let direct = site.and_then(SiteStage::direct);
            let takes_heads = |direct: &Direct| {
                let action = self.actions.get(direct.action);
                action.is_some_and(|action| action.answers_heads())
            };
            listener.direct = direct.filter(takes_heads);
        }
    }
}

impl SiteStage {
    fn direct(&self) -> Option<Direct> {
        let [target] = self.targets.as_slice() else {
            return None;
        };
        let RouteEnd::Action(action) = target.end else {
            return None;
        };
        let is_direct = self.routes.take_every_request()
            && self.passage.does_nothing()
            && target.passage.does_nothing();
        is_direct.then_some(Direct {
            action,
            origin: target.passage.origin,
            logs: target.passage.logs,
        })
    }
}

impl Passage {
    fn does_nothing(&self) -> bool {
        let Finish {
            error_pages,
            compression,
        } = &self.finish;
        self.filters.is_empty()
            && self.decorations.is_empty()
            && error_pages.is_none()
            && compression.is_none()
    }
}

impl Web {
    /// What answers a request directly, if it is one of those that need nothing else.
    pub(super) fn direct(&self, exchange: &Exchange<'_>) -> Option<Direct> {
        let head = exchange.head();
        let is_plain = matches!(head.method, Method::Get | Method::Head)
            && head.target.first() == Some(&b'/')
            && exchange.resumed().is_none();
        if !is_plain {
            return None;
        }
        let listeners = &self.current.stage.listeners;
        listeners.get(&exchange.listener().key())?.direct
    }

    /// Answers such a request.
    pub(super) fn answer_directly(
        &mut self,
        direct: Direct,
        mut exchange: Exchange<'_>,
    ) -> Outcome {
        let stage = &self.current.stage;
        if stage.records_requests {
            let head = exchange.head();
            let listener = stage.listeners.get(&exchange.listener().key());
            let host = lower_case(without_port(head.host().unwrap_or_default()));
            let info = RequestInfo {
                host: &host,
                listener: listener.map_or("", |listener| &listener.name),
                request_id: stage.needs_request_ids.then(|| self.ids.next_id()),
                client: exchange.peer().map(|peer| peer.ip().to_canonical()),
                origin: direct.origin,
                logs: direct.logs,
                ..RequestInfo::from_head(head)
            };
            let tag = self.scribe.borrow_mut().begin(&info);
            exchange.set_tag(tag);
        }
        let answer = |handler: &mut dyn super::Handler| handler.answer_head(exchange);
        let outcome = self.current.act(direct.action, answer);
        let failed = || Outcome::Done(error_answer(Status::INTERNAL_SERVER_ERROR, &stage.server));
        outcome.unwrap_or_else(failed)
    }
}
