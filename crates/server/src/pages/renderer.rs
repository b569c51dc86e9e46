//! Renders a page: from what is told of a request to status, head and content, without a socket.
//!
//! One renderer serves one reactor. Between two renderings it keeps the scope and the buffer, so that a small page
//! costs what the template engine allocates and little else.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use minijinja::{Environment, Error, ErrorKind, Value};
use rustix::time::{ClockId, clock_gettime};
use vervet_engine::Response;
use vervet_engine::reactor::Now;
use vervet_http::field::Known;
use vervet_http::status::Status;

use crate::caches::{CacheCounts, CacheName};
use crate::head::Head;
use crate::pages::edition::Edition;
use crate::pages::effects::{Effects, Notes, Stop};
use crate::pages::input::Input;
use crate::pages::limits::PageLimits;
use crate::pages::notice;
use crate::pages::options::{Mode, tell};
use crate::pages::page::{Latest, Page, Work};
use crate::pages::problem::PageProblem;
use crate::pages::scope::{Part, Scope};

/// Bytes that the buffer of a renderer begins with. It comes back when the answer has been copied to the connection.
const BUFFER_BYTES: usize = 4 * 1024;

/// The largest answer whose buffer is kept: that of a larger one goes out with it.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// Between so many writes the time is looked at.
const WRITES_BETWEEN_LOOKS: u32 = 64;

/// A rendered page.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// The status.
    pub status: Status,
    /// Status line and field lines.
    pub head: Bytes,
    /// The content.
    pub content: Bytes,
    /// Whose words the content is.
    pub voice: Voice,
}

/// Whose words the content of an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// The template's, or what the person who writes it must read: it is shown as it is.
    Page,
    /// Ours, about a failure: a page of the site may take its place.
    Notice,
}

impl From<Rendered> for Response {
    fn from(rendered: Rendered) -> Self {
        let response = Self::encoded(rendered.status, rendered.head).content(rendered.content);
        match rendered.voice {
            Voice::Page => response.keep_content(),
            Voice::Notice => response,
        }
    }
}

/// A request that was taken over and waits, perhaps for its form.
#[derive(Debug)]
pub(crate) struct Begun {
    edition: Arc<Edition>,
    scope: Arc<Scope>,
}

impl Begun {
    /// Whether the page looks at a form.
    pub(crate) fn wants_form(&self) -> bool {
        self.edition.uses.has(Part::Form)
    }
}

/// The renderer of a page on one reactor.
#[derive(Debug)]
pub struct Renderer {
    page: Arc<Page>,
    latest: Latest,
    looks: Arc<CacheCounts>,
    /// The engine of the latest edition, with a lock of its own: that of the edition would be one for all reactors.
    environment: Option<Environment<'static>>,
    notes: Notes,
    spare: Option<Arc<Scope>>,
    buffer: BytesMut,
}

impl Renderer {
    /// A renderer of `page`.
    pub fn new(page: &Arc<Page>) -> Self {
        let latest = page.latest();
        Self {
            page: Arc::clone(page),
            environment: latest
                .edition
                .as_ref()
                .map(|edition| edition.environment.clone()),
            latest,
            looks: page.options.caches.of_thread(CacheName::Templates),
            notes: Notes::default(),
            spare: None,
            buffer: BytesMut::new(),
        }
    }

    /// Renders the page for a request without content.
    pub fn render(&mut self, input: &Input<'_>, now: Now) -> Rendered {
        match self.begin(input, now) {
            Ok(begun) => self.finish(begun, b""),
            Err(rendered) => rendered,
        }
    }

    /// Renders the page for a request whose content is the form `form`.
    pub fn render_form(&mut self, input: &Input<'_>, form: &[u8], now: Now) -> Rendered {
        match self.begin(input, now) {
            Ok(begun) => self.finish(begun, form),
            Err(rendered) => rendered,
        }
    }

    /// The page that is rendered.
    pub(crate) fn page(&self) -> &Page {
        &self.page
    }

    /// Takes over what the page uses of a request; the answer, where the page is out of order.
    pub(crate) fn begin(&mut self, input: &Input<'_>, now: Now) -> Result<Begun, Rendered> {
        let generation = self.latest.generation;
        if self.page.refresh(&mut self.latest, now) == Work::Nothing {
            self.looks.hit();
        }
        if self.latest.generation != generation {
            // What the new edition does not use must not be there from a request to the old one.
            self.spare = None;
            self.environment = self
                .latest
                .edition
                .as_ref()
                .map(|edition| edition.environment.clone());
        }
        let is_shown =
            self.page.options.mode == Mode::Development && !self.latest.problems.is_empty();
        let edition = match &self.latest.edition {
            Some(edition) if !is_shown => Arc::clone(edition),
            _ => return Err(self.out_of_order(&self.latest.problems)),
        };
        let alone = self
            .spare
            .take()
            .filter(|scope| Arc::strong_count(scope) == 1);
        let mut scope = alone
            .unwrap_or_else(|| Arc::new(Scope::new(&self.page.options.parameters, &self.notes)));
        let Some(own) = Arc::get_mut(&mut scope) else {
            return Err(self.out_of_order(&[]));
        };
        own.fill(input, edition.uses, now.unix_seconds);
        Ok(Begun { edition, scope })
    }

    /// Renders what was begun, with the form that came, which may be empty.
    pub(crate) fn finish(&mut self, begun: Begun, form: &[u8]) -> Rendered {
        let Begun { edition, mut scope } = begun;
        // Nobody else has it: it is lent to the template engine further down only.
        let Some(own) = Arc::get_mut(&mut scope) else {
            return self.out_of_order(&[]);
        };
        if !form.is_empty() {
            own.fill_form(form);
        }
        if let Err(bad) = own.read_parameters() {
            self.spare = Some(scope);
            return self.refused(Status::BAD_REQUEST, &bad.to_string());
        }
        let rendered = self.run(&edition, &scope);
        self.spare = Some(scope);
        rendered
    }

    fn run(&mut self, edition: &Arc<Edition>, scope: &Arc<Scope>) -> Rendered {
        let is_latest = self
            .latest
            .edition
            .as_ref()
            .is_some_and(|latest| Arc::ptr_eq(latest, edition));
        let environment = match &self.environment {
            Some(environment) if is_latest => environment,
            _ => &edition.environment,
        };
        self.buffer.reserve(BUFFER_BYTES);
        let mut writer = Limited::new(&mut self.buffer, &self.page.options.limits);
        let outcome = environment
            .get_template(&self.page.options.template)
            .and_then(|template| {
                let root = Value::from_dyn_object(Arc::clone(scope));
                template.render_captured_to(root, &mut writer).map(|_| ())
            });
        let cut = writer.cut;
        let effects = self.notes.take();
        match outcome {
            Ok(()) => {
                let content = self.taken();
                answer(edition, &self.page.options.server, &effects, content)
            }
            Err(_) if effects.stop.is_some() => {
                self.buffer = BytesMut::new();
                self.stopped(&effects)
            }
            Err(error) => {
                let problem = problem_of(&error, &self.page.options.folder, environment);
                let cut =
                    cut.or_else(|| (error.kind() == ErrorKind::OutOfFuel).then_some(Cut::Steps));
                self.buffer = BytesMut::new();
                self.failed(edition, problem, cut)
            }
        }
    }

    /// What was written.
    fn taken(&mut self) -> Bytes {
        if self.buffer.len() > KEPT_BYTES_MAX {
            return std::mem::take(&mut self.buffer).freeze();
        }
        self.buffer.split().freeze()
    }

    /// The end that the template itself has asked for.
    fn stopped(&self, effects: &Effects) -> Rendered {
        match &effects.stop {
            Some(Stop::Redirect { status, location }) => {
                let mut head = Head::new(*status, &self.page.options.server);
                head.field(Known::Location, location.as_bytes());
                with_fields(head, *status, effects, None, Bytes::new())
            }
            _ => self.refused(
                Status::BAD_REQUEST,
                "The address to go on to lies outside this site.",
            ),
        }
    }

    fn failed(&self, edition: &Edition, mut problem: PageProblem, cut: Option<Cut>) -> Rendered {
        let options = &self.page.options;
        if let Some(cut) = cut {
            problem.message = cut.message(&options.limits);
        }
        let counts = &self.page.counts;
        count(if cut.is_some() {
            &counts.cut
        } else {
            &counts.failed
        });
        if edition.is_news(problem.to_string()) {
            tell(&*options.journal, &options.template, &problem.to_string());
        }
        self.out_of_order(&[problem])
    }

    /// The answer of a page that cannot be rendered.
    fn out_of_order(&self, problems: &[PageProblem]) -> Rendered {
        let status = Status::INTERNAL_SERVER_ERROR;
        match self.page.options.mode {
            Mode::Development => Rendered {
                voice: Voice::Page,
                ..self.notice(status, notice::problems(problems))
            },
            Mode::Production => {
                let text =
                    "This page is out of order. Those who run the site can read why in its log.";
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
    PageProblem::of_error(error, folder, |name| {
        let named = templates.iter().find(|(known, _)| *known == name);
        named.map(|(_, template)| template.source())
    })
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn answer(edition: &Edition, server: &str, effects: &Effects, content: Bytes) -> Rendered {
    if effects.is_empty() {
        let head = edition.head.clone();
        return Rendered {
            status: Status::OK,
            head,
            content,
            voice: Voice::Page,
        };
    }
    let status = effects.status.unwrap_or(Status::OK);
    let head = Head::new(status, server);
    let content = if status.allows_content() {
        content
    } else {
        Bytes::new()
    };
    with_fields(head, status, effects, Some(edition.media_type), content)
}

/// Ends a head with the fields that the page has set, and those that every page has and it has not.
fn with_fields(
    mut head: Head,
    status: Status,
    effects: &Effects,
    media_type: Option<&str>,
    content: Bytes,
) -> Rendered {
    let is_set = |name: Known| {
        effects
            .fields
            .iter()
            .any(|(own, _)| own.eq_ignore_ascii_case(name.as_str()))
    };
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
    Rendered {
        status,
        head: Bytes::from(head.into_bytes()),
        content,
        voice: Voice::Page,
    }
}

/// The limit that a rendering ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Steps,
    Output,
    Time,
}

impl Cut {
    fn message(self, limits: &PageLimits) -> String {
        match self {
            Self::Steps => format!(
                "the page takes more than {} steps (a loop that does not end? else raise steps_max)",
                limits.steps_max
            ),
            Self::Output => format!(
                "the page is longer than {} bytes (raise output_bytes_max)",
                limits.output_bytes_max
            ),
            Self::Time => format!(
                "the page takes more than {} ms of the processor (raise time_max)",
                limits.time_max.as_millis()
            ),
        }
    }
}

/// The processor time that this thread has had.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, rest) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), rest.unwrap_or(0))
}

/// Writes into the buffer until a limit is reached.
struct Limited<'a> {
    buffer: &'a mut BytesMut,
    bytes_max: usize,
    time_max: Duration,
    writes: u32,
    began: Option<Duration>,
    cut: Option<Cut>,
}

impl<'a> Limited<'a> {
    fn new(buffer: &'a mut BytesMut, limits: &PageLimits) -> Self {
        Self {
            buffer,
            bytes_max: limits.output_bytes_max,
            time_max: limits.time_max,
            writes: 0,
            began: None,
            cut: None,
        }
    }

    /// A small page never looks at the clock; the first look is where a long one begins to count. It is the processor
    /// time of this thread: a page is not late because others have the processor.
    fn is_late(&mut self) -> bool {
        self.writes += 1;
        if !self.writes.is_multiple_of(WRITES_BETWEEN_LOOKS) {
            return false;
        }
        let now = processor_time();
        let began = *self.began.get_or_insert(now);
        now.saturating_sub(began) > self.time_max
    }

    fn cut(&mut self, cut: Cut) -> io::Error {
        self.cut = Some(cut);
        io::Error::from(io::ErrorKind::Other)
    }
}

impl io::Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > self.bytes_max {
            return Err(self.cut(Cut::Output));
        }
        if self.is_late() {
            return Err(self.cut(Cut::Time));
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
