//! `error_pages = { 404 = "404.html" }`: custom error pages. The status stays.
//!
//! A page replaces the content of a response and its type, nothing else: Allow, Retry-After and
//! challenges stay. If the page itself is not available, the response stays as it is, so that no
//! page leads to another.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use vervet_config::{Diagnostic, Diagnostics, Name, Named, Setting, Text, section};
use vervet_engine::reactor::Now;
use vervet_engine::{Content, Response};
use vervet_http::status::{Class, Status};
use vervet_http::target::percent_encode_path;

use crate::files::FilesShared;
use crate::files::{Files, Page};

section! {
    /// A custom error page. The name is a status (`404`) or a class (`4xx`, `5xx`).
    ///
    /// ```toml
    /// [site.error_pages]
    /// 404 = "404.html"
    /// 5xx = { html = "<h1>We are on it</h1>" }
    /// ```
    pub struct ErrorPage short(file) {
        /// A file in the `root` folder of the site.
        pub file: Option<Text>,
        /// The page as plain text.
        pub text: Option<Text>,
        /// The page as HTML.
        pub html: Option<Text>,
    }
}

/// The pages of a site, shared by all reactors.
#[derive(Debug, Clone, Default)]
pub struct ErrorPages {
    pages: Vec<(Failure, Source)>,
    root: Option<Arc<FilesShared>>,
}

/// The statuses of an error page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    Status(Status),
    Class(Class),
}

#[derive(Debug, Clone)]
enum Source {
    /// A raw path in the folder.
    File(Box<[u8]>),
    Here(&'static str, Bytes),
}

impl ErrorPages {
    /// Reads the pages. `root` is the folder of the site, in which their files lie; a file that is
    /// not there is only warned of, for it may come later.
    pub fn new(
        settings: &Named<ErrorPage>,
        root: Option<&Arc<FilesShared>>,
        found: &mut Diagnostics,
    ) -> Self {
        let mut pages = Vec::new();
        for (name, page) in settings.iter() {
            let failure = failure(name);
            let source = source(name, page, root.map(|root| &**root), found);
            match (failure, source) {
                (Ok(failure), Some(source)) => pages.push((failure, source)),
                (Ok(_), None) => {}
                (Err(diagnostic), _) => found.push(diagnostic),
            }
        }
        Self { pages, root: root.cloned() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The pages for the reactor of this thread.
    pub fn for_reactor(&self) -> ReactorErrorPages {
        let files = self.root.as_ref().map(Files::of_reactor);
        ReactorErrorPages(Rc::new(ReactorPages {
            pages: self.pages.clone().into_boxed_slice(),
            files: RefCell::new(files),
        }))
    }
}

fn failure(name: &Name) -> Result<Failure, Diagnostic> {
    let known = match name.value().as_str() {
        "4xx" => Some(Failure::Class(Class::ClientError)),
        "5xx" => Some(Failure::Class(Class::ServerError)),
        digits => {
            let status = digits.parse().ok().and_then(Status::new);
            status.filter(|status| is_failure(*status)).map(Failure::Status)
        }
    };
    known.ok_or_else(|| {
        let message = format!("`{}` is not an error status", name.value());
        Diagnostic::error(name.span(), message).expected("a status from 400 to 599, `4xx` or `5xx`")
    })
}

fn is_failure(status: Status) -> bool {
    matches!(status.class(), Class::ClientError | Class::ServerError)
}

fn source(
    name: &Name,
    page: &ErrorPage,
    root: Option<&FilesShared>,
    found: &mut Diagnostics,
) -> Option<Source> {
    let here = |media_type, setting: &Setting<Option<Text>>| {
        let text = setting.value().as_ref()?;
        Some(Source::Here(media_type, Bytes::from(text.clone())))
    };
    let mut given = [
        page.file.value().as_ref().map(|file| Source::File(raw_path(file))),
        here("text/plain; charset=utf-8", &page.text),
        here("text/html; charset=utf-8", &page.html),
    ]
    .into_iter()
    .flatten();
    let (first, second) = (given.next(), given.next());
    match (&first, second) {
        (Some(Source::File(path)), None) => check_file(path, page.file.span(), root, found),
        (Some(_), None) => {}
        _ => {
            let message = format!("`{}` needs exactly one content", name.value());
            found.push(
                Diagnostic::error(name.span(), message)
                    .expected("one of `file`, `text` and `html`"),
            );
        }
    }
    first
}

/// The path under which a file is found in its folder.
fn raw_path(file: &str) -> Box<[u8]> {
    let path = percent_encode_path(file.trim_start_matches("./").as_bytes());
    let slash = if path.starts_with('/') { "" } else { "/" };
    [slash, &path].concat().into_bytes().into_boxed_slice()
}

fn check_file(
    path: &[u8],
    span: vervet_config::Span,
    root: Option<&FilesShared>,
    found: &mut Diagnostics,
) {
    let Some(root) = root else {
        let message = "an error page from a file needs a `root`";
        found.push(
            Diagnostic::error(span, message)
                .expected("`root` of the site, or `text` or `html`")
                .consequence(),
        );
        return;
    };
    if !root.has_file(path) {
        let path = String::from_utf8_lossy(path);
        let message = format!("the file {path} does not exist in the `root` of the site");
        found.push(
            Diagnostic::warning(span, message).note("until it exists, the default page is used"),
        );
    }
}

/// The pages of a site on one reactor. Clones share them.
#[derive(Debug, Clone)]
pub struct ReactorErrorPages(Rc<ReactorPages>);

#[derive(Debug)]
struct ReactorPages {
    pages: Box<[(Failure, Source)]>,
    files: RefCell<Option<Files>>,
}

impl ReactorErrorPages {
    /// The answer with the page of its status in place of its content; an answer that is not a
    /// failure, has no page, or keeps its content, as it is.
    #[must_use]
    pub fn replace(&self, response: Response, now: Now) -> Response {
        if !is_failure(response.status()) || response.keeps_content() {
            return response;
        }
        match self.page(response.status(), now) {
            Some(page) => with_page(response, page),
            None => response,
        }
    }

    fn page(&self, status: Status, now: Now) -> Option<Page> {
        let of = |failure| self.0.pages.iter().find(|(known, _)| *known == failure);
        let (_, source) =
            of(Failure::Status(status)).or_else(|| of(Failure::Class(status.class())))?;
        match source {
            Source::Here(media_type, content) => Some(Page {
                media_type: (*media_type).into(),
                content: Content::Bytes(content.clone()),
            }),
            Source::File(path) => self.0.files.borrow_mut().as_mut()?.page(path, now),
        }
    }
}

/// Headers that describe the replaced content.
const OF_CONTENT: [&str; 8] = [
    "Content-Encoding",
    "Content-Language",
    "Content-Disposition",
    "Content-Security-Policy",
    "ETag",
    "Last-Modified",
    "Accept-Ranges",
    "Vary",
];

fn with_page(mut response: Response, page: Page) -> Response {
    for name in OF_CONTENT {
        response.remove_field(name);
    }
    // A media type of the table or of the configuration; one that no field can have leaves the type
    // as it was.
    let _ = response.set_field("Content-Type", page.media_type.as_bytes());
    response.content(page.content)
}
