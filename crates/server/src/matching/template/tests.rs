//! Rows of templates: the wrong ones, the hostile values, and then what users write.

use proptest::prelude::*;
use vervet_http::target::NormalPath;

use super::super::pattern::Pattern;
use super::super::rest::raw_rest;
use super::*;

fn offer(pattern: &Pattern) -> Offer<'_> {
    Offer {
        variables: Some(pattern.variables()),
        rest: if pattern.is_open() { Rest::There } else { Rest::Absent },
    }
}

#[track_caller]
fn check_refused(template: &str, range: Range<usize>, part: &str) {
    check_use_refused(TemplateUse::Location, template, range, part);
}

#[track_caller]
fn check_use_refused(to: TemplateUse, template: &str, range: Range<usize>, part: &str) {
    let pattern = Pattern::parse("/u/:any/:n(number)").unwrap();
    let flaw = Template::parse(template, to, offer(&pattern)).unwrap_err();
    assert!(flaw.message.contains(part), "{template}: {flaw}");
    assert_eq!(flaw.range, range, "{template}: {flaw}");
}

#[test]
fn what_is_no_template_is_refused_where_it_is_wrong() {
    check_refused("", 0..0, "1 to 4096");
    check_refused("/{", 1..2, "missing `}`");
    check_refused("/a}", 2..3, "unmatched `}`");
    check_refused("/{nmae}", 2..6, "expected one of any, n, path, query");
    check_refused("/{}", 2..2, "unknown placeholder ``");
    check_refused("/{rest}", 2..6, "ends with `*`");
    check_refused("/a\r\nSet-Cookie: x", 2..3, "control");
    check_refused("/a\\b", 2..3, "backslash");
    check_refused("example.org/x", 0..13, "`https://example.org/x` is another host");
    check_refused("b.html", 0..6, "`/b.html` a path on this one");
    check_refused("new/{n}", 0..4, "must begin with `/` or a scheme: `https://example.org` is");
    check_refused(&"x".repeat(TEMPLATE_BYTES_MAX + 1), 0..TEMPLATE_BYTES_MAX + 1, "1 to 4096");
}

#[test]
fn no_visitor_chooses_where_others_are_sent() {
    check_refused("{any}", 1..4, "must begin with `/`");
    check_refused("{n}/x", 1..2, "must begin with `/`");
    check_refused("{host}/x", 1..5, "must begin with `/`");
    check_refused("{any}://example.org", 1..4, "must begin with `/`");
    check_refused("https://{any}/", 9..12, "`:any(word)`");
    check_refused("//{any}/", 3..6, "`:any(word)`");
    check_refused("https://example.org{any}", 20..23, "`:any(word)`");
    check_refused("https://{path}/", 9..13, "cannot be part of a host");
    check_refused("https://a{method}/", 10..16, "cannot be part of a host");
    check_refused("https://{query}/", 9..14, "`{query}` must follow a path");
    check_refused("https:///{any}", 8..8, "the host is missing");
    check_refused("http:/{any}", 5..5, "two slashes");
    check_refused("HTTPS:{any}", 6..6, "two slashes");
    check_refused("{scheme}{host}", 9..13, "followed by `://`");
    check_refused("{scheme}:/x", 8..8, "followed by `://`");
    check_refused("{scheme}", 8..8, "no host");
    check_refused("https://", 8..8, "no host");
    check_refused("/a#b{query}", 5..10, "before `#`");
}

#[test]
fn a_rewrite_stays_inside() {
    let inside =
        |template, range, part| check_use_refused(TemplateUse::Inside, template, range, part);
    inside("https://example.org/", 0..20, "must begin with a single `/`");
    inside("//example.org/", 0..14, "must begin with a single `/`");
    inside("new", 0..3, "must begin with a single `/`");
    inside("?a=b", 0..4, "must begin with a single `/`");
    inside("{scheme}://x", 1..7, "must begin with");
    inside("{query}", 1..6, "`{query}` must follow a path");
    inside("/a#b", 2..3, "cannot have a fragment");
}

/// Fills a template for a route and a target of `http://example.org`.
#[track_caller]
fn check(template: &str, (route, target): (&str, &str), expected: &str) {
    let pattern = Pattern::parse(route).unwrap();
    let read = Template::parse(template, TemplateUse::Location, offer(&pattern)).unwrap();
    let (raw, query) =
        target.split_once('?').map_or((target, None), |(raw, query)| (raw, Some(query)));
    let path = NormalPath::decode(raw.as_bytes()).unwrap();
    let matched = pattern.find(path.as_bytes()).unwrap();
    let rest = matched.rest.map(|at| raw_rest(raw.as_bytes(), path.as_bytes(), at));
    let mut out = Vec::new();
    read.render(
        &Values {
            captures: &matched.captures,
            path: path.as_bytes(),
            raw_path: raw.as_bytes(),
            query: query.map(str::as_bytes),
            rest: rest.as_deref(),
            host: b"example.org",
            scheme: "http",
            method: "GET",
        },
        &mut out,
    );
    assert_eq!(str::from_utf8(&out).unwrap(), expected, "{template} for {target}");
}

#[test]
fn no_value_breaks_out() {
    let any = |target| ("/:x", target);
    check("/{x}", any("/%2ex"), "/.x");
    check("/{x}", any("/a%0D%0ASet-Cookie:%20b"), "/a%0D%0ASet-Cookie%3A%20b");
    check("/{x}", any("/%5Cevil.org"), "/%5Cevil.org");
    check("/{x}", any("/%09%3Cscript%3E"), "/%09%3Cscript%3E");
    check("/a?b={x}", any("/1&c=2"), "/a?b=1%26c%3D2");
    check("/a?b={x}", any("/%23%3F+%25"), "/a?b=%23%3F%2B%25");
    check("/{x}", any("/%FF"), "/%FF");
    check("/a#{x}", any("/%22"), "/a#%22");
    check("{path}", ("/*", "//evil.org/x"), "/evil.org/x");
    check("{path}", ("/*", "/\\evil.org/x"), "/evil.org/x");
    check("{rest}", ("/go/*", "/go//evil.org/x"), "/evil.org/x");
    check("/{path}", ("/*", "/evil.org"), "/evil.org");
    check("https://example.net{path}", ("/*", "//evil.org"), "https://example.net//evil.org");
    check("http://{w}.example.net/", ("/:w(word)", "/a_1"), "http://a_1.example.net/");
}

#[test]
fn braces_and_foreign_letters_are_written_as_they_are_sent() {
    check("/a{{b}}", ("/x", "/x"), "/a{b}");
    check("/caf\u{e9} au lait", ("/x", "/x"), "/caf%C3%A9%20au%20lait");
    check("/100%25", ("/x", "/x"), "/100%25");
}

#[test]
fn values_stand_where_they_are_asked_for() {
    check("/new/{id}", ("/u/:id(number)", "/u/7"), "/new/7");
    check("/new/{slug}", ("/u/:slug", "/u/caf%C3%A9"), "/new/caf%C3%A9");
    check(
        "https://example.org{path}{query}",
        ("/*", "/a%20b?c=d"),
        "https://example.org/a%20b?c=d",
    );
    check("https://example.org{path}{query}", ("/*", "/a"), "https://example.org/a");
    check("https://example.org", ("/*", "/a/b?c"), "https://example.org/a/b?c");
    check("https://example.org:8443", ("/*", "/"), "https://example.org:8443/");
    check("https://example.org/", ("/*", "/a/b?c"), "https://example.org/");
    check("{scheme}://www.{host}", ("/*", "/a?b"), "http://www.example.org/a?b");
    check("https://{host}{rest}", ("/old/*", "/old/x?y"), "https://example.org/x");
    check("https://example.org{query}", ("/*", "/a?b"), "https://example.org/?b");
    check("/s?p={path}&m={method}", ("/*", "/a/b"), "/s?p=/a/b&m=GET");
    check("/s?x=1{query}", ("/*", "/a?y=2"), "/s?x=1&y=2");
    check("/s?{query}", ("/*", "/a?y=2"), "/s?y=2");
    check("/s{query}&z", ("/*", "/a?y=2"), "/s?y=2&z");
    check("mailto:{x}@example.org", ("/:x", "/bob"), "mailto:bob@example.org");
    check("../{x}", ("/:x", "/y"), "../y");
    check("?{query}", ("/x", "/x?y"), "?y");
}

#[test]
fn what_an_unknown_path_may_give_is_not_refused() {
    let read = |template| Template::parse(template, TemplateUse::Location, Offer::UNKNOWN);
    for template in ["/{x}/{rest}?{y}", "https://{x}.test", "{rest}"] {
        assert_eq!(read(template).err(), None, "{template}");
    }
    for template in ["/{x", "{x}", "https://{path}", "{scheme}{x}"] {
        assert!(read(template).is_err(), "{template}");
    }
}

#[test]
fn a_text_without_values_is_fixed() {
    let fixed = |template| {
        let offer = Offer { variables: Some(&[]), rest: Rest::Absent };
        let read = Template::parse(template, TemplateUse::Location, offer).unwrap();
        read.fixed().map(str::to_owned)
    };
    assert_eq!(fixed("/a b").as_deref(), Some("/a%20b"));
    assert_eq!(fixed("/a{query}"), None);
    assert_eq!(fixed("https://example.org"), None);
}

proptest! {
    /// Whatever the values are: a template that begins with a path makes a path of this host, in
    /// one field line.
    #[test]
    fn a_path_stays_a_path(
        template in prop::sample::select(vec!["/{x}", "/{x}{y}", "{path}", "{rest}", "/{path}", "/a?{x}={y}", "/{x}#{y}"]),
        values in prop::collection::vec("[ -~\\r\\n\\t\\\\/é]{0,12}", 2),
        raw in "/[!-~]{0,20}",
    ) {
        let pattern = Pattern::parse("/:x/:y/*").unwrap();
        let read = Template::parse(template, TemplateUse::Location, offer(&pattern)).unwrap();
        let path = [values[0].as_bytes(), values[1].as_bytes()].concat();
        let mut captures = Captures::new(pattern.variables());
        captures.set(0, 0, values[0].len());
        captures.set(1, values[0].len(), path.len());
        let mut out = Vec::new();
        let values = Values {
            captures: &captures,
            path: &path,
            raw_path: raw.as_bytes(),
            query: None,
            rest: Some(raw.as_bytes()),
            host: b"example.org",
            scheme: "http",
            method: "GET",
        };
        read.render(&values, &mut out);
        prop_assert!(out.iter().all(u8::is_ascii_graphic), "{:?}", out.escape_ascii().to_string());
        prop_assert_eq!(out[0], b'/');
        prop_assert!(!matches!(out.get(1), Some(b'/' | b'\\')), "{:?}", out.escape_ascii().to_string());
    }
}
