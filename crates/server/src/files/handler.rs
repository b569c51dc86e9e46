//! The file handler: what a request for a file is answered with.
//!
//! [`Files::answer`] decides without a socket and without a clock of its own; as a [`Service`] it hands the
//! decision to the engine. One value serves one reactor; [`FilesShared`] holds what all of them share.

use std::borrow::Cow;
use std::fs::File;
use std::rc::Rc;
use std::sync::Arc;

use vervet_engine::reactor::Now;
use vervet_engine::{Content, Exchange, Outcome, Response, Service};
use vervet_http::conditional::{Verdict, if_range_matches};
use vervet_http::field::Known;
use vervet_http::method::Method;
use vervet_http::negotiation::Encoding;
use vervet_http::range::{Selection, select};
use vervet_http::status::Status;

use crate::caches::CacheName;
use crate::files::Asked;
use crate::files::FilesShared;
use crate::files::cache::{CacheStore, Entry, FileCache, Found, Question};
use crate::files::compression::Compressed;
use crate::files::decision::{Decision, Whole};
use crate::files::job::{CompressJob, Job, Work};
use crate::files::listing::ListJob;
use crate::files::options::Compression;
use crate::files::preference::{Preference, PreferenceMemory};
use crate::files::ranges::{Source, content_of, partial_answer, unsatisfied_answer};
use crate::files::representation::{Origin, Representation};
use crate::files::resolver::{Lasting, Place, Resolved, resolve};
use crate::files::root::{Fingerprint, Kind, OpenError, Root};
use crate::response::Head;
use crate::response::{error_answer, error_answer_with};

/// How often the root and idle descriptors are looked at, in milliseconds: a folder replaced by another is noticed within
/// a second.
const LOOK_MS: u64 = 900;

/// The methods that files know.
const ALLOW: &[u8] = b"GET, HEAD, OPTIONS";

/// The file handler of one reactor.
#[derive(Debug)]
pub struct Files {
    shared: Arc<FilesShared>,
    root: Arc<Root>,
    root_state: Fingerprint,
    looked_ms: u64,
    cache: FileCache,
    preferences: PreferenceMemory,
}

/// A file as content of an answer that is about something else.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) media_type: Cow<'static, str>,
    pub(crate) content: Content,
}

/// What [`Files::usage`] tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Memory of the entries, in bytes.
    pub bytes: u64,
    /// Descriptors kept open.
    pub descriptors: usize,
}

impl Files {
    /// A handler for one reactor, with a cache of its own.
    pub fn new(shared: &Arc<FilesShared>) -> Self {
        let counts = shared.tools.caches.counts(CacheName::Files);
        Self::with_store(shared, &CacheStore::new(shared.options.limits, &counts))
    }

    /// A handler for the reactor of this thread, with the cache that all its roots share: the limits hold for their sum.
    pub fn of_reactor(shared: &Arc<FilesShared>) -> Self {
        let store = CacheStore::of_thread(shared.options.limits, &shared.tools.caches);
        Self::with_store(shared, &store)
    }

    fn with_store(shared: &Arc<FilesShared>, store: &CacheStore) -> Self {
        Self {
            root: Arc::clone(&shared.root),
            root_state: shared.root_state,
            looked_ms: 0,
            cache: store.of_root(shared.root_number(&shared.root_state)),
            preferences: PreferenceMemory::default(),
            shared: Arc::clone(shared),
        }
    }

    /// What the cache holds now, for all roots that share it.
    pub fn usage(&self) -> Usage {
        Usage {
            bytes: self.cache.bytes(),
            descriptors: self.cache.descriptors(),
        }
    }

    /// Decides the answer to a request at the time `now`.
    pub fn answer(&mut self, asked: &Asked<'_>, now: Now) -> Decision {
        let server = &self.shared.options.server;
        match asked.method {
            Method::Get | Method::Head => self.read(asked, now),
            Method::Options => {
                let mut head = Head::new(Status::NO_CONTENT, server);
                head.field(Known::Allow, ALLOW);
                Decision::Done(head.into_response(Status::NO_CONTENT, Content::Empty))
            }
            Method::Unknown => Decision::Done(error_answer(Status::NOT_IMPLEMENTED, server)),
            _ => {
                let allow = [(Known::Allow, ALLOW)];
                Decision::Done(error_answer_with(
                    Status::METHOD_NOT_ALLOWED,
                    server,
                    &allow,
                ))
            }
        }
    }

    fn read(&mut self, asked: &Asked<'_>, now: Now) -> Decision {
        self.look_around(now);
        let preference = match asked.value(Known::AcceptEncoding) {
            Some(value) if self.shared.options.compression != Compression::Off => {
                self.preferences.preference(&value)
            }
            _ => Preference::IDENTITY,
        };
        let mut question = Question {
            path: asked.path,
            preference,
        };
        let entry = self.look_up(&mut question, now);
        if asked.is_unconditional()
            && let Some(whole) = Whole::of(&entry)
        {
            return Decision::Whole(whole);
        }
        match &entry.found {
            Found::File(file)
                if file.origin == Origin::Compressed && asked.counting_range().is_some() =>
            {
                self.unencoded(asked, now)
            }
            Found::File(file) => self.send(asked, question, file, now),
            Found::Compressible { .. } if asked.counting_range().is_some() => {
                self.unencoded(asked, now)
            }
            Found::Compressible { identity, encoding } => {
                self.compressed(asked, (question, &entry), (identity, *encoding), now)
            }
            Found::Redirect(location) => Decision::Done(self.redirect(location, asked)),
            Found::Listing(path) => Decision::Later(Job(Work::List(ListJob::new(
                &self.root,
                path,
                asked,
                &self.shared.options,
            )))),
            Found::Missing | Found::SinglePage => Decision::Done(self.missing(now)),
            Found::Failed(status) => Decision::Done(self.failed(*status)),
        }
    }

    /// What a path leads to. Where the single page answers for it, that is what was asked for.
    fn look_up(&mut self, question: &mut Question<'_>, now: Now) -> Rc<Entry> {
        let entry = self.entry(*question, now);
        if !matches!(entry.found, Found::SinglePage) {
            return entry;
        }
        question.path = b"/";
        self.entry(*question, now)
    }

    fn entry(&mut self, question: Question<'_>, now: Now) -> Rc<Entry> {
        if let Some(entry) = self.cache.entry(question, &self.root, now.monotonic_ms) {
            return entry;
        }
        self.resolved(question, now)
    }

    fn resolved(&mut self, question: Question<'_>, now: Now) -> Rc<Entry> {
        let mut resolved = self.resolve(question, now);
        if resolved.lasting == Lasting::No && self.cache.descriptors() > 0 {
            // A shortage of descriptors, perhaps: those kept only for speed are the first to go.
            self.cache.close_descriptors();
            resolved = self.resolve(question, now);
        }
        if let Some((fingerprint, file)) = resolved.opened {
            let now_ms = now.monotonic_ms;
            self.cache.keep_descriptor(fingerprint, file, now_ms);
        }
        let entry = Rc::new(resolved.entry);
        match resolved.lasting {
            Lasting::Yes => self.cache.keep(question, Rc::clone(&entry)),
            Lasting::No => self.cache.forget(question),
        }
        entry
    }

    fn resolve(&self, question: Question<'_>, now: Now) -> Resolved {
        let place = Place {
            root: &self.root,
            options: &self.shared.options,
            single: self.shared.single.as_deref(),
            now,
        };
        resolve(place, question)
    }

    /// A range of what we compress ourselves is a range of the file: the compressed form may be gone by the next.
    fn unencoded(&mut self, asked: &Asked<'_>, now: Now) -> Decision {
        let mut question = Question {
            path: asked.path,
            preference: Preference::IDENTITY,
        };
        let entry = self.look_up(&mut question, now);
        match &entry.found {
            Found::File(file) => self.send(asked, question, file, now),
            // The file has changed into something else between two looks.
            _ => Decision::Done(self.failed(Status::SERVICE_UNAVAILABLE)),
        }
    }

    fn send(
        &mut self,
        asked: &Asked<'_>,
        question: Question<'_>,
        file: &Arc<Representation>,
        now: Now,
    ) -> Decision {
        if !asked.is_unconditional()
            && let Some(response) = self.precondition(asked, file)
        {
            return Decision::Done(response);
        }
        let source = match self.source(file, now) {
            Ok(source) => source,
            Err(OpenError::Missing) => return self.changed(asked, question, now),
            Err(_) => return Decision::Done(self.failed(Status::SERVICE_UNAVAILABLE)),
        };
        Decision::Done(self.send_from(asked, file, &source, now))
    }

    fn send_from(
        &self,
        asked: &Asked<'_>,
        file: &Representation,
        source: &Source,
        now: Now,
    ) -> Response {
        let options = &self.shared.options;
        let range = asked.counting_range().filter(|_| {
            let validators = file.validators();
            asked
                .value(Known::IfRange)
                .is_none_or(|value| if_range_matches(&value, &validators, now.unix_seconds))
        });
        match range.map(|range| select(&range, file.length)) {
            None | Some(Selection::Whole) => Response::encoded(Status::OK, file.head.clone())
                .content(content_of(source.part(0, file.length))),
            Some(Selection::Partial(set)) => partial_answer(file, source, &set, options),
            Some(Selection::NotSatisfiable) => unsatisfied_answer(file, options),
        }
    }

    /// 304 or 412, where the preconditions say so.
    fn precondition(&self, asked: &Asked<'_>, file: &Representation) -> Option<Response> {
        let validators = file.validators();
        match asked.verdict(&validators) {
            Verdict::Proceed => None,
            Verdict::NotModified => {
                let head = file.encode_validator_head(Status::NOT_MODIFIED, &self.shared.options);
                Some(head.into_response(Status::NOT_MODIFIED, Content::Empty))
            }
            Verdict::PreconditionFailed => Some(self.failed(Status::PRECONDITION_FAILED)),
        }
    }

    /// The content of a file in the state of its entry; `Missing` where it has changed since.
    fn source(&mut self, file: &Representation, now: Now) -> Result<Source, OpenError> {
        if let Some(content) = &file.content {
            return Ok(Source::Memory(content.clone()));
        }
        if let Some(open) = self.cache.descriptor(&file.fingerprint, now.monotonic_ms) {
            return Ok(Source::File(open));
        }
        let node = self.root.open_node(&file.source)?;
        if node.stat.kind != Kind::File || node.stat.fingerprint != file.fingerprint {
            return Err(OpenError::Missing);
        }
        let open = Arc::new(File::from(node.descriptor));
        self.cache
            .keep_descriptor(file.fingerprint, Arc::clone(&open), now.monotonic_ms);
        Ok(Source::File(open))
    }

    /// The entry was overtaken by a change: the file is looked up once more, and sent as it is found then.
    fn changed(&mut self, asked: &Asked<'_>, question: Question<'_>, now: Now) -> Decision {
        self.cache.forget(question);
        let entry = self.resolved(
            Question {
                preference: Preference::IDENTITY,
                ..question
            },
            now,
        );
        let response = match &entry.found {
            Found::File(file) => match self.source(file, now) {
                Ok(source) => self.send_from(asked, file, &source, now),
                Err(_) => self.failed(Status::SERVICE_UNAVAILABLE),
            },
            Found::Failed(status) => self.failed(*status),
            _ => self.missing(now),
        };
        Decision::Done(response)
    }

    fn compressed(
        &mut self,
        asked: &Asked<'_>,
        (question, entry): (Question<'_>, &Entry),
        (identity, encoding): (&Arc<Representation>, Encoding),
        now: Now,
    ) -> Decision {
        if !asked.is_unconditional()
            && let Some(response) = self.precondition(asked, &identity.to_be_compressed(encoding))
        {
            return Decision::Done(response);
        }
        let ready = match self
            .shared
            .tools
            .results
            .get(&(identity.fingerprint, encoding))
        {
            Some(Compressed::Smaller(content)) => {
                Arc::new(identity.of_compressed(encoding, content, &self.shared.options))
            }
            Some(Compressed::NotSmaller) => Arc::clone(identity),
            None => return self.compress(asked, question, (identity, encoding), now),
        };
        self.cache
            .refine(question, entry, Found::File(Arc::clone(&ready)));
        self.send(asked, question, &ready, now)
    }

    fn compress(
        &mut self,
        asked: &Asked<'_>,
        question: Question<'_>,
        (identity, encoding): (&Arc<Representation>, Encoding),
        now: Now,
    ) -> Decision {
        let file = match self.source(identity, now) {
            Ok(Source::File(file)) => Some(file),
            Ok(Source::Memory(_)) => None,
            Err(_) => return self.changed(asked, question, now),
        };
        Decision::Later(Job(Work::Compress(CompressJob {
            identity: Arc::clone(identity),
            encoding,
            file,
            options: Arc::clone(&self.shared.options),
            results: Arc::clone(&self.shared.tools.results),
        })))
    }

    fn redirect(&self, location: &str, asked: &Asked<'_>) -> Response {
        let mut location = [&*asked.mount, location.as_bytes()].concat();
        if let Some(query) = asked.query {
            location.push(b'?');
            location.extend_from_slice(query);
        }
        let mut head = Head::new(Status::MOVED_PERMANENTLY, &self.shared.options.server);
        head.field(Known::Location, &location);
        head.into_response(Status::MOVED_PERMANENTLY, Content::Empty)
    }

    /// 404 with the `404.html` of the root where there is one.
    fn missing(&mut self, now: Now) -> Response {
        let Some(page) = self.page(b"/404.html", now) else {
            return self.failed(Status::NOT_FOUND);
        };
        let mut head = Head::new(Status::NOT_FOUND, &self.shared.options.server);
        head.field(Known::ContentType, page.media_type.as_bytes());
        head.into_response(Status::NOT_FOUND, page.content)
    }

    /// The file at a raw path as content of an answer of another status, with neither validators nor ranges; `None`
    /// where there is no file.
    pub(crate) fn page(&mut self, path: &[u8], now: Now) -> Option<Page> {
        let question = Question {
            path,
            preference: Preference::IDENTITY,
        };
        let entry = self.entry(question, now);
        let Found::File(file) = &entry.found else {
            return None;
        };
        let source = self.source(file, now).ok()?;
        Some(Page {
            media_type: file.media_type.clone(),
            content: content_of(source.part(0, file.length)),
        })
    }

    fn failed(&self, status: Status) -> Response {
        let server = &self.shared.options.server;
        match status {
            Status::SERVICE_UNAVAILABLE => {
                error_answer_with(status, server, &[(Known::RetryAfter, b"1")])
            }
            _ => error_answer(status, server),
        }
    }

    /// What is due once in [`LOOK_MS`].
    fn look_around(&mut self, now: Now) {
        if now.monotonic_ms.saturating_sub(self.looked_ms) >= LOOK_MS {
            self.looked_ms = now.monotonic_ms;
            self.look_at_root();
            self.cache.sweep(now.monotonic_ms);
        }
    }

    /// A root that was replaced by another folder, as site generators do, is taken anew.
    fn look_at_root(&mut self) {
        let Ok(root) = self.shared.open_root() else {
            return; // gone for the moment; the old one answers that its files are missing
        };
        let Ok(stat) = root.stat(b"") else {
            return;
        };
        let state = stat.fingerprint;
        if (state.device, state.inode) != (self.root_state.device, self.root_state.inode) {
            self.root = Arc::new(root);
            self.root_state = state;
            self.cache.replace_root(self.shared.root_number(&state));
        }
    }
}

impl Files {
    /// Answers an exchange whose request asks for a file.
    pub fn respond(&mut self, asked: &Asked<'_>, exchange: Exchange<'_>) -> Outcome {
        let job = match self.answer(asked, exchange.now()) {
            Decision::Done(response) => return Outcome::Done(response),
            Decision::Whole(whole) => {
                let (head, content) = whole.parts();
                return exchange.send_whole(Status::OK, head, content);
            }
            Decision::Later(job) => job,
        };
        let tools = &self.shared.tools;
        let offload = &tools.offload;
        let job = match job {
            Job(Work::List(job)) => return tools.listings.answer(job, exchange, offload),
            job @ Job(Work::Compress(_)) => job,
        };
        let Some(place) = offload.place() else {
            return Outcome::Done(job.decline());
        };
        let (responder, outcome) = exchange.later();
        offload.run(place, Box::new(move || responder.send(job.run())));
        outcome
    }
}

impl Service for Files {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        match Asked::of_head(exchange.head()) {
            Ok(asked) => self.respond(&asked, exchange),
            Err(_) => Outcome::Done(self.failed(Status::BAD_REQUEST)),
        }
    }
}
