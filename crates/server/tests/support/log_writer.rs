//! Requests that reach a log writer without a socket, so that lines can be compared exactly.

#![allow(dead_code)] // each test file uses what it needs

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use vervet_config::{Span, read_text};
use vervet_engine::exchange::Finished;
use vervet_engine::http::field::FieldSlots;
use vervet_engine::http::h1::{HeadLimits, Received, Server};
use vervet_engine::http::status::Status;
use vervet_engine::reactor::Now;
use vervet_server::access_log::{Condition, LogPlan, LogSet, LogSettings, LogWriter, RequestInfo};
use vervet_server::log_sinks::{LogSink, LogSinks, Target};

/// 2026-11-21 19:30:00 UTC.
pub(crate) const SECOND: u64 = 1_795_289_400;

/// A simple request, and how its exchange ends.
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
            now: Now { monotonic_ms: Now::read().monotonic_ms, unix_seconds: SECOND },
            fault: self.fault,
        }
    }

    /// Writes its lines; `fill` sets what the server knows of the request.
    pub(crate) fn log(&self, writer: &mut LogWriter, fill: impl FnOnce(&mut RequestInfo<'_>)) {
        let tag = with_head(self.request, |info| {
            fill(info);
            writer.begin(info)
        });
        writer.record_response(tag, self.response.as_bytes());
        writer.finish(&self.finished(Some(tag)));
    }
}

/// Parses a request and passes what its head says to `take`.
pub(crate) fn with_head<T>(request: &str, take: impl FnOnce(&mut RequestInfo<'_>) -> T) -> T {
    let limits = HeadLimits {
        head_bytes_max: 65_536,
        fields_max: 100,
        target_bytes_max: 32_768,
        trailer_bytes_max: 0,
    };
    let mut slots = FieldSlots::new();
    match Server::new().receive(request.as_bytes(), &mut slots, &limits) {
        Ok(Received::Head { head, .. }) => take(&mut RequestInfo::from_head(&head)),
        other => panic!("{other:?}"),
    }
}

/// Sinks whose notices fail the test.
pub(crate) fn logs() -> LogSinks {
    LogSinks::new(|notice| panic!("{notice:?}"))
}

/// The target of a log with these directives.
pub(crate) fn target(directives: &str) -> Target {
    let settings = read_text::<LogSettings>("vervet.toml", directives).value;
    settings.unwrap().target(Span::NOWHERE, None).unwrap()
}

/// A plan with one log of this format, to memory.
pub(crate) fn memory_plan(
    format: &str,
    condition: Condition,
) -> (LogSinks, LogSink, LogPlan, LogSet) {
    let logs = logs();
    let sink = logs.open(&Target::Memory).unwrap();
    let mut plan = LogPlan::new();
    let log = plan.add_log(format.parse().unwrap(), condition, sink.clone());
    let log_set = plan.log_set(log.as_slice());
    plan.set_refused(log_set);
    (logs, sink, plan, log_set)
}

/// Waits for the lines in memory.
pub(crate) fn written(logs: &LogSinks, sink: &LogSink) -> Vec<String> {
    for (target, drops) in logs.finish(Duration::from_secs(20)) {
        assert_eq!(drops.lines, 0, "{target}");
    }
    sink.recent()
}

/// The line of one exchange in a format.
pub(crate) fn line(
    format: &str,
    ended: &Ended<'_>,
    fill: impl FnOnce(&mut RequestInfo<'_>),
) -> String {
    let (logs, sink, mut plan, log_set) = memory_plan(format, Condition::default());
    let (site, route) = (plan.add_site("shop \"1\""), plan.add_route("/a*"));
    let mut writer = LogWriter::new(&Arc::new(plan));
    ended.log(&mut writer, |info| {
        info.logs = log_set;
        info.origin.site = Some(site);
        info.origin.route = Some(route);
        fill(info);
    });
    let lines = written(&logs, &sink);
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.into_iter().next().unwrap()
}

pub(crate) fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}
