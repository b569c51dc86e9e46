//! The sections that the server declares itself: what is read, and what is said of mistakes.

use vervet_config::{Section, read_text};
use vervet_server::settings::{Document, LimitSettings, Workers};

/// The first message of each finding, with its line and column.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let reading = read_text::<Document>("vervet.toml", text);
    let found: Vec<String> = reading
        .diagnostics
        .iter()
        .map(|one| match reading.sources.position(one.span) {
            Some(at) => format!("{}:{}: {}", at.line, at.column, one.message),
            None => one.message.clone(),
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn what_is_no_number_of_workers_is_said_at_its_place() {
    let message = |at: &str| format!("{at}: `workers` is not a valid number of workers");
    check("workers = 0", &[&message("1:11")]);
    check("workers = 1025", &[&message("1:11")]);
    check("workers = 'many'", &[&message("1:11")]);
}

#[test]
fn limits_are_held_against_their_bounds() {
    check("limits = {head_bytes_max = '2MiB'}", &["1:28: `head_bytes_max` is out of bounds"]);
    check("limits.head_bytes_max = 1", &["1:25: `head_bytes_max` is out of bounds"]);
    check("limits.head_timeout_ms = '1us'", &["1:26: `head_timeout_ms` is out of bounds"]);
    check("limits.fields_max = '100'", &["1:21: `fields_max` is given a text"]);
    check("limits.fields_maxx = 9", &["1:8: unknown directive `fields_maxx`"]);
}

#[test]
fn limits_take_units_and_plain_numbers() {
    let text = "[limits]\nhead_bytes_max = '64KiB'\ntarget_bytes_max = 4096\nhead_timeout_ms = '5s'\ncontent_idle_timeout_ms = 700";
    let reading = read_text::<Document>("vervet.toml", text);
    let limits = reading.value.unwrap().limits.limits().unwrap();
    assert_eq!((limits.head_bytes_max, limits.target_bytes_max), (65_536, 4096));
    assert_eq!((limits.head_timeout_ms, limits.content_idle_timeout_ms), (5000, 700));
}

#[test]
fn limits_that_contradict_each_other_are_found() {
    let text = "[limits]\nhead_bytes_max = 1024";
    let reading = read_text::<Document>("vervet.toml", text);
    let problem = reading.value.unwrap().limits.limits().unwrap_err();
    assert_eq!(
        problem.message,
        "target_bytes_max exceeds head_bytes_max, which is 1024 (lower the one or raise the other)"
    );
}

#[test]
fn every_limit_has_a_directive_whose_default_lies_within_its_bounds() {
    let fields = LimitSettings::declaration().fields;
    assert_eq!(fields.len(), vervet_server::engine::limits::Limits::TABLE.len());
    let reading = read_text::<Document>("vervet.toml", "");
    assert!(reading.diagnostics.is_empty(), "{}", reading.to_text());
    let document = reading.value.unwrap();
    assert_eq!(document.limits.limits().unwrap(), vervet_server::engine::limits::Limits::DEFAULT);
    assert_eq!(*document.workers, Workers::Auto);
}

#[test]
fn listeners_are_read_in_both_forms() {
    let text = "[[listen]]\naddress = '[::1]:80'\nname = 'public'\nbacklog = 10\nproxy_protocol_from = '10.0.0.0/8'\n";
    let reading = read_text::<Document>("vervet.toml", text);
    let document = reading.value.unwrap();
    let listen = &document.listen[0];
    assert_eq!(listen.called(), "public");
    let options = listen.options();
    assert_eq!((options.backlog, options.defer_accept.as_secs()), (10, 1));
    assert_eq!(options.proxy_protocol_from[0].to_string(), "10.0.0.0/8");
    let reading = read_text::<Document>("vervet.toml", "listen = [':80', 'unix:/run/a.sock']");
    let called: Vec<_> =
        reading.value.unwrap().listen.iter().map(vervet_server::settings::Listen::called).collect();
    assert_eq!(called, [":80", "unix:/run/a.sock"]);
    check(
        "listen = '10.0.0.1'",
        &[
            "1:10: `listen` cannot be `10.0.0.1`: \"10.0.0.1\" lacks a port (for example 10.0.0.1:8080)",
        ],
    );
    check(
        "listen = [{address = ':80', proxy_protocol_from = ['10.1.0.0/8']}]",
        &[
            "1:52: an element of `proxy_protocol_from` cannot be `10.1.0.0/8`: it has bits set after its prefix (the network is 10.0.0.0/8)",
        ],
    );
}
