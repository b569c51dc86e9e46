//! The way of a request through its site: filters, routes, rewrites.

use std::borrow::Cow;

use vervet_engine::Response;
use vervet_http::method::Method;
use vervet_http::status::Status;

use super::edits::Edits;
use super::filter::Verdict;
use super::request::Request;
use super::stage::{Passage, RouteEnd, RouteStage, SiteStage};
use crate::access_log::LogPlan;
use crate::actions::{REWRITES_MAX, RewriteAction, method_not_allowed, not_found, slash_redirect};
use crate::matching::{Captures, Question, Routed, raw_rest};
use crate::response::error_answer;
use crate::trace::Trace;

/// Where a request ends.
pub(super) enum End {
    /// At the action of this number.
    Action(usize),
    /// Nowhere: the routes lead in a circle.
    Circle,
    /// With the verdict of a filter, or with an answer of our own. Never [`Verdict::Pass`].
    Verdict(Verdict),
}

/// One request on its way.
pub(super) struct Way<'w, 'r> {
    pub(super) site: &'r SiteStage,
    pub(super) server: &'w str,
    pub(super) names: &'w LogPlan,
    pub(super) request: &'w mut Request<'r>,
    pub(super) edits: &'w mut Edits,
    pub(super) trace: Option<&'w Trace>,
}

impl<'r> Way<'_, 'r> {
    /// Goes all the way. The passage is the last one that the request has come to.
    pub(super) fn go(&mut self) -> (End, &'r Passage) {
        let (end, passage) = self.find_end();
        self.decorate(&self.site.passage);
        if !std::ptr::eq(passage, &raw const self.site.passage) {
            self.decorate(passage);
        }
        (end, passage)
    }

    /// Asks for edits; the verdict has been passed.
    fn decorate(&mut self, passage: &Passage) {
        for decoration in &passage.decorations {
            let _ = decoration.check(self.request, self.edits);
            self.step(|| format!("{} is asked for its edits", decoration.name()));
        }
    }

    fn find_end(&mut self) -> (End, &'r Passage) {
        let mut passage = &self.site.passage;
        if let Some(verdict) = self.pass(passage) {
            return (End::Verdict(verdict), passage);
        }
        for _ in 0..=REWRITES_MAX {
            let target = match self.route() {
                Ok(target) => target,
                Err(response) => {
                    self.step(|| format!("no route: {}", response.status().code()));
                    return (End::Verdict(Verdict::Answer(response)), passage);
                }
            };
            passage = &target.passage;
            self.step(|| {
                format!(
                    "route {}",
                    self.names.route_name(passage.origin).unwrap_or("?")
                )
            });
            if let Some(verdict) = self.pass(passage) {
                return (End::Verdict(verdict), passage);
            }
            match &target.end {
                RouteEnd::Action(action) => return (End::Action(*action), passage),
                RouteEnd::Rewrite(rewrite) => {
                    if let Err(response) = self.rewrite(rewrite) {
                        return (End::Verdict(Verdict::Answer(response)), passage);
                    }
                }
            }
        }
        (End::Circle, passage)
    }

    /// The verdict of the first filter that does not let the request pass.
    fn pass(&mut self, passage: &Passage) -> Option<Verdict> {
        for filter in &passage.filters {
            let verdict = filter.check(self.request, self.edits);
            self.step(|| format!("filter {}: {verdict}", filter.name()));
            if !matches!(verdict, Verdict::Pass) {
                return Some(verdict);
            }
        }
        None
    }

    /// The route that takes the request, or the answer where none does.
    fn route(&mut self) -> Result<&'r RouteStage, Response> {
        let head = self.request.head;
        let question = Question {
            path: &self.request.path,
            method: head.method,
            method_token: head.method_token,
            fields: &head.fields,
        };
        match self.site.routes.find(&question) {
            Routed::To {
                route,
                captures,
                rest,
            } => {
                self.request.rest = rest.map(|at| self.rest(at));
                self.request.captures = captures;
                let missing = || error_answer(Status::INTERNAL_SERVER_ERROR, self.server);
                self.site.targets.get(route).ok_or_else(missing)
            }
            Routed::Slash { form, .. } => Err(slash_redirect(self.request, form, self.server)),
            Routed::OtherMethods(_) if head.method == Method::Unknown => {
                Err(error_answer(Status::NOT_IMPLEMENTED, self.server))
            }
            Routed::OtherMethods(methods) => Err(method_not_allowed(&methods, self.server)),
            Routed::Missing => Err(not_found(self.server)),
        }
    }

    /// The part of the raw path that `*` stands for; borrowed from the input where that is as it came.
    fn rest(&self, at: usize) -> Cow<'r, [u8]> {
        match &self.request.raw_path {
            Cow::Borrowed(raw) => raw_rest(raw, &self.request.path, at),
            Cow::Owned(raw) => Cow::Owned(raw_rest(raw, &self.request.path, at).into_owned()),
        }
    }

    fn rewrite(&mut self, rewrite: &RewriteAction) -> Result<(), Response> {
        let rewritten = rewrite
            .rewrite(self.request)
            .map_err(|_| error_answer(Status::BAD_REQUEST, self.server))?;
        self.request.captures = Captures::default();
        self.request.rest = None;
        self.request.raw_path = Cow::Owned(rewritten.raw_path);
        self.request.path = Cow::Owned(rewritten.path);
        self.request.query = rewritten.query.map(Cow::Owned);
        self.step(|| format!("rewritten to {}", self.request.raw_path.escape_ascii()));
        Ok(())
    }

    /// Tells whoever traces the request what has happened.
    fn step(&self, text: impl FnOnce() -> String) {
        if let Some(trace) = self.trace {
            trace.step(format_args!("{}", text()));
        }
    }
}
