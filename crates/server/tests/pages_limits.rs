//! A page cannot hang a reactor: steps, nesting, output and time are bounded, and what runs into a
//! bound is counted.

use std::time::Duration;

use crate::page_support::Site;
use vervet_server::pages::PageLimits;
use vervet_testkit::TempTree;

fn limited(template: &str, change: impl FnOnce(&mut PageLimits)) -> Site {
    let tree = TempTree::new().file("page.html", template);
    Site::with(tree, |options| change(&mut options.limits))
}

/// A page that is cut: 500, one line for those who run the server, one in the count.
#[track_caller]
fn check_cut(mut site: Site, expected: &str) {
    assert_eq!(site.problems(), [""; 0]);
    let shown = site.get("/");
    assert_eq!(shown.status, 500, "{}", &shown.text[..shown.text.len().min(200)]);
    site.get("/");
    let told = site.told.take();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(expected), "{told:?}");
    assert_eq!((site.page.counts().cut(), site.page.counts().failed()), (2, 0));
}

#[test]
fn a_loop_that_hardly_ends_is_cut() {
    let nested = "{% for a in range(1000) %}{% for b in range(1000) %}{% set c = a * b %}{% endfor %}{% endfor %}";
    check_cut(limited(nested, |_| {}), "page.html:1:");
    check_cut(limited(nested, |_| {}), "more than 1000000 steps");
}

#[test]
fn steps_are_held_at_the_edge() {
    let steps = |steps_max| {
        limited("{{ 1 }}{{ 2 }}", |limits| limits.steps_max = steps_max).get("/").status
    };
    let least = (1..100).find(|steps_max| steps(*steps_max) == 200).unwrap();
    assert!((2..20).contains(&least), "{least}");
    assert_eq!(steps(least - 1), 500);
}

#[test]
fn output_is_held_at_the_edge() {
    let bytes = |bytes_max| {
        limited("{% for a in range(10) %}0123456789{% endfor %}", |limits| {
            limits.output_bytes_max = bytes_max;
        })
    };
    assert_eq!(bytes(100).text("/").len(), 100);
    check_cut(bytes(99), "longer than 99 bytes");
    let large = "{% set a = 'x' * 10000 %}{% for b in range(10000) %}{{ a }}{% endfor %}";
    check_cut(limited(large, |_| {}), "longer than 8388608 bytes");
}

#[test]
fn a_page_that_takes_too_long_is_cut() {
    let slow = "{% for a in range(100000) %}{{ range(1000)|sort|length }}{% endfor %}";
    check_cut(
        limited(slow, |limits| limits.time_max = Duration::from_millis(20)),
        "more than 20 ms of CPU time",
    );
}

#[test]
fn recursion_ends_before_the_stack_does() {
    let recursive = [
        "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
        "{% include 'page.html' %}",
        "{% set name = 'page.html' %}{% include name %}",
        "{% block b %}{{ self.b() }}{% endblock %}",
        "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% macro n() %}{% call m() %}{{ n() }}{% endcall %}{% endmacro %}{{ n() }}",
    ];
    for template in recursive {
        // Three quarters of the stack of a thread of the server, in the build with the largest
        // frames.
        let run = move || {
            let mut site = limited(template, |_| {});
            let shown = site.get("/");
            (shown.status, site.problems(), site.told.take())
        };
        let thread = std::thread::Builder::new().stack_size(3 << 19).spawn(run).unwrap();
        let (status, problems, told) = thread.join().unwrap();
        assert_eq!(
            (status, problems.len(), told.len()),
            (500, 0, 1),
            "{template}: {problems:?} {told:?}"
        );
    }
}

/// The depths that the guide tells.
#[test]
fn what_people_write_is_not_too_deep() {
    let depth = |template: &str| {
        let deepest = (1..=100).take_while(|depth| {
            limited(template, |_| {}).get(&format!("/?depth={depth}")).status == 200
        });
        deepest.last().unwrap_or(0)
    };
    let macros = "{% macro m(n) %}{% if n > 1 %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(query.depth|int) }}";
    let includes = "{% set n = (n|default(query.depth|int + 1)) - 1 %}{% if n > 0 %}{% include 'page.html' %}{% endif %}";
    let loops = "{% for n in [query.depth|int] recursive %}{% if n > 1 %}{{ loop([n - 1]) }}{% endif %}{% endfor %}";
    assert_eq!((depth(macros), depth(includes), depth(loops)), (16, 9, 99));
}

#[test]
fn an_expression_cannot_be_nested_without_end() {
    let deep = format!("{{{{ {}1{} }}}}", "(".repeat(5000), ")".repeat(5000));
    let problems = limited(&deep, |_| {}).problems();
    assert!(problems[0].contains("exceed"), "{problems:?}");
}

#[test]
fn texts_and_lists_cannot_be_multiplied_without_end() {
    for template in [
        "{{ 'x' * 99999999999 }}",
        "{{ [1] * 99999999999 }}",
        "{{ range(99999999999) }}",
        "{{ '%999999999d'|format(1) }}",
        "{{ 'x'|indent(99999999999) }}",
    ] {
        let mut site = limited(template, |_| {});
        assert_eq!(site.get("/").status, 500, "{template}");
    }
}

#[test]
fn a_page_of_very_many_templates_is_refused() {
    let includes: Vec<_> =
        (0..256).map(|number| format!("{{% include '{number}.html' ignore missing %}}")).collect();
    let problems = limited(&includes.concat(), |_| {}).problems();
    assert_eq!(problems, ["page.html: the page uses more than 256 templates"]);
    let problems = limited(&includes[1..].concat(), |_| {}).problems();
    assert_eq!(problems, [""; 0]);
}
