//! What a plan has become when all of it is open and ready: what reactors serve from. It is shared
//! by them, never changed, and replaced as a whole.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use vervet_engine::listener::{Endpoint, ListenerKey};

use super::action::Action;
use super::error_pages::ErrorPages;
use super::filter::RequestFilter;
use super::request::Request;
use super::rewrite::RewriteAction;
use super::routing::Terminal;
use super::tracer::Tracer;
use crate::access_log::{LogPlan, LogSet, Origin};
use crate::compression::AnswerCompression;
use crate::error_log::ErrorLog;
use crate::matching::{Hosts, Routes};
use crate::trace::Trace;

/// A plan that was opened and is ready to serve.
#[derive(Debug, Default)]
pub struct Stage {
    /// Counts the plans of a process, from 1.
    pub generation: u64,
    /// The sites of each listener.
    pub listeners: BTreeMap<ListenerKey, ListenerStage>,
    /// The sites, in file order.
    pub sites: Vec<SiteStage>,
    /// What answers, by number.
    pub actions: Vec<Arc<dyn Action>>,
    /// Pages in place of failures, by number.
    pub error_pages: Vec<ErrorPages>,
    /// The value of the Server field.
    pub server: Arc<str>,
    /// The access logs of all sites.
    pub logs: Arc<LogPlan>,
    /// Where errors of the configuration are logged that only requests bring out.
    pub error_log: Option<ErrorLog>,
    /// Whether requests are recorded, for logs, metrics or the error log.
    pub records_requests: bool,
    /// Whether requests are given ids.
    pub needs_request_ids: bool,
    /// What decides by address which connections are accepted, on every listener.
    pub connection_filters: Vec<Arc<dyn RequestFilter>>,
    /// Which requests are traced, where any are.
    pub tracer: Option<Arc<Tracer>>,
}

impl Stage {
    /// What filters have refused so far, by short names. A filter that several places share is
    /// listed once.
    pub fn refused(&self) -> Vec<(&'static str, u64)> {
        let mut seen: HashSet<*const ()> = HashSet::new();
        let mut refused = Vec::new();
        let mut add = |filter: &Arc<dyn RequestFilter>| {
            if seen.insert(Arc::as_ptr(filter).cast()) {
                refused.extend(filter.refused());
            }
        };
        for site in &self.sites {
            site.pipeline.filters.iter().for_each(&mut add);
            for target in &site.targets {
                target.pipeline.filters.iter().for_each(&mut add);
            }
        }
        for listener in self.listeners.values() {
            listener.connection_filters.iter().for_each(&mut add);
        }
        refused
    }

    /// The site that answers for a host on a listener.
    pub(super) fn site(&self, endpoint: &Endpoint, host: &[u8]) -> Option<Site<'_>> {
        let listener = self.listeners.get(&endpoint.key())?;
        let stage = self.sites.get(listener.hosts.site(host)?)?;
        Some(Site { listener, stage })
    }

    /// Begins the trace of a request, where a rule wants one.
    pub(super) fn begin_trace(&self, request: &Request<'_>) -> Trace {
        match &self.tracer {
            Some(tracer) => tracer.begin(request),
            None => Trace::OFF,
        }
    }

    /// The trace, if a rule wants it now that the client is known.
    pub(super) fn confirm_trace(&self, trace: &Trace, request: &Request<'_>) -> Trace {
        match &self.tracer {
            Some(tracer) => tracer.confirm(trace, request.client()),
            None => Trace::OFF,
        }
    }

    /// Writes the trace of a request to the error log.
    pub(super) fn write_trace(&self, trace: &Trace) {
        if let (Some(tracer), Some(log)) = (&self.tracer, &self.error_log)
            && trace.is_on()
        {
            log.write_trace(&trace.lines(tracer.number()));
        }
    }

    /// The name of the action of this number.
    pub(super) fn action_name(&self, action: usize) -> &'static str {
        self.actions.get(action).map_or("?", |action| action.name())
    }

    /// Whether a failure has content of its own, which no error page replaces.
    pub(super) fn has_own_content(&self, terminal: &Terminal) -> bool {
        let Terminal::Action(action) = terminal else {
            return false;
        };
        let action = self.actions.get(*action);
        action.is_some_and(|action| action.has_own_content())
    }

    /// A site as traces name it.
    pub(super) fn describe(&self, site: Site<'_>) -> String {
        let name = self.logs.site_name(site.stage.pipeline.origin);
        let listener = &site.listener.name;
        format!("site {}, by listener {listener}", name.unwrap_or("?"))
    }
}

/// What a listener leads to.
#[derive(Debug)]
pub struct ListenerStage {
    /// Its name, for logs and status.
    pub name: Arc<str>,
    /// What decides by address which of its connections are accepted.
    pub connection_filters: Vec<Arc<dyn RequestFilter>>,
    /// Its sites by their names.
    pub hosts: Hosts,
}

/// The site that a request is for, and the listener that it came by.
#[derive(Clone, Copy)]
pub(super) struct Site<'s> {
    pub(super) listener: &'s ListenerStage,
    pub(super) stage: &'s SiteStage,
}

/// A site that is ready to serve.
#[derive(Debug)]
pub struct SiteStage {
    /// What all of its requests pass.
    pub pipeline: Pipeline,
    /// When which route is taken.
    pub routes: Routes,
    /// The routes, by their number.
    pub targets: Vec<RouteStage>,
}

/// A route that is ready to serve.
#[derive(Debug)]
pub struct RouteStage {
    /// What its requests pass, beyond the filters of the site.
    pub pipeline: Pipeline,
    /// What the route leads to.
    pub end: RouteEnd,
}

/// Where a route leads.
#[derive(Clone, Debug)]
pub enum RouteEnd {
    /// To the action of this number.
    Action(usize),
    /// To another route of the site.
    Rewrite(Arc<RewriteAction>),
}

/// What happens before an answer is made, and to the answer.
#[derive(Debug, Default)]
pub struct Pipeline {
    /// In the order of the phases. Those of a route come after those of its site.
    pub filters: Vec<Arc<dyn RequestFilter>>,
    /// Runs after all filters, whatever their verdict: it only edits answers.
    pub decorations: Vec<Arc<dyn RequestFilter>>,
    /// What changes the answer: for a route, those of its site are among them.
    pub finish: Finish,
    /// The logs that get a line.
    pub logs: LogSet,
    /// What logs and counters call this place.
    pub origin: Origin,
}

/// What is done to an answer, from whatever action.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    /// The pages of this number, in place of failures.
    pub error_pages: Option<usize>,
    /// Content is encoded for those who take it.
    pub compression: Option<Arc<AnswerCompression>>,
}

impl Finish {
    /// Whether answers stay as they are.
    pub(super) fn is_empty(&self) -> bool {
        self.error_pages.is_none() && self.compression.is_none()
    }
}

/// A handle on the newest stage of a server.
#[derive(Clone, Debug, Default)]
pub struct Stages(Arc<Mutex<Arc<Stage>>>);

impl Stages {
    /// Begins with a stage.
    pub fn new(stage: Stage) -> Self {
        Self(Arc::new(Mutex::new(Arc::new(stage))))
    }

    /// Returns the newest stage.
    pub fn newest(&self) -> Arc<Stage> {
        // A pointer is whole whatever happened to who held the lock.
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces it. Reactors fetch the new one when they refresh.
    pub fn replace(&self, stage: Stage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(stage);
    }
}
