//! Filters at work in an engine: a service that asks them in turn and answers with what they
//! have found out.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use vervet_engine::exchange::Finished;
use vervet_engine::http::target::{NormalPath, RequestTarget, Scheme};
use vervet_engine::listener::Endpoint;
use vervet_engine::{Admit, Exchange, Outcome, Response, Service};
use vervet_server::filters::access::AccessRules;
use vervet_server::filters::blocks::Blocks;
use vervet_server::matching::Captures;
use vervet_server::web::{Edits, Request, RequestFilter, Verdict};

/// What answers a request that all filters let pass.
pub type Answer = dyn Fn(&Request<'_>, Exchange<'_>) -> Outcome + Send + Sync;

/// What all reactors share.
#[derive(Clone)]
pub struct Plan {
    pub access: Arc<AccessRules>,
    pub blocks: Arc<Blocks>,
    pub filters: Vec<Arc<dyn RequestFilter>>,
    pub answer: Arc<Answer>,
}

impl Plan {
    /// These filters before an answer that names client, user and scheme.
    pub fn of(filters: Vec<Arc<dyn RequestFilter>>) -> Self {
        Self {
            access: Arc::new(AccessRules::new(&[], None)),
            blocks: Arc::default(),
            filters,
            answer: Arc::new(|request, _| Response::text(found(request)).into()),
        }
    }
}

fn found(request: &Request<'_>) -> String {
    let client = request.client().map_or("unix".to_owned(), |client| client.to_string());
    let user = request.user.as_deref().unwrap_or("nobody");
    format!("{client} {user} {:?}\n", request.scheme)
}

/// The filters on one reactor.
pub struct Filtered {
    plan: Plan,
    held: HashMap<u32, Vec<Box<dyn Any + Send>>>,
    next: u32,
}

impl Filtered {
    pub fn new(plan: &Plan) -> Self {
        Self { plan: plan.clone(), held: HashMap::new(), next: 0 }
    }
}

impl Service for Filtered {
    fn admit(&mut self, peer: Option<SocketAddr>, _: &Endpoint) -> Admit {
        let address = peer.map(|peer| peer.ip());
        let now = vervet_engine::reactor::Now::read();
        if self.plan.access.admit(address) && !self.plan.blocks.turns_away(address, now) {
            Admit::Accept
        } else {
            Admit::Close
        }
    }

    fn call(&mut self, mut exchange: Exchange<'_>) -> Outcome {
        let head = exchange.head();
        let target = RequestTarget::parse(head.target, head.method).unwrap();
        let raw_path = target.raw_path().unwrap();
        let path = NormalPath::decode(raw_path).unwrap();
        let mut request = Request {
            head,
            raw_path: Cow::Borrowed(raw_path),
            path: Cow::Borrowed(path.as_bytes()),
            query: target.raw_query().map(Cow::Borrowed),
            host: vervet_server::web::HostName::new(head.host().unwrap_or_default()),
            peer: exchange.peer(),
            forwarded_client: None,
            captures: Captures::default(),
            rest_at: None,
            request_id: None,
            resumed: exchange.resumed(),
            user: None,
            scheme: Scheme::Http,
            held: Vec::new(),
            now: exchange.now(),
        };
        let mut edits = Edits::default();
        for filter in &self.plan.filters {
            match filter.check(&mut request, &mut edits) {
                Verdict::Pass => {}
                Verdict::Answer(response) => return edits.apply(response).into(),
                Verdict::Close => {
                    return Response::new(vervet_engine::http::status::Status::FORBIDDEN).into();
                }
                Verdict::Suspend(work) => {
                    let (resume, outcome) = exchange.suspend();
                    work(resume);
                    return outcome;
                }
            }
        }
        let places = std::mem::take(&mut request.held);
        if !places.is_empty() {
            self.next += 1;
            exchange.set_tag(self.next);
            self.held.insert(self.next, places);
        }
        match (self.plan.answer)(&request, exchange) {
            Outcome::Done(response) => edits.apply(response).into(),
            later => later,
        }
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        if let Some(tag) = finished.tag {
            self.held.remove(&tag);
        }
    }
}
