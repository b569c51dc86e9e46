//! The logs of a running server: every request gets its lines, and a reload changes them.

use std::fs::File;

use crate::support::basic;
use crate::support::served::{Served, get};
use vervet_server::access_log::{Argument, VARIABLES, Variable};
use vervet_testkit::{PATIENCE, TempTree, skip, wait_until};

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

/// `open sesame`, cheap to verify.
const OPEN: &str = "$argon2id$v=19$m=8,t=1,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";

#[test]
fn a_running_server_knows_every_variable() {
    let written = |variable: &Variable| match variable.argument {
        Argument::Name => format!("{{{}:x}}", variable.name),
        Argument::None | Argument::OneOf(_) => format!("{{{}}}", variable.name),
    };
    let format = VARIABLES.iter().map(written).collect::<Vec<_>>().join("|");
    let document = format!(
        "[log.main]
        file   = 'main.log'
        format = '{format}'
        [[site]]
        name  = 'shop'
        hosts = ['shop.example']
        auth  = 'users'
        log   = ['main']
        route = [{{ name = 'all', respond = 'x', fields = {{ response = {{ set = {{ X = '1' }} }} }} }}]"
    );
    let tree = TempTree::new().file("users", format!("ann:{OPEN}\n"));
    let served = Served::start(tree, &document);
    let fields = format!("X: 1\r\nCookie: x=1\r\n{}\r\n", basic("ann:open sesame"));
    let request = get("shop.example", "/?x=1").replace("\r\n\r\n", &format!("\r\n{fields}"));
    let mut client = served.connect();
    assert_eq!(client.exchange(request).status, 200);
    client.send("GET / HTTP/1.1\r\n\r\n");
    assert_eq!(client.read_response().status, 400);
    assert!(wait_until(PATIENCE, || lines(&served, "main.log").len() == 2));
    let lines = lines(&served, "main.log");
    let values = |line: usize| lines[line].split('|').zip(VARIABLES);
    let unknown = values(0).filter(|(value, _)| matches!(*value, "-" | ""));
    let unknown: Vec<_> = unknown.map(|(_, variable)| variable.name).collect();
    assert_eq!(unknown, ["fault"], "{}", lines[0]);
    let fault = values(1).find(|(_, variable)| variable.name == "fault").unwrap().0;
    assert!(fault.replace("\\x20", " ").starts_with("peer sent no Host"), "{fault}");
}

/// A file of 5 GiB whose client leaves is logged and counted with what was sent of it, and so are
/// responses that have no content.
#[test]
fn bytes_are_those_that_were_sent() {
    const FILE_BYTES: u64 = 5 << 30;
    let document = "
        [log.main]
        file   = 'main.log'
        format = '{method} {status} {bytes}'
        [[site]]
        name  = 'shop'
        hosts = ['shop.example']
        log   = ['main']
        route = [{ files = 'www' }]";
    let tree = TempTree::new().dir("www");
    if File::create(tree.join("www/file")).unwrap().set_len(FILE_BYTES).is_err() {
        skip!("needs a file system with sparse files of 5 GB");
    }
    let served = Served::start(tree, document);
    let request = |method: &str, fields: &str| {
        format!("{method} /file HTTP/1.1\r\nHost: shop.example\r\n{fields}\r\n")
    };
    let mut client = served.connect();
    client.send(request("HEAD", ""));
    let head = client.read_head_response();
    assert_eq!(head.field("Content-Length"), Some(&*FILE_BYTES.to_string()));
    let modified = head.field("Last-Modified").unwrap();
    let known = request("GET", &format!("If-Modified-Since: {modified}\r\n"));
    assert_eq!(client.exchange(known).status, 304);
    assert_eq!(client.exchange(request("GET", "Range: bytes=0-9\r\n")).status, 206);
    client.send(request("GET", ""));
    client.read_head_response();
    client.read_exact(100_000);
    drop(client);
    assert!(wait_until(PATIENCE, || lines(&served, "main.log").len() == 4));
    let lines = lines(&served, "main.log");
    let (ended, cut) = lines.split_at(3);
    assert_eq!(ended, ["HEAD 200 0", "GET 304 0", "GET 206 10"]);
    let bytes = cut[0].strip_prefix("GET 200 ").unwrap().parse().unwrap();
    assert!((100_000..FILE_BYTES / 10).contains(&bytes), "{bytes} bytes");
    let sites = served.server.tools().metrics.sites();
    let shop = sites.iter().find(|site| &*site.site == "shop").unwrap();
    assert_eq!(shop.content_bytes, bytes + 10);
}
