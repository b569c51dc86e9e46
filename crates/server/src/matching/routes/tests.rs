//! Rows of routes; and the index against a scan that shares nothing with it.

use std::fmt::Write;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// A route as a line: `GET,POST /path`, `~regex`, a `!` before the path for the redirect of the
/// other form.
fn route(line: &str) -> Route {
    let (methods, path) = line.split_once(' ').unwrap_or(("", line));
    let (slash, path) = match path.strip_prefix('!') {
        Some(path) => (TrailingSlash::Redirect, path),
        None => (TrailingSlash::Strict, path),
    };
    let path = match path.strip_prefix('~') {
        Some(regex) => PathRule::Regex(PathRegex::parse(regex).unwrap()),
        None if path == "any" => PathRule::Any,
        None => PathRule::Pattern(Pattern::parse(path).unwrap()),
    };
    let mut set = MethodSet::new();
    for name in methods.split(',').filter(|name| !name.is_empty()) {
        set.insert(name).unwrap();
    }
    Route { path, methods: (!set.is_empty()).then_some(set), fields: Vec::new(), slash }
}

fn ask<'r>(routes: &'r Routes, method: &str, path: &str) -> Routed<'r> {
    routes.find(&Question {
        path: path.as_bytes(),
        method: Method::from_token(method.as_bytes()),
        method_token: method,
        fields: &Fields::EMPTY,
    })
}

fn shown(routed: &Routed<'_>, path: &str) -> String {
    match routed {
        Routed::To { route, captures, rest } => {
            let mut text = route.to_string();
            for (variable, value) in captures.iter(path.as_bytes()) {
                write!(text, " {}={}", variable.name, String::from_utf8_lossy(value)).unwrap();
            }
            if let Some(rest) = rest {
                write!(text, " |{}", &path[*rest..]).unwrap();
            }
            text
        }
        Routed::Slash { route, form } => format!("{route} {form:?}"),
        Routed::OtherMethods(methods) => methods.allow(),
        Routed::Missing => "missing".to_owned(),
    }
}

#[track_caller]
fn check(lines: &[&str], rows: &[(&str, &str)]) {
    let routes = Routes::new(lines.iter().map(|line| route(line)).collect());
    for (request, expected) in rows {
        let (method, path) = request.split_once(' ').unwrap_or(("GET", request));
        assert_eq!(shown(&ask(&routes, method, path), path), *expected, "{request}");
    }
}

#[test]
fn without_a_route_there_is_nothing() {
    check(&[], &[("/", "missing"), ("*", "missing"), ("", "missing")]);
    check(&["/a"], &[("/b", "missing"), ("*", "missing"), ("", "missing")]);
}

#[test]
fn only_the_method_is_wrong() {
    let lines = ["GET /a", "POST,PURGE /:x", "DELETE /b/*", "/c"];
    check(
        &lines,
        &[
            ("PUT /a", "GET, HEAD, POST, PURGE"),
            ("HEAD /a", "0"),
            ("POST /a", "1 x=a"),
            ("PURGE /a", "1 x=a"),
            ("LINK /a", "GET, HEAD, POST, PURGE"),
            ("GET /b/x", "DELETE"),
            ("PUT /c", "3"),
            ("PUT /d/x", "missing"),
        ],
    );
}

#[test]
fn the_first_in_file_order_wins() {
    check(
        &["/u/:id(number)", "/u/7", "/u/*", "~^/u/(?<w>[a-z]+)$", "/u/:name(word)"],
        &[("/u/7", "0 id=7"), ("/u/x", "2 |/x"), ("/u", "missing"), ("/u/", "2 |/")],
    );
    check(
        &["~^/u/(?<w>[a-z]+)$", "/u/7", "/u/:id(number)", "~7", "any"],
        &[("/u/x", "0 w=x"), ("/u/7", "1"), ("/u/8", "2 id=8"), ("/7", "3"), ("/", "4 |/")],
    );
    check(
        &["/~*", "/~bob", "/~b*", "/*", "/~bob/x"],
        &[("/~bob", "0 |/~bob"), ("/~bob/x", "0 |/~bob/x"), ("/x", "3 |/x")],
    );
    check(&["/~bo*", "/~b*"], &[("/~bx", "1 |/~bx"), ("/~box", "0 |/~box"), ("/~", "missing")]);
}

#[test]
fn a_wrong_turn_is_taken_back() {
    check(
        &["/a/:x/c", "/:a/b/d", "/:a(word)/:b/e", "/a/b/f/*"],
        &[
            ("/a/b/c", "0 x=b"),
            ("/a/b/d", "1 a=a"),
            ("/a/b/e", "2 a=a b=b"),
            ("/a/b/f/", "3 |/"),
            ("/a/b/g", "missing"),
        ],
    );
}

#[test]
fn the_other_form_is_redirected_where_that_is_asked_for() {
    check(
        &["!/a", "!/b/", "!/c/*", "/d", "!/*", "!/"],
        &[
            ("/a", "0"),
            ("/a/", "0 Remove"),
            ("/b", "1 Add"),
            ("/b/", "1"),
            ("/c", "2 Add"),
            ("/c/x", "2 |/x"),
            ("/d/", "4 |/d/"),
        ],
    );
    check(
        &["/c", "!/c/*", "/u", "!/u/:x"],
        &[("/c", "0"), ("/u/7/", "3 Remove"), ("/u/", "missing")],
    );
    check(&["GET !/a"], &[("POST /a/", "GET, HEAD"), ("/a/", "0 Remove")]);
}

#[test]
fn many_expressions_at_one_place_are_told_apart() {
    let many: Vec<_> = (0..150).map(|number| format!("~^/x/{number}(?<t>[a-z])$")).collect();
    let mut lines: Vec<&str> = many.iter().map(String::as_str).collect();
    lines.insert(20, "/x/30a");
    check(
        &lines,
        &[
            ("/x/7b", "7 t=b"),
            ("/x/30a", "20"),
            ("/x/30b", "31 t=b"),
            ("/x/49z", "50 t=z"),
            ("/x/149z", "150 t=z"),
            ("/x/150z", "missing"),
        ],
    );
}

// The oracle: every pattern as a regular expression of another kind, tried from the first to the
// last.

fn oracle(line: &str) -> regex::Regex {
    let path = line.rsplit(' ').next().unwrap().trim_start_matches('!');
    if let Some(expression) = path.strip_prefix('~') {
        return regex::Regex::new(expression).unwrap();
    }
    let mut text = String::from("^");
    let (body, tail) = path.strip_suffix('*').map_or((path, "$"), |body| (body, ".*$"));
    for segment in body.split('/').skip(1) {
        text.push('/');
        text.push_str(&match segment.strip_prefix(':') {
            Some(variable) if variable.ends_with("(number)") => "[0-9]{1,19}".to_owned(),
            Some(variable) if variable.ends_with("(word)") => "[0-9A-Za-z_]+".to_owned(),
            Some(_) => "[^/]+".to_owned(),
            None => regex::escape(segment),
        });
    }
    regex::Regex::new(&(text + tail)).unwrap()
}

fn scan(
    lines: &[String],
    oracles: &[regex::Regex],
    (method, path): (&str, &str),
) -> Result<usize, Vec<String>> {
    let mut allowed = Vec::new();
    for (number, (line, oracle)) in lines.iter().zip(oracles).enumerate() {
        let (methods, _) = line.split_once(' ').unwrap();
        let methods: Vec<_> = methods.split(',').filter(|name| !name.is_empty()).collect();
        if !oracle.is_match(path) {
            continue;
        }
        let taken = methods.contains(&method) || (method == "HEAD" && methods.contains(&"GET"));
        if methods.is_empty() || taken {
            return Ok(number);
        }
        allowed.extend(methods.into_iter().map(str::to_owned));
    }
    Err(allowed)
}

/// Segments joined to a path, and the empty path where there are none.
fn joined(segments: &[impl AsRef<str>]) -> String {
    let mut text = String::new();
    for segment in segments {
        text.push('/');
        text.push_str(segment.as_ref());
    }
    text
}

/// A shape of routes: its name, the line of one route, a path that it takes.
type Shape = (&'static str, fn(usize) -> String, fn(usize) -> String);

fn segment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "ab", "7", "42", "x-1", "~a"])
}

fn pattern_segment() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => segment().prop_map(str::to_owned),
        1 => Just(":v".to_owned()),
        1 => Just(":v(number)".to_owned()),
        1 => Just(":v(word)".to_owned()),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let methods = prop::sample::select(vec!["", "", "", "GET", "POST", "GET,PUT", "PURGE"]);
    let tail = prop::sample::select(vec!["", "", "/", "/*", "/a*", "/~*"]);
    let regexes = vec![
        "~^/a/[0-9]+$",
        "~b",
        "~^/(?:a|b)/x",
        "~^/ab/",
        "~/$",
        "~^/a/b.*7",
        "~7.*b",
        "~^/b/[^/]+$",
    ];
    let pattern =
        (prop::collection::vec(pattern_segment(), 0..4), tail).prop_map(|(segments, tail)| {
            let mut text = String::new();
            for (number, segment) in segments.iter().enumerate() {
                text.push('/');
                text.push_str(&segment.replacen(":v", &format!(":v{number}"), 1));
            }
            text.push_str(tail);
            if text.is_empty() { "/".to_owned() } else { text }
        });
    let path =
        prop_oneof![4 => pattern, 1 => prop::sample::select(regexes).prop_map(str::to_owned)];
    (methods, path).prop_map(|(methods, path)| format!("{methods} {path}"))
}

fn path() -> impl Strategy<Value = String> {
    let slash = prop::sample::select(vec!["", "", "/"]);
    (prop::collection::vec(segment(), 0..5), slash).prop_map(|(segments, slash)| {
        let text = joined(&segments);
        if text.is_empty() { "/".to_owned() } else { text + slash }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_index_says_what_a_scan_says(
        lines in prop::collection::vec(line(), 0..40),
        paths in prop::collection::vec(path(), 1..20),
        method in prop::sample::select(vec!["GET", "HEAD", "POST", "PURGE", "LINK"]),
    ) {
        let routes = Routes::new(lines.iter().map(|line| route(line)).collect());
        let oracles: Vec<_> = lines.iter().map(|line| oracle(line)).collect();
        for path in paths {
            let found = ask(&routes, method, &path);
            match (scan(&lines, &oracles, (method, &path)), found) {
                (Ok(expected), Routed::To { route, .. }) => prop_assert_eq!(route, expected, "{}", path),
                (Err(allowed), Routed::Missing) => prop_assert!(allowed.is_empty(), "{}: {:?}", path, allowed),
                (Err(allowed), Routed::OtherMethods(methods)) => {
                    prop_assert!(!allowed.is_empty());
                    for token in ["GET", "POST", "PUT", "PURGE", "LINK"] {
                        let taken = methods.takes(Method::from_token(token.as_bytes()), token);
                        prop_assert_eq!(taken, allowed.iter().any(|name| name == token), "{}", path);
                    }
                }
                (expected, found) => prop_assert!(false, "{path}: {expected:?}, and not {found:?}"),
            }
        }
    }
}

const SHAPES: [Shape; 5] = [
    ("exact", |n| format!("/shop{n}/page"), |n| format!("/shop{n}/page")),
    ("prefix", |n| format!("/static{n}/*"), |n| format!("/static{n}/css/site.css")),
    (
        "typed",
        |n| format!("/u/:id(number)/posts{n}/:slug"),
        |n| format!("/u/17/posts{n}/hello-world"),
    ),
    ("regex", |n| format!("~^/x{n}/(?<n>[0-9]+)$"), |n| format!("/x{n}/17")),
    ("set", |n| format!("~/x{n}/(?<n>[0-9]+)$"), |n| format!("/x{n}/17")),
];

/// Prints what a look-up costs. Not a check: run it with `--ignored --nocapture`, best in a release
/// build.
#[test]
#[ignore = "prints figures, proves nothing"]
fn what_a_look_up_costs() {
    const PATIENCE: Duration = Duration::from_millis(200);
    for count in [1, 10_000] {
        for (shape, line, path) in SHAPES {
            let start = Instant::now();
            let routes = Routes::new((0..count).map(|number| route(&line(number))).collect());
            let made_ms = start.elapsed().as_millis();
            let (last, path) = (count - 1, path(count - 1));
            let (start, mut rounds) = (Instant::now(), 0);
            while start.elapsed() < PATIENCE {
                for _ in 0..100 {
                    let found =
                        std::hint::black_box(ask(&routes, "GET", std::hint::black_box(&path)));
                    assert!(matches!(found, Routed::To { route, .. } if route == last));
                }
                rounds += 100;
            }
            let ns = start.elapsed().as_nanos() / rounds;
            println!("{count:>6} routes, {shape:<6} {ns:>5} ns, made in {made_ms} ms");
        }
    }
}
