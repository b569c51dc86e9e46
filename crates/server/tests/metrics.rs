//! Numbers equal the access log: what the log's lines say, added up, is what the meters say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::support::log_writer as support;
use vervet_engine::exchange::Finished;
use vervet_engine::http::status::Status;
use vervet_engine::{Engine, Exchange, Outcome, Response, Service};
use vervet_server::access_log::{Condition, LogPlan, LogSet, LogWriter, NameNumber, RequestInfo};
use vervet_server::admin::Report;
use vervet_server::error_log::{ErrorLog, Level};
use vervet_server::log_sinks::{LogSinks, Target};
use vervet_server::metrics::{CLASSES, Meter, Metrics};
use vervet_testkit::{PATIENCE, RawClient, TempTree};

/// Two sites by the first letter of the path, which answer with the status that the path ends with.
struct Sites {
    writer: LogWriter,
    logs: LogSet,
    names: [NameNumber; 2],
}

impl Service for Sites {
    fn call(&mut self, mut exchange: Exchange<'_>) -> Outcome {
        let mut info = RequestInfo::from_head(exchange.head());
        info.logs = self.logs;
        info.origin.site = match info.path {
            [b'/', b'a', ..] => Some(self.names[0]),
            [b'/', b'b', ..] => Some(self.names[1]),
            _ => None,
        };
        let code = std::str::from_utf8(&info.path[info.path.len() - 3..]).unwrap();
        let status = Status::new(code.parse().unwrap()).unwrap();
        let content = "x".repeat(usize::from(status.code()));
        exchange.set_tag(self.writer.begin(&info));
        if info.path.ends_with(b"/later/500") {
            // Dropped unanswered.
            let (_, outcome) = exchange.later();
            return outcome;
        }
        Outcome::Done(Response::plain(status, content))
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        self.writer.finish(finished);
    }
}

type Numbers = BTreeMap<(String, String), u64>;

/// Requests and bytes by site and class, added up from the lines of a log.
fn of_log(path: &Path) -> (Numbers, BTreeMap<String, (u64, u64)>) {
    let (mut requests, mut others) = (Numbers::new(), BTreeMap::new());
    for line in fs::read_to_string(path).unwrap().lines() {
        let words: Vec<_> = line.splitn(4, ' ').collect();
        let site = if words[0] == "-" { "" } else { words[0] };
        let class = format!("{}xx", &words[1][..1]);
        *requests.entry((site.to_owned(), class)).or_default() += 1;
        let (bytes, faults) = others.entry(site.to_owned()).or_default();
        *bytes += words[2].parse::<u64>().unwrap();
        *faults += u64::from(words[3] != "-");
    }
    (requests, others)
}

fn of_meters(metrics: &Metrics) -> (Numbers, BTreeMap<String, (u64, u64)>) {
    let (mut requests, mut others) = (Numbers::new(), BTreeMap::new());
    for site in metrics.sites() {
        for (class, durations) in CLASSES.iter().zip(&site.durations) {
            if durations.count() > 0 {
                requests.insert((site.site.to_string(), (*class).to_owned()), durations.count());
            }
        }
        others.insert(site.site.to_string(), (site.content_bytes, site.faults));
    }
    (requests, others)
}

#[test]
fn meters_say_what_the_access_log_says() {
    let tree = TempTree::new();
    let path = tree.join("log");
    let logs = LogSinks::new(|notice| panic!("{notice:?}"));
    let mut plan = LogPlan::new();
    let sink = logs.open(&Target::file(&path)).unwrap();
    let format = "{site} {status} {bytes} {fault}".parse().unwrap();
    let log = plan.add_log(format, Condition::default(), sink.clone());
    let log_set = plan.log_set(log.as_slice());
    plan.set_refused(log_set);
    let names = [plan.add_site("alpha"), plan.add_site("beta")];
    let (plan, metrics) = (Arc::new(plan), Metrics::new());
    let meters = metrics.clone();
    let running = Engine::builder()
        .listen("127.0.0.1:0")
        .unwrap()
        .workers(2)
        .start(move |_| Sites {
            writer: LogWriter::with_meter(&plan, meters.meter()),
            logs: log_set,
            names,
        })
        .unwrap();

    let address = running.address().unwrap();
    for round in 0..10 {
        let mut client = RawClient::connect(address);
        for path in ["/a/200", "/b/404", "/a/304", "/c/200", "/b/later/500", "/a/503"] {
            client.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").repeat(round + 1));
            for _ in 0..=round {
                client.read_response();
            }
        }
        client.send("GET /a/200 HTTP/1.1\r\n\r\n");
        assert_eq!(client.read_response().status, 400);
    }
    running.control().drain(5000);
    let control = running.control();
    running.wait().unwrap();
    let errors = ErrorLog::new(&sink, Level::Error);
    let report = Report::collect(&control, &metrics, &logs, &errors);
    let totals = report.engine;
    assert_eq!(report.sites, metrics.sites());
    assert_eq!((report.reactor_connections.len(), report.logs.len()), (2, 1));
    logs.finish(PATIENCE);

    let (requests, others) = of_meters(&metrics);
    assert_eq!((requests.clone(), others), of_log(&path));
    assert_eq!(requests.values().sum::<u64>(), 6 * 55 + 10);
    assert_eq!(totals.responses.iter().sum::<u64>(), 6 * 55 + 10);
    assert_eq!(requests[&("alpha".to_owned(), "2xx".to_owned())], 55);
    assert_eq!(requests[&(String::new(), "4xx".to_owned())], 10);
}

#[test]
fn what_has_no_line_is_counted_all_the_same() {
    let mut plan = LogPlan::new();
    let site = plan.add_site("quiet");
    let metrics = Metrics::new();
    let meter: Meter = metrics.meter();
    let mut writer = LogWriter::with_meter(&Arc::new(plan), meter);
    support::Ended::default().log(&mut writer, |info| info.origin.site = Some(site));
    let sites = metrics.sites();
    assert_eq!((&*sites[1].site, sites[1].requests()), ("quiet", 1));
}
