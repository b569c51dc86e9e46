//! Pages made of several templates: inheritance, includes, imports; and what is wrong with them,
//! known at load.

use crate::page_support::Site;
use vervet_server::files::root::Symlinks;
use vervet_testkit::TempTree;

fn tree(files: &[(&str, &str)]) -> TempTree {
    let empty = TempTree::new();
    files.iter().fold(empty, |tree, (name, text)| tree.file(name, text))
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &str) {
    assert_eq!(Site::new(tree(files)).text("/?a=1"), expected);
}

/// Templates with problems: all that is reported of them.
#[track_caller]
fn check_refused(files: &[(&str, &str)], expected: &[&str]) {
    let mut site = Site::new(tree(files));
    assert_eq!(site.problems(), expected);
    assert_eq!(site.get("/").status, 500);
}

const BASE: (&str, &str) = (
    "base.html",
    "<title>{% block title %}base{% endblock %}</title>{% block content %}{% endblock %}",
);
const MIDDLE: (&str, &str) = (
    "sub/middle.html",
    "{% extends 'base.html' %}{% block title %}middle, {{ super() }}{% endblock %}{% block content %}<p>{% block text %}none{% endblock %}</p>{% endblock %}",
);

#[test]
fn what_is_missing_is_told_with_its_place() {
    check_refused(&[], &["page.html: the template page.html does not exist"]);
    check_refused(
        &[("page.html", "\n{% extends 'layout.html' %}")],
        &["page.html:2:12: the template layout.html does not exist"],
    );
    check_refused(
        &[("page.html", "a {% include 'b.html' %}")],
        &["page.html:1:14: the template b.html does not exist"],
    );
    check_refused(
        &[("page.html", "{% import 'b.html' as b %}")],
        &["page.html:1:11: the template b.html does not exist"],
    );
    check_refused(
        &[("page.html", "{% include 'b.html' %}"), ("b.html", "\n\n{% include 'c.html' %}")],
        &["b.html:3:12: the template c.html does not exist"],
    );
}

#[test]
fn syntax_errors_are_told_with_their_place() {
    check_refused(&[("page.html", "a\n{{ 1 +* 2 }}")], &["page.html:2:7: unexpected `*`"]);
    check_refused(
        &[("page.html", "a\n{% if a %}\n")],
        &["page.html:2:9: unexpected end of input, expected end of block"],
    );
    check_refused(
        &[BASE, ("page.html", "{% extends 'base.html' %}{% include 'b.html' %}"), ("b.html", "{{")],
        &["b.html:1:1: unexpected end of input, expected expression"],
    );
}

#[test]
fn a_block_that_no_parent_has_is_told() {
    check_refused(
        &[BASE, ("page.html", "{% extends 'base.html' %}\n{% block titel %}x{% endblock %}")],
        &["page.html:2:10: base.html has no block titel; did you mean `title`?"],
    );
    check_refused(
        &[
            BASE,
            MIDDLE,
            ("page.html", "{% extends 'sub/middle.html' %}{% block footer %}x{% endblock %}"),
        ],
        &["page.html:1:41: sub/middle.html has no block footer"],
    );
    check_refused(
        &[
            BASE,
            (
                "page.html",
                "{% extends 'base.html' %}{% block title %}{% block new %}{{ super() }}{% endblock %}{% endblock %}",
            ),
        ],
        &["page.html:1:61: super() has nothing to call: no parent template has a block new"],
    );
    check_refused(
        &[("page.html", "{{ self.title() }}")],
        &["page.html:1:9: there is no block title"],
    );
}

#[test]
fn a_required_block_must_be_filled() {
    let base = ("base.html", "{% block content required %}{% endblock %}");
    check_refused(
        &[base, ("page.html", "{% extends 'base.html' %}")],
        &["base.html:1:10: the block content is required, and the page does not fill it"],
    );
    check(
        &[base, ("page.html", "{% extends 'base.html' %}{% block content %}x{% endblock %}")],
        "x",
    );
}

#[test]
fn a_template_cannot_extend_itself() {
    check_refused(
        &[("page.html", "{% extends 'page.html' %}")],
        &["page.html:1:12: page.html extends itself through page.html"],
    );
    check_refused(
        &[("page.html", "{% extends 'b.html' %}"), ("b.html", "{% extends 'page.html' %}")],
        &["b.html:1:12: page.html extends itself through page.html"],
    );
}

#[test]
fn names_filters_and_tests_that_do_not_exist_are_told_all_at_once() {
    check_refused(
        &[(
            "page.html",
            "{{ qurey.a }}\n{{ query.a|uper }}\n{{ 1 is smal }}\n{{ set_cookies('a') }}",
        )],
        &[
            "page.html:1:4: unknown name qurey; did you mean `query`?",
            "page.html:2:12: there is no filter uper",
            "page.html:3:9: there is no test smal",
            "page.html:4:4: unknown name set_cookies; did you mean `set_cookie`?",
        ],
    );
}

#[test]
fn names_that_any_template_sets_are_known() {
    check(
        &[
            (
                "page.html",
                "{% set x = 1 %}{% include 'b.html' %}{% for y, z in [[2, 3]] %}{{ y + z }}{% endfor %}",
            ),
            ("b.html", "{{ x }}"),
        ],
        "15",
    );
    check(
        &[(
            "page.html",
            "{% with x = 1 %}{{ x }}{% endwith %}{{ y is defined }}{{ z|default(2) }}",
        )],
        "1False2",
    );
    check(
        &[(
            "page.html",
            "{% macro m(a, b=2) %}{{ a }}{{ b }}{{ varargs is defined }}{% endmacro %}{{ m(1) }}",
        )],
        "12False",
    );
    check(
        &[(
            "page.html",
            "{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + loop.index %}{% endfor %}{{ ns.n }}",
        )],
        "6",
    );
}

#[test]
fn three_levels_are_put_together() {
    let page = "{% extends 'sub/middle.html' %}{% block title %}page, {{ super() }}{% endblock %}{% block text %}{{ query.a }}{% endblock %}";
    check(&[BASE, MIDDLE, ("page.html", page)], "<title>page, middle, base</title><p>1</p>");
    check(
        &[BASE, MIDDLE, ("page.html", "{% extends 'sub/middle.html' %}")],
        "<title>middle, base</title><p>none</p>",
    );
    check(
        &[
            BASE,
            (
                "page.html",
                "{% extends 'base.html' %}{% block content %}{{ self.title() }}{% endblock %}",
            ),
        ],
        "<title>base</title>base",
    );
}

#[test]
fn includes_and_imports_reach_three_levels() {
    check(
        &[
            ("page.html", "1{% include 'a/b.html' %}{% from 'm.html' import m %}{{ m() }}"),
            ("a/b.html", "2{% include 'a/c.html' %}"),
            ("a/c.html", "3{{ query.a }}"),
            ("m.html", "{% import 'n.html' as n %}{% macro m() %}4{{ n.n() }}{% endmacro %}"),
            ("n.html", "{% macro n() %}5{% endmacro %}"),
        ],
        "123145",
    );
    check(
        &[
            (
                "page.html",
                "1{% include 'none.html' ignore missing %}{% include ['none.html', 'b.html'] %}",
            ),
            ("b.html", "2"),
        ],
        "12",
    );
}

#[test]
fn templates_stay_in_their_folder() {
    let outside = TempTree::new().file("secret.html", "secret");
    for (name, message) in [
        (
            "../secret.html",
            "is not a plain path; template names are relative to the template folder, without . and ..",
        ),
        (
            "a/../b.html",
            "is not a plain path; template names are relative to the template folder, without . and ..",
        ),
        (
            "./b.html",
            "is not a plain path; template names are relative to the template folder, without . and ..",
        ),
        (
            "a//b.html",
            "is not a plain path; template names are relative to the template folder, without . and ..",
        ),
        ("/etc/passwd", "is an absolute path; template names are relative to the template folder"),
    ] {
        let page = format!("{{% include '{name}' %}}");
        check_refused(
            &[("page.html", &page), ("b.html", "b")],
            &[&format!("page.html:1:12: {name} {message}")],
        );
    }
    let page = "{% include 'link.html' %}";
    let linked = || {
        TempTree::new()
            .file("page.html", page)
            .symlink("link.html", outside.path().join("secret.html"))
    };
    let text = "page.html:1:12: link.html is a symbolic link or is reached through one (symlinks = \"follow\" allows links that stay in the folder)";
    assert_eq!(Site::new(linked()).problems(), [text]);
    let followed = Site::with(linked(), |options| options.symlinks = Symlinks::Follow);
    assert_eq!(
        followed.problems(),
        ["page.html:1:12: link.html leads outside the template folder"]
    );
}

#[test]
fn links_within_the_folder_are_followed_where_allowed() {
    let tree = TempTree::new()
        .file("page.html", "{% include 'link.html' %}")
        .file("b.html", "b")
        .symlink("link.html", "b.html");
    let mut site = Site::with(tree, |options| options.symlinks = Symlinks::Follow);
    assert_eq!(site.text("/"), "b");
}

#[test]
fn what_is_no_template_is_told() {
    let tree = TempTree::new().file("page.html", b"a\nb\xff").dir("folder");
    assert_eq!(Site::new(tree).problems(), ["page.html: page.html is not valid UTF-8 in line 2"]);
    check_refused(
        &[("page.html", "{% include 'a' %}"), ("a/b", "")],
        &["page.html:1:12: a is a folder"],
    );
    let tree = TempTree::new().sparse("page.html", 1024 * 1024 + 1);
    assert_eq!(
        Site::new(tree).problems(),
        ["page.html: page.html has 1048577 bytes; a template can have at most 1048576"]
    );
}

#[test]
fn a_name_made_up_by_the_page_stays_in_the_folder_too() {
    let tree = TempTree::new()
        .file("page.html", "{% include 'parts/' ~ query.part ~ '.html' %}")
        .file("parts/a.html", "A{{ query.x }}{{ cookies.x }}")
        .file("b.html", "B");
    let mut site = Site::new(tree);
    assert_eq!(site.text("/?part=a&x=%3C"), "A&lt;");
    for part in ["../b", "none", "../../etc/passwd"] {
        assert_eq!(site.get(&format!("/?part={part}")).status, 500, "{part}");
    }
}
