//! Warnings of documents that are valid and cannot work: routes that no request reaches, rewrites
//! and redirects that lead back, logs that nothing writes to.

use crate::support::served::{Served, read, said};
use vervet_server::config::Severity;
use vervet_server::plan::Plan;
use vervet_testkit::TempTree;

/// The warnings of a document on listeners at these addresses, as `line:column: message`.
#[track_caller]
fn check_on(addresses: &[&str], text: &str, expected: &[&str]) {
    let tree = TempTree::new();
    let reading = read(tree.path(), text);
    let document = reading.value.as_ref().unwrap_or_else(|| panic!("{}", reading.to_text()));
    let addresses: Vec<_> = addresses.iter().map(|address| address.parse().unwrap()).collect();
    let (_, found) = Plan::as_far_as_it_goes(document, &addresses);
    assert!(found.iter().all(|one| one.severity == Severity::Warning), "{found:?}");
    assert_eq!(said(&found, &reading.sources), expected, "{text}");
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_on(&["127.0.0.1:8080"], text, expected);
}

/// A site with a route in each line, and the warnings of its routes.
#[track_caller]
fn check_routes(routes: &[&str], expected: &[&str]) {
    let routes = routes.iter().map(|route| format!("{{{route}}},\n")).collect::<Vec<_>>().concat();
    check(&format!("site = [{{hosts = ['a.test'], route = [\n{routes}]}}]"), expected);
}

const TAKEN: &str = "no request reaches this route";

/// The second of two routes is reached or not.
#[track_caller]
fn check_reached(first: &str, second: &str, is_reached: bool) {
    let tree = TempTree::new();
    let text =
        format!("site = [{{route = [{{status = 404, {first}}}, {{status = 404, {second}}}]}}]");
    let reading = read(tree.path(), &text);
    let document = reading.value.as_ref().unwrap_or_else(|| panic!("{}", reading.to_text()));
    let (_, found) = Plan::as_far_as_it_goes(document, &["127.0.0.1:1".parse().unwrap()]);
    let messages = found.iter().filter(|one| one.message.starts_with(TAKEN));
    assert_eq!(messages.count(), usize::from(!is_reached), "{text}: {found:?}");
}

#[test]
fn a_route_after_one_that_takes_all_its_requests_is_found() {
    check_routes(
        &["path = '/*', files = '.'", "path = '/private/*', auth = 'users', files = '.'"],
        &["3:9: no request reaches this route: `/*` takes them all"],
    );
    check_routes(
        &["path = '/a', status = 404", "path = '/a', respond = 'x'"],
        &["3:9: no request reaches this route: `/a` takes them all"],
    );
    check_routes(
        &["respond = 'all'", "path = '/a', respond = 'x'", "regex = 'b', respond = 'y'"],
        &[
            "3:9: no request reaches this route: `*` takes them all",
            "4:10: no request reaches this route: `*` takes them all",
        ],
    );
    for (first, second) in [
        ("path = '/a/*'", "path = '/a/b'"),
        ("path = '/a/*'", "path = '/a/b*'"),
        ("path = '/a/*'", "path = '/a/:x/c'"),
        ("path = '/a/b*'", "path = '/a/bc/*'"),
        ("path = '/:x'", "path = '/a'"),
        ("path = '/:x'", "path = '/:n(number)'"),
        ("path = '/:s(slug)'", "path = '/:d(date)'"),
        ("path = '/:w(word)/*'", "path = '/:n(number)/a'"),
        ("path = '/*'", "regex = 'a$'"),
        ("regex = '^/a'", "path = '/ab'"),
        ("regex = 'a'", "regex = 'a'"),
        ("path = '/*'", "name = 'all'"),
        ("name = 'first'", "name = 'all'"),
        ("path = '/a/', trailing_slash = 'redirect'", "path = '/a'"),
        ("path = '/a'", "path = '/a', method = 'GET'"),
        ("path = '/a', method = ['GET', 'POST']", "path = '/a', method = 'HEAD'"),
        ("path = '/a', field = {x = 'y'}", "path = '/a', field = {x = 'y'}"),
    ] {
        check_reached(first, second, false);
    }
}

#[test]
fn a_route_that_some_request_reaches_is_fine() {
    for (first, second) in [
        ("path = '/a'", "path = '/a/'"),
        ("path = '/a/*'", "path = '/a'"),
        ("path = '/a/*'", "path = '/ab'"),
        ("path = '/a/*'", "path = '/*'"),
        ("path = '/a/b*'", "path = '/a/:x'"),
        ("path = '/a/b*'", "path = '/a/*'"),
        ("path = '/:n(number)'", "path = '/:x'"),
        ("path = '/:n(number)'", "path = '/:i(integer)'"),
        ("path = '/:x'", "path = '/a/b'"),
        ("path = '/:x'", "path = '/'"),
        ("path = '/:x/b'", "path = '/a/*'"),
        ("regex = '^/a'", "path = '/b'"),
        ("regex = 'a'", "regex = 'b'"),
        ("regex = '^/'", "path = '/a/*'"),
        ("path = '/a', method = 'GET'", "path = '/a'"),
        ("path = '/a', method = 'GET'", "path = '/a', method = ['GET', 'POST']"),
        ("path = '/a', method = 'BREW'", "path = '/a', method = 'GET'"),
        ("path = '/a', field = {x = 'y'}", "path = '/a'"),
        ("path = '/a', field = {x = 'y'}", "path = '/a', field = {x = 'z'}"),
    ] {
        check_reached(first, second, true);
    }
}

#[test]
fn the_root_of_a_site_may_be_there_for_error_pages_alone() {
    check("[[site]]\nroot = '.'\n[[site.route]]\nstatus = 404\n", &[]);
}

const BACK: &str = "the rewrite leads back to its own route: all its requests end with 500";

#[test]
fn rewrites_that_lead_back_are_found() {
    check_routes(&["path = '/a', rewrite = '/a?x=1'"], &[&format!("2:25: {BACK}")]);
    check_routes(
        &[
            "path = '/a', rewrite = '/b'",
            "path = '/b', rewrite = '/c'",
            "path = '/c', rewrite = '/a'",
        ],
        &[&format!("2:25: {BACK}")],
    );
    check_routes(&["rewrite = '/index.html'"], &[&format!("2:12: {BACK}")]);
    // Once, at the circle, and not at the route that leads to it.
    check_routes(
        &[
            "path = '/in', rewrite = '/a'",
            "path = '/a', rewrite = '/b'",
            "path = '/b', rewrite = '/a'",
        ],
        &[&format!("3:25: {BACK}")],
    );
    check_routes(&["path = '/a', method = 'POST', rewrite = '/a'"], &[&format!("2:42: {BACK}")]);
}

#[test]
fn rewrites_that_end_are_fine() {
    check_routes(&["path = '/a', rewrite = '/b'", "path = '/b', status = 404"], &[]);
    check_routes(&["path = '/b', status = 404", "rewrite = '/b'"], &[]);
    check_routes(&["path = '/n/:n', rewrite = '/n/{n}'"], &[]);
    check_routes(&["path = '/a', rewrite = '/none'"], &[]);
    check_routes(
        &["path = '/a', rewrite = '/b'", "path = '/b', field = {x = 'y'}, rewrite = '/a'"],
        &[],
    );
}

const LOOP: &str = "the redirect leads back to its own route: clients never get an answer";

#[test]
fn redirects_that_lead_back_are_found() {
    check_routes(&["path = '/a', redirect = '/a?again'"], &[&format!("2:26: {LOOP}")]);
    check_routes(&["redirect = 'http://A.test'"], &[&format!("2:13: {LOOP}")]);
    check_routes(&["redirect = 'https://a.test'"], &[&format!("2:13: {LOOP}")]);
    check_routes(
        &["path = '/a/*', redirect = 'http://a.test:8080/a/'"],
        &[&format!("2:28: {LOOP}")],
    );
}

#[test]
fn redirects_that_lead_away_are_fine() {
    for route in [
        "path = '/a', redirect = '/b'",
        "path = '/a', redirect = 'http://a.test/b'",
        "redirect = 'http://www.a.test'",
        "redirect = 'http://a.test:81'",
        "method = 'POST', redirect = '/done'",
        "field = {x-forwarded-proto = 'http'}, redirect = 'https://a.test'",
        "redirect = 'https://{host}'",
    ] {
        check_routes(&[route], &[]);
    }
    // Another listener may get what came over TLS.
    let text = "[[site]]\nhosts = ['a.test']\n[[site.route]]\nredirect = 'https://a.test'\n";
    check_on(&["127.0.0.1:80", "127.0.0.1:81"], text, &[]);
    check("[[site]]\n[[site.route]]\nredirect = 'http://elsewhere.test'\n", &[]);
}

#[test]
fn a_log_that_nothing_writes_to_is_found() {
    let site = "[[site]]\nroute = [{status = 404, log = ['a']}]\n";
    check(
        &format!("log.a.memory = true\nlog.b.memory = true\n{site}"),
        &["2:5: nothing is logged to `b`: no site or route names it"],
    );
    check(&format!("log.a.memory = true\n{site}"), &[]);
}

/// What only warns is served.
#[test]
fn a_document_with_warnings_is_served() {
    let served = Served::start(
        TempTree::new(),
        "[[site]]\n[[site.route]]\nrespond = 'all'\n[[site.route]]\npath = '/a'\nstatus = 404\n",
    );
    assert_eq!(served.get("a", "/a"), (200, "all".to_owned()));
}
