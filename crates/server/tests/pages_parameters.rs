//! Typed parameters: what visitors may send, what it is read as, and the answer where it
//! does not fit.

use std::sync::Arc;

use crate::page_support::{Asked, NOW_S, Site};
use vervet_engine::reactor::Now;
use vervet_server::pages::{Absent, Page, PageOptions, Parameter, ParameterType, Source};
use vervet_testkit::TempTree;

fn parameter(kind: ParameterType) -> Parameter {
    Parameter { name: "n".to_owned(), from: Source::Any, kind, absent: Absent::Refused }
}

fn text(length_min: usize, length_max: usize) -> ParameterType {
    ParameterType::Text { length_min, length_max }
}

const INTEGER: ParameterType = ParameterType::Integer { min: None, max: None };

/// What `{{ n }}` shows for a query; an error is what the visitor receives.
#[track_caller]
fn check(parameter: Parameter, query: &str, expected: Result<&str, &str>) {
    let mut site = Site::with_parameters("{{ n }}", vec![parameter]);
    assert_eq!(site.problems(), [""; 0]);
    let shown = site.get(&format!("/?{query}"));
    match expected {
        Ok(value) => assert_eq!((shown.status, shown.text.as_str()), (200, value), "{query}"),
        Err(told) => {
            assert_eq!(shown.status, 400, "{query}");
            assert!(shown.text.contains(&format!("<p>{told}</p>")), "{query}: {}", shown.text);
            assert_eq!(site.page.counts().refused(), 1);
        }
    }
}

#[test]
fn integers() {
    let bounded = parameter(ParameterType::Integer { min: Some(1), max: Some(10) });
    let wrong = Err("the parameter n must be a whole number from 1 to 10");
    for query in
        ["n=0", "n=11", "n=x", "n=1.5", "n=1e1", "n=99999999999999999999", "n=1&n=2x", "n=%31%00"]
    {
        let expected = if query == "n=1&n=2x" { Ok("1") } else { wrong };
        check(bounded.clone(), query, expected);
    }
    for (query, value) in [("n=1", "1"), ("n=10", "10"), ("n=+7", "7"), ("n=%20007%20", "7")] {
        check(bounded.clone(), query, Ok(value));
    }
    check(parameter(INTEGER), "n=x", Err("the parameter n must be a whole number"));
    check(parameter(INTEGER), "n=-9223372036854775808", Ok("-9223372036854775808"));
}

#[test]
fn numbers() {
    let bounded = parameter(ParameterType::Number { min: Some(0.5), max: None });
    for query in ["n=0.4", "n=x", "n=inf", "n=nan", "n=NaN", "n=1e999", "n=0x1"] {
        check(bounded.clone(), query, Err("the parameter n must be a number of at least 0.5"));
    }
    for (query, value) in [("n=0.5", "0.5"), ("n=3", "3"), ("n=1e2", "100.0"), ("n=2.50", "2.5")] {
        check(bounded.clone(), query, Ok(value));
    }
}

#[test]
fn texts() {
    check(
        parameter(text(0, 3)),
        "n=abcd",
        Err("the parameter n must be a text of at most 3 characters"),
    );
    check(parameter(text(2, 3)), "n=a", Err("the parameter n must be a text of 2 to 3 characters"));
    check(parameter(text(0, 3)), "n=%C3%A4%C3%B6%C3%BC", Ok("äöü"));
    check(parameter(text(0, 3)), "n=", Ok(""));
    check(parameter(text(0, 9)), "n=%3Cb%3E", Ok("&lt;b&gt;"));
}

#[test]
fn booleans() {
    for (sent, value) in [
        ("true", "True"),
        ("on", "True"),
        ("1", "True"),
        ("YES", "True"),
        ("false", "False"),
        ("0", "False"),
        ("off", "False"),
        ("no", "False"),
    ] {
        check(parameter(ParameterType::Boolean), &format!("n={sent}"), Ok(value));
    }
    check(parameter(ParameterType::Boolean), "n=2", Err("the parameter n must be true or false"));
}

#[test]
fn dates() {
    let min = "2026-01-01".parse().ok();
    let date = parameter(ParameterType::Date { min, max: None });
    let wrong = Err("the parameter n must be a date such as 2026-11-21 of at least 2026-01-01");
    for sent in ["2025-12-31", "2026-02-29", "2026-1-5", "21.11.2026", "2026-11-21T00:00", "x"] {
        check(date.clone(), &format!("n={sent}"), wrong);
    }
    check(date.clone(), "n=2028-02-29", Ok("2028-02-29"));
    let mut site =
        Site::with_parameters("{{ n|date('%d.%m.%Y') }} {{ n.year }} {{ n.weekday }}", vec![date]);
    assert_eq!(site.text("/?n=2026-11-21"), "21.11.2026 2026 6");
}

#[test]
fn choices() {
    let choice = parameter(ParameterType::Choice(vec![
        "red".to_owned(),
        "green".to_owned(),
        "blue".to_owned(),
    ]));
    check(choice.clone(), "n=Red", Err("the parameter n must be one of red, green and blue"));
    check(choice, "n=green", Ok("green"));
}

#[test]
fn what_is_missing_is_refused_or_has_its_default() {
    let told = "the parameter n is missing; it must be a whole number";
    check(parameter(INTEGER), "", Err(told));
    check(parameter(INTEGER), "n=", Err(told));
    let with_default = Parameter { absent: Absent::Default("7".to_owned()), ..parameter(INTEGER) };
    check(with_default.clone(), "", Ok("7"));
    check(with_default.clone(), "n=", Ok("7"));
    check(with_default, "n=x", Err("the parameter n must be a whole number"));
    check(Parameter { absent: Absent::None, ..parameter(INTEGER) }, "", Ok(""));
}

#[test]
fn parameters_come_from_where_they_are_said_to() {
    let asked = Asked { form: "n=2", captures: &[("n", "3")], ..Asked::get("/?n=1") };
    for (from, expected) in
        [(Source::Query, "1"), (Source::Form, "2"), (Source::Path, "3"), (Source::Any, "3")]
    {
        let mut site =
            Site::with_parameters("{{ n + 0 }}", vec![Parameter { from, ..parameter(INTEGER) }]);
        assert_eq!(site.ask(asked).text, expected, "{from:?}");
    }
    let mut site = Site::with_parameters("{{ n }}", vec![parameter(INTEGER)]);
    assert_eq!(site.ask(Asked { captures: &[], ..asked }).text, "2");
    assert_eq!(site.get("/?n=1").text, "1");
}

#[test]
fn the_first_bad_one_is_named() {
    let second = Parameter { name: "second".to_owned(), ..parameter(INTEGER) };
    let mut site = Site::with_parameters("{{ n }}{{ second }}", vec![parameter(INTEGER), second]);
    let shown = site.get("/?n=1&second=%3Cb%3E");
    assert_eq!(shown.status, 400);
    assert!(shown.text.contains("the parameter second must be"), "{}", shown.text);
    assert!(!shown.text.contains("<b>"), "{}", shown.text);
    assert_eq!(shown.field("cache-control"), Some("no-store"));
}

#[test]
fn parameters_that_cannot_be_are_refused_at_load() {
    let refusal = |parameters: Vec<Parameter>| {
        let tree = TempTree::new().file("page.html", "");
        let mut options = PageOptions::new(tree.path(), "page.html");
        options.parameters = Arc::from(parameters);
        let now = Now { monotonic_ms: 0, unix_seconds: NOW_S };
        Page::new(options, now).map(|_| ()).unwrap_err().to_string()
    };
    let with_default = Parameter { absent: Absent::Default("x".to_owned()), ..parameter(INTEGER) };
    assert_eq!(refusal(vec![with_default]), "the default of n must be a whole number");
    for name in ["query", "now", "set_cookie", "loop", "a-b", "1a", ""] {
        let text = refusal(vec![Parameter { name: name.to_owned(), ..parameter(INTEGER) }]);
        assert!(text.starts_with(&format!("invalid parameter name {name:?}")), "{text}");
    }
    let twice = refusal(vec![parameter(INTEGER), parameter(INTEGER)]);
    assert!(twice.starts_with("invalid parameter name \"n\""), "{twice}");
}
