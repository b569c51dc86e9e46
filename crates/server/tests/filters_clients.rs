//! Filters by client, over connections: access rules, blocks, and the client behind a proxy.

use std::sync::Arc;

use crate::support::filtered::{Filtered, Plan};
use crate::support::wire::Wire;
use vervet_config::{Section, read_text};
use vervet_engine::reactor::Now;
use vervet_server::filters::access::{Access, AccessRules};
use vervet_server::filters::blocks::{Blocks, Unblocked};
use vervet_server::filters::forwarded::{ForwardedFrom, Forwarders};
use vervet_server::web::RequestFilter;
use vervet_testkit::RawClient;

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn section<S: Section>(text: &str) -> S {
    let read = read_text::<S>("test.toml", text);
    read.value.unwrap_or_else(|| panic!("{text}: {:?}", read.diagnostics))
}

fn access(rules: &str) -> Arc<AccessRules> {
    Arc::new(AccessRules::from(&section::<Access>(&format!("rules = {rules}"))))
}

fn serve(plan: Plan) -> Wire {
    Wire::start(move |_| Filtered::new(&plan))
}

#[test]
fn a_denied_client_is_closed_before_a_byte_is_read() {
    let rules = access("['deny 127.0.0.0/8']");
    let wire = serve(Plan { access: Arc::clone(&rules), ..Plan::of(Vec::new()) });
    for _ in 0..3 {
        let mut client = RawClient::connect(wire.address);
        // What it sends, if it comes through at all, is not answered.
        let _ = client.try_send(GET);
        client.expect_close();
    }
    assert_eq!(rules.denied(), 3);
}

#[test]
fn an_allowed_client_is_answered() {
    let wire =
        serve(Plan { access: access("['allow 127.0.0.1', 'deny all']"), ..Plan::of(Vec::new()) });
    assert_eq!(RawClient::connect(wire.address).exchange(GET).status, 200);
}

#[test]
fn a_site_answers_denied_clients_with_403() {
    let wire = serve(Plan::of(vec![access("['deny 127.0.0.1']")]));
    let mut client = RawClient::connect(wire.address);
    assert_eq!(client.exchange(GET).status, 403);
    assert_eq!(client.exchange(GET).status, 403, "the connection goes on");
}

/// A block holds for the next connection and is gone with its end.
#[test]
fn blocks_come_and_go_while_the_server_runs() {
    let blocks = Arc::new(Blocks::default());
    let wire = serve(Plan { blocks: Arc::clone(&blocks), ..Plan::of(Vec::new()) });
    let network = "127.0.0.0/8".parse().unwrap();
    let open = || RawClient::connect(wire.address);
    assert_eq!(open().exchange(GET).status, 200);

    blocks.block(network, "too many wrong passwords", None, Now::read()).unwrap();
    let mut client = open();
    let _ = client.try_send(GET);
    client.expect_close();
    assert_eq!(blocks.turned_away(), 1);
    assert_eq!(blocks.list(Now::read())[0].reason, "too many wrong passwords");

    assert!(matches!(blocks.unblock(network, Now::read()), Unblocked::Removed(_)));
    assert_eq!(open().exchange(GET).status, 200);

    let ended = Now::read().unix_seconds;
    blocks.block(network, "", Some(ended), Now::read()).unwrap();
    assert_eq!(open().exchange(GET).status, 200, "a block that has ended");
}

/// The whole of A11: rules and answers see the client that a listed proxy names, and the socket's
/// own for all others.
#[test]
fn rules_hold_for_the_client_behind_a_listed_proxy() {
    let through = |proxies: &str| {
        let forwarders = Forwarders::from(&section::<ForwardedFrom>(&format!("from = {proxies}")));
        let filters: Vec<Arc<dyn RequestFilter>> =
            vec![Arc::new(forwarders), access("['deny 203.0.113.0/24']")];
        serve(Plan::of(filters))
    };
    let ask = |wire: &Wire, field: &str| {
        let response = RawClient::connect(wire.address)
            .exchange(format!("GET / HTTP/1.1\r\nHost: a\r\n{field}\r\n\r\n"));
        (response.status, response.text().to_owned())
    };
    let other = through("['192.0.2.0/24']");
    let own = "127.0.0.1 nobody Http\n".to_owned();
    assert_eq!(ask(&other, "X-Forwarded-For: 203.0.113.9"), (200, own.clone()));
    assert_eq!(
        ask(&other, "X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-Proto: https"),
        (200, own.clone())
    );

    let listed = through("['127.0.0.0/8']");
    assert_eq!(ask(&listed, "X-Forwarded-For: 203.0.113.9").0, 403);
    assert_eq!(
        ask(&listed, "X-Forwarded-For: 203.0.113.9, 198.51.100.7\r\nX-Forwarded-Proto: https"),
        (200, "198.51.100.7 nobody Https\n".to_owned())
    );
    assert_eq!(ask(&listed, "X-Forwarded-For: rubbish"), (200, own));
}
