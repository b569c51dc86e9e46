//! Requests that are about the server, and requests for a tunnel: they get the same answer whatever
//! a site is made of.

use crate::support::served::Served;
use vervet_testkit::TempTree;

/// The answers, by status and Allow, to a request line in a site of files and in one of routes.
#[track_caller]
fn check(line: &str, status: u16, allow: Option<&str>) {
    let files = "[[site]]\nhosts = ['a.example']\nroute = [{ files = '.' }]\n";
    let routes = "[[site]]\nhosts = ['a.example']\n\
                  route = [{ path = '/a', method = ['POST'], respond = 'a' }]\n";
    for document in [files, routes] {
        let served = Served::start(TempTree::new(), document);
        let mut client = served.connect();
        let response = client.exchange(format!("{line} HTTP/1.1\r\nHost: a.example\r\n\r\n"));
        let answer = (response.status, response.field("Allow"));
        assert_eq!(answer, (status, allow), "{line} in {document}");
    }
}

/// RFC 9110 §9.3.6: tunnels are for proxies.
#[test]
fn connect_is_not_implemented() {
    check("CONNECT a.example:443", 501, None);
    check("CONNECT /a", 501, None);
}

/// RFC 9110 §9.3.7: "An OPTIONS request with an asterisk ("*") as the request target applies to
/// the server in general". RFC 9112 §3.2.4: so does an absolute-form without path and query.
#[test]
fn options_of_the_server_are_answered() {
    check("GET *", 400, None);
    for target in ["*", "http://a.example", "http://a.example:80"] {
        check(&format!("OPTIONS {target}"), 204, Some("GET, HEAD, OPTIONS"));
    }
}
