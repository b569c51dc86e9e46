//! The admin socket of `vervet run`: who reaches it, what it says of the server's health, and that
//! its numbers are those of the access log.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::common::{ADMIN, Run, get, run};
use serde_json::Value;
use vervet_testkit::{
    Child, PATIENCE, RawClient, Signal, Stream, TempTree, find_python, skip, wait_until,
};

const SITES: &str = "
[[listen]]
address = '127.0.0.1:0'
name = 'main'
[log.all]
file = 'all.log'
format = '{site} {status} {bytes}'
[[site]]
name = 'shop'
hosts = ['shop.test']
log = ['all']
[[site.route]]
path = '/old'
redirect = '/new'
[[site.route]]
path = '/broken'
status = 500
[[site.route]]
path = '/limited'
rate = '1/h'
respond = 'once'
[[site.route]]
path = '/files/*'
files = 'www'
[[site]]
name = 'blog'
log = ['all']
[[site.route]]
respond = 'blog'
";

fn start() -> Run {
    let tree = TempTree::new().file("www/a", "a file");
    Run::start(tree, &[ADMIN, SITES].concat())
}

#[test]
fn only_the_owner_opens_the_socket() {
    let server = start();
    let mode = |path| fs::metadata(server.tree.join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("admin.sock"), 0o600);
    let tree = server.end();
    let open = "admin = { address = 'unix:admin.sock', mode = '660' }\n";
    let server = Run::start(tree, &[open, SITES].concat());
    let mode = fs::metadata(server.tree.join("admin.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o660);
    server.end();
}

#[test]
fn no_listener_of_a_site_answers_for_it() {
    let mut server = start();
    for target in ["/-/live", "/-/ready", "/-/startup", "/-/status", "/metrics"] {
        assert_eq!(server.get("shop.test", target).status, 404, "{target}");
        assert_eq!(server.get("localhost", target).text(), "blog", "{target}");
        assert_eq!(server.admin(target).status, 200, "{target}");
    }
    server.end();
}

/// What others can reach has to be asked for.
#[test]
fn a_public_admin_address_needs_permission() {
    let tree = TempTree::new().dir("www");
    for address in ["0.0.0.0:0", "[::]:0", ":0", "unix:@vervet-test"] {
        tree.write("vervet.toml", format!("admin = '{address}'\n{SITES}"));
        let mut child = Child::spawn(run(tree.path()));
        assert_eq!(child.wait_exit(PATIENCE).code(), Some(1));
        let said = child.text(Stream::Stderr);
        assert!(said.contains("others can reach this address"), "{address}: {said}");
    }
    let shared = ["admin = '127.0.0.1:9180'\n", &SITES.replace(":0", ":9180")].concat();
    tree.write("vervet.toml", shared);
    let mut child = Child::spawn(run(tree.path()));
    assert_eq!(child.wait_exit(PATIENCE).code(), Some(1));
    let said = child.text(Stream::Stderr);
    assert!(said.contains("the admin service needs a separate address"), "{said}");
}

#[test]
fn it_is_ready_once_it_listens_and_no_more_when_it_drains() {
    let mut server = start();
    for (target, text) in
        [("/-/live", "live\n"), ("/-/ready", "ready\n"), ("/-/startup", "ready\n")]
    {
        let response = server.admin(target);
        assert_eq!((response.status, response.text()), (200, text), "{target}");
    }
    // A request whose end is missing holds up the drain.
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1234");
    assert!(wait_until(PATIENCE, || server.status()["connections"]["open"] == 1));
    server.child.signal(Signal::TERM);
    assert!(wait_until(PATIENCE, || server.admin("/-/ready").status == 503));
    assert_eq!(server.admin("/-/live").status, 200);
    assert_eq!(server.status()["phase"], "draining");
    client.send("56789");
    assert_eq!(client.read_response().text(), "blog");
    assert_eq!(server.child.wait_exit(PATIENCE).code(), Some(0));
}

/// Requests of all kinds, some of them refused.
fn ask(server: &mut Run) {
    let mut client = server.connect();
    for (host, target, times, status) in [
        ("shop.test", "/old", 3, 302),
        ("shop.test", "/broken", 4, 500),
        ("shop.test", "/limited", 1, 200),
        ("shop.test", "/limited", 5, 429),
        ("shop.test", "/files/a", 6, 200),
        ("shop.test", "/files/none", 2, 404),
        ("shop.test", "/nowhere", 1, 404),
        ("other.test", "/", 7, 200),
    ] {
        for _ in 0..times {
            assert_eq!(client.exchange(get(host, target)).status, status, "{target}");
        }
    }
    let big = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(40_000));
    assert_eq!(server.connect().exchange(big).status, 431);
}

const REQUESTS: u64 = 29;

#[test]
fn the_state_has_sites_listeners_and_refusals() {
    let mut server = start();
    ask(&mut server);
    let listener = server.address("main").to_string();
    let status = server.status();
    assert_eq!(status["phase"], "ready");
    assert_eq!(status["process"]["id"], server.child.id());
    assert_eq!(status["listeners"], serde_json::json!([{ "name": "main", "address": listener }]));
    let site = |name: &str| {
        let sites = status["sites"].as_array().unwrap();
        sites.iter().find(|site| site["name"] == name).cloned().unwrap()
    };
    let shop = serde_json::json!({ "1xx": 0, "2xx": 7, "3xx": 3, "4xx": 8, "5xx": 4 });
    assert_eq!(site("shop")["responses"], shop);
    assert_eq!(site("blog")["requests"], 7);
    assert_eq!(status["refused"]["by"]["rate"], 5);
    assert_eq!(status["refused"]["violations"], 1);
    assert_eq!(status["requests"]["responses"]["4xx"], 9);
    assert_eq!(
        status["reloads"],
        serde_json::json!({ "done": 0, "refused": 0, "last_error": null })
    );
    server.end();
}

/// A filter that a reload keeps goes on counting.
#[test]
fn counters_go_on_through_reloads() {
    let mut server = start();
    ask(&mut server);
    server.reload(&[ADMIN, SITES].concat());
    let status = server.status();
    assert_eq!(status["plan_generation"], 2);
    assert_eq!(status["refused"]["by"]["rate"], 5);
    assert_eq!(status["requests"]["received"], REQUESTS);
    assert_eq!(server.get("shop.test", "/limited").status, 429, "the client is remembered");
    server.end();
}

#[test]
fn a_limit_that_was_hit_is_counted() {
    let rest = "[limits]\nconnections_per_address_max = 2\nhead_timeout_ms = '100ms'\nproxy_header_timeout_ms = '100ms'\n";
    let mut server = Run::start(TempTree::new().dir("www"), &[ADMIN, rest, SITES].concat());
    let mut held = [server.connect(), server.connect()];
    for client in &mut held {
        assert_eq!(client.exchange(get("a", "/")).status, 200);
    }
    // Over the cap there is a 503, or the close of a connection that says nothing in time.
    let response = server.get("a", "/");
    assert_eq!(response.status, 503);
    held[0].send("GET / HT");
    assert_eq!(held[0].read_response().status, 408);
    let hit = server.status()["limits_hit"].clone();
    assert_eq!(
        (&hit["connections_per_address_max"], &hit["head_timeout_ms"]),
        (&1.into(), &1.into()),
        "{hit}"
    );
    server.end();
}

/// Half-open connections of one address keep neither probes nor connected clients out.
#[test]
fn the_admin_socket_answers_when_the_open_files_are_taken() {
    let tree = TempTree::new().file("www/a", "a file").file("www/b", "another");
    let inner = run(tree.path());
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\""]).arg(inner.get_program());
    command.args(inner.get_args()).current_dir(tree.path());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut server = Run::spawn(tree, &[ADMIN, SITES].concat(), command);
    let mut client = server.connect();
    assert_eq!(client.exchange(get("shop.test", "/files/a")).text(), "a file");
    let mut half_open: Vec<_> = (0..300).map(|_| server.connect()).collect();
    for client in &mut half_open {
        client.send("G");
    }
    assert_eq!(server.get("blog", "/").status, 503);
    assert_eq!(server.admin("/-/live").status, 200);
    assert_eq!(client.exchange(get("shop.test", "/files/b")).text(), "another");
    let status = server.status();
    assert!(status["limits_hit"]["connections_per_address_max"].as_u64().unwrap() > 0, "{status}");
    drop(half_open);
    assert!(wait_until(PATIENCE, || server.get("blog", "/").status == 200));
    server.end();
}

/// Requests and content by site and class, as the lines of the log have them.
fn of_log(text: &str) -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
    let (mut requests, mut bytes) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        let [site, status, content] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let site = if site == "-" { "" } else { site };
        let class = format!("site={site},status={}xx", &status[..1]);
        *requests.entry(class).or_default() += 1.0;
        let content: f64 = content.parse().unwrap_or_default();
        *bytes.entry(format!("site={site}")).or_default() += content;
    }
    (requests, bytes)
}

/// Each sample as `name labels value`, by the reference parser, which is strict.
const PARSE: &str = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    for sample in family.samples:
        labels = ','.join(f'{key}={value}' for key, value in sorted(sample.labels.items()))
        print(sample.name, labels or '-', float(sample.value))
";

#[test]
fn the_metrics_equal_the_lines_of_the_access_log() {
    let Some(python) = find_python("prometheus_client") else {
        skip!("needs python3 with prometheus_client (python3-prometheus-client)");
    };
    let mut server = start();
    ask(&mut server);
    let log = server.tree.join("all.log");
    let lines = || fs::read_to_string(&log).unwrap_or_default();
    // The one that broke a limit was for no site, and has its line, too.
    let expected = usize::try_from(REQUESTS).unwrap() + 1;
    assert!(wait_until(PATIENCE, || lines().lines().count() == expected), "{}", lines());
    let metrics = server.tree.write("metrics", server.admin("/metrics").text());
    let mut child = Child::start(python, ["-c", PARSE, metrics.to_str().unwrap()]);
    assert!(child.wait_exit(PATIENCE).success(), "{}", child.text(Stream::Stderr));
    let text = child.text(Stream::Stdout);
    let samples = |name: &str| -> BTreeMap<String, f64> {
        let samples = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let samples = samples.filter_map(|sample| sample.split_once(' '));
        samples.map(|(labels, value)| (labels.to_owned(), value.parse().unwrap())).collect()
    };
    let (requests, bytes) = of_log(&lines());
    let counted = samples("http_server_request_duration_seconds_count");
    assert_eq!(counted, requests);
    assert_eq!(counted.get("site=,status=4xx"), Some(&1.0));
    assert_eq!(samples("vervet_site_content_bytes_total"), bytes);
    let refused = samples("vervet_refused_total");
    assert_eq!(refused.get("by=rate"), Some(&5.0), "{refused:?}");
    let sum: f64 = samples("vervet_responses_total").values().sum();
    let expected = f64::from(u32::try_from(REQUESTS).unwrap()) + 1.0;
    assert!((sum - expected).abs() < 0.5, "{sum}, not {expected}");
    server.end();
}

/// A request with another hostname, such as from a page in a browser (DNS rebinding), is refused.
#[test]
fn a_page_in_a_browser_cannot_ask() {
    let listen = "admin = '127.0.0.1:0'\n";
    let tree = TempTree::new().dir("www");
    let port = vervet_testkit::free_port();
    let server = Run::start(tree, &[&listen.replace(":0'", &format!(":{port}'")), SITES].concat());
    let mut client = RawClient::connect(([127, 0, 0, 1], port).into());
    assert_eq!(client.exchange(get("evil.test", "/-/status")).status, 421);
    let response = client.exchange(get("localhost", "/-/status"));
    let status: Value = serde_json::from_str(response.text()).unwrap();
    assert_eq!(status["phase"], "ready");
    server.end();
}
