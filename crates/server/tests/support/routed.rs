//! One site of routes and actions on a port of its own, written without the headers that lead to
//! it: `root`, `[error_pages]` and `[[route]]` are those of the site.

use std::net::SocketAddr;

use vervet_server::config::{Diagnostic, Severity};
use vervet_server::plan::Plan;
use vervet_server::staging::rehearse;
use vervet_testkit::{RawClient, TempTree};

use super::served::{Served, read};

/// The document of a site.
fn document(site: &str) -> String {
    let site = site.replace("[[route]]", "[[site.route]]");
    let site = site.replace("[error_pages]", "[site.error_pages]");
    format!("[[site]]\n{site}\n")
}

/// A server that ends with its test.
pub struct Site {
    pub address: SocketAddr,
    served: Served,
}

impl Site {
    #[track_caller]
    pub fn start(site: &str) -> Self {
        let served = Served::start(TempTree::new(), &document(site));
        let (name, _) = &served.server.listeners()[0];
        Self { address: served.address(name), served }
    }

    /// Ends it, which must go well.
    pub fn stop(self) {
        drop(self.served);
    }
}

/// Sends requests on one connection and compares: `METHOD target` followed by fields, and what
/// comes back as `status`, then ` -> Location`, then the content after a colon.
#[track_caller]
pub fn check(site: &Site, rows: &[(&str, &str)]) {
    let mut client = RawClient::connect(site.address);
    for (request, expected) in rows {
        let mut lines = request.split('\n');
        let line = lines.next().unwrap();
        let method = if line.starts_with('/') { "GET " } else { "" };
        let mut text = format!("{method}{line} HTTP/1.1\r\n");
        if !request.contains("\nHost:") {
            text.push_str("Host: example.org\r\n");
        }
        for field in lines {
            text.push_str(field);
            text.push_str("\r\n");
        }
        client.send(text + "\r\n");
        let response = if line.starts_with("HEAD ") {
            client.read_head_response()
        } else {
            client.read_response()
        };
        let mut shown = response.status.to_string();
        if let Some(location) = response.field("location") {
            shown = format!("{shown} -> {location}");
        }
        let text = String::from_utf8_lossy(&response.content);
        let is_ours = text.starts_with("<!DOCTYPE html>");
        if !text.is_empty() && !is_ours {
            shown = format!("{shown}: {text}");
        }
        assert_eq!(shown, *expected, "{request}");
    }
}

/// What is said of a site that cannot be, and nothing else is.
#[track_caller]
pub fn check_refused(site: &str, expected: &str) {
    let tree = TempTree::new();
    let text = document(site) + "[[site.route]]\npath = '/last'\nstatus = 204\n";
    let reading = read(tree.path(), &text);
    let mut found = reading.diagnostics;
    if let Some(document) = reading.value {
        let unasked = ["127.0.0.1:0".parse().unwrap()];
        let (plan, problems) = Plan::as_far_as_it_goes(&document, &unasked);
        found.extend(problems);
        found.extend(rehearse(&plan));
    }
    // A route for all paths takes the requests of the last one, which only completes the site.
    let is_about_others =
        |one: &&Diagnostic| one.severity == Severity::Warning && one.is_consequence;
    let found: Vec<_> = found.iter().filter(|one| !is_about_others(one)).collect();
    let found: Vec<_> = found.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(found, [expected], "{site}");
}
