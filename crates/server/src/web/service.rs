//! The service of one reactor: every request from its head to its answer, its line in the log and
//! its trace.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use vervet_engine::exchange::{Admit, Finished};
use vervet_engine::listener::Endpoint;
use vervet_engine::reactor::Now;
use vervet_engine::{Exchange, Outcome, Service};
use vervet_http::status::Status;

use super::action::ReactorStage;
use super::edits::Edits;
use super::finisher::{Encoder, Finisher, ResponseLog};
use super::request::{ParsedTarget, Request};
use super::rewrite::REWRITES_MAX;
use super::routing::{Router, Terminal};
use super::stage::{ListenerStage, Pipeline, Stage, Stages};
use super::unrouted::too_many_rewrites;
use crate::access_log::{LogWriter, RequestIds, RequestInfo};
use crate::compression::AcceptedCodings;
use crate::error_log::Level;
use crate::metrics::Meter;
use crate::response::error_answer;
use crate::trace::Trace;

/// The sites of a server on one reactor.
pub struct Web {
    stages: Stages,
    current: Rc<ReactorStage>,
    log: Rc<RefCell<LogWriter>>,
    ids: RequestIds,
    /// What filters hold for the exchanges under way, by tag.
    held: Vec<Held>,
    /// Traces of the exchanges under way, by tag; empty unless tracing is on.
    traces: HashMap<u32, Trace>,
}

type Held = Vec<Box<dyn Any + Send>>;

impl Service for Web {
    fn call(&mut self, mut exchange: Exchange<'_>) -> Outcome {
        let current = Rc::clone(&self.current);
        let stage = &*current.stage;
        let target = match ParsedTarget::parse(exchange.head()) {
            Ok(target) => target,
            Err(status) => return self.refuse(exchange, status, &Trace::OFF),
        };
        let mut request = Request::new(&exchange, target);
        let trace = stage.begin_trace(&request);
        if stage.needs_request_ids {
            request.request_id = Some(self.ids.next_id());
        }
        let Some(site) = stage.site(exchange.listener(), request.host.as_sent()) else {
            return self.refuse(exchange, Status::NOT_FOUND, &trace);
        };
        trace.step(|| stage.describe(site));

        let mut edits = Edits::default();
        let router = Router { site: site.stage, stage, trace: &trace };
        let (terminal, pipeline) = router.route(&mut request, &mut edits);
        let trace = stage.confirm_trace(&trace, &request);
        if let Terminal::Suspend(job) = terminal {
            stage.write_trace(&trace);
            let (resume, outcome) = exchange.suspend();
            job(resume);
            return outcome;
        }

        if stage.records_requests || !request.held.is_empty() || trace.is_on() {
            let held = std::mem::take(&mut request.held);
            let connection_requests = exchange.connection_requests();
            let info = request_info(&request, pipeline, site.listener, connection_requests);
            self.begin(&mut exchange, &info, held, &trace);
        }
        let answered =
            RoutedRequest { request: &request, pipeline, terminal: &terminal, trace: &trace };
        let finisher = self.finisher(&answered, edits, &exchange);
        if finisher.as_ref().is_some_and(Finisher::touches_every_response) {
            exchange.hold_answer();
        }
        let outcome = answer(terminal, &request, exchange, &current, &trace);
        match finisher {
            Some(finisher) => finisher.finish(outcome),
            None => outcome,
        }
    }

    fn admit(&mut self, peer: Option<SocketAddr>, listener: &Endpoint) -> Admit {
        let stage = &self.current.stage;
        let (address, now) = (peer.map(|peer| peer.ip()), Now::read());
        let own = stage.listeners.get(&listener.key());
        let own = own.into_iter().flat_map(|own| &own.connection_filters);
        let mut filters = own.chain(&stage.connection_filters);
        if filters.all(|filter| filter.accepts(address, now)) {
            Admit::Accept
        } else {
            Admit::Close
        }
    }

    fn refresh(&mut self) {
        let next = self.current.followed_by(self.stages.newest());
        self.log.borrow_mut().set_plan(&next.stage.logs);
        self.current = Rc::new(next);
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        self.log.borrow_mut().finish(finished);
        if let Some(log) = &self.current.stage.error_log {
            log.write_fault(finished);
        }
        if !self.traces.is_empty() {
            self.end_trace(finished);
        }
        if let Some(held) = finished.tag.and_then(|tag| self.held.get_mut(tag as usize)) {
            held.clear();
        }
    }
}

impl Web {
    /// Serves the newest stage on the thread of a reactor. `meter` counts the answers.
    pub fn new(stages: &Stages, meter: Meter) -> Self {
        let current = ReactorStage::new(stages.newest());
        Self {
            stages: stages.clone(),
            log: Rc::new(RefCell::new(LogWriter::with_meter(&current.stage.logs, meter))),
            ids: RequestIds::new(),
            current: Rc::new(current),
            held: Vec::new(),
            traces: HashMap::new(),
        }
    }

    /// What is to be done to the response; `None` if nothing is.
    #[inline]
    fn finisher(
        &self,
        routed: &RoutedRequest<'_, '_>,
        edits: Edits,
        exchange: &Exchange<'_>,
    ) -> Option<Finisher> {
        let stage = &*self.current.stage;
        let finish = &routed.pipeline.finish;
        let log = exchange.tag().filter(|_| stage.logs.needs().responses);
        if finish.is_empty() && edits.is_empty() && log.is_none() && !routed.trace.is_on() {
            return None;
        }
        Some(Finisher {
            error_pages: finish
                .error_pages
                .filter(|_| !stage.has_own_content(routed.terminal))
                .and_then(|number| self.current.error_pages(number)),
            edits,
            encoder: finish.compression.as_ref().map(|compression| Encoder {
                compression: Arc::clone(compression),
                accepted: AcceptedCodings::from_head(routed.request.head),
                piping: exchange.pipe_factory(),
            }),
            log: log.map(|tag| ResponseLog { writer: Rc::clone(&self.log), tag }),
            trace: routed.trace.clone(),
            now: routed.request.now,
        })
    }

    /// Answers a request that is for none of the sites.
    fn refuse(&mut self, mut exchange: Exchange<'_>, status: Status, trace: &Trace) -> Outcome {
        let info = RequestInfo {
            logs: self.current.stage.logs.refused(),
            connection_requests: Some(u64::from(exchange.connection_requests())),
            ..RequestInfo::from_head(exchange.head())
        };
        trace.step(|| format!("no site: {}", status.code()));
        self.begin(&mut exchange, &info, Vec::new(), trace);
        Outcome::Done(error_answer(status, &self.current.stage.server))
    }

    /// Begins the line in the log, and keeps what filters hold, and the trace, until the exchange
    /// has ended.
    fn begin(
        &mut self,
        exchange: &mut Exchange<'_>,
        info: &RequestInfo<'_>,
        held: Held,
        trace: &Trace,
    ) {
        let tag = self.log.borrow_mut().begin(info);
        exchange.set_tag(tag);
        if !held.is_empty() {
            let index = tag as usize;
            if index >= self.held.len() {
                self.held.resize_with(index + 1, Vec::new);
            }
            self.held[index] = held;
        }
        if trace.is_on() {
            self.traces.insert(tag, trace.clone());
        }
    }

    /// Writes the trace of an exchange that has ended.
    fn end_trace(&mut self, finished: &Finished<'_>) {
        let Some(trace) = finished.tag.and_then(|tag| self.traces.remove(&tag)) else {
            return;
        };
        let (status, bytes) = (finished.status.code(), finished.content_bytes);
        trace.step(|| match finished.fault {
            None => format!("ended: {status}, {bytes} bytes of content"),
            Some(fault) => format!("aborted: {status}, {bytes} bytes of content: {fault}"),
        });
        self.current.stage.write_trace(&trace);
    }
}

/// A request whose route is known.
struct RoutedRequest<'r, 'a> {
    request: &'r Request<'a>,
    pipeline: &'r Pipeline,
    terminal: &'r Terminal,
    trace: &'r Trace,
}

/// Answers a request by its terminal.
#[inline]
fn answer(
    terminal: Terminal,
    request: &Request<'_>,
    mut exchange: Exchange<'_>,
    current: &ReactorStage,
    trace: &Trace,
) -> Outcome {
    let stage = &*current.stage;
    match terminal {
        Terminal::Action(action) => {
            let entered = trace.enter();
            let outcome = current.run_action(action, request, exchange);
            drop(entered);
            trace.step(|| {
                let later = matches!(outcome, Outcome::Later(_));
                let when = if later { "answers later" } else { "answers" };
                format!("action {}: {when}", stage.action_name(action))
            });
            outcome
        }
        Terminal::Response(response) => Outcome::Done(response),
        Terminal::RewriteLoop => {
            log_rewrite_loop(stage, request);
            Outcome::Done(too_many_rewrites(&stage.server))
        }
        Terminal::Close | Terminal::Suspend(_) => {
            exchange.close_after();
            Outcome::Done(error_answer(Status::FORBIDDEN, &stage.server))
        }
    }
}

/// Logs that the routes of a site rewrite a request to each other.
fn log_rewrite_loop(stage: &Stage, request: &Request<'_>) {
    if let Some(log) = &stage.error_log {
        let path = request.raw_path.escape_ascii();
        let text = format_args!(
            "routes lead in a circle: rewritten {REWRITES_MAX} times and not answered, last as {path}"
        );
        log.write(Level::Error, "routing", text);
    }
}

/// What the access log needs to know of a request.
fn request_info<'f>(
    request: &'f Request<'_>,
    pipeline: &Pipeline,
    listener: &'f ListenerStage,
    connection_requests: u32,
) -> RequestInfo<'f> {
    RequestInfo {
        head: request.head,
        path: &request.path,
        query: request.query.as_deref(),
        host: request.host.as_sent(),
        scheme: request.scheme_name(),
        listener: &listener.name,
        client: request.client(),
        user: request.user.as_deref().map(str::as_bytes),
        request_id: request.request_id,
        connection_requests: Some(u64::from(connection_requests)),
        origin: pipeline.origin,
        logs: pipeline.logs,
    }
}
