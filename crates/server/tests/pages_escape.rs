//! Values cannot become markup, wherever they stand and whatever is done to them.

use crate::page_support::{Asked, Site, encoded};
use vervet_server::pages::PageLimits;
use vervet_testkit::TempTree;

const NASTY: &str = "<>&\"'";
const ESCAPED: &str = "&lt;&gt;&amp;&quot;&#x27;";

/// What a template gives where `v` of the form is [`NASTY`].
#[track_caller]
fn check(template: &str, expected: &str) {
    let mut site = Site::of(template);
    let shown = site.ask(nasty());
    assert_eq!(
        (shown.status, shown.text.as_str()),
        (200, expected),
        "{template}\n{:?}\n{:?}",
        site.problems(),
        site.told.take()
    );
}

fn nasty() -> Asked<'static> {
    Asked {
        form: "v=%3C%3E%26%22%27",
        fields: &[("X", NASTY)],
        ..Asked::get("/?v=%3C%3E%26%22%27")
    }
}

/// A problem at load.
#[track_caller]
fn check_refused(template: &str, expected: &str) {
    assert_eq!(Site::of(template).problems(), [expected], "{template}");
}

#[test]
fn a_hundred_kilobytes_come_out_exactly_escaped() {
    let name = NASTY.repeat(20 * 1024);
    assert_eq!(name.len(), 100 * 1024);
    let sent = encoded(&name);
    let form = format!("name={sent}");
    let shown = Site::of("Hello {{ form.name }}!").ask(Asked { form: &form, ..Asked::get("/") });
    assert_eq!(shown.text, format!("Hello {}!", ESCAPED.repeat(20 * 1024)));
}

#[test]
fn every_part_of_the_request_is_escaped() {
    check("{{ form.v }}{{ query.v }}{{ fields.x }}", &ESCAPED.repeat(3));
    check("{{ query }}", "{&#x27;v&#x27;: &#x27;&lt;&gt;&amp;&quot;\\&#x27;&#x27;}");
    check("{% for name, value in query|items %}{{ value }}{% endfor %}", ESCAPED);
}

#[test]
fn names_of_templates_make_no_difference() {
    for name in ["a.txt", "a.json", "a.js", "a", "a.html.j2", "a.unknown", "a.svg"] {
        let tree = TempTree::new().file(name, "{{ query.v }}").file("page.html", "unused");
        let mut site = Site::with(tree, |options| options.template = name.to_owned());
        assert_eq!(site.ask(nasty()).text, ESCAPED, "{name}");
    }
}

#[test]
fn escaping_cannot_be_switched_off() {
    let message =
        "escaping cannot be switched off or on; use |safe for a single value that is HTML";
    check_refused(
        "{% autoescape false %}{{ query.v }}{% endautoescape %}",
        &format!("page.html:1:4: {message}"),
    );
    check_refused(
        "\n  {% autoescape 'none' %}{% endautoescape %}",
        &format!("page.html:2:6: {message}"),
    );
}

#[test]
fn safe_is_the_way_out() {
    check("{{ query.v|safe }}", NASTY);
    check("{{ '<b>'|safe }}{{ '<b>' }}", "<b>&lt;b&gt;");
}

#[test]
fn markup_of_the_template_stays_markup() {
    check("{% set x %}<b>{{ query.v }}</b>{% endset %}{{ x }}", &format!("<b>{ESCAPED}</b>"));
    check(
        "{% macro m(v) %}<i>{{ v }}</i>{% endmacro %}{{ m(query.v) }}",
        &format!("<i>{ESCAPED}</i>"),
    );
    check(
        "{% macro m() %}<i>{{ caller() }}</i>{% endmacro %}{% call m() %}{{ query.v }}{% endcall %}",
        &format!("<i>{ESCAPED}</i>"),
    );
    check("{{ query.v|escape }}{{ query.v|e|e }}", &ESCAPED.repeat(2));
}

/// Every filter that gives a text or a list of a text.
const FILTERS: &str = "\
    lower; upper; title; capitalize; trim; string; reverse; list; first; last; length; pprint; indent; indent(2, true); default('x'); \
    replace('&', '<'); replace('x', '<b>'|safe); split('&'); lines; batch(2)|list; slice(2)|list; unique|list; sort; join; join('<b>'|safe); json; \
    tojson; tojson(2); urlencode; format; bool; map('upper')|list; select|list; reject|list; min; max; escape; link";

/// Whatever a filter makes of what a visitor sent, it is not taken for markup, also where markup is
/// mixed in.
#[test]
fn no_filter_makes_markup_of_what_visitors_send() {
    for filter in FILTERS.split("; ") {
        let template =
            format!("[{{{{ query.v|{filter} }}}}][{{{{ (query.v ~ ('<b>'|safe))|{filter} }}}}]");
        let mut site = Site::of(&template);
        let shown = site.ask(nasty());
        assert_eq!(shown.status, 200, "{template}: {:?} {:?}", site.problems(), site.told.take());
        let outside_separator = shown.text.replace("<b>", "");
        assert!(!outside_separator.contains('<'), "{template}: {}", shown.text);
        if !filter.contains("safe") {
            assert!(!shown.text.contains('<'), "{template}: {}", shown.text);
        }
    }
    check("{{ ['<b>'|safe, query.v]|join(query.v) }}", &format!("<b>{}", ESCAPED.repeat(2)));
    check("{{ ('<b>%s</b>'|safe)|format(query.v) }}", &format!("<b>{ESCAPED}</b>"));
    check(
        "{{ '%s'|format(query.v) }}{{ query.v ~ '<b>'|safe }}",
        &format!("{ESCAPED}{ESCAPED}&lt;b&gt;"),
    );
    check("{% filter upper %}{{ query.v }}{% endfilter %}", "&LT;&GT;&AMP;&QUOT;&#X27;");
}

/// A marked value that another value is worked into does not carry its mark over.
#[test]
fn a_mark_does_not_spread() {
    let mixed = [
        "('x'|safe) ~ query.v",
        "('x'|safe) + query.v",
        "query.v + ('x'|safe)",
        "('x'|safe)|replace('x', query.v)",
        "('x'|safe)|replace('', query.v)",
        "query.v|replace('&', 'x'|safe)",
        "('%s %s'|safe)|format('x'|safe, query.v)",
        "['x'|safe, query.v]|join",
        "['x'|safe, query.v]|join('x'|safe)",
        "['x'|safe, 'x'|safe]|join(query.v)",
        "(''|safe)|default(query.v, true)",
        "('x'|safe)|split('x')|first ~ query.v",
        "['x'|safe, query.v]",
        "{'x'|safe: query.v}",
        "(query.v ~ '')|trim('x'|safe)",
        "('x'|safe)[:1] ~ query.v",
        "[query.v]|map('replace', 'x', 'y'|safe)|join('x'|safe)",
        "('x'|safe if false else query.v)",
        "[query.v, 'x'|safe]|sum(start='x'|safe)",
    ];
    for expression in mixed {
        let template = format!("{{{{ {expression} }}}}");
        let mut site = Site::of(&template);
        let shown = site.ask(nasty());
        assert!(!shown.text.contains("<>"), "{template}: {}", shown.text);
        assert!(
            shown.status == 200 || expression.contains("sum"),
            "{template}: {:?}",
            site.told.take()
        );
    }
}

#[test]
fn json_is_safe_inside_a_script() {
    let nasty = "</script><!--<script>'\"&\u{2028}";
    let sent = encoded(nasty);
    let mut site = Site::of("<script>var v = {{ query.v|json }};</script>");
    let text = site.text(&format!("/?v={sent}"));
    let value = text.strip_prefix("<script>var v = ").unwrap().strip_suffix(";</script>").unwrap();
    assert!(!value.contains(['<', '>', '&', '\'']), "{value}");
    assert_eq!(value.matches('"').count(), value.matches("\\\"").count() + 2, "{value}");
    check(
        "{{ {'a': [1, none, query.v, true]}|json }}",
        "{\"a\": [1, null, \"\\u003c\\u003e\\u0026\\\"\\u0027\", true]}",
    );
}

#[test]
fn links_run_no_script() {
    let mut site = Site::of("<a href=\"{{ query.to|link }}\">");
    for (to, expected) in [
        ("/a?b=1%26c", "<a href=\"/a?b=1&amp;c\">"),
        ("https://example.org/", "<a href=\"https://example.org/\">"),
        ("javascript:alert(1)", "<a href=\"about:invalid\">"),
        ("%09JavaScript:alert(1)", "<a href=\"about:invalid\">"),
        ("%22%20onclick=x", "<a href=\"&quot; onclick=x\">"),
    ] {
        assert_eq!(site.text(&format!("/?to={to}")), expected);
    }
    assert_eq!(
        Site::of("{{ query.q|urlencode }}").text("/?q=a%20%26%3C%C3%BC"),
        "a%20%26%3C%C3%BC"
    );
}

#[test]
fn numbers_and_truths_show_as_they_are() {
    check(
        "{{ 1 }} {{ 1.5 }} {{ -2 }} {{ true }} {{ none }}{{ undefined_name is defined }}",
        "1 1.5 -2 True False",
    );
}

#[test]
fn escaping_counts_for_the_length_of_a_page() {
    let tree = TempTree::new().file("page.html", "{{ query.v }}");
    let mut site = Site::with(tree, |options| {
        options.limits = PageLimits { output_bytes_max: ESCAPED.len(), ..PageLimits::default() };
    });
    assert_eq!(site.ask(nasty()).status, 200);
    let shown = site.get("/?v=%3C%3E%26%22%27x");
    assert_eq!(shown.status, 500);
    assert_eq!(site.page.counts().cut(), 1);
}
