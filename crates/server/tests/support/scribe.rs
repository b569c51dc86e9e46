//! Requests that reach a scribe without a socket, so that a line can be compared to the letter.

#![allow(dead_code)] // each test file uses what it needs

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use vervet_engine::exchange::Finished;
use vervet_engine::http::field::FieldSlots;
use vervet_engine::http::h1::{HeadLimits, Received, Server};
use vervet_engine::http::status::Status;
use vervet_engine::reactor::Now;
use vervet_server::access_log::{
    Choice, Condition, LogPlan, Logs, Outlet, RequestFacts, Scribe, Target,
};

/// 2026-11-21 19:30:00 UTC.
pub(crate) const SECOND: u64 = 1_795_289_400;

/// A request without fields of note, and how its exchange ends.
pub(crate) struct Ended<'a> {
    pub(crate) request: &'a str,
    pub(crate) response: &'a str,
    pub(crate) status: u16,
    pub(crate) duration_ms: u64,
    pub(crate) peer: Option<&'a str>,
    pub(crate) fault: Option<&'a str>,
}

impl Default for Ended<'_> {
    fn default() -> Self {
        Self {
            request: "GET /a.txt?b=%20c HTTP/1.1\r\nHost: example.org\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\n",
            status: 200,
            duration_ms: 7,
            peer: Some("192.0.2.9:4711"),
            fault: None,
        }
    }
}

impl Ended<'_> {
    pub(crate) fn finished(&self, tag: Option<u32>) -> Finished<'_> {
        Finished {
            tag,
            status: Status::new(self.status).unwrap(),
            content_bytes: 13,
            duration_ms: self.duration_ms,
            peer: self.peer.map(|peer| peer.parse::<SocketAddr>().unwrap()),
            now: Now {
                monotonic_ms: Now::read().monotonic_ms,
                unix_seconds: SECOND,
            },
            fault: self.fault,
        }
    }

    /// Lets a scribe write the lines of it; `fill` says what the server has found out.
    pub(crate) fn log(&self, scribe: &mut Scribe, fill: impl FnOnce(&mut RequestFacts<'_>)) {
        let tag = with_head(self.request, |facts| {
            fill(facts);
            scribe.begin(facts)
        });
        scribe.respond(tag, self.response.as_bytes());
        scribe.finish(&self.finished(Some(tag)));
    }
}

/// Reads a request and gives what its head tells.
pub(crate) fn with_head<T>(request: &str, take: impl FnOnce(&mut RequestFacts<'_>) -> T) -> T {
    let limits = HeadLimits {
        head_bytes_max: 65_536,
        fields_max: 100,
        target_bytes_max: 32_768,
        trailer_bytes_max: 0,
    };
    let mut slots = FieldSlots::new();
    match Server::new().receive(request.as_bytes(), &mut slots, &limits) {
        Ok(Received::Head { head, .. }) => take(&mut RequestFacts::of_head(&head)),
        other => panic!("{other:?}"),
    }
}

/// Targets whose notices end the test: nothing is to go wrong.
pub(crate) fn logs() -> Logs {
    Logs::new(|notice| panic!("{notice:?}"))
}

/// A plan with one log of this format, to memory.
pub(crate) fn memory_plan(format: &str, condition: Condition) -> (Logs, Outlet, LogPlan, Choice) {
    let logs = logs();
    let outlet = logs.open(&Target::Memory).unwrap();
    let mut plan = LogPlan::new();
    let log = plan.add_log(format.parse().unwrap(), condition, outlet.clone());
    let choice = plan.choice(log.as_slice());
    plan.set_refused(choice);
    (logs, outlet, plan, choice)
}

/// Waits for what is written to memory.
pub(crate) fn written(logs: &Logs, outlet: &Outlet) -> Vec<String> {
    for (target, drops) in logs.finish(Duration::from_secs(20)) {
        assert_eq!(drops.lines, 0, "{target}");
    }
    outlet.recent()
}

/// The line of one exchange in a format.
pub(crate) fn line(
    format: &str,
    ended: &Ended<'_>,
    fill: impl FnOnce(&mut RequestFacts<'_>),
) -> String {
    let (logs, outlet, mut plan, choice) = memory_plan(format, Condition::default());
    let (site, route) = (plan.add_site("shop \"1\""), plan.add_route("/a*"));
    let mut scribe = Scribe::new(&Arc::new(plan));
    ended.log(&mut scribe, |facts| {
        facts.logs = choice;
        facts.origin.site = Some(site);
        facts.origin.route = Some(route);
        fill(facts);
    });
    let lines = written(&logs, &outlet);
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.into_iter().next().unwrap()
}

pub(crate) fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}
