//! The logs of a running server: every request gets its lines, and a reload changes them.

use crate::support::served::{Served, get};
use vervet_testkit::{PATIENCE, TempTree, wait_until};

fn lines(served: &Served, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(served.tree.join(name)).unwrap_or_default();
    text.lines().map(ToOwned::to_owned).collect()
}

#[track_caller]
fn check(served: &Served, name: &str, expected: &[&str]) {
    wait_until(PATIENCE, || lines(served, name).len() >= expected.len());
    assert_eq!(lines(served, name), expected, "{name}");
}

const DOCUMENT: &str = "
    [log.main]
    file   = 'main.log'
    format = '{site} {route} {status} {target}'
    [log.api]
    file   = 'api.log'
    format = '{status} {path}'
    except = [{ path = '/api/health', status = '2xx' }]
    [[site]]
    name  = 'shop'
    hosts = ['shop.example']
    log   = ['main']
    route = [
        { path = '/api/*', name = 'api', log = ['main', 'api'], respond = 'x' },
        { path = '/quiet', log = [], respond = 'x' },
        { path = '/*', name = 'rest', status = 404 },
    ]
";

#[test]
fn requests_write_to_the_logs_of_their_route_or_their_site() {
    let served = Served::start(TempTree::new(), DOCUMENT);
    for target in ["/api/a%20b?c", "/quiet", "/api/health", "/other"] {
        served.get("shop.example", target);
    }
    check(
        &served,
        "main.log",
        &["shop api 200 /api/a%20b?c", "shop api 200 /api/health", "shop rest 404 /other"],
    );
    check(&served, "api.log", &["200 /api/a b"]);
}

#[test]
fn requests_without_a_site_are_in_the_logs_of_the_first_one() {
    let served = Served::start(TempTree::new(), DOCUMENT);
    assert_eq!(served.get("shop.example", "/%zz").0, 400);
    let mut client = served.connect();
    client.send("GET / HTTP/1.1\r\n\r\n");
    assert_eq!(client.read_response().status, 400);
    check(&served, "main.log", &["- - 400 /%zz", "- - 400 -"]);
}

#[test]
fn requests_are_numbered_on_their_connection() {
    let document =
        DOCUMENT.replace("'{site} {route} {status} {target}'", "'{target} {connection_requests}'");
    let served = Served::start(TempTree::new(), &document);
    let mut client = served.connect();
    for target in ["/a", "/b"] {
        client.exchange(get("shop.example", target));
    }
    served.get("shop.example", "/c");
    check(&served, "main.log", &["/a 1", "/b 2", "/c 1"]);
}

#[test]
fn a_reload_changes_logs_and_a_refused_one_changes_nothing() {
    let served = Served::start(TempTree::new(), DOCUMENT);
    served.get("shop.example", "/1");
    let refused = served.reload(&DOCUMENT.replace("'api.log'", "'none/api.log'")).unwrap_err();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].contains("none does not exist"), "{refused:?}");
    served.get("shop.example", "/2");
    let other = DOCUMENT.replace("'{site} {route} {status} {target}'", "'{target}'");
    served.reload(&other).unwrap();
    let mut client = served.connect();
    client.exchange(get("shop.example", "/3"));
    check(&served, "main.log", &["shop rest 404 /1", "shop rest 404 /2", "/3"]);
}

#[test]
fn a_reload_changes_the_error_log_too() {
    let with = |error_log: &str| format!("error_log = {error_log}\n{DOCUMENT}");
    let served = Served::start(TempTree::new(), DOCUMENT);
    let refuse = || {
        let mut client = served.connect();
        client.send("GET / HTTP/1.1\r\n\r\n");
        assert_eq!(client.read_response().status, 400);
    };
    served.reload(&with("{ level = 'info', file = 'error.log' }")).unwrap();
    refuse();
    assert!(wait_until(PATIENCE, || lines(&served, "error.log").len() == 1));
    let line = lines(&served, "error.log").remove(0);
    assert!(
        line.contains(" info request: 127.0.0.1:") && line.contains(": 400: peer sent no Host"),
        "{line}"
    );
    let refused = served.reload(&with("{ file = 'none/error.log' }")).unwrap_err();
    assert!(refused[0].contains("none does not exist"), "{refused:?}");
    served.reload(&with("{ level = 'error', file = 'error.log' }")).unwrap();
    refuse();
    served.reload(&with("{ level = 'info', file = 'error.log' }")).unwrap();
    refuse();
    assert!(wait_until(PATIENCE, || lines(&served, "error.log").len() == 2));
}
