//! Pages as routes of a site: with the variables of the route, what the site does to all its
//! answers, and reloads.

use std::fs;
use std::path::Path;

use crate::support::served::{Served, get};
use vervet_testkit::TempTree;

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

fn post(target: &str, content: &str) -> String {
    let length = content.len();
    format!("POST {target} HTTP/1.1\r\nHost: a\r\n{FORM}Content-Length: {length}\r\n\r\n{content}")
}

#[test]
fn a_document_with_a_page_that_has_problems_is_refused() {
    let tree = TempTree::new().file("good.html", "good").file("bad.html", "\n{{ qurey }}");
    let good = "[[site]]\n[[site.route]]\npage = 'good.html'\n";
    let served = Served::start(tree, good);
    assert_eq!(served.get("a", "/"), (200, "good".to_owned()));
    let path = served.tree.join("bad.html");
    let refused = served.reload("[[site]]\n[[site.route]]\npage = 'bad.html'\n").err().unwrap();
    assert_eq!(
        refused,
        [format!("3:8: {}:2:4: unknown name qurey; did you mean `query`?", path.display())]
    );
    assert_eq!(served.get("a", "/"), (200, "good".to_owned()));
}

#[test]
fn a_page_knows_the_variables_of_its_route() {
    let tree = TempTree::new()
        .file("user.html", "{{ id + 1 }} {{ path.id }} {{ path.what }} {{ host }} {{ target }}");
    let served = Served::start(
        tree,
        "[[site]]\n[[site.route]]\npath = '/u/:id(number)/:what'\n[site.route.page]\ntemplate = 'user.html'\n\
         parameters = { id = { type = 'integer', max = 999, from = 'path' } }\n",
    );
    assert_eq!(
        served.get("Example.org:80", "/u/41/%3Cb%3E?x"),
        (200, "42 41 &lt;b&gt; example.org /u/41/%3Cb%3E?x".to_owned())
    );
    assert_eq!(served.get("a", "/u/1000/b").0, 400);
    assert_eq!(served.get("a", "/u/x/b").0, 404);
}

#[test]
fn what_a_site_does_to_its_answers_holds_for_pages_and_forms() {
    let tree = TempTree::new().file("form.html", "[{{ form.a }}]{% if form.a == 'x' %}{{ set_field('X-Frame-Options', 'SAMEORIGIN') }}{% endif %}");
    let served =
        Served::start(tree, "[[site]]\nsecurity = 'strict'\n[[site.route]]\npage = 'form.html'\n");
    let mut client = served.connect();
    for (request, content) in
        [(get("a", "/"), "[]"), (post("/", "a=1"), "[1]"), (post("/", "a=x"), "[x]")]
    {
        let response = client.exchange(&request);
        assert_eq!((response.status, response.text()), (200, content), "{request}");
        assert_eq!(response.field("x-content-type-options"), Some("nosniff"), "{request}");
        assert_eq!(response.field("cache-control"), Some("no-store"), "{request}");
    }
}

/// What a page says with a failing status is meant for its visitor; what the server says of a page
/// is not.
#[test]
fn pages_of_the_site_take_the_place_of_notices_alone() {
    let tree = TempTree::new()
        .file("own.html", "{{ status(404) }}own words")
        .file("typed.html", "{{ n }}")
        .file("broken.html", "{{ query.a.b }}");
    let served = Served::start(
        tree,
        "[[site]]\nerror_pages = { 4xx = { text = 'four' }, 5xx = { text = 'five' } }\n\
         [[site.route]]\npath = '/own'\npage = 'own.html'\n\
         [[site.route]]\npath = '/typed'\npage = { template = 'typed.html', parameters = { n = 'integer' } }\n\
         [[site.route]]\npath = '/broken'\npage = 'broken.html'\n\
         [[site.route]]\npath = '/written'\npage = { template = 'broken.html', mode = 'development' }\n",
    );
    assert_eq!(served.get("a", "/own"), (404, "own words".to_owned()));
    assert_eq!(served.get("a", "/typed"), (400, "four".to_owned()));
    assert_eq!(served.get("a", "/broken"), (500, "five".to_owned()));
    let (status, text) = served.get("a", "/written");
    assert!(status == 500 && text.contains("This page has a problem"), "{text}");
}

#[test]
fn pages_of_one_layout_follow_its_edit_each() {
    let tree = TempTree::new()
        .file("t/layout.html", "1{% block b %}{% endblock %}")
        .file("t/a.html", "{% extends 'layout.html' %}{% block b %}a{% endblock %}")
        .file("t/b.html", "{% extends 'layout.html' %}{% block b %}b{% endblock %}");
    let served = Served::start(
        tree,
        "[[site]]\n[[site.route]]\npath = '/a'\npage = { template = 't/a.html', mode = 'development' }\n\
         [[site.route]]\npath = '/b'\npage = { template = 't/b.html', mode = 'development' }\n",
    );
    assert_eq!(
        (served.get("a", "/a").1, served.get("a", "/b").1),
        ("1a".to_owned(), "1b".to_owned())
    );
    served.tree.write("t/layout.html", "2{% block b %}{% endblock %}");
    assert_eq!(
        (served.get("a", "/a").1, served.get("a", "/b").1),
        ("2a".to_owned(), "2b".to_owned())
    );
}

#[test]
fn the_example_is_served() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pages");
    let mut tree = TempTree::new();
    for name in ["hello.html", "order.html", "layout.html", "fields.html"] {
        tree = tree.file(name, fs::read(folder.join(name)).unwrap());
    }
    let document = fs::read_to_string(folder.join("vervet.toml"))
        .unwrap()
        .replace("127.0.0.1:8080", "127.0.0.1:0");
    let served = Served::start(tree, &document);
    let (status, text) = served.get("a", "/hello?name=%3CAda%3E");
    assert!(status == 200 && text.contains("Hello, &lt;Ada&gt;!"), "{text}");
    assert_eq!(served.get("a", "/").0, 404);
    let mut client = served.connect();
    let thanks = client.exchange(post("/order", "name=Ada&quantity=1"));
    assert!(thanks.status == 200 && thanks.text().contains("1 postcard will"), "{}", thanks.text());
    assert_eq!(client.exchange(post("/order", "name=Ada&quantity=100")).status, 400);
}
