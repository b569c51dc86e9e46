//! What holds for any value and any template: values come out as text, cookies come back, and
//! nothing panics. A panic ends the server, so a template that makes the engine panic would be one
//! that ends it.

use crate::page_support::{Asked, Site, encoded};
use proptest::prelude::*;
use vervet_testkit::TempTree;

/// Pieces that templates are made of, fitting and not.
const PIECES: &[&str] = &[
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "-%}",
    "{%-",
    " ",
    "\n",
    "x",
    "query",
    "query.a",
    ".b",
    "['c']",
    "[",
    "]",
    "(",
    ")",
    "1",
    "-1",
    "1.5",
    "'a'",
    "\"",
    "'",
    "|",
    "|safe",
    "|json",
    "|date",
    "|format(1)",
    "|indent(2)",
    "|map('upper')",
    "|sort",
    "|first",
    " ~ ",
    " + ",
    " * ",
    " / ",
    " // ",
    " % ",
    " ** ",
    " is ",
    " is defined",
    " in ",
    " if ",
    " else ",
    " not ",
    ",",
    ":",
    "range(3)",
    "now",
    "cookies",
    "{% if query %}",
    "{% elif x %}",
    "{% else %}",
    "{% endif %}",
    "{% for x in range(3) %}",
    "{% endfor %}",
    "{% for a, b in query|items %}",
    "{% set x = 1 %}",
    "{% set x %}",
    "{% endset %}",
    "{% macro m(x, y=1) %}",
    "{% endmacro %}",
    "{{ m(1) }}",
    "{% block a %}",
    "{% endblock %}",
    "{{ super() }}",
    "{{ self.a() }}",
    "{% extends 'base.html' %}",
    "{% include 'part.html' %}",
    "{% include query.a %}",
    "{% import 'part.html' as p %}",
    "{% from 'part.html' import m %}",
    "{% with x = 2 %}",
    "{% endwith %}",
    "{% filter upper %}",
    "{% endfilter %}",
    "{% call m(1) %}",
    "{% endcall %}",
    "{% raw %}",
    "{% endraw %}",
    "{% do status(404) %}",
    "{{ set_cookie('a', 1) }}",
    "{{ redirect('/') }}",
    "{% break %}",
    "{% continue %}",
    "{{ caller() }}",
    "{{ loop.index }}",
    "{{ debug() }}",
    "\u{fc}",
    "\u{1f9a6}",
    "\0",
];

fn template() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(PIECES), 0..24)
        .prop_map(|pieces| pieces.concat())
}

fn page(template: &str) -> Site {
    let tree = TempTree::new()
        .file("page.html", template)
        .file("base.html", "{% block a %}1{% endblock %}{% block b %}2{% endblock %}")
        .file("part.html", "{% macro m(x) %}{{ x }}{% endmacro %}");
    Site::new(tree)
}

/// Text as a browser reads it out of the page.
fn unescaped(html: &str) -> String {
    assert!(!html.contains(['<', '>', '"', '\'']), "{html}");
    let without = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")];
    without.iter().fold(html.to_owned(), |text, (from, to)| text.replace(from, to))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_comes_out_as_the_text_it_is(value in "\\PC*|[<>&\"' a]*") {
        let mut site = page("{{ query.v }}");
        let shown = site.get(&format!("/?v={}", encoded(&value)));
        prop_assert_eq!(unescaped(&shown.text), value);
    }

    #[test]
    fn any_cookie_comes_back(value in "\\PC{0,200}") {
        let mut site = page("{{ set_cookie('a', query.v) }}{{ cookies.a|json }}");
        let set = site.get(&format!("/?v={}", encoded(&value)));
        let cookie = set.all("set-cookie")[0].split("; ").next().unwrap();
        prop_assert!(cookie.bytes().all(|byte| byte.is_ascii_graphic()), "{}", cookie);
        let back = site.ask(Asked { fields: &[("Cookie", cookie)], ..Asked::get("/?v=") });
        let expected = page("{{ query.v|json }}").get(&format!("/?v={}", encoded(&value))).text;
        prop_assert_eq!(back.text, expected);
    }

    #[test]
    fn no_redirection_leaves_the_site(to in "[/\\\\.:@a-z\t ?#%]{0,12}|\\PC*") {
        let mut site = page("{{ redirect(query.to) }}");
        let shown = site.get(&format!("/?to={}", encoded(&to)));
        if let Some(location) = shown.field("location") {
            prop_assert!(location.bytes().all(|byte| byte.is_ascii_graphic()), "{}", location);
            prop_assert!(!location.starts_with("//") && !location.contains('\\'), "{}", location);
            let before_path = location.split(['/', '?', '#']).next().unwrap_or_default();
            prop_assert!(!before_path.contains(':'), "{}", location);
        } else {
            prop_assert_eq!(shown.status, 400);
        }
    }

    #[test]
    fn any_template_is_refused_or_rendered(template in template()) {
        let mut site = page(&template);
        let problems = site.problems();
        let shown = site.ask(Asked { form: "a=1", ..Asked::get("/?a=part.html&b=%3C") });
        if problems.is_empty() {
            prop_assert!([200, 303, 404, 500].contains(&shown.status), "{}", shown.status);
        } else {
            prop_assert_eq!(shown.status, 500);
            let lines = template.lines().count().max(1);
            for problem in site.page.problems().iter() {
                prop_assert!(problem.line <= lines + 1, "{:?} in {:?}", problem, template);
            }
        }
    }
}
