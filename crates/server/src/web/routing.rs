//! Filters, routes and rewrites: from a site to what answers the request.

use std::borrow::Cow;

use vervet_engine::{Response, Resume};
use vervet_http::method::Method;
use vervet_http::status::Status;

use super::edits::Edits;
use super::filter::Verdict;
use super::request::Request;
use super::rewrite::{REWRITES_MAX, RewriteAction};
use super::stage::{Pipeline, RouteEnd, RouteStage, SiteStage, Stage};
use super::unrouted::{method_not_allowed, not_found, server_options, slash_redirect};
use crate::matching::{Captures, Question, Routed};
use crate::response::error_answer;
use crate::trace::Trace;

/// What answers a request.
pub(super) enum Terminal {
    /// The action of this number.
    Action(usize),
    /// A filter, or the server where no route matches.
    Response(Response),
    /// Nothing: a filter closes the connection.
    Close,
    /// A job: when it is done the request starts again.
    Suspend(Box<dyn FnOnce(Resume) + Send>),
    /// Nothing: the routes rewrite the request to each other.
    RewriteLoop,
}

/// Routes requests of one site.
#[derive(Clone, Copy)]
pub(super) struct Router<'s> {
    pub(super) site: &'s SiteStage,
    pub(super) stage: &'s Stage,
    pub(super) trace: &'s Trace,
}

impl<'s> Router<'s> {
    /// Runs the filters and follows the routes. The pipeline is that of the route, or of the site
    /// where no route was reached.
    #[inline]
    pub(super) fn route(
        self,
        request: &mut Request<'s>,
        edits: &mut Edits,
    ) -> (Terminal, &'s Pipeline) {
        let (terminal, pipeline) = self.find_terminal(request, edits);
        let own = &self.site.pipeline;
        if !own.decorations.is_empty() {
            self.decorate(own, request, edits);
        }
        if !pipeline.decorations.is_empty() && !std::ptr::eq(pipeline, own) {
            self.decorate(pipeline, request, edits);
        }
        (terminal, pipeline)
    }

    fn find_terminal(
        self,
        request: &mut Request<'s>,
        edits: &mut Edits,
    ) -> (Terminal, &'s Pipeline) {
        let mut pipeline = &self.site.pipeline;
        if let Some(terminal) = self.run_filters(pipeline, request, edits) {
            return (terminal, pipeline);
        }
        for _ in 0..=REWRITES_MAX {
            let route = match self.match_route(request) {
                Ok(route) => route,
                Err(response) => {
                    let status = response.status().code();
                    self.trace.step(|| format!("no route: {status}"));
                    return (Terminal::Response(response), pipeline);
                }
            };
            pipeline = &route.pipeline;
            self.trace.step(|| {
                let name = self.stage.logs.route_name(pipeline.origin);
                format!("route {}", name.unwrap_or("?"))
            });
            if let Some(terminal) = self.run_filters(pipeline, request, edits) {
                return (terminal, pipeline);
            }
            match &route.end {
                RouteEnd::Action(action) => return (Terminal::Action(*action), pipeline),
                RouteEnd::Rewrite(rewrite) => {
                    if let Err(response) = self.rewrite(rewrite, request) {
                        return (Terminal::Response(response), pipeline);
                    }
                }
            }
        }
        (Terminal::RewriteLoop, pipeline)
    }

    /// What answers instead of the route, where a filter does not let the request pass.
    fn run_filters(
        self,
        pipeline: &Pipeline,
        request: &mut Request<'s>,
        edits: &mut Edits,
    ) -> Option<Terminal> {
        for filter in &pipeline.filters {
            let verdict = filter.check(request, edits);
            self.trace.step(|| format!("filter {}: {verdict}", filter.name()));
            match verdict {
                Verdict::Pass => {}
                Verdict::Answer(response) => return Some(Terminal::Response(response)),
                Verdict::Close => return Some(Terminal::Close),
                Verdict::Suspend(job) => return Some(Terminal::Suspend(job)),
            }
        }
        None
    }

    /// Runs the filters that only edit the answer, whatever answers.
    fn decorate(self, pipeline: &Pipeline, request: &mut Request<'s>, edits: &mut Edits) {
        for decoration in &pipeline.decorations {
            let _ = decoration.check(request, edits);
            self.trace.step(|| format!("{}: edits the answer", decoration.name()));
        }
    }

    /// The route of a request, or the answer where there is none.
    fn match_route(self, request: &mut Request<'s>) -> Result<&'s RouteStage, Response> {
        let (head, server) = (request.head, &*self.stage.server);
        let question = Question {
            path: &request.path,
            method: head.method,
            method_token: head.method_token,
            fields: &head.fields,
        };
        match self.site.routes.find(&question) {
            Routed::To { route, captures, rest } => {
                request.rest_at = rest;
                request.captures = captures;
                let missing = || error_answer(Status::INTERNAL_SERVER_ERROR, server);
                self.site.targets.get(route).ok_or_else(missing)
            }
            Routed::Slash { form, .. } => Err(slash_redirect(request, form, server)),
            Routed::OtherMethods(_) if head.method == Method::Unknown => {
                Err(error_answer(Status::NOT_IMPLEMENTED, server))
            }
            Routed::OtherMethods(methods) => Err(method_not_allowed(&methods, server)),
            Routed::Missing if *request.path == *b"*" => Err(server_options(server)),
            Routed::Missing => Err(not_found(server)),
        }
    }

    /// Gives the request another path and query; an answer where the new path is malformed.
    fn rewrite(self, rewrite: &RewriteAction, request: &mut Request<'s>) -> Result<(), Response> {
        let rewritten = rewrite
            .rewrite(request)
            .map_err(|_| error_answer(Status::BAD_REQUEST, &self.stage.server))?;
        request.captures = Captures::default();
        request.rest_at = None;
        request.raw_path = Cow::Owned(rewritten.raw_path);
        request.path = Cow::Owned(rewritten.path);
        request.query = rewritten.query.map(Cow::Owned);
        self.trace.step(|| format!("rewritten to {}", request.raw_path.escape_ascii()));
        Ok(())
    }
}
