//! Renders a page: from the input of a request to status, head and content, without a socket.
//!
//! One renderer serves one reactor. Between two renderings it keeps the scope and the buffer, so
//! that a small page costs what the template engine allocates and little else.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use minijinja::{Environment, Error, ErrorKind, Template, Value};
use self_cell::self_cell;
use vervet_engine::reactor::Now;
use vervet_http::field::Known;
use vervet_http::status::Status;

use crate::caches::{CacheCounts, CacheName};
use crate::pages::edition::Edition;
use crate::pages::effects::{Effects, Notes, Stop};
use crate::pages::input::Input;
use crate::pages::limited::{ExceededLimit, Limited};
use crate::pages::notice;
use crate::pages::options::{Mode, report_problem};
use crate::pages::page::{Latest, Page, Recheck};
use crate::pages::problem::PageProblem;
use crate::pages::rendered::{PLAIN_BYTES_MAX, Rendered, Rendering, Voice};
use crate::pages::scope::{Scope, ScopeVariable};
use crate::response::Head;

/// Bytes that the buffer of a renderer begins with. It is kept for the next page; that of an answer
/// beyond
/// [`PLAIN_BYTES_MAX`] goes out with it.
const BUFFER_BYTES: usize = 4 * 1024;

/// A request that was taken over and waits, perhaps for its form.
#[derive(Debug)]
pub(crate) struct PendingRender {
    edition: Arc<Edition>,
    scope: Arc<Scope>,
}

impl PendingRender {
    /// Whether the page uses a form.
    pub(crate) fn wants_form(&self) -> bool {
        self.edition.uses.has(ScopeVariable::Form)
    }
}

type PageTemplate<'e> = Template<'e, 'e>;

self_cell! {
    /// The engine of an edition with the template of the page, looked up once. It is a reactor's
    /// own: the engine of the edition has a lock that would be one for all reactors.
    struct Ready {
        owner: Environment<'static>,
        #[not_covariant]
        dependent: PageTemplate,
    }
}

impl Ready {
    /// Loads the template of the last valid edition, if there is one.
    fn load(latest: &Latest, page: &Page) -> Option<Self> {
        let environment = latest.edition.as_ref()?.environment.clone();
        let name = &page.options.template;
        Self::try_new(environment, |environment| environment.get_template(name)).ok()
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Ready").finish_non_exhaustive()
    }
}

/// The renderer of a page on one reactor.
#[derive(Debug)]
pub struct Renderer {
    page: Arc<Page>,
    latest: Latest,
    looks: Arc<CacheCounts>,
    /// Of the latest edition.
    ready: Option<Ready>,
    notes: Notes,
    spare: Option<Arc<Scope>>,
    buffer: Vec<u8>,
}

impl Renderer {
    /// A renderer of `page`.
    pub fn new(page: &Arc<Page>) -> Self {
        let latest = page.latest();
        Self {
            page: Arc::clone(page),
            ready: Ready::load(&latest, page),
            latest,
            looks: page.options.caches.for_thread(CacheName::Templates),
            notes: Notes::default(),
            spare: None,
            buffer: Vec::new(),
        }
    }

    /// Renders the page for a request without content.
    pub fn render(&mut self, input: &Input<'_>, now: Now) -> Rendered {
        match self.begin(input, now) {
            Ok(pending) => self.finish(pending, b"").into(),
            Err(rendered) => rendered,
        }
    }

    /// Renders the page for a request whose content is the form `form`.
    pub fn render_form(&mut self, input: &Input<'_>, form: &[u8], now: Now) -> Rendered {
        match self.begin(input, now) {
            Ok(pending) => self.finish(pending, form).into(),
            Err(rendered) => rendered,
        }
    }

    /// The page that is rendered.
    pub(crate) fn page(&self) -> &Page {
        &self.page
    }

    /// Copies the parts of a request that the page uses; `Err` is the response of a faulty page.
    pub(crate) fn begin(&mut self, input: &Input<'_>, now: Now) -> Result<PendingRender, Rendered> {
        let generation = self.latest.generation;
        if self.page.refresh(&mut self.latest, now) == Recheck::Nothing {
            self.looks.hit();
        }
        if self.latest.generation != generation {
            // What the new edition does not use must not be there from a request to the old one.
            self.spare = None;
            self.ready = Ready::load(&self.latest, &self.page);
        }
        let is_shown =
            self.page.options.mode == Mode::Development && !self.latest.problems.is_empty();
        let edition = match &self.latest.edition {
            Some(edition) if !is_shown => Arc::clone(edition),
            _ => return Err(self.out_of_order(&self.latest.problems)),
        };
        let alone = self.spare.take().filter(|scope| Arc::strong_count(scope) == 1);
        let mut scope = alone
            .unwrap_or_else(|| Arc::new(Scope::new(&self.page.options.parameters, &self.notes)));
        let Some(own) = Arc::get_mut(&mut scope) else {
            return Err(self.out_of_order(&[]));
        };
        own.fill(input, edition.uses, now.unix_seconds);
        Ok(PendingRender { edition, scope })
    }

    /// Renders what was pending, with the form that came, which may be empty.
    pub(crate) fn finish(&mut self, pending: PendingRender, form: &[u8]) -> Rendering<'_> {
        let PendingRender { edition, mut scope } = pending;
        // Nobody else has it: it is lent to the template engine further down only.
        let Some(own) = Arc::get_mut(&mut scope) else {
            return Rendering::Made(self.out_of_order(&[]));
        };
        if !form.is_empty() {
            own.fill_form(form);
        }
        if let Err(bad) = own.read_parameters() {
            self.spare = Some(scope);
            return Rendering::Made(self.refused(Status::BAD_REQUEST, &bad.to_string()));
        }
        let made = self.run(&edition, &scope);
        self.spare = Some(scope);
        match (made, &self.latest.edition) {
            (Some(rendered), _) => Rendering::Made(rendered),
            (None, Some(latest)) if Arc::ptr_eq(latest, &edition) => {
                Rendering::Plain { head: &latest.head, content: &self.buffer }
            }
            (None, _) => {
                let content = Bytes::copy_from_slice(&self.buffer);
                Rendering::Made(Rendered::plain(edition.head.clone(), content))
            }
        }
    }

    /// Runs the template. `None` for a plain answer whose content is left in the buffer.
    fn run(&mut self, edition: &Arc<Edition>, scope: &Arc<Scope>) -> Option<Rendered> {
        let latest = self.latest.edition.as_ref();
        let is_latest = latest.is_some_and(|latest| Arc::ptr_eq(latest, edition));
        let ready = self.ready.as_ref().filter(|_| is_latest);
        self.buffer.clear();
        self.buffer.reserve(BUFFER_BYTES);
        let mut writer = Limited::new(&mut self.buffer, &self.page.options.limits);
        let root = Value::from_dyn_object(Arc::clone(scope));
        let render = |template: &Template<'_, '_>| {
            let captured = template.render_captured_to(root, &mut writer);
            captured.map(|_| ())
        };
        let outcome = match ready {
            Some(ready) => ready.with_dependent(|_, template| render(template)),
            None => edition
                .environment
                .get_template(&self.page.options.template)
                .and_then(|template| render(&template)),
        };
        let cut = writer.cut;
        let effects = self.notes.take();
        if outcome.is_err() {
            // As long as it has become by then, and of no use.
            self.buffer = Vec::new();
        }
        match (outcome, effects) {
            (Ok(()), None) if self.buffer.len() <= PLAIN_BYTES_MAX => None,
            (Ok(()), None) => Some(Rendered::plain(edition.head.clone(), self.taken())),
            (Ok(()), Some(effects)) => {
                let content = self.taken();
                let server = &self.page.options.server;
                Some(answer(edition.media_type, server, &effects, content))
            }
            (Err(_), Some(effects)) if effects.stop.is_some() => Some(self.stopped(&effects)),
            (Err(error), _) => {
                let environment = ready.map_or(&edition.environment, Ready::borrow_owner);
                let problem = problem_of(&error, &self.page.options.folder, environment);
                let cut = cut.or_else(|| {
                    (error.kind() == ErrorKind::OutOfFuel).then_some(ExceededLimit::Steps)
                });
                Some(self.failed(edition, problem, cut))
            }
        }
    }

    /// The bytes that were written.
    fn taken(&mut self) -> Bytes {
        if self.buffer.len() > PLAIN_BYTES_MAX {
            return Bytes::from(std::mem::take(&mut self.buffer));
        }
        Bytes::copy_from_slice(&self.buffer)
    }

    /// The response if the template has ended the rendering.
    fn stopped(&self, effects: &Effects) -> Rendered {
        match &effects.stop {
            Some(Stop::Redirect { status, location }) => {
                let mut head = Head::new(*status, &self.page.options.server);
                head.field(Known::Location, location.as_bytes());
                with_fields(head, *status, effects, None, Bytes::new())
            }
            _ => self.refused(Status::BAD_REQUEST, "The redirect leads outside this site."),
        }
    }

    fn failed(
        &self,
        edition: &Edition,
        mut problem: PageProblem,
        cut: Option<ExceededLimit>,
    ) -> Rendered {
        let options = &self.page.options;
        if let Some(cut) = cut {
            problem.message = cut.message(&options.limits);
        }
        let counts = &self.page.counts;
        count(if cut.is_some() { &counts.cut } else { &counts.failed });
        if edition.is_news(problem.to_string()) {
            report_problem(&*options.journal, &options.template, &problem.to_string());
        }
        self.out_of_order(&[problem])
    }

    /// The response of a page that cannot be rendered.
    fn out_of_order(&self, problems: &[PageProblem]) -> Rendered {
        let status = Status::INTERNAL_SERVER_ERROR;
        match self.page.options.mode {
            Mode::Development => {
                Rendered { voice: Voice::Page, ..self.notice(status, notice::problems(problems)) }
            }
            Mode::Production => {
                let text =
                    "This page cannot be shown because of an error. The error log has the details.";
                self.notice(status, notice::notice(status, text))
            }
        }
    }

    /// The answer to a request that the page does not take.
    pub(crate) fn refused(&self, status: Status, text: &str) -> Rendered {
        count(&self.page.counts.refused);
        self.notice(status, notice::notice(status, text))
    }

    fn notice(&self, status: Status, content: String) -> Rendered {
        let mut head = Head::new(status, &self.page.options.server);
        head.field(Known::ContentType, b"text/html; charset=utf-8");
        head.field(Known::CacheControl, b"no-store");
        if status == Status::UNSUPPORTED_MEDIA_TYPE {
            // RFC 9110 §15.5.16: what would have been taken.
            head.field(Known::Accept, b"application/x-www-form-urlencoded");
        }
        Rendered {
            status,
            head: Bytes::from(head.into_bytes()),
            content: Bytes::from(content),
            voice: Voice::Notice,
        }
    }
}

/// The problem of a rendering that failed, in whatever template it did.
fn problem_of(error: &Error, folder: &Path, environment: &Environment<'static>) -> PageProblem {
    let templates: Vec<_> = environment.templates().collect();
    PageProblem::from_error(error, folder, |name| {
        let named = templates.iter().find(|(known, _)| *known == name);
        named.map(|(_, template)| template.source())
    })
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// The answer of a page that has asked for something in addition to its text.
fn answer(media_type: &str, server: &str, effects: &Effects, content: Bytes) -> Rendered {
    let status = effects.status.unwrap_or(Status::OK);
    let head = Head::new(status, server);
    let content = if status.allows_content() { content } else { Bytes::new() };
    with_fields(head, status, effects, Some(media_type), content)
}

/// Ends a head with the fields that the page has set, and those that every page has and it has not.
fn with_fields(
    mut head: Head,
    status: Status,
    effects: &Effects,
    media_type: Option<&str>,
    content: Bytes,
) -> Rendered {
    let is_set =
        |name: Known| effects.fields.iter().any(|(own, _)| own.eq_ignore_ascii_case(name.as_str()));
    if let Some(media_type) = media_type.filter(|_| !is_set(Known::ContentType)) {
        head.field(Known::ContentType, media_type.as_bytes());
    }
    if !is_set(Known::CacheControl) {
        head.field(Known::CacheControl, b"no-store");
    }
    for (name, value) in &effects.fields {
        head.line(name, value.as_bytes());
    }
    for cookie in &effects.cookies {
        head.field(Known::SetCookie, cookie.as_bytes());
    }
    Rendered { status, head: Bytes::from(head.into_bytes()), content, voice: Voice::Page }
}
