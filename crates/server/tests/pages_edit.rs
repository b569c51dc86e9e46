//! Edited pages: live on the next request, the last good version where the new one is not good,
//! told once.

use crate::page_support::Site;
use vervet_server::pages::{Mode, Renderer};
use vervet_testkit::TempTree;

const LOOK_MS: u64 = vervet_server::pages::limits::LOOK_MS;

fn development(tree: TempTree) -> Site {
    Site::with(tree, |options| options.mode = Mode::Development)
}

/// Edits that keep the size, so that only their content tells them apart.
#[track_caller]
fn check_live(mut site: Site, wait_ms: u64) {
    for (file, text, expected) in [
        (
            "page.html",
            "{% extends 'base.html' %}{% block b %}2{% include 'part.html' %}{% endblock %}",
            "[2a]",
        ),
        ("part.html", "b", "[2b]"),
        ("base.html", "({% block b %}{% endblock %})", "(2b)"),
    ] {
        site.tree.write(file, text);
        site.pass_ms(wait_ms);
        assert_eq!(site.text("/"), expected);
    }
}

fn tree() -> TempTree {
    TempTree::new()
        .file(
            "page.html",
            "{% extends 'base.html' %}{% block b %}1{% include 'part.html' %}{% endblock %}",
        )
        .file("base.html", "[{% block b %}{% endblock %}]")
        .file("part.html", "a")
}

#[test]
fn an_edit_is_live_on_the_next_request_in_development() {
    check_live(development(tree()), 0);
}

#[test]
fn an_edit_is_live_within_a_second_in_production() {
    check_live(Site::new(tree()), LOOK_MS);
}

#[test]
fn production_does_not_look_at_each_request() {
    let mut site = Site::new(tree());
    assert_eq!(site.text("/"), "[1a]");
    site.tree.write("part.html", "b");
    site.pass_ms(LOOK_MS - 1);
    assert_eq!(site.text("/"), "[1a]");
    site.pass_ms(1);
    assert_eq!(site.text("/"), "[1b]");
}

#[test]
fn a_template_that_comes_later_is_found() {
    let mut site = development(TempTree::new().file(
        "page.html",
        "{% include 'part.html' ignore missing %}{% include q ~ '.html' ignore missing %}",
    ));
    assert_eq!(site.text("/"), "");
    site.tree.write("part.html", "new");
    assert_eq!(site.text("/"), "new");
    std::fs::remove_file(site.tree.join("part.html")).unwrap();
    assert_eq!(site.text("/"), "");
}

#[test]
fn a_template_that_the_page_names_by_an_expression_is_watched_too() {
    let mut site = development(
        TempTree::new().file("page.html", "{% include query.a ~ '.html' %}").file("b.html", "1"),
    );
    assert_eq!(site.text("/?a=b"), "1");
    site.tree.write("b.html", "2");
    assert_eq!(site.text("/?a=b"), "2");
    assert_eq!(site.get("/?a=c").status, 500);
    site.tree.write("c.html", "3");
    assert_eq!(site.text("/?a=c"), "3");
}

#[test]
fn the_last_good_version_goes_on_in_production() {
    let mut site = Site::new(tree());
    site.tree.write("part.html", "{{ broken");
    site.pass_ms(LOOK_MS);
    assert_eq!(site.get("/").text, "[1a]");
    let told = site.told.take();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("page page.html: "), "{told:?}");
    assert!(told[0].ends_with("/part.html:1:4: unexpected end of input, expected end of variable block (the last valid version stays in use)"), "{told:?}");
    for _ in 0..3 {
        site.pass_ms(LOOK_MS);
        assert_eq!(site.get("/").text, "[1a]");
    }
    assert_eq!(site.told.take(), [""; 0], "once for each change");
    site.tree.write("part.html", "b");
    site.pass_ms(LOOK_MS);
    assert_eq!(site.get("/").text, "[1b]");
    assert_eq!(site.told.take(), ["page page.html: valid again"]);
}

#[test]
fn another_mistake_is_told_again() {
    let mut site = Site::new(tree());
    for text in ["{{ broken", "{{ query|uper }}", "{% include 'none' %}"] {
        site.tree.write("part.html", text);
        site.pass_ms(LOOK_MS);
        assert_eq!(site.get("/").text, "[1a]");
        assert_eq!(site.told.take().len(), 1, "{text}");
    }
}

#[test]
fn a_problem_is_shown_in_the_browser_in_development_alone() {
    let text = "<p>\n{{ query|<b> }}\n</p>";
    let mut site = development(tree());
    site.tree.write("part.html", text);
    let shown = site.get("/");
    assert_eq!(shown.status, 500);
    for part in [
        "This page has a problem",
        "part.html<b>:2:10</b>",
        "<mark><i>    2</i>{{ query|&lt;b&gt; }}",
        "<span><i>    1</i>&lt;p&gt;</span>",
    ] {
        assert!(shown.text.contains(part), "{part} in {}", shown.text);
    }
    site.tree.write("part.html", "good");
    assert_eq!(site.text("/"), "[1good]");

    let mut site = Site::new(TempTree::new().file("page.html", text));
    let shown = site.get("/");
    assert_eq!(shown.status, 500);
    assert!(
        shown.text.contains("This page cannot be shown because of an error.")
            && !shown.text.contains("query"),
        "{}",
        shown.text
    );
}

#[test]
fn a_page_that_never_was_good_becomes_good() {
    let mut site = Site::new(TempTree::new());
    assert_eq!(site.problems(), ["page.html: the template page.html does not exist"]);
    assert_eq!(site.get("/").status, 500);
    site.tree.write("page.html", "now");
    site.pass_ms(LOOK_MS);
    assert_eq!(site.text("/"), "now");
}

#[test]
fn a_failure_while_rendering_is_told_once_and_shown_in_development() {
    let tree = || TempTree::new().file("page.html", "ok\n{{ query.a.b.c }}");
    let mut site = Site::new(tree());
    for _ in 0..3 {
        assert_eq!(site.get("/").status, 500);
    }
    let told = site.told.take();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("page.html:2:9: "), "{told:?}");
    assert_eq!(site.page.counts().failed(), 3);
    let shown = development(tree()).get("/");
    assert!(shown.text.contains("<mark><i>    2</i>{{ query.a.b.c }}"), "{}", shown.text);
}

#[test]
fn a_failure_in_a_template_named_by_an_expression_has_its_line_too() {
    let tree = TempTree::new()
        .file("page.html", "{% include query.a ~ '.html' %}")
        .file("b.html", "\n{{ query.x.y }}");
    let mut site = Site::new(tree);
    assert_eq!(site.get("/?a=b").status, 500);
    assert!(site.told.take()[0].contains("/b.html:2:9: "));
}

#[test]
fn an_edit_sees_nothing_of_requests_before_it() {
    let mut site = development(TempTree::new().file("page.html", "{{ query.a }}{{ form.a }}"));
    assert_eq!(site.text("/?a=secret"), "secret");
    site.tree.write("page.html", "[{{ debug() }}{% for n in [1] %}{{ n }}{% endfor %}]");
    assert!(!site.text("/").contains("secret"));
    site.tree.write("page.html", "[{{ query.a }}]");
    assert_eq!(site.text("/"), "[]");
}

#[test]
fn other_reactors_follow() {
    let mut site = Site::new(tree());
    let mut other = Renderer::new(&site.page);
    site.tree.write("part.html", "b");
    site.pass_ms(LOOK_MS);
    assert_eq!(site.text("/"), "[1b]");
    let input = vervet_server::pages::Input::get("/");
    let rendered = other.render(&input, site.now);
    assert_eq!(rendered.content, "[1b]");
}

#[test]
fn a_folder_that_is_replaced_is_followed() {
    let tree =
        TempTree::new().file("a/page.html", "a").file("b/page.html", "b").symlink("current", "a");
    let folder = tree.path().join("current");
    let mut site = Site::with(tree, |options| options.folder = folder);
    assert_eq!(site.text("/"), "a");
    std::fs::remove_file(site.tree.join("current")).unwrap();
    site.pass_ms(LOOK_MS);
    assert_eq!(site.get("/").text, "a", "the last valid version stays in use");
    assert!(site.told.take()[0].contains("cannot open the template folder"));
    std::os::unix::fs::symlink("b", site.tree.path().join("current")).unwrap();
    site.pass_ms(LOOK_MS);
    assert_eq!(site.text("/"), "b");
}

#[test]
fn names_that_visitors_make_up_leave_nothing_behind_and_write_one_line() {
    let template = "{% include 'parts/' ~ query.a ~ '.html' %}{{ query.b|date }}";
    let mut site =
        Site::new(TempTree::new().file("page.html", template).file("parts/a.html", "ok"));
    for number in 0..100 {
        assert_eq!(site.get(&format!("/?a={number}%0aforged")).status, 500);
    }
    let told = site.told.take();
    assert_eq!(told.len(), 32, "more are counted only");
    assert!(told.iter().all(|line| !line.contains('\n') && line.contains("forged")), "{told:?}");
    assert_eq!(site.page.counts().failed(), 100);
    assert_eq!(site.get("/?a=a&b=2026-11-21").text, "ok2026-11-21");
}

/// Reactors that render while files change see whole editions only: a page and its part are always
/// of one age.
#[test]
fn reactors_never_see_half_of_an_edit() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let tree =
        TempTree::new().file("page.html", "0{% include 'part.html' %}").file("part.html", "0");
    let site = development(tree);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut renderer = Renderer::new(&site.page);
                let input = vervet_server::pages::Input::get("/");
                while !is_done.load(Ordering::Relaxed) {
                    let content = renderer.render(&input, site.now).content;
                    // One of the two files may be newer than the other, for they are not written at
                    // once.
                    let numbers: Vec<u32> =
                        content.iter().map(|digit| u32::from(digit - b'0')).collect();
                    assert!(
                        numbers.len() == 2 && numbers[0].abs_diff(numbers[1]) <= 1,
                        "{numbers:?}"
                    );
                }
            });
        }
        for number in 1..=9 {
            for file in ["page.html", "part.html"] {
                let text = if file == "page.html" { "{% include 'part.html' %}" } else { "" };
                let new = site.tree.write(format!("{file}.new"), format!("{number}{text}"));
                std::fs::rename(new, site.tree.join(file)).unwrap();
                let mut renderer = Renderer::new(&site.page);
                renderer.render(&vervet_server::pages::Input::get("/"), site.now);
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
    let mut site = site;
    assert_eq!(site.text("/"), "99");
}
