//! What a plan has become when all of it is open and ready: what reactors serve from. It is shared by them, never
//! changed, and replaced as a whole.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use foldhash::fast::RandomState;
use vervet_engine::listener::ListenerKey;

use super::direct::Direct;
use super::filter::RequestFilter;
use super::handler::Action;
use super::trace::Tracer;
use crate::access_log::{LogPlan, LogSet, Origin};
use crate::actions::{ErrorPages, RewriteAction};
use crate::error_log::ErrorLog;
use crate::filters::access::AccessRules;
use crate::filters::blocks::Blocks;
use crate::filters::compression::AnswerCompression;
use crate::matching::{Hosts, Routes};
use crate::trace::Trace;

/// All that serves.
#[derive(Debug, Default)]
pub struct Stage {
    /// Counts the plans of a process, from 1.
    pub generation: u64,
    /// The sites of each listener.
    pub listeners: HashMap<ListenerKey, ListenerStage, RandomState>,
    /// The sites, in file order.
    pub sites: Vec<SiteStage>,
    /// What answers, by number.
    pub actions: Vec<Arc<dyn Action>>,
    /// Pages in place of failures, by number.
    pub error_pages: Vec<ErrorPages>,
    /// The value of the Server field.
    pub server: Arc<str>,
    /// The access logs.
    pub logs: Arc<LogPlan>,
    /// Where mistakes of the configuration are told that only requests bring out.
    pub error_log: Option<ErrorLog>,
    /// Whether requests are noted, for logs, metrics or the error log.
    pub records_requests: bool,
    /// Whether requests are given ids.
    pub needs_request_ids: bool,
    /// Who is blocked for now.
    pub blocks: Arc<Blocks>,
    /// Which requests are traced, where any are.
    pub tracer: Option<Arc<Tracer>>,
}

impl Stage {
    /// What filters have refused so far, by short names. A filter that several places share is told once.
    pub fn refused(&self) -> Vec<(&'static str, u64)> {
        let mut seen: HashSet<*const ()> = HashSet::new();
        let mut refused = Vec::new();
        let mut add = |filter: &Arc<dyn RequestFilter>| {
            if seen.insert(Arc::as_ptr(filter).cast()) {
                refused.extend(filter.refused());
            }
        };
        for site in &self.sites {
            site.passage.filters.iter().for_each(&mut add);
            for target in &site.targets {
                target.passage.filters.iter().for_each(&mut add);
            }
        }
        for listener in self.listeners.values() {
            refused.extend(
                listener
                    .access
                    .as_ref()
                    .map(|access| ("access", access.denied())),
            );
        }
        refused
    }

    /// Whether a trace that has begun is told, now that the client is known.
    pub(super) fn wants(&self, trace: &Trace, client: Option<IpAddr>) -> bool {
        let tracer = self.tracer.as_ref();
        tracer.is_some_and(|tracer| tracer.is_wanted(trace, client))
    }

    /// What the action of this number is called.
    pub(super) fn action_name(&self, action: usize) -> &'static str {
        self.actions.get(action).map_or("?", |action| action.name())
    }

    /// Whether failures of the action of this number have content of their own.
    pub(super) fn has_own_content(&self, action: usize) -> bool {
        self.actions
            .get(action)
            .is_some_and(|action| action.has_own_content())
    }
}

/// What a listener leads to.
#[derive(Debug)]
pub struct ListenerStage {
    /// Its name, for logs and status.
    pub name: Arc<str>,
    /// Who may come in at all.
    pub access: Option<Arc<AccessRules>>,
    /// Its sites by their names.
    pub hosts: Hosts,
    /// What answers all of its requests, if they need nothing else.
    pub direct: Option<Direct>,
}

/// A site.
#[derive(Debug)]
pub struct SiteStage {
    /// What all of its requests pass.
    pub passage: Passage,
    /// When which route is taken.
    pub routes: Routes,
    /// The routes, by their number.
    pub targets: Vec<RouteStage>,
}

/// A route.
#[derive(Debug)]
pub struct RouteStage {
    /// What its requests pass, beyond the filters of the site.
    pub passage: Passage,
    /// Where it leads.
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
pub struct Passage {
    /// In the order of the phases. Those of a route come after those of its site.
    pub filters: Vec<Arc<dyn RequestFilter>>,
    /// What is asked behind all filters, whatever their verdict: it only edits answers.
    pub decorations: Vec<Arc<dyn RequestFilter>>,
    /// What changes the answer: for a route, those of its site are among them.
    pub finish: Finish,
    /// The logs that get a line.
    pub logs: LogSet,
    /// What logs and counters call this place.
    pub origin: Origin,
}

/// What is done to an answer, whoever gave it.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    /// The pages of this number, in place of failures.
    pub error_pages: Option<usize>,
    /// Content is encoded for those who take it.
    pub compression: Option<Arc<AnswerCompression>>,
}
