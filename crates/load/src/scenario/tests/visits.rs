//! What users do: requests, redirects, resources, cookies, captures and assertions in their order.

use super::*;

fn check(
    document: &str,
    turns: usize,
    server: impl Fn(&str) -> Option<ServerResponse>,
    expected: &[&str],
) {
    let scenario = parse(document).unwrap_or_else(|findings| panic!("{findings:?}"));
    let lines = SimulatedUser::new(&scenario).run(turns, server);
    assert_eq!(lines, expected, "{document}");
}

fn always(_: &str) -> Option<ServerResponse> {
    response(200, "", "ok")
}

#[test]
fn a_failed_step_is_named_and_ends_the_visit() {
    let failing = |keys: &str, server: fn(&str) -> Option<ServerResponse>, expected: &str| {
        let text = format!(
            "[[scenario]]\n[[scenario.step]]\nname = 'a'\nrequest = '/a'\n{keys}\n\
             [[scenario.step]]\nname = 'b'\nrequest = '/b'\n"
        );
        let lines = [format!("a> GET /a|{expected}"), format!("a> GET /a|{expected}")];
        check(&text, 2, server, &[&lines[0], &lines[1]]);
    };
    failing("", |_| None, " ! no answer");
    failing("", |_| response(404, "", ""), " ! a: status is 200 to 399");
    failing(
        "expect = { status = [200, '3xx'] }",
        |_| response(404, "", ""),
        " ! a: status is 200, 300 to 399",
    );
    failing("expect = { contains = ['o', 'no'] }", always, " ! a: contains \"no\"");
    failing("expect = { lacks = 'ok' }", always, " ! a: lacks \"ok\"");
    failing("expect = { field = 'ETag' }", always, " ! a: has field ETag");
    failing("expect = { bytes = 3 }", always, " ! a: the body has 3 bytes");
    failing("expect = { json = { '/a' = 3 } }", always, " ! a: json /a is 3");
    failing(
        "expect = { json = { '/a' = 'x' } }",
        |_| response(200, "", r#"{"a": 3}"#),
        " ! a: json /a is \"x\"",
    );
    failing("capture = { t = { regex = 'x(.)' } }", always, " ! a: capture t");
    failing("capture = { t = { field = 'x' } }", always, " ! a: capture t");
    failing("capture = { t = { json = '/x' } }", always, " ! a: capture t");
    // The status is reported first: it explains the rest.
    failing("expect = { contains = 'no', status = 201 }", always, " ! a: status is 201");
}

#[test]
fn matching_answers_continue_the_visit() {
    check(
        "[[scenario]]\n[[scenario.step]]\nrequest = '/'\n\
         expect = { status = 404, contains = 'o', lacks = 'no', field = 'etag', bytes = 9, json = { '/ok' = true, '/n' = 1 } }\n\
         [[scenario.step]]\nrequest = 'POST /x'\n",
        3,
        |request| match request.starts_with("GET") {
            true => response(404, "ETag: x\r\n", "{\"ok\":true,\"n\":1}"),
            false => always(request),
        },
        &["/> GET /| ! /: the body has 9 bytes"; 3],
    );
    check(
        "[[scenario]]\n[[scenario.step]]\nrequest = '/'\n\
         expect = { status = 404, contains = 'o', lacks = 'no', field = 'etag', bytes = 17, json = { '/ok' = true, '/n' = 1 } }\n\
         [[scenario.step]]\nrequest = 'POST /x'\n",
        3,
        |request| match request.starts_with("GET") {
            true => response(404, "ETag: x\r\n", "{\"ok\":true,\"n\":1}"),
            false => always(request),
        },
        &["/> GET /|", "POST /x> POST /x|Content-Length: 0|", "/> GET /|"],
    );
}

#[test]
fn captures_are_used_later() {
    let server = |request: &str| match request.starts_with("GET /login") {
        true => response(200, "X-Id: order 17\r\n", "<input value=\"a&b\"> {\"n\": [1]}"),
        false => response(200, "", "{\"id\": \"x/y\", \"n\": [1]}"),
    };
    check(
        "[[scenario]]\n\
         [[scenario.step]]\nname = 'form'\nrequest = '/login'\n\
         capture = { token = { regex = 'value=\"([^\"]*)\"' }, id = { field = 'x-id', regex = '[0-9]+' }, whole = { field = 'X-Id' } }\n\
         [[scenario.step]]\nname = 'send'\nrequest = 'POST /login/{id}?w={whole}'\nform = { z = '{token}', a = 'b c' }\n\
         fields = { X-Token = '{token}' }\ncapture = { id = { json = '/id' }, n = { json = '/n' } }\n\
         [[scenario.step]]\nname = 'see'\nrequest = 'PUT /{id}'\ncontent = '{\"n\": {n}, \"t\": \"{token}\"}'\n",
        3,
        server,
        &[
            "form> GET /login|",
            "send> POST /login/17?w=order%2017|X-Token: a&b|Content-Type: application/x-www-form-urlencoded|\
             Content-Length: 15|z=a%26b&a=b%20c",
            "see> PUT /x%2Fy|Content-Length: 22|{\"n\": [1], \"t\": \"a&b\"}",
        ],
    );
}

#[test]
fn pages_have_resources_and_time_to_read() {
    check(
        "[[scenario]]\n[[scenario.step]]\nname = 'page'\nrequest = 'POST /p'\ncontent = 'x'\nthink = '2s'\n\
         fields = { Accept = 'a', Content-Type = 'b' }\nresources = ['/a.css', '/gone.png']\n",
        5,
        |request| response(if request.contains("gone") { 404 } else { 200 }, "", ""),
        &[
            "page> POST /p|Accept: a|Content-Type: b|Content-Length: 1|x",
            "page: resources> GET /a.css|Accept: a|",
            "page: resources> GET /gone.png|Accept: a| ! page: resources: status is 200 to 399",
            "wait 2000 ms",
            "page> POST /p|Accept: a|Content-Type: b|Content-Length: 1|x",
        ],
    );
}

#[test]
fn times_to_think_lie_in_their_range() {
    let scenario =
        parse("[[scenario]]\nstep = [{ request = '/', think = '10ms..20ms' }]\n").unwrap();
    let lines = SimulatedUser::new(&scenario).run(400, always);
    let waits = lines.iter().filter_map(|line| line.strip_prefix("wait ")?.strip_suffix(" ms"));
    let waits: Vec<u64> = waits.map(|wait| wait.parse().unwrap()).collect();
    assert_eq!(waits.len(), 200);
    assert!(waits.iter().all(|wait| (10..=20).contains(wait)), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait < 13) && waits.iter().any(|wait| *wait > 17));
}

#[test]
fn redirects_are_followed_as_browsers_do() {
    let document = |redirects: u8| {
        format!(
            "[[scenario]]\nredirects = {redirects}\nfields = {{ X = '1' }}\n\
             [[scenario.step]]\nname = 'buy'\nrequest = 'POST /buy'\ncontent = 'c'\nexpect = {{ contains = 'thanks' }}\n"
        )
    };
    let server = |request: &str| match request.split(' ').nth(1).unwrap_or_default() {
        "/buy" => response(307, "Location: shop/buy?x\r\n", ""),
        "/shop/buy?x" => {
            response(303, "Location: http://h:81/done\r\nSet-Cookie: a=1; Path=/\r\n", "")
        }
        "/done" => response(308, "Location: ./thanks\r\n", ""),
        _ => response(200, "", "thanks"),
    };
    check(
        &document(3),
        5,
        server,
        &[
            "buy> POST /buy|X: 1|Content-Length: 1|c",
            "buy> POST /shop/buy?x|X: 1|Content-Length: 1|c",
            "buy> GET /done|X: 1|Cookie: a=1|",
            "buy> GET /thanks|X: 1|Cookie: a=1|",
            "buy> POST /buy|X: 1|Content-Length: 1|c",
        ],
    );
    check(
        &document(1),
        3,
        server,
        &[
            "buy> POST /buy|X: 1|Content-Length: 1|c",
            "buy> POST /shop/buy?x|X: 1|Content-Length: 1|c ! buy: redirects stay on this host",
            "buy> POST /buy|X: 1|Content-Length: 1|c",
        ],
    );
    check(
        &document(0),
        1,
        server,
        &["buy> POST /buy|X: 1|Content-Length: 1|c ! buy: contains \"thanks\""],
    );
    check(
        "[[scenario]]\nredirects = 9\nstep = [{ request = '/' }]\n",
        1,
        |_| response(302, "Location: https://h:81/\r\n", ""),
        &["/> GET /| ! /: redirects stay on this host"],
    );
}

#[test]
fn cookies_are_kept_as_asked() {
    let document = |keys: &str| {
        format!(
            "[[scenario]]\n{keys}\nstep = [{{ name = 'a', request = '/a' }}, {{ name = 'b', request = '/b/c' }}, \
             {{ name = 'c', request = '/', fields = {{ Cookie = 'own' }} }}]\n"
        )
    };
    let server = |request: &str| match request.contains(" /b/c ") {
        true => response(200, "Set-Cookie: s=2\r\nSet-Cookie: t=1; Max-Age=0; Path=/\r\n", ""),
        false => response(200, "Set-Cookie: t=1; Path=/\r\nSet-Cookie: u=1; Max-Age=1\r\n", ""),
    };
    let (first, own) = ("b> GET /b/c|Cookie: t=1|", "c> GET /|Cookie: own|");
    check(&document(""), 5, server, &["a> GET /a|", first, own, "a> GET /a|", first]);
    check(
        &document("cookies = 'user'"),
        5,
        server,
        &["a> GET /a|", first, own, "a> GET /a|Cookie: t=1|", "b> GET /b/c|Cookie: s=2; t=1|"],
    );
    check(&document("cookies = 'none'"), 3, server, &["a> GET /a|", "b> GET /b/c|", own]);
}

#[test]
fn rows_are_drawn_by_visit_until_they_end() {
    check(
        "feed = { file = 'users.csv', order = 'once' }\n[[scenario]]\n\
         step = [{ name = 'a', request = '/{name}' }, { name = 'b', request = '/{seq}/{word}' }]\n",
        9,
        always,
        &["a> GET /ann|", "b> GET /0/a%20b|", "a> GET /bob|", "b> GET /1/x|", "end"],
    );
}

#[test]
fn kinds_are_mixed_by_weight() {
    let scenario = parse(
        "fields = { A = 'all', B = 'all' }\n\
         [[scenario]]\nname = 'read'\nweight = 3\nstep = [{ name = 'r', request = '/' }]\n\
         [[scenario]]\nfields = { b = 'own' }\nstep = [{ name = 'w', request = 'PUT /', content_file = 'body.bin' }]\n",
    )
    .unwrap();
    assert_eq!(scenario.steps(), ["read: r", "scenario 2: w"]);
    let lines = SimulatedUser::new(&scenario).run(40, always);
    let reads = lines.iter().filter(|line| *line == "read: r> GET /|A: all|B: all|").count();
    let writes = lines
        .iter()
        .filter(|line| *line == "scenario 2: w> PUT /|A: all|b: own|Content-Length: 5|{seq}");
    assert_eq!(reads + writes.count(), 40);
    assert!((28..=32).contains(&reads), "{reads}");
}
