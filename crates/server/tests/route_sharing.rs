//! What ten thousand routes share: equal folders are one action with one handler on each reactor,
//! from plan to plan, and what was read for them is dropped when it serves.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::support::served::{Served, plan, read, tools};
use vervet_engine::listener::{Inherited, ListenerKey};
use vervet_engine::{Carrier, Running};
use vervet_server::plan::Plan;
use vervet_server::server::{Server, Setup, Sockets};
use vervet_server::staging::{Tools, prepare};
use vervet_server::web::{RouteEnd, Stage};
use vervet_testkit::TempTree;

const SITES: usize = 100;
const ROUTES: usize = 100;

/// Sites whose routes all serve the folder `a`, but for the last of each, which serves this one.
fn document(last: &str) -> String {
    let mut text = String::new();
    for site in 0..SITES {
        writeln!(text, "[[site]]\nhosts = ['s{site}.test']").unwrap();
        for route in 0..ROUTES {
            let folder = if route + 1 < ROUTES { "a" } else { last };
            writeln!(text, "[[site.route]]\npath = '/r{route}/*'\nfiles = '{folder}'").unwrap();
        }
    }
    text
}

fn tree() -> TempTree {
    TempTree::new().file("a/x", "of a").file("b/x", "of b")
}

fn stage(tree: &TempTree, text: &str, tools: &Tools) -> Stage {
    let plan = plan(tree.path(), text).unwrap();
    prepare(&plan, &[ListenerKey(0)], tools).unwrap().0
}

/// The actions that routes of the first site lead to, by the numbers of the routes.
fn action(stage: &Stage, route: usize) -> usize {
    match &stage.sites[0].targets[route].end {
        RouteEnd::Action(action) => *action,
        RouteEnd::Rewrite(rewrite) => panic!("{rewrite:?}"),
    }
}

#[test]
fn equal_routes_are_one_action() {
    let (tree, tools) = (tree(), tools());
    let stage = stage(&tree, &document("a"), &tools);
    let routes = stage.sites.iter().map(|site| site.targets.len());
    assert_eq!(routes.sum::<usize>(), SITES * ROUTES);
    assert_eq!((stage.actions.len(), tools.pool.len()), (1, 1));
}

#[test]
fn what_is_served_by_the_next_plan_too_stays_the_same() {
    let (tree, tools) = (tree(), tools());
    let first = stage(&tree, &document("a"), &tools);
    let second = stage(&tree, &document("b"), &tools);
    assert_eq!((second.actions.len(), tools.pool.len()), (2, 2));
    assert_eq!((action(&second, 0), action(&second, ROUTES - 2)), (0, 0));
    assert_eq!(action(&second, ROUTES - 1), 1);
    // So its handlers go on, with what they keep open.
    assert!(Arc::ptr_eq(&first.actions[0], &second.actions[0]));
    let third = stage(&tree, &document("b"), &tools);
    for (before, after) in second.actions.iter().zip(&third.actions) {
        assert!(Arc::ptr_eq(before, after));
    }
}

#[test]
fn equal_sections_of_filters_are_one_filter() {
    let (tree, tools) = (tree(), tools());
    let filters = "access = ['allow 10.0.0.0/8', 'deny all']\ndeny = ['secret']\ncors = '*'\nsecurity = 'basic'\n";
    let limits = "rate = '10/s'\nconcurrency = 5\n";
    let mut text = String::from("[[site]]\n");
    for route in 0..ROUTES {
        let header = "[[site.route]]\nstatus = 204";
        writeln!(text, "{header}\npath = '/r{route}'\n{filters}{limits}").unwrap();
    }
    let stage = stage(&tree, &text, &tools);
    let [first, others @ ..] = &stage.sites[0].targets[..] else {
        panic!("{stage:?}");
    };
    assert_eq!(others.len(), ROUTES - 1);
    for other in others {
        let (first, other) = (&first.pipeline, &other.pipeline);
        let pairs = first.filters.iter().zip(&other.filters);
        for (one, other) in pairs.chain(first.decorations.iter().zip(&other.decorations)) {
            assert_eq!(one.name(), other.name());
            // What counts clients counts those of its own place.
            let counts = matches!(one.name(), "rate" | "concurrency");
            assert_eq!(Arc::ptr_eq(one, other), !counts, "{}", one.name());
        }
        assert_eq!((other.filters.len(), other.decorations.len()), (5, 1));
    }
}

#[test]
fn shared_actions_answer_for_their_own_routes() {
    let served = Served::start(tree(), &document("b"));
    for (host, path, content) in [
        ("s0.test", "/r0/x", "of a"),
        ("s99.test", "/r98/x", "of a"),
        ("s99.test", "/r99/x", "of b"),
    ] {
        assert_eq!(served.get(host, path), (200, content.to_owned()), "{path}");
    }
    assert!(served.reload(&document("a")).is_ok());
    assert_eq!(served.get("s99.test", "/r99/x"), (200, "of a".to_owned()));
}

#[test]
fn a_server_keeps_no_document() {
    let tree = tree();
    let reading = read(tree.path(), &document("a"));
    let document = reading.value.unwrap();
    let site = Arc::downgrade(document.site[0].value());
    let plan = Plan::of(&document, &["127.0.0.1:0".parse().unwrap()]).unwrap();
    drop(document);
    let tools = tools();
    let sockets = Sockets::bind(&plan, &mut Inherited::default()).unwrap();
    let (stage, _) = prepare(&plan, &sockets.keys(), &tools).unwrap();
    let setup = Setup { workers: 1, carrier: Carrier::Thread };
    assert!(site.upgrade().is_some());
    let (server, running) = Server::start(plan, stage, sockets, tools, setup).unwrap();
    assert!(site.upgrade().is_none());
    server.control().stop();
    Running::wait(running).unwrap();
}
