//! The admin service: its probes, its numbers, its state, whom it answers, and what it refuses.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::support::wire::Wire;
use vervet_config::{read_text, section};
use vervet_engine::Engine;
use vervet_server::admin::{
    Admin, ListenerReport, LogReport, Phase, ProcessReport, Reloads, Report, StatusSource,
};
use vervet_server::caches::CacheReport;
use vervet_server::error_log::Level;
use vervet_server::metrics::SiteTotals;
use vervet_server::settings::AdminSettings;
use vervet_testkit::{Child, PATIENCE, RawClient, Stream, TempTree, find_python, skip};

/// A server that is in the phase of this number.
struct Server(AtomicU8);

impl StatusSource for Server {
    fn phase(&self) -> Phase {
        [Phase::Starting, Phase::Ready, Phase::Draining]
            [usize::from(self.0.load(Ordering::Relaxed))]
    }

    fn report(&self) -> Report {
        let mut site =
            SiteTotals { site: "shop \"1\"\\".into(), content_bytes: 130, ..SiteTotals::default() };
        site.durations[1].buckets[0] = 9;
        site.durations[1].buckets[14] = 1;
        site.durations[1].sum_ms = 20_007;
        let mut report = Report {
            version: "1.2.3",
            phase: self.phase(),
            started_unix: 1_795_289_400,
            uptime_seconds: 61,
            generation: 3,
            reloads: Reloads {
                done: 2,
                refused: 1,
                last_error: Some("vervet.toml:1:1: no".to_owned()),
            },
            process: ProcessReport { id: 42, resident_bytes: 4096, cpu_ms: 1234, descriptors: 9 },
            reactor_connections: vec![2, 3],
            listeners: vec![ListenerReport {
                name: "public".to_owned(),
                address: "[::]:80".to_owned(),
            }],
            sites: vec![SiteTotals::default(), site],
            refused: vec![("rate".to_owned(), 7)],
            caches: vec![CacheReport {
                name: "files",
                hits: 70,
                misses: 30,
                evictions: 20,
                entries: 10,
                bytes: 1000,
                descriptors: 5,
            }],
            logs: vec![LogReport {
                target: "/log/a\nb".to_owned(),
                written: 10,
                dropped: 1,
                reason: Some("no space".to_owned()),
                recent: vec!["a line".to_owned()],
            }],
            events: vec![(Level::Error, 1)],
            recent_events: vec!["oh".to_owned()],
            ..Report::default()
        };
        report.engine.responses[1] = 10;
        report.engine.timeouts.head = 4;
        report
    }
}

fn start() -> (Wire, Arc<Server>) {
    let facts = Arc::new(Server(AtomicU8::new(1)));
    let admin = Admin::new(facts.clone());
    (Wire::start(move |_| admin.clone()), facts)
}

/// The answer to a request line: status and content.
#[track_caller]
fn ask(wire: &Wire, line: &str) -> (u16, String) {
    let mut client = RawClient::connect(wire.address);
    let response = client.exchange(format!("{line} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert_eq!(response.field("cache-control"), Some("no-store"));
    (response.status, response.text().to_owned())
}

#[test]
fn what_is_not_there_or_not_asked_for_is_refused() {
    let (wire, _) = start();
    for path in ["/", "/-/", "/-/livez", "/metrics/", "/-/status/x", "*"] {
        let method = if path == "*" { "OPTIONS" } else { "GET" };
        let status = if path == "*" { 405 } else { 404 };
        assert_eq!(ask(&wire, &format!("{method} {path}")).0, status, "{path}");
    }
    let mut client = RawClient::connect(wire.address);
    let response = client.exchange("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!((response.status, response.field("allow")), (405, Some("GET, HEAD")));
    // The connection goes on.
    client.send("HEAD /-/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let response = client.read_head_response();
    assert_eq!((response.status, response.field("content-length")), (200, Some("5")));
}

#[test]
fn a_page_that_leads_a_name_of_its_own_here_reads_nothing() {
    let (wire, facts) = start();
    let with_host = |wire: &Wire, host: &str| {
        let mut client = RawClient::connect(wire.address);
        client.exchange(format!("GET /-/status HTTP/1.1\r\nHost: {host}\r\n\r\n")).status
    };
    assert_eq!(with_host(&wire, "evil.example:80"), 421);
    assert_eq!(with_host(&wire, "127.0.0.1:80"), 200);
    let exposed = Admin::exposed(facts);
    let wire = Wire::start(move |_| exposed.clone());
    assert_eq!(with_host(&wire, "vervet:80"), 200);
}

#[test]
fn probes_follow_the_phases() {
    let (wire, facts) = start();
    for (phase, live, ready, startup, word) in [
        (0, 200, 503, 503, "starting\n"),
        (1, 200, 200, 200, "ready\n"),
        (2, 200, 503, 200, "draining\n"),
    ] {
        facts.0.store(phase, Ordering::Relaxed);
        assert_eq!(ask(&wire, "GET /-/live"), (live, "live\n".to_owned()));
        assert_eq!(ask(&wire, "GET /-/ready?x"), (ready, word.to_owned()));
        assert_eq!(ask(&wire, "GET /-/startup"), (startup, word.to_owned()));
    }
}

#[test]
fn the_state_is_json() {
    let (wire, _) = start();
    let (status, text) = ask(&wire, "GET /-/status");
    assert_eq!(status, 200);
    let state: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (pointer, expected) in [
        ("/version", "\"1.2.3\""),
        ("/phase", "\"ready\""),
        ("/uptime_seconds", "61"),
        ("/plan_generation", "3"),
        ("/reloads/last_error", "\"vervet.toml:1:1: no\""),
        ("/connections/open", "5"),
        ("/connections/open_by_reactor", "[2,3]"),
        ("/requests/responses/2xx", "10"),
        ("/limits_hit/head_timeout_ms", "4"),
        ("/refused/by/rate", "7"),
        ("/listeners/0", r#"{"address":"[::]:80","name":"public"}"#),
        ("/sites/1/name", r#""shop \"1\"\\""#),
        ("/sites/1/requests", "10"),
        ("/sites/1/duration_ms_sum", "20007"),
        ("/caches/0/hits", "70"),
        ("/caches/0/misses", "30"),
        ("/caches/0/evictions", "20"),
        ("/caches/0/entries", "10"),
        ("/caches/0/bytes", "1000"),
        ("/caches/0/descriptors", "5"),
        ("/logs/0/lines_dropped", "1"),
        ("/logs/0/recent/0", "\"a line\""),
        ("/events/error", "1"),
        ("/recent_events/0", "\"oh\""),
    ] {
        let found = state.pointer(pointer).map(ToString::to_string);
        assert_eq!(found.as_deref(), Some(expected), "{pointer}");
    }
}

/// Reads the text by the reference parser, which is strict, and says what it has found, a sample a
/// line.
const PARSE: &str = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    assert family.documentation, family.name
    for sample in family.samples:
        labels = ','.join(f'{key}={value}' for key, value in sorted(sample.labels.items()))
        print(family.type, sample.name, labels.replace(chr(10), ' '), float(sample.value))
";

#[test]
fn the_numbers_are_read_by_the_parser_of_prometheus() {
    let Some(python) = find_python("prometheus_client") else {
        skip!("needs python3 with prometheus_client (python3-prometheus-client)");
    };
    let (wire, _) = start();
    let mut client = RawClient::connect(wire.address);
    let response = client.exchange("GET /metrics HTTP/1.1\r\nHost: [::1]:9\r\n\r\n");
    assert_eq!(
        response.field("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    let tree = TempTree::new().file("metrics", response.text());
    let file = tree.join("metrics");
    let mut child = Child::start(python, ["-c", PARSE, file.to_str().unwrap()]);
    let is_read = child.wait_exit(PATIENCE).success();
    assert!(is_read, "{}\n{}", child.text(Stream::Stderr), response.text());
    let found = child.text(Stream::Stdout);
    for line in [
        "info vervet_info version=1.2.3 1.0",
        "gauge vervet_ready  1.0",
        "counter vervet_reloads_total result=refused 1.0",
        "counter process_cpu_seconds_total  1.234",
        "gauge vervet_connections_open reactor=1 3.0",
        "counter vervet_connections_timed_out_total limit=head_timeout_ms 4.0",
        "counter vervet_responses_total status=2xx 10.0",
        "histogram http_server_request_duration_seconds_bucket le=0.005,site=shop \"1\"\\,status=2xx 9.0",
        "histogram http_server_request_duration_seconds_bucket le=+Inf,site=shop \"1\"\\,status=2xx 10.0",
        "histogram http_server_request_duration_seconds_count site=shop \"1\"\\,status=2xx 10.0",
        "histogram http_server_request_duration_seconds_sum site=shop \"1\"\\,status=2xx 20.007",
        "counter vervet_site_content_bytes_total site=shop \"1\"\\ 130.0",
        "counter vervet_refused_total by=rate 7.0",
        "counter vervet_cache_hits_total cache=files 70.0",
        "counter vervet_cache_misses_total cache=files 30.0",
        "counter vervet_cache_evictions_total cache=files 20.0",
        "gauge vervet_cache_entries cache=files 10.0",
        "gauge vervet_cache_fds cache=files 5.0",
        "counter vervet_log_lines_dropped_total target=/log/a b 1.0",
        "counter vervet_events_total level=error 1.0",
    ] {
        assert!(found.lines().any(|has| has == line), "{line}\n{found}");
    }
}

section! {
    /// A document with an admin service.
    pub struct Document {
        /// The service.
        pub admin: Option<AdminSettings>,
    }
}

/// What is said of an address, in the line of the document.
#[track_caller]
fn check_address(text: &str, expected: Option<&str>) {
    let reading = read_text::<Document>("vervet.toml", text);
    let found = match &reading.value {
        Some(document) => {
            document.admin.value().as_ref().unwrap().listen().err().map(|one| one.message.clone())
        }
        None => reading.diagnostics.iter().next().map(|one| one.message.clone()),
    };
    assert_eq!(found.as_deref(), expected, "{text}");
}

#[test]
fn an_address_that_others_reach_has_to_be_asked_for() {
    let others = Some("others can reach this address");
    check_address("admin = '0.0.0.0:9000'", others);
    check_address("admin = ':9000'", others);
    check_address("admin = 'unix:@vervet'", others);
    check_address("admin = '192.0.2.1:9000'", others);
    check_address("admin = {address = '0.0.0.0:9000', exposed = true}", None);
    check_address("admin = '127.0.0.1:9000'", None);
    check_address("admin = '[::1]:9000'", None);
    check_address("admin = 'unix:/run/a.sock'", None);
    check_address("admin = {mode = '999'}", Some("`mode` cannot be `999`: not an octal mode"));
}

#[test]
fn its_unix_socket_is_for_its_owner_alone() {
    let tree = TempTree::new();
    let path = tree.join("admin.sock");
    let text = format!("admin = 'unix:{}'", path.display());
    let reading = read_text::<Document>("vervet.toml", &text);
    let settings = reading.value.unwrap().admin.into_value().unwrap();
    let (address, options) = settings.listen().unwrap();
    let admin = Admin::new(Arc::new(Server(AtomicU8::new(1))));
    let running = Engine::builder()
        .listen_with(&address, &options)
        .unwrap()
        .start(move |_| admin.clone())
        .unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let response =
        RawClient::connect_unix(&path).exchange("GET /-/live HTTP/1.1\r\nHost: \r\n\r\n");
    assert_eq!(response.text(), "live\n");
    running.control().stop();
    running.wait().unwrap();
}
