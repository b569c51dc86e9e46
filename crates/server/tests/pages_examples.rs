//! The pages in `examples/pages`, as their document has them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::page_support::{Asked, NOW_S, Shown, Site, Told};
use vervet_config::read_text;
use vervet_engine::reactor::Now;
use vervet_server::caches::Caches;
use vervet_server::error_log::ProblemLog;
use vervet_server::pages::PageSetup;
use vervet_server::settings::Document;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pages")
}

/// A page of the example.
fn site(template: &str) -> Site {
    let document = folder().join("vervet.toml");
    let text = std::fs::read_to_string(&document).unwrap();
    let reading = read_text::<Document>(document.to_str().unwrap(), &text);
    assert!(reading.diagnostics.is_empty(), "{}", reading.to_text());
    let document = reading.value.unwrap();
    let pages = document.site[0].route.iter().filter_map(|route| route.page.value().clone());
    let page = pages.into_iter().find(|page| page.template.ends_with(template)).unwrap();
    let told = Told::default();
    let journal: Arc<dyn ProblemLog> = Arc::new(told.clone());
    let now = Now { monotonic_ms: 0, unix_seconds: NOW_S };
    let setup = PageSetup { server: "Vervet", journal: &journal, caches: &Caches::default(), now };
    let options = page.options(setup).unwrap();
    let site = Site::with(vervet_testkit::TempTree::new(), |of_test| {
        *of_test = options;
    });
    assert_eq!(site.problems(), [""; 0]);
    site
}

#[track_caller]
fn check(shown: &Shown, parts: &[&str]) {
    assert_eq!(shown.status, 200, "{}", shown.text);
    for part in parts {
        assert!(shown.text.contains(part), "{part} in {}", shown.text);
    }
}

#[test]
fn the_greeting_is_six_lines_and_safe() {
    let source = std::fs::read_to_string(folder().join("hello.html")).unwrap();
    assert!(source.lines().count() <= 6, "{source}");
    let mut hello = site("hello.html");
    check(&hello.get("/hello"), &["<h1>Hello, World!</h1>"]);
    check(
        &hello.get("/hello?name=%3Cscript%3E%22%26%27"),
        &["<h1>Hello, &lt;script&gt;&quot;&amp;&#x27;!</h1>"],
    );
}

#[test]
fn the_form_is_shown_and_taken() {
    let mut order = site("order.html");
    check(
        &order.get("/order"),
        &[
            "<title>Order postcards – Otter Post</title>",
            "<label>Your name <input type=\"text\" name=\"name\" value=\"\" required></label>",
            "<label>How many <input type=\"number\" name=\"quantity\" value=\"1\" required></label>",
            "<footer>2027</footer>",
        ],
    );
    let shown = order.ask(Asked { form: "name=Ada+%3CL.%3E&quantity=2", ..Asked::get("/order") });
    check(&shown, &["<p>Thank you, Ada &lt;L.&gt;! 2 postcards will be on the way.</p>"]);
    assert_eq!(
        shown.all("set-cookie"),
        ["name=Ada%20<L.>; Max-Age=2592000; Path=/; SameSite=Lax; HttpOnly"]
    );
    let shown =
        order.ask(Asked { fields: &[("Cookie", "name=Ada%20<L.>")], ..Asked::get("/order") });
    check(&shown, &["welcome back, Ada &lt;L.&gt;</nav>", "value=\"Ada &lt;L.&gt;\""]);
}

#[test]
fn an_order_that_cannot_be_is_refused() {
    let mut order = site("order.html");
    for form in ["name=Ada&quantity=0", "name=Ada&quantity=100", "name=Ada&quantity=x"] {
        let shown = order.ask(Asked { form, ..Asked::get("/order") });
        assert_eq!(shown.status, 400);
        assert!(
            shown.text.contains("the parameter quantity must be a whole number from 1 to 99"),
            "{}",
            shown.text
        );
    }
}
