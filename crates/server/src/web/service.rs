//! The service of one reactor: from a request to its site, on its way to a handler, and back.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;

use vervet_engine::exchange::{Admit, Finished};
use vervet_engine::listener::Endpoint;
use vervet_engine::reactor::Now;
use vervet_engine::{Exchange, Outcome, Service};
use vervet_http::h1::RequestHead;
use vervet_http::method::Method;
use vervet_http::status::Status;
use vervet_http::target::{NormalPath, RequestTarget, Scheme, TargetMethod};

use super::edits::Edits;
use super::filter::Verdict;
use super::finishing::Finishing;
use super::reactor_stage::ReactorStage;
use super::request::Request;
use super::stage::{ListenerStage, Passage, SiteStage, Stage};
use super::stages::Stages;
use super::way::{End, Way};
use crate::access_log::{LogWriter, RequestIds, RequestInfo};
use crate::actions::{REWRITES_MAX, too_many_rewrites};
use crate::error_log::Level;
use crate::matching::Captures;
use crate::metrics::Meter;
use crate::response::error_answer;
use crate::trace::Trace;

/// The sites of a server on one reactor.
pub struct Web {
    stages: Stages,
    pub(super) current: Rc<ReactorStage>,
    pub(super) scribe: Rc<RefCell<LogWriter>>,
    pub(super) ids: RequestIds,
    /// What filters hold for the exchanges under way, by tag.
    held: Vec<Held>,
    /// Traces of the exchanges under way, by tag; none unless somebody asked for them.
    traces: HashMap<u32, Rc<Trace>>,
}

/// Where a request is to be answered.
type Found<'s> = (&'s ListenerStage, &'s SiteStage);

type Traced = Option<Rc<Trace>>;

type Held = Vec<Box<dyn Any + Send>>;

impl Web {
    /// What serves the newest stage, on the thread of a reactor, which counts what it answers.
    pub fn new(stages: &Stages, meter: Meter) -> Self {
        let current = ReactorStage::new(stages.newest());
        Self {
            stages: stages.clone(),
            scribe: Rc::new(RefCell::new(LogWriter::with_meter(
                &current.stage.logs,
                meter,
            ))),
            ids: RequestIds::new(),
            current: Rc::new(current),
            held: Vec::new(),
            traces: HashMap::new(),
        }
    }

    /// Begins the line in the log, and keeps what filters hold until the exchange has ended.
    fn begin(&mut self, exchange: &mut Exchange<'_>, facts: &RequestInfo<'_>, held: Held) -> u32 {
        let tag = self.scribe.borrow_mut().begin(facts);
        exchange.set_tag(tag);
        if !held.is_empty() {
            let index = tag as usize;
            if index >= self.held.len() {
                self.held.resize_with(index + 1, Vec::new);
            }
            self.held[index] = held;
        }
        tag
    }

    /// Answers what is no request that a site could be asked.
    fn refuse(&mut self, mut exchange: Exchange<'_>, status: Status, trace: Traced) -> Outcome {
        let facts = RequestInfo {
            logs: self.current.stage.logs.refused(),
            connection_requests: Some(u64::from(exchange.connection_requests())),
            ..RequestInfo::from_head(exchange.head())
        };
        let tag = self.begin(&mut exchange, &facts, Vec::new());
        if let Some(trace) = trace {
            trace.step(format_args!("no site: {}", status.code()));
            self.traces.insert(tag, trace);
        }
        Outcome::Done(error_answer(status, &self.current.stage.server))
    }

    /// Tells the trace of a request that has ended.
    fn end_trace(&mut self, finished: &Finished<'_>) {
        let trace = finished.tag.and_then(|tag| self.traces.remove(&tag));
        if let Some(trace) = trace {
            let (status, bytes) = (finished.status.code(), finished.content_bytes);
            match finished.fault {
                None => trace.step(format_args!("ended: {status}, {bytes} bytes of content")),
                Some(fault) => trace.step(format_args!(
                    "broken off: {status}, {bytes} bytes of content: {fault}"
                )),
            }
            self.tell(&trace);
        }
    }

    fn tell(&self, trace: &Trace) {
        let stage = &self.current.stage;
        if let (Some(tracer), Some(log)) = (&stage.tracer, &stage.error_log) {
            log.write_trace(&trace.lines(tracer.number()));
        }
    }

    /// Tells who made the routes that they lead nowhere.
    fn tell_circle(&self, request: &Request<'_>) {
        if let Some(log) = &self.current.stage.error_log {
            let path = request.raw_path.escape_ascii();
            let text = format_args!(
                "routes lead in a circle: rewritten {REWRITES_MAX} times and not answered, last as {path}"
            );
            log.write(Level::Error, "routing", text);
        }
    }

    /// Sends a request on its way through its site.
    fn send<'r>(
        &mut self,
        mut exchange: Exchange<'_>,
        request: &mut Request<'r>,
        ((listener, site), trace): (Found<'r>, Traced),
        current: &ReactorStage,
    ) -> Outcome {
        let server = &*current.stage.server;
        let mut edits = Edits::default();
        let (end, passage) = Way {
            site,
            server,
            request,
            edits: &mut edits,
            names: &current.stage.logs,
            trace: trace.as_deref(),
        }
        .go();
        let trace = trace.filter(|trace| current.stage.wants(trace, request.client));
        if let End::Verdict(Verdict::Suspend(job)) = end {
            trace.inspect(|trace| self.tell(trace));
            let (resume, outcome) = exchange.suspend();
            job(resume);
            return outcome;
        }
        let held = std::mem::take(&mut request.held);
        let number = exchange.connection_requests();
        let tag = self.begin(
            &mut exchange,
            &facts(request, passage, listener, number),
            held,
        );
        if let Some(trace) = &trace {
            self.traces.insert(tag, Rc::clone(trace));
        }
        let needs_heads = current.stage.logs.needs().responses;
        let told = needs_heads.then(|| (Rc::clone(&self.scribe), tag));
        let place = (&passage.finish, current);
        let finishing = Finishing::new(request, &exchange, (edits, told), place);
        let mut finishing = finishing.traced(trace.as_ref());
        if finishing.has_error_pages()
            && let End::Action(action) = end
            && current.stage.has_own_content(action)
        {
            finishing = finishing.without_error_pages();
        }
        if finishing.touches_every_answer() {
            exchange.hold_answer();
        }
        let outcome = match end {
            End::Verdict(Verdict::Answer(response)) => Outcome::Done(response),
            End::Circle => {
                self.tell_circle(request);
                Outcome::Done(too_many_rewrites(server))
            }
            End::Verdict(_) => {
                exchange.close_after();
                Outcome::Done(error_answer(Status::FORBIDDEN, server))
            }
            End::Action(action) => act(action, (request, exchange), (current, trace.as_ref())),
        };
        finishing.finish(outcome)
    }
}

impl Service for Web {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        if let Some(direct) = self.direct(&exchange) {
            return self.answer_directly(direct, exchange);
        }
        let current = Rc::clone(&self.current);
        let head = exchange.head();
        let mut request = match open(head, &exchange) {
            Ok(request) => request,
            Err(status) => return self.refuse(exchange, status, None),
        };
        let tracer = current.stage.tracer.as_ref();
        let trace = tracer.and_then(|tracer| tracer.begin(&request));
        if current.stage.needs_request_ids {
            request.request_id = Some(self.ids.next_id());
        }
        match site(&current.stage, exchange.listener(), &request.host) {
            Some(found) => {
                if let Some(trace) = &trace {
                    tell_site(trace, &current.stage, found);
                }
                self.send(exchange, &mut request, (found, trace), &current)
            }
            None => self.refuse(exchange, Status::NOT_FOUND, trace),
        }
    }

    fn admit(&mut self, peer: Option<SocketAddr>, listener: &Endpoint) -> Admit {
        let stage = &self.current.stage;
        let address = peer.map(|peer| peer.ip());
        let listener = stage.listeners.get(&listener.key());
        let is_welcome = listener
            .and_then(|listener| listener.access.as_ref())
            .is_none_or(|access| access.admit(address));
        if is_welcome && !stage.blocks.turns_away(address, Now::read()) {
            Admit::Accept
        } else {
            Admit::Close
        }
    }

    fn refresh(&mut self) {
        let next = self.current.followed_by(self.stages.newest());
        self.scribe.borrow_mut().set_plan(&next.stage.logs);
        self.current = Rc::new(next);
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        self.scribe.borrow_mut().finish(finished);
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

/// Lets an action answer.
fn act(
    action: usize,
    (request, exchange): (&Request<'_>, Exchange<'_>),
    (current, trace): (&ReactorStage, Option<&Rc<Trace>>),
) -> Outcome {
    let outcome = Trace::present(trace, || {
        current.act(action, |handler| handler.answer(request, exchange))
    });
    let server = &current.stage.server;
    let failed = || Outcome::Done(error_answer(Status::INTERNAL_SERVER_ERROR, server));
    let outcome = outcome.unwrap_or_else(failed);
    if let Some(trace) = trace {
        let name = current.stage.action_name(action);
        let when = match outcome {
            Outcome::Later(_) => "answers later",
            _ => "answers",
        };
        trace.step(format_args!("action {name}: {when}"));
    }
    outcome
}

/// What a head says, before a site is known.
fn open<'r>(head: &'r RequestHead<'r>, exchange: &Exchange<'r>) -> Result<Request<'r>, Status> {
    let form = match head.method {
        // A tunnel to somewhere else is not what a server of sites is for.
        Method::Connect => return Err(Status::NOT_IMPLEMENTED),
        Method::Options => TargetMethod::Options,
        _ => TargetMethod::Other,
    };
    let target = RequestTarget::parse(head.target, form).map_err(|_| Status::BAD_REQUEST)?;
    let raw_path = target.raw_path().unwrap_or(b"/");
    let path = match raw_path {
        b"*" => Cow::Borrowed(raw_path),
        _ => NormalPath::decode(raw_path)
            .map_err(|_| Status::BAD_REQUEST)?
            .into_bytes(),
    };
    let host = match target.authority() {
        // RFC 9112 §3.2.2: it outranks the Host field.
        Some(authority) => authority.host(),
        None => without_port(head.host().unwrap_or_default()),
    };
    Ok(Request {
        head,
        raw_path: Cow::Borrowed(raw_path),
        path,
        query: target.raw_query().map(Cow::Borrowed),
        host: lower_case(host),
        peer: exchange.peer(),
        client: exchange.peer().map(|peer| peer.ip().to_canonical()),
        scheme: Scheme::Http,
        captures: Captures::default(),
        rest: None,
        request_id: None,
        resumed: exchange.resumed(),
        user: None,
        held: Vec::new(),
        now: exchange.now(),
    })
}

/// The host of a valid Host field.
pub(super) fn without_port(host: &[u8]) -> &[u8] {
    let digits = host
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    match host[..host.len() - digits].strip_suffix(b":") {
        Some(name) => name,
        None => host,
    }
}

pub(super) fn lower_case(host: &[u8]) -> Cow<'_, [u8]> {
    if host.iter().any(u8::is_ascii_uppercase) {
        Cow::Owned(host.to_ascii_lowercase())
    } else {
        Cow::Borrowed(host)
    }
}

/// Tells whoever traces a request where it has come to.
fn tell_site(trace: &Trace, stage: &Stage, (listener, site): Found<'_>) {
    let name = stage.logs.site_name(site.passage.origin).unwrap_or("?");
    trace.step(format_args!("site {name}, by listener {}", listener.name));
}

fn site<'s>(stage: &'s Stage, listener: &Endpoint, host: &[u8]) -> Option<Found<'s>> {
    let listener = stage.listeners.get(&listener.key())?;
    let site = stage.sites.get(listener.hosts.site(host)?)?;
    Some((listener, site))
}

fn facts<'f>(
    request: &'f Request<'_>,
    passage: &Passage,
    listener: &'f ListenerStage,
    connection_requests: u32,
) -> RequestInfo<'f> {
    RequestInfo {
        head: request.head,
        path: &request.path,
        query: request.query.as_deref(),
        host: &request.host,
        scheme: match request.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        },
        listener: &listener.name,
        client: request.client,
        user: request.user.as_deref().map(str::as_bytes),
        request_id: request.request_id,
        connection_requests: Some(u64::from(connection_requests)),
        origin: passage.origin,
        logs: passage.logs,
    }
}
