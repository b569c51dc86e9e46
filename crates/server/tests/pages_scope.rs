//! What a template can name, and what its functions do to the answer.

use crate::page_support::{Asked, Site, encoded};

/// What a template gives for a request.
#[track_caller]
fn check(template: &str, asked: Asked<'_>, expected: &str) {
    let mut site = Site::of(template);
    let shown = site.ask(asked);
    assert_eq!(
        (shown.status, shown.text.as_str()),
        (200, expected),
        "{template}\n{:?}\n{:?}",
        site.problems(),
        site.told.take()
    );
}

/// A template that fails when it is rendered: the problem that is reported.
#[track_caller]
fn check_fails(template: &str, expected: &str) {
    let mut site = Site::of(template);
    assert_eq!(site.problems(), [""; 0], "{template}");
    let shown = site.get("/");
    let told = site.told.take().join("\n");
    assert_eq!(shown.status, 500, "{template}: {}", shown.text);
    assert!(told.contains(expected), "{template}: {told}");
    assert_eq!(site.page.counts().failed(), 1);
}

#[test]
fn what_is_not_sent_shows_as_nothing() {
    let asked = Asked::get("/");
    check("[{{ query.a }}{{ form.a }}{{ path.a }}{{ fields.a }}{{ cookies.a }}]", asked, "[]");
    check("{{ query.all('a')|length }}{{ query|length }}", asked, "00");
    check("{% if query or form or cookies or path %}some{% else %}none{% endif %}", asked, "none");
    check("{{ 'a' in query }}", asked, "False");
}

#[test]
fn the_query_is_decoded() {
    let asked = Asked::get("/?a=1&b=x+y%21&a=2&%C3%BC=%F0%9F%A6%A6");
    check("{{ query.a }} {{ query.b }} {{ query['ü'] }}", asked, "1 x y! 🦦");
    check("{{ query.all('a')|join(',') }}", asked, "1,2");
    check("{% for name in query %}{{ name }};{% endfor %}", asked, "a;b;ü;");
    check(
        "{% for name, value in query|items %}{{ name }}={{ value }};{% endfor %}",
        asked,
        "a=1;b=x y!;ü=🦦;",
    );
    check(
        "{% for name, value in query.pairs() %}{{ name }}={{ value }};{% endfor %}",
        asked,
        "a=1;b=x y!;a=2;ü=🦦;",
    );
    check("{{ 'a' in query }} {{ 'c' in query }} {{ query|length }}", asked, "True False 3");
}

#[test]
fn a_form_is_one_too() {
    let asked = Asked { form: "a=1&b=%3C", ..Asked::get("/?a=2") };
    check("{{ method }} {{ form.a }} {{ query.a }} {{ form.b }}", asked, "POST 1 2 &lt;");
}

#[test]
fn a_form_is_gone_with_its_request() {
    let mut site = Site::of("{{ form.a }}{{ query.a }}{{ cookies.a }}{{ path.a }}{{ fields.x }}");
    let asked = Asked {
        form: "a=1",
        fields: &[("Cookie", "a=2"), ("X", "3")],
        captures: &[("a", "4")],
        ..Asked::get("/?a=5")
    };
    assert_eq!(site.ask(asked).text, "15243");
    assert_eq!(site.get("/").text, "");
}

#[test]
fn the_path_has_the_values_of_the_route() {
    let asked = Asked { captures: &[("id", "7"), ("name", "a/b")], ..Asked::get("/u/7") };
    check("{{ path.id }} {{ path.name }}{{ path.x }}", asked, "7 a/b");
    check("{% for name in path %}{{ name }};{% endfor %}", asked, "id;name;");
}

#[test]
fn fields_are_found_in_any_spelling() {
    let fields = &[("User-Agent", "otter <1>"), ("Accept", "a"), ("ACCEPT", "b")];
    let asked = Asked { fields, ..Asked::get("/") };
    check(
        "{{ fields['user-agent'] }} {{ fields.user_agent }} {{ fields.Accept }}",
        asked,
        "otter &lt;1&gt; otter &lt;1&gt; a, b",
    );
    check("{% for name in fields %}{{ name }};{% endfor %}", asked, "host;user-agent;accept;");
}

#[test]
fn cookies_are_taken_apart() {
    let fields = &[("Cookie", "a=1; b=%C3%BC%3B"), ("Cookie", "c=\"3\"")];
    let asked = Asked { fields, ..Asked::get("/") };
    check("{{ cookies.a }} {{ cookies.b }} {{ cookies.c }}{{ cookies.d }}", asked, "1 ü; 3");
    check("{{ cookies|list|join }}", asked, "abc");
}

#[test]
fn the_request_itself_is_told() {
    let asked = Asked::get("/a?b=%3C");
    check(
        "{{ method }} {{ host }} {{ target }} {{ client }}",
        asked,
        "GET localhost /a?b=%3C 192.0.2.7",
    );
}

#[test]
fn now_is_the_time_of_the_request() {
    let asked = Asked::get("/");
    check("{{ now }}", asked, "2027-01-15T08:00:00Z");
    check(
        "{{ now.year }}-{{ now.month }}-{{ now.day }} {{ now.hour }}:{{ now.minute }}:{{ now.second }}",
        asked,
        "2027-1-15 8:0:0",
    );
    check("{{ now.weekday }} {{ now.day_of_year }} {{ now.unix }}", asked, "5 15 1800000000");
    check(
        "{{ now|date }} {{ now|date('%A, %-d %B %Y, %H:%M %Z') }}",
        asked,
        "2027-01-15 Friday, 15 January 2027, 08:00 UTC",
    );
    check(
        "{{ now.format('%d.%m.%y') }} {{ 0|date }} {{ '2026-11-21'|date('%a') }}",
        asked,
        "15.01.27 1970-01-01 Sat",
    );
}

#[test]
fn dates_that_cannot_be_are_told() {
    check_fails(
        "{{ 'x'|date }}",
        "1:8: date expects a time, a date or seconds since 1970, not string",
    );
    check_fails("{{ now|date('%') }}", "invalid date format");
}

#[test]
fn parts_are_known_in_macros_and_includes() {
    let tree = vervet_testkit::TempTree::new()
        .file("page.html", "{% import 'm.html' as m %}{{ m.hello() }}{% include 'i.html' %}")
        .file(
            "m.html",
            "{% macro hello() %}{{ query.a }}{{ now.year }}{{ status(201) }}{% endmacro %}",
        )
        .file("i.html", "{{ query.a }}{{ cookies.c }}");
    let mut site = Site::new(tree);
    let shown = site.ask(Asked { fields: &[("Cookie", "c=3")], ..Asked::get("/?a=1") });
    assert_eq!((shown.status, shown.text.as_str()), (201, "1202713"), "{:?}", site.problems());
}

#[test]
fn a_page_is_not_kept_by_caches_unless_it_says_so() {
    let shown = Site::of("a").get("/");
    assert_eq!(
        shown.head,
        "HTTP/1.1 200 OK\r\nServer: Vervet\r\nContent-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\n"
    );
    let shown = Site::of("{{ set_field('cache-control', 'max-age=60') }}a").get("/");
    assert_eq!(shown.field("cache-control"), Some("max-age=60"));
}

#[test]
fn the_status_is_set() {
    let mut site = Site::of("{% if not query.id %}{{ status(404) }}gone{% endif %}");
    let shown = site.get("/");
    assert_eq!((shown.status, shown.text.as_str()), (404, "gone"));
    assert_eq!(site.get("/?id=1").status, 200);
    assert_eq!(Site::of("{{ status(204) }}x").get("/").text, "");
    check_fails("{{ status(99) }}", "invalid status 99: expected");
    check_fails("{{ status(600) }}", "invalid status 600: expected");
    check_fails("{{ status('x') }}", "1:");
}

#[test]
fn fields_are_set_once_each() {
    let template = "{{ set_field('X-A', 1) }}{{ set_field('x-a', 2) }}{{ set_field('Content-Type', 'text/plain') }}";
    let shown = Site::of(template).get("/");
    assert_eq!(shown.all("x-a"), ["2"]);
    assert_eq!(shown.field("content-type"), Some("text/plain"));
}

#[test]
fn fields_cannot_break_the_head() {
    check_fails("{{ set_field('X', 'a\r\nY: b') }}", "control byte");
    check_fails("{{ set_field('X Y', 'a') }}", "not a token");
    check_fails("{{ set_field('', 'a') }}", "not a token");
    check_fails("{{ set_field('Content-Length', '1') }}", "belongs to the connection");
    check_fails("{{ set_field('set-cookie', 'a=b') }}", "use set_cookie");
    check_fails("{{ set_field('Location', '/') }}", "use redirect");
    check_fails("{{ set_field('Date', 'x') }}", "the server writes it");
}

#[test]
fn cookies_are_set_and_deleted() {
    let template = "{{ set_cookie('a', query.v) }}{{ set_cookie('b', 1, max_age=60, path='/x', same_site='strict', \
                    http_only=false, secure=true) }}{{ delete_cookie('c') }}";
    let shown = Site::of(template).get("/?v=x%3By%0D%0AZ:1");
    assert_eq!(
        shown.all("set-cookie"),
        [
            "a=x%3By%0D%0AZ:1; Path=/; SameSite=Lax; HttpOnly",
            "b=1; Max-Age=60; Path=/x; SameSite=Strict; Secure",
            "c=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/; SameSite=Lax; HttpOnly",
        ]
    );
    check_fails("{{ set_cookie('a b', 1) }}", "a cookie name consists of");
    check_fails("{{ set_cookie('a', 1, same_site='none') }}", "without secure=true");
    check_fails("{{ set_cookie('a', 1, same_site='x') }}", "invalid same_site \"x\": expected");
    check_fails("{{ set_cookie('a', 1, maxage=1) }}", "maxage");
}

#[test]
fn a_cookie_comes_back_as_it_was_set() {
    let value = "a;b \"c\", ü%20\\ 100%";
    let mut site = Site::of("{{ set_cookie('a', query.v) }}{{ cookies.a|safe }}");
    let shown = site.get(&format!("/?v={}", encoded(value)));
    let sent = shown.all("set-cookie")[0].split(';').next().unwrap().to_owned();
    let asked = Asked { fields: &[("Cookie", &sent)], ..Asked::get("/?v=") };
    assert_eq!(site.ask(asked).text, value);
}

#[test]
fn a_visitor_is_sent_elsewhere() {
    let mut site = Site::of("before{{ set_cookie('a', 1) }}{{ redirect(query.to) }}after");
    let shown = site.get("/?to=/next%3Fa=b");
    assert_eq!(
        (shown.status, shown.field("location"), shown.text.as_str()),
        (303, Some("/next?a=b"), "")
    );
    assert_eq!(shown.all("set-cookie").len(), 1);
    assert_eq!(site.page.counts().failed(), 0);
    let shown =
        Site::of("{{ redirect('https://example.org/', status=308, external=true) }}").get("/");
    assert_eq!((shown.status, shown.field("location")), (308, Some("https://example.org/")));
    check_fails("{{ redirect('/', status=200) }}", "invalid redirect status 200");
}

#[test]
fn a_visitor_is_not_sent_to_another_site() {
    let mut site = Site::of("{{ redirect(query.to) }}");
    for to in ["https://evil.example", "//evil.example", "/%5Cevil.example", "javascript:alert(1)"]
    {
        let shown = site.get(&format!("/?to={to}"));
        assert_eq!((shown.status, shown.field("location")), (400, None), "{to}");
        assert!(shown.text.contains("outside this site"), "{}", shown.text);
    }
    assert_eq!((site.page.counts().failed(), site.page.counts().refused()), (0, 4));
}

#[test]
fn nothing_of_a_page_remains_for_the_next() {
    let mut site = Site::of(
        "{% if query.a %}{{ status(404) }}{{ set_field('X', 1) }}{{ set_cookie('a', 1) }}{{ 1 // 0 }}{% endif %}ok",
    );
    assert_eq!(site.get("/?a=1").status, 500);
    let shown = site.get("/");
    assert_eq!((shown.status, shown.field("x"), shown.text.as_str()), (200, None, "ok"));
}
