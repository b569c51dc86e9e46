//! Filters as a document asks for them: which requests they hold for, in which order, and what a
//! reload keeps (F1 to F3).

use crate::support::basic;
use crate::support::served::{Served, get, plan, read, said, tools};
use vervet_engine::listener::Inherited;
use vervet_server::server::Sockets;
use vervet_server::staging::prepare;
use vervet_testkit::{Response, TempTree};

/// `open sesame`, cheap to verify.
const OPEN: &str = "$argon2id$v=19$m=8,t=1,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";

/// What is said when the server of a document is made, whose plan is without a mistake.
#[track_caller]
fn check_refused(text: &str, expected: &[&str]) {
    let tree = TempTree::new();
    let plan = plan(tree.path(), text).unwrap();
    let sockets = Sockets::bind(&plan, &mut Inherited::default()).unwrap();
    let found = prepare(&plan, &sockets.keys(), &tools()).map(|_| ()).unwrap_err();
    assert_eq!(said(&found, &read(tree.path(), text).sources), expected, "{text}");
}

/// The answer to a request of host `a` with these field lines.
#[track_caller]
fn ask(served: &Served, target: &str, fields: &str) -> Response {
    let request = get("a", target).replace("\r\n\r\n", &format!("\r\n{fields}\r\n"));
    served.connect().exchange(request)
}

const SITE: &str = "[[site]]\nhosts = ['a']\nroute = [{ respond = 'hello' }]\n";

#[test]
fn all_that_is_wrong_with_filters_is_said_with_its_place() {
    check_refused(
        &format!(
            "{SITE}deny = [{{ regex = '[' }}, {{ status = 404 }}]\ncors = {{ credentials = true }}\n"
        ),
        &[
            "4:19: invalid regular expression: unclosed character class",
            "4:37: the rule has no pattern",
            "5:24: `credentials` with the origin `*` would let every site read the data of visitors",
        ],
    );
}

#[test]
fn a_listener_and_a_site_admit_by_address() {
    let listen =
        "listen = [{ address = '127.0.0.1:0', name = 'x', access = ['deny 127.0.0.1'] }]\n";
    let served = Served::start(TempTree::new(), &format!("{listen}{SITE}"));
    let mut client = served.connect();
    let _ = client.try_send(get("a", "/"));
    client.expect_close();
    let served = Served::start(TempTree::new(), &format!("{SITE}access = ['allow 10.0.0.0/8']\n"));
    assert_eq!(served.get("a", "/").0, 403);
    let proxied = format!("forwarded = '127.0.0.1'\n{SITE}access = ['allow 10.0.0.0/8']\n");
    let served = Served::start(TempTree::new(), &proxied);
    assert_eq!(ask(&served, "/", "X-Forwarded-For: 10.1.2.3\r\n").status, 200);
    assert_eq!(ask(&served, "/", "X-Forwarded-For: 10.1.2.3, 192.0.2.1\r\n").status, 403);
}

#[test]
fn a_route_asks_for_a_password_and_the_rest_does_not() {
    let tree = TempTree::new().file("users", format!("ann:{OPEN}\n"));
    let text = "[[site]]\nhosts = ['a']\nsecurity = 'basic'\nroute = [\n\
        { path = '/private/*', auth = 'users', fields = { response = { set = { X-User = '{user}' } } }, respond = 'secret' },\n\
        { respond = 'open' }]\n";
    let served = Served::start(tree, text);
    assert_eq!(served.get("a", "/"), (200, "open".to_owned()));
    let refused = ask(&served, "/private/x", "");
    assert_eq!((refused.status, refused.field("x-frame-options")), (401, Some("SAMEORIGIN")));
    assert!(
        refused
            .field("www-authenticate")
            .is_some_and(|value| value.starts_with("Basic realm=\"restricted\""))
    );
    assert_eq!(ask(&served, "/%70rivate/x", &basic("ann:wrong")).status, 401);
    let entered = ask(&served, "/private/x", &basic("ann:open sesame"));
    assert_eq!(
        (entered.status, entered.text(), entered.field("x-user")),
        (200, "secret", Some("ann"))
    );
}

/// What a client has used up is not given back by a reload that leaves the section as it is.
#[test]
fn a_reload_forgets_no_rate() {
    let text = format!("{SITE}rate = '2/d'\n");
    let served = Served::start(TempTree::new(), &text);
    assert_eq!([(); 3].map(|()| served.get("a", "/").0), [200, 200, 429]);
    served.reload(&format!("server = 'Other'\n{text}")).unwrap();
    assert_eq!(served.get("a", "/").0, 429);
    served.reload(&text.replace("2/d", "4/d")).unwrap();
    assert_eq!(served.get("a", "/").0, 200);
}

/// The status shows what limits and rules have refused, all places together (F3).
#[test]
fn refusals_are_counted_by_their_reason() {
    let text = "[[site]]\nhosts = ['a']\nrate = '5/d'\nroute = [\n\
        { path = '/one', deny = ['/'], respond = 'x' },\n\
        { path = '/two', deny = ['/'], respond = 'x' },\n\
        { path = '/three', access = 'deny all', respond = 'x' }]\n";
    let served = Served::start(TempTree::new(), text);
    let targets = ["/one", "/two", "/three", "/none", "/none", "/none", "/one"];
    let statuses = targets.map(|target| served.get("a", target).0);
    assert_eq!(statuses, [403, 403, 403, 404, 404, 429, 429]);
    let refused = served.server.refused();
    let shown: Vec<_> = refused.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(shown, [("access", 1), ("blocks", 0), ("deny", 2), ("rate", 2)]);
}
