//! What a rendering costs: how often it asks for memory, and, for those who want to know, how long
//! it takes.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use crate::page_support::{NOW_S, Site};
use vervet_engine::reactor::Now;
use vervet_server::pages::{Input, Page, PageOptions, Renderer};
use vervet_testkit::TempTree;

/// Allocations of the greeting: two of the engine's stacks, the handle of its result, the root of
/// the scope's names, and nothing of ours.
const GREETING_ALLOCATIONS_MAX: u64 = 5;

fn renderer(folder: &Path, template: &str) -> Renderer {
    let now = Now { monotonic_ms: 0, unix_seconds: NOW_S };
    let page = Page::new(PageOptions::new(folder, template), now).unwrap();
    assert!(page.problems().is_empty(), "{:?}", page.problems());
    Renderer::new(&page)
}

fn greeting() -> Renderer {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pages");
    renderer(&folder, "hello.html")
}

/// Allocations of one rendering, when nothing is cold any more.
fn allocations(renderer: &mut Renderer, input: &Input<'_>) -> u64 {
    const RENDERINGS: u64 = 1_000;
    let now = Now { monotonic_ms: 0, unix_seconds: NOW_S };
    let mut render = || drop(black_box(renderer.render(input, now)));
    render();
    let measured = allocation_counter::measure(|| (0..RENDERINGS).for_each(|_| render()));
    measured.count_total.div_ceil(RENDERINGS)
}

#[test]
fn a_greeting_hardly_asks_for_memory() {
    let count = allocations(&mut greeting(), &Input::get("/?name=World&x=1"));
    assert!(count <= GREETING_ALLOCATIONS_MAX, "{count}");
}

#[test]
fn what_a_page_does_not_name_costs_nothing() {
    let tree = TempTree::new()
        .file("plain.html", "hello")
        .file("all.html", "{{ query.a }}{{ cookies.a }}{{ fields.a }}{{ now }}");
    let input = Input::get("/?a=1");
    let plain = allocations(&mut renderer(tree.path(), "plain.html"), &input);
    let all = allocations(&mut renderer(tree.path(), "all.html"), &input);
    assert!(plain < all && plain <= GREETING_ALLOCATIONS_MAX, "{plain} {all}");
}

#[test]
#[ignore = "prints figures, proves nothing"]
fn what_a_rendering_costs() {
    const RENDERINGS: u32 = 200_000;
    let tree = TempTree::new()
        .file("plain.html", "hello, world\n")
        .file("base.html", "<title>{% block title %}{% endblock %}</title>{% block content %}{% endblock %}")
        .file("child.html", "{% extends 'base.html' %}{% block title %}x{% endblock %}{% block content %}{{ query.name }}{% endblock %}")
        .file("table.html", "{% for n in range(100) %}<tr><td>{{ n }}</td><td>{{ query.name }}</td></tr>{% endfor %}");
    let pages = [
        ("greeting", greeting(), 1),
        ("without names", renderer(tree.path(), "plain.html"), 1),
        ("with a parent", renderer(tree.path(), "child.html"), 1),
        ("table of 100 rows", renderer(tree.path(), "table.html"), 50),
    ];
    let now = Now { monotonic_ms: 0, unix_seconds: NOW_S };
    let input = Input::get("/?name=World");
    for (what, mut renderer, share) in pages {
        let count = allocations(&mut renderer, &input);
        let renderings = RENDERINGS / share;
        let began = Instant::now();
        for _ in 0..renderings {
            black_box(renderer.render(&input, now));
        }
        let each = began.elapsed() / renderings;
        println!("{what}: {} ns, {count} allocations", each.as_nanos());
    }
}

#[test]
fn the_memory_of_a_large_page_is_not_kept() {
    let mut site = Site::of(
        "{% if query.large %}{% for n in range(100000) %}0123456789{% endfor %}{% endif %}{% if query.bad %}{{ query.a.b }}{% endif %}",
    );
    assert_eq!(site.text("/").len(), 0);
    let whole = allocation_counter::measure(|| assert!(site.text("/?large=1").len() >= 1_000_000));
    let broken =
        allocation_counter::measure(|| assert_eq!(site.get("/?large=1&bad=x").status, 500));
    for kept in [whole, broken] {
        assert!(kept.bytes_max >= 1_000_000 && kept.bytes_current < 16 * 1024, "{kept:?}");
    }
}
