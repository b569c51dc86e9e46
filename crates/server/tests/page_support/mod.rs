//! A page without a socket, and a clock and a log that the test owns.

#![allow(dead_code, unreachable_pub)] // each test file uses its part

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use vervet_engine::http::field::FieldSlots;
use vervet_engine::reactor::Now;
use vervet_server::error_log::ProblemLog;
use vervet_server::pages::{Input, Page, PageOptions, Parameter, Rendered, Renderer};
use vervet_testkit::TempTree;

use crate::support::heads;

use heads::fields_of;

/// 2027-01-15 08:00:00 UTC.
pub const NOW_S: u64 = 1_800_000_000;

/// What was told to those who run the server.
#[derive(Debug, Clone, Default)]
pub struct Told(Arc<Mutex<Vec<String>>>);

impl ProblemLog for Told {
    fn report(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

impl Told {
    /// What was told since the last time.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

pub struct Site {
    pub tree: TempTree,
    pub page: Arc<Page>,
    pub renderer: Renderer,
    pub told: Told,
    pub now: Now,
}

/// A request as a browser sends it.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub target: &'a str,
    pub fields: &'a [(&'a str, &'a str)],
    pub captures: &'a [(&'a str, &'a str)],
    pub form: &'a str,
}

impl<'a> Asked<'a> {
    pub fn get(target: &'a str) -> Self {
        Self { target, fields: &[], captures: &[], form: "" }
    }
}

/// Text as a query or a form carries it.
pub fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

pub struct Shown {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Shown {
    pub fn all(&self, name: &str) -> Vec<&str> {
        let lines = self.head.split("\r\n").skip(1);
        let pairs = lines.filter_map(|line| line.split_once(": "));
        pairs
            .filter(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .collect()
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        let all = self.all(name);
        assert!(all.len() <= 1, "{name} twice in {}", self.head);
        all.first().copied()
    }
}

impl Site {
    /// The page `page.html` of the folder.
    pub fn new(tree: TempTree) -> Self {
        Self::with(tree, |_| {})
    }

    pub fn of(template: &str) -> Self {
        Self::new(TempTree::new().file("page.html", template))
    }

    pub fn with_parameters(template: &str, parameters: Vec<Parameter>) -> Self {
        let tree = TempTree::new().file("page.html", template);
        Self::with(tree, |options| options.parameters = parameters.into())
    }

    pub fn with(tree: TempTree, change: impl FnOnce(&mut PageOptions)) -> Self {
        let told = Told::default();
        let mut options = PageOptions::new(tree.path(), "page.html");
        options.journal = Arc::new(told.clone());
        // The build for tests is slow: time ends no page that is not meant to end so.
        options.limits.time_max = Duration::from_mins(1);
        change(&mut options);
        let now = Now { monotonic_ms: 5_000, unix_seconds: NOW_S };
        let page = Page::new(options, now).unwrap();
        Self { tree, renderer: Renderer::new(&page), page, told, now }
    }

    pub fn pass_ms(&mut self, ms: u64) {
        self.now.monotonic_ms += ms;
        self.now.unix_seconds += ms / 1000;
    }

    pub fn get(&mut self, target: &str) -> Shown {
        self.ask(Asked::get(target))
    }

    pub fn text(&mut self, target: &str) -> String {
        let shown = self.get(target);
        let told = self.told.take();
        assert_eq!(shown.status, 200, "{}\n{told:?}\n{:?}", shown.text, self.page.problems());
        shown.text
    }

    pub fn ask(&mut self, asked: Asked<'_>) -> Shown {
        let method = if asked.form.is_empty() { "GET" } else { "POST" };
        let head = head_of(method, &asked);
        let mut slots = FieldSlots::new();
        let fields = fields_of(&head, &mut slots);
        let captures: Vec<_> = asked
            .captures
            .iter()
            .map(|(name, value)| (*name, Cow::Borrowed(value.as_bytes())))
            .collect();
        let input = Input {
            method,
            captures: &captures,
            fields: &fields,
            client: Some("192.0.2.7".parse().unwrap()),
            ..Input::get(asked.target)
        };
        shown(&self.renderer.render_form(&input, asked.form.as_bytes(), self.now))
    }

    /// What is wrong with the page, without the folder.
    pub fn problems(&self) -> Vec<String> {
        let folder = format!("{}/", self.tree.path().display());
        let problems = self.page.problems();
        let texts = problems.iter().map(ToString::to_string);
        texts.map(|text| text.replace(&folder, "")).collect()
    }
}

fn head_of(method: &str, asked: &Asked<'_>) -> String {
    let fields = asked.fields.iter();
    let lines: Vec<_> = fields.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let lines = lines.concat();
    format!("{method} {} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n", asked.target)
}

pub fn shown(rendered: &Rendered) -> Shown {
    let head = String::from_utf8(rendered.head.to_vec()).unwrap();
    let line = format!("HTTP/1.1 {} ", rendered.status.code());
    assert!(head.starts_with(&line) && head.ends_with("\r\n"), "{head}");
    assert!(!head.contains("\r\n\r\n"), "{head}");
    Shown {
        status: rendered.status.code(),
        head,
        text: String::from_utf8(rendered.content.to_vec()).unwrap(),
    }
}
