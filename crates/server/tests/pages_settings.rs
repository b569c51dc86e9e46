//! The directives of pages: what is said of mistakes, and what becomes of the rest.

use std::sync::Arc;
use std::time::Duration;

use crate::page_support::{NOW_S, Told};
use vervet_config::{Diagnostic, Reading, read_text, section};
use vervet_engine::reactor::Now;
use vervet_server::caches::Caches;
use vervet_server::error_log::ProblemLog;
use vervet_server::files::root::Symlinks;
use vervet_server::pages::{
    Absent, Input, Mode, PageOptions, PageSettings, PageSetup, ParameterType, Renderer, Source,
};
use vervet_testkit::TempTree;

section! {
    /// A document with one page.
    pub struct Sole {
        /// The page.
        pub page: PageSettings,
    }
}

fn with_setup<T>(run: impl FnOnce(PageSetup<'_>) -> T) -> T {
    let journal: Arc<dyn ProblemLog> = Arc::new(Told::default());
    let now = Now { monotonic_ms: 0, unix_seconds: NOW_S };
    run(PageSetup { server: "Vervet", journal: &journal, caches: &Caches::default(), now })
}

fn at(reading: &Reading<Sole>, one: &Diagnostic) -> String {
    match reading.sources.position(one.span) {
        Some(at) => format!("{}:{}: {}", at.line, at.column, one.message),
        None => one.message.clone(),
    }
}

/// The first message of each finding, with its line and column.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let reading = read_text::<Sole>("vervet.toml", text);
    let mut found: Vec<_> = reading.diagnostics.iter().map(|one| at(&reading, one)).collect();
    if let Some(document) = &reading.value {
        let refused = with_setup(|setup| document.page.action(setup)).map(|_| ());
        found.extend(refused.err().unwrap_or_default().iter().map(|one| at(&reading, one)));
    }
    assert_eq!(found, expected, "{text}");
}

fn options(text: &str) -> PageOptions {
    let reading = read_text::<Sole>("/srv/vervet.toml", text);
    assert!(reading.diagnostics.is_empty(), "{}", reading.to_text());
    with_setup(|setup| reading.value.unwrap().page.options(setup)).unwrap()
}

#[test]
fn directives_that_do_not_fit_their_type_are_found_all_at_once() {
    check(
        "[page]\ntemplate = 'a.html'\n[page.parameters]\na = {type = 'text', min = 1, choices = ['x']}\n\
         b = {type = 'integer', length_max = 1}\nc = 'choice'",
        &[
            "4:27: `min` does not apply to the type `text`",
            "4:40: `choices` does not apply to the type `text`",
            "5:37: `length_max` does not apply to the type `integer`",
            "6:5: `c` has the type `choice` and no `choices`",
        ],
    );
}

#[test]
fn bounds_that_cannot_be_are_found() {
    check(
        "[page]\ntemplate = 'a.html'\n[page.parameters]\na = {type = 'integer', min = 1.5}\n\
         b = {type = 'date', max = '2026-02-30'}\nc = {type = 'number', min = 2, max = 1}\nd = {length_min = 5, length_max = 4}",
        &[
            "4:30: `min` is not a whole number",
            "5:27: `max` is not a date such as 2026-11-21",
            "6:29: the minimum 2 is greater than the maximum 1",
            "7:19: the minimum 5 is greater than the maximum 4",
        ],
    );
}

#[test]
fn defaults_and_names_are_held_against_what_pages_know() {
    let begin = "[page]\ntemplate = 'a.html'\n[page.parameters]\n";
    check(
        &format!("{begin}a = {{type = 'integer', default = 'x'}}"),
        &["4:34: the default of a must be a whole number"],
    );
    check(
        &format!("{begin}a = {{type = 'integer', default = 1, optional = true}}"),
        &["4:48: `a` has both `optional` and the default 1: remove one"],
    );
    check(
        &format!("{begin}query = 'integer'"),
        &[
            "4:1: invalid parameter name \"query\": expected letters, digits and _, and a name that templates do not have already",
        ],
    );
    check(&format!("{begin}a = 'integr'"), &["4:5: `a` cannot be `integr`"]);
}

#[test]
fn a_template_outside_of_its_folder_is_found() {
    check(
        "page = {template = '/srv/a.html', folder = '/srv/pages'}",
        &["1:20: /srv/a.html is not in the template folder"],
    );
}

#[test]
fn a_folder_that_is_not_there_is_found() {
    check("page = 'none/a.html'", &["1:8: none: cannot open the template folder: not found"]);
    check("page = 'none.html'", &["1:8: ./none.html: the template none.html does not exist"]);
}

#[test]
fn problems_of_templates_are_errors_at_the_page() {
    let tree = TempTree::new().file("a.html", "\n{{ query|uper }}\n{{ qurey }}");
    let path = tree.join("a.html");
    let path = path.display();
    check(
        &format!("page = '{path}'"),
        &[
            &format!("1:8: {path}:2:10: there is no filter uper"),
            &format!("1:8: {path}:3:4: unknown name qurey; did you mean `query`?"),
        ],
    );
}

#[test]
fn a_name_alone_is_a_page() {
    let options = options("page = 'pages/hello.html'");
    assert_eq!(
        (options.folder.to_str().unwrap(), options.template.as_str()),
        ("/srv/pages", "hello.html")
    );
    assert_eq!(
        (options.mode, options.symlinks, options.limits),
        (Mode::Production, Symlinks::Refuse, vervet_server::pages::PageLimits::default())
    );
}

#[test]
fn all_directives_are_obeyed() {
    let options = options(
        "[page]\ntemplate = 'pages/a/b.html'\nfolder = 'pages'\nmode = 'development'\nsymlinks = 'follow'\nsteps_max = 5000\n\
         output_bytes_max = '64KiB'\ntime_max = '2s'\nform_bytes_max = '2KiB'\n[page.parameters]\n\
         n = {type = 'integer', default = 1, min = 1, max = 9, from = 'query'}\nname = {length_max = 100, optional = true}\n\
         sort = {choices = ['a', 'b'], default = 'a', from = 'path'}\nday = {type = 'date', min = 2026-01-01, from = 'form'}\nflag = 'boolean'",
    );
    assert_eq!(
        (options.folder.to_str().unwrap(), options.template.as_str()),
        ("/srv/pages", "a/b.html")
    );
    assert_eq!((options.mode, options.symlinks), (Mode::Development, Symlinks::Follow));
    let limits = options.limits;
    assert_eq!(
        (limits.steps_max, limits.output_bytes_max, limits.form_bytes_max),
        (5000, 65_536, 2048)
    );
    assert_eq!(limits.time_max, Duration::from_secs(2));
    let parameters: Vec<_> = options
        .parameters
        .iter()
        .map(|one| (one.name.as_str(), one.from, one.absent.clone()))
        .collect();
    assert_eq!(
        parameters,
        [
            ("n", Source::Query, Absent::Default("1".to_owned())),
            ("name", Source::Any, Absent::None),
            ("sort", Source::Path, Absent::Default("a".to_owned())),
            ("day", Source::Form, Absent::Refused),
            ("flag", Source::Any, Absent::Refused),
        ]
    );
    assert_eq!(options.parameters[0].kind, ParameterType::Integer { min: Some(1), max: Some(9) });
    assert_eq!(options.parameters[1].kind, ParameterType::Text { length_min: 0, length_max: 100 });
}

#[test]
fn a_page_from_a_document_is_rendered() {
    let tree = TempTree::new().file("a.html", "{{ n + 1 }}");
    let text = format!(
        "[page]\ntemplate = '{}'\nparameters = {{ n = 'integer' }}",
        tree.join("a.html").display()
    );
    let document = read_text::<Sole>("vervet.toml", &text).value.unwrap();
    let action = with_setup(|setup| document.page.action(setup)).unwrap();
    let now = Now { monotonic_ms: 0, unix_seconds: NOW_S };
    let rendered = Renderer::new(action.page()).render(&Input::get("/?n=41"), now);
    assert_eq!(rendered.content, "42");
}
