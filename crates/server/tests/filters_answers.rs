//! Filters that refuse by what is asked for, and those that change answers, over connections.

use std::sync::Arc;

use crate::support;
use crate::support::filtered::{Filtered, Plan};
use crate::support::unpacked;
use crate::support::wire::Wire;
use vervet_config::{Section, read_text, section};
use vervet_engine::http::negotiation::Encoding;
use vervet_engine::{Outcome, Response as Answer};
use vervet_server::compression::{AcceptedCodings, AnswerCompression};
use vervet_server::filters::cors::{Cors, CorsRules};
use vervet_server::filters::fields::{FieldChanges, ResponseFields};
use vervet_server::filters::forwarded::{ForwardedFrom, Forwarders};
use vervet_server::filters::referer::{Referer, RefererRules};
use vervet_server::filters::security::{Security, SecurityFields};
use vervet_server::filters::target_rules::{Deny, TargetRules};
use vervet_server::web::RequestFilter;
use vervet_testkit::{RawClient, Response};

section! {
    /// Where rules stand.
    struct Rules {
        /// Rules.
        deny: Vec<Deny>,
    }
}

fn read<S: Section>(text: &str) -> S {
    let read = read_text::<S>("test.toml", text);
    read.value.unwrap_or_else(|| panic!("{text}: {:?}", read.diagnostics))
}

fn serve(filters: Vec<Arc<dyn RequestFilter>>) -> Wire {
    let plan = Plan::of(filters);
    Wire::start(move |_| Filtered::new(&plan))
}

/// The answer to a request with these field lines in addition to Host.
#[track_caller]
fn ask(wire: &Wire, line: &str, fields: &[&str]) -> Response {
    let fields: String = fields.iter().flat_map(|field| [*field, "\r\n"]).collect();
    RawClient::connect(wire.address)
        .exchange(format!("{line} HTTP/1.1\r\nHost: own.example\r\n{fields}\r\n"))
}

#[test]
fn paths_are_refused_in_every_spelling() {
    let rules: Rules = read("deny = [{ prefix = '/admin' }, { regex = '\\.ini$', status = 404 }]");
    let wire = serve(vec![Arc::new(TargetRules::new(&rules.deny).unwrap())]);
    for path in ["/admin", "/%61dmin", "//admin", "/x/../admin", "/x/%2e%2e/admin?y", "/./admin"] {
        assert_eq!(ask(&wire, &format!("GET {path}"), &[]).status, 403, "{path}");
    }
    assert_eq!(ask(&wire, "GET /a.in%69", &[]).status, 404);
    assert_eq!(ask(&wire, "GET /x?/admin", &[]).status, 200);
}

#[test]
fn pictures_are_not_shown_by_other_sites() {
    let wire = serve(vec![Arc::new(RefererRules::new(&read::<Referer>(
        "extensions = 'jpg'\nallow = 'friend.example'",
    )))]);
    for (referer, expected) in [
        ("http://evil.example/", 403),
        ("http://own.example@evil.example/", 403),
        ("http://own.example/a", 200),
        ("https://friend.example", 200),
    ] {
        assert_eq!(
            ask(&wire, "GET /a.jpg", &[&format!("Referer: {referer}")]).status,
            expected,
            "{referer}"
        );
        assert_eq!(
            ask(&wire, "GET /a.html", &[&format!("Referer: {referer}")]).status,
            200,
            "{referer}"
        );
    }
    assert_eq!(ask(&wire, "GET /a.jpg", &[]).status, 200);
    assert_eq!(
        ask(
            &wire,
            "GET /a.jpg",
            &["Referer: http://own.example/", "Referer: http://evil.example/"]
        )
        .status,
        403
    );
}

/// The names and values of the fields that matter here.
fn fields(response: &Response, names: &[&str]) -> Vec<Option<String>> {
    names.iter().map(|name| response.field(name).map(str::to_owned)).collect()
}

const CORS: [&str; 4] = [
    "access-control-allow-origin",
    "access-control-allow-methods",
    "access-control-allow-credentials",
    "vary",
];

fn some(values: [&str; 4]) -> Vec<Option<String>> {
    values.iter().map(|value| (!value.is_empty()).then(|| (*value).to_owned())).collect()
}

#[test]
fn preflights_are_answered_by_the_server() {
    let rules = CorsRules::new(&read::<Cors>("origins = 'https://app.example'\nmethods = ['PUT']\nfields = ['X-A', 'x-b']\ncredentials = true")).unwrap();
    let wire = serve(vec![Arc::new(rules)]);
    let preflight = |origin: &str| {
        let origin = format!("Origin: {origin}");
        ask(
            &wire,
            "OPTIONS /x",
            &[&origin, "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: x-a"],
        )
    };
    let vary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";
    let refused = preflight("https://evil.example");
    assert_eq!((refused.status, fields(&refused, &CORS)), (204, some(["", "", "", vary])));
    let granted = preflight("https://app.example");
    assert_eq!(
        (granted.status, fields(&granted, &CORS)),
        (204, some(["https://app.example", "PUT", "true", vary]))
    );
    assert_eq!(granted.field("access-control-allow-headers"), Some("X-A, x-b"));
    assert_eq!(granted.field("access-control-max-age"), Some("600"));
    // A request that asks for nothing is not a preflight.
    let plain = ask(&wire, "OPTIONS /x", &["Origin: https://app.example"]);
    assert_eq!((plain.status, plain.field("access-control-allow-methods")), (200, None));
}

#[test]
fn answers_say_which_origins_may_read_them() {
    let listed = serve(vec![Arc::new(
        CorsRules::new(&read::<Cors>("origins = 'https://app.example'\nexpose = ['X-A']")).unwrap(),
    )]);
    let get = |wire: &Wire, origin: &str| ask(wire, "GET /", &[&format!("Origin: {origin}")]);
    assert_eq!(fields(&get(&listed, "https://evil.example"), &CORS), some(["", "", "", "Origin"]));
    assert_eq!(fields(&ask(&listed, "GET /", &[]), &CORS), some(["", "", "", "Origin"]));
    let granted = get(&listed, "https://app.example");
    assert_eq!(fields(&granted, &CORS), some(["https://app.example", "", "", "Origin"]));
    assert_eq!(granted.field("access-control-expose-headers"), Some("X-A"));
    let any = serve(vec![Arc::new(CorsRules::new(&read::<Cors>("")).unwrap())]);
    assert_eq!(fields(&get(&any, "https://app.example"), &CORS), some(["*", "", "", ""]));
    let twice =
        ask(&listed, "GET /", &["Origin: https://app.example", "Origin: https://app.example"]);
    assert_eq!(twice.field("access-control-allow-origin"), None);
}

#[test]
fn fields_hold_what_the_request_has() {
    let changes: FieldChanges = read(
        "set = { X-Client = '{client}', X-Host = '{host}', X-User = '<{user}>' }\nremove = ['Content-Type']",
    );
    let wire = serve(vec![Arc::new(ResponseFields::new(&changes).unwrap())]);
    let response = ask(&wire, "GET /", &[]);
    assert_eq!(
        fields(&response, &["x-client", "x-host", "x-user", "content-type"]),
        some(["127.0.0.1", "own.example", "<>", ""])
    );
}

#[test]
fn strict_transport_security_goes_out_over_tls_alone() {
    let forwarders = Forwarders::from(&read::<ForwardedFrom>("from = '127.0.0.1'"));
    let wire = serve(vec![
        Arc::new(forwarders),
        Arc::new(SecurityFields::new(&read::<Security>("preset = 'strict'"))),
    ]);
    let plain = ask(&wire, "GET /", &["X-Forwarded-For: 192.0.2.1"]);
    assert_eq!(
        (plain.field("strict-transport-security"), plain.field("x-frame-options")),
        (None, Some("DENY"))
    );
    let tls = ask(&wire, "GET /", &["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https"]);
    assert_eq!(tls.field("strict-transport-security"), Some("max-age=63072000; includeSubDomains"));
}

/// A page of so many bytes, compressed from 1 KiB.
fn page(bytes: usize) -> Wire {
    let codings = vec![Encoding::Zstd, Encoding::Brotli, Encoding::Gzip];
    let compression = Arc::new(AnswerCompression::new(1024, codings, Arc::default()));
    let mut plan = Plan::of(Vec::new());
    plan.answer = Arc::new(move |request, exchange| {
        let accepted = AcceptedCodings::from_head(request.head);
        let answer = Answer::text(support::text(bytes));
        Outcome::Done(compression.apply(accepted, answer, || exchange.stream()))
    });
    Wire::start(move |_| Filtered::new(&plan))
}

#[test]
fn pages_are_compressed_as_the_client_likes() {
    // Small ones at once, with their length; large ones by another thread, when they are ready.
    for bytes in [100, 5_000, 300_000] {
        let wire = page(bytes);
        for coding in ["gzip", "br", "zstd"] {
            let response = ask(&wire, "GET /", &[&format!("Accept-Encoding: {coding}")]);
            assert_eq!(response.status, 200);
            if bytes < 1024 {
                assert_eq!(
                    (response.field("content-encoding"), response.field("vary")),
                    (None, None)
                );
                continue;
            }
            assert_eq!(
                (response.field("content-encoding"), response.field("vary")),
                (Some(coding), Some("Accept-Encoding"))
            );
            assert!(
                unpacked(&response.content, coding) == support::text(bytes),
                "{coding} of {bytes}"
            );
            assert_eq!(response.field("content-length").is_some(), bytes == 5_000);
        }
        let plain = ask(&wire, "GET /", &[]);
        assert_eq!((plain.field("content-encoding"), plain.content.len()), (None, bytes));
    }
}

#[test]
fn a_head_has_no_content_to_compress() {
    let wire = page(300_000);
    let mut client = RawClient::connect(wire.address);
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
    let response = client.read_head_response();
    assert_eq!(
        (response.status, response.field("content-encoding"), response.field("vary")),
        (200, None, Some("Accept-Encoding"))
    );
}
