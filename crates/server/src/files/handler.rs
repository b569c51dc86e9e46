//! The file handler: looks a path up, decides what the request is answered with, and answers.
//!
//! [`Files::answer`] decides without a socket and without a clock of its own; as a [`Service`] it
//! hands the decision to the engine. One value serves one reactor; [`FilesShared`] holds what all
//! of them share.

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
use vervet_http::target::percent_encode_path;

use crate::caches::CacheName;
use crate::compression::{Compressed, Preference, PreferenceMemory};
use crate::error_log::Level;
use crate::files::cache::{CacheEntry, CacheKey, FileCache, LookupResult, RootNumber};
use crate::files::decision::{CompressJob, Decision, Job, Whole, Work};
use crate::files::listing::ListJob;
use crate::files::lookup::{Lasting, LookedUp, Lookup};
use crate::files::options::Compression;
use crate::files::ranges::{Source, content_of, partial_answer, unsatisfied_answer};
use crate::files::reason::reason;
use crate::files::representation::{Origin, Representation};
use crate::files::request::FileRequest;
use crate::files::root::{Fingerprint, Kind, OpenError, Root};
use crate::files::shared::FilesShared;
use crate::response::{Head, error_answer, error_answer_with};
use crate::trace::{is_traced, note};

/// How often the root and idle descriptors are checked, in milliseconds: a folder replaced by
/// another is noticed within a second.
const CHECK_MS: u64 = 900;

/// Look-ups for one request: one for the file as the client prefers it, one where a range needs it
/// unencoded, one where the file has changed in between.
const LOOKUPS_MAX: usize = 3;

/// The methods that files allow.
const ALLOW: &[u8] = b"GET, HEAD, OPTIONS";

/// The file handler of one reactor.
#[derive(Debug)]
pub struct Files {
    shared: Arc<FilesShared>,
    root: Arc<Root>,
    root_state: Fingerprint,
    root_number: RootNumber,
    checked_ms: u64,
    cache: FileCache,
    preferences: PreferenceMemory,
}

/// A file as content of an answer that is about something else, such as an error.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) media_type: Cow<'static, str>,
    pub(crate) content: Content,
}

/// What the cache of a handler holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Memory of the entries, in bytes.
    pub bytes: u64,
    /// The number of open descriptors.
    pub descriptors: usize,
}

/// The result of a look-up cannot be sent: the path is looked up once more, without a content
/// coding.
struct LookUpAgain;

impl Files {
    /// A handler for one reactor, with a cache of its own.
    pub fn new(shared: &Arc<FilesShared>) -> Self {
        let counts = shared.tools.caches.counts(CacheName::Files);
        Self::with_cache(shared, FileCache::new(shared.options.limits, counts))
    }

    /// A handler for the reactor of this thread, with the cache that all its roots share: the
    /// limits hold for their sum.
    pub fn of_reactor(shared: &Arc<FilesShared>) -> Self {
        let cache = FileCache::of_thread(shared.options.limits, &shared.tools.caches);
        Self::with_cache(shared, cache)
    }

    fn with_cache(shared: &Arc<FilesShared>, cache: FileCache) -> Self {
        Self {
            root: Arc::clone(&shared.root),
            root_state: shared.root_state,
            root_number: shared.root_number(&shared.root_state),
            checked_ms: 0,
            cache,
            preferences: PreferenceMemory::default(),
            shared: Arc::clone(shared),
        }
    }

    /// What the cache holds now, for all roots that share it.
    pub fn usage(&self) -> Usage {
        Usage { bytes: self.cache.bytes(), descriptors: self.cache.descriptors() }
    }

    /// Answers an exchange whose request is for a file.
    #[inline]
    pub fn respond(&mut self, request: &FileRequest<'_>, exchange: Exchange<'_>) -> Outcome {
        match self.answer(request, exchange.now()) {
            Decision::Done(response) => Outcome::Done(response),
            Decision::Whole(whole) => {
                let (head, content) = whole.parts();
                exchange.send_whole(Status::OK, head, content)
            }
            Decision::Later(Job(Work::List(job))) => {
                let tools = &self.shared.tools;
                tools.listings.answer(job, exchange, &tools.offload)
            }
            Decision::Later(job) => job.answer(exchange, &self.shared.tools.offload),
        }
    }

    /// Decides the answer to a request at the time `now`.
    #[inline]
    pub fn answer(&mut self, request: &FileRequest<'_>, now: Now) -> Decision {
        match request.method {
            Method::Get | Method::Head => {}
            method => return Decision::Done(self.method_answer(method)),
        }
        self.check_root(now);
        let mut key = CacheKey {
            root: self.root_number,
            path: request.path,
            preference: self.preference(request),
        };
        for _ in 0..LOOKUPS_MAX {
            let entry = self.look_up(&mut key, now);
            if request.is_unconditional()
                && let Some(whole) = Whole::from_entry(&entry)
            {
                return Decision::Whole(whole);
            }
            if let Ok(decision) = self.decide(request, key, &entry, now) {
                return decision;
            }
            key.preference = Preference::IDENTITY;
        }
        Decision::Done(self.failure(Status::SERVICE_UNAVAILABLE))
    }

    /// The answer to a method that reads no file.
    fn method_answer(&self, method: Method) -> Response {
        let server = &self.shared.options.server;
        match method {
            Method::Options => {
                let mut head = Head::new(Status::NO_CONTENT, server);
                head.field(Known::Allow, ALLOW);
                head.into_response(Status::NO_CONTENT, Content::Empty)
            }
            Method::Unknown => error_answer(Status::NOT_IMPLEMENTED, server),
            _ => {
                let allow = [(Known::Allow, ALLOW)];
                error_answer_with(Status::METHOD_NOT_ALLOWED, server, &allow)
            }
        }
    }

    fn preference(&mut self, request: &FileRequest<'_>) -> Preference {
        match request.value(Known::AcceptEncoding) {
            Some(value) if self.shared.options.compression != Compression::Off => {
                self.preferences.preference(&value)
            }
            _ => Preference::IDENTITY,
        }
    }

    /// What a path leads to, from the cache or from the files. Where the single page answers for
    /// it, the key becomes that of the page.
    fn look_up(&mut self, key: &mut CacheKey<'_>, now: Now) -> Rc<CacheEntry> {
        let entry = self.entry(*key, now);
        if !matches!(entry.result, LookupResult::SinglePage) {
            return entry;
        }
        key.path = b"/";
        self.entry(*key, now)
    }

    fn entry(&mut self, key: CacheKey<'_>, now: Now) -> Rc<CacheEntry> {
        let now_ms = now.monotonic_ms;
        if let Some(entry) = self.cache.get(key, &self.root, now_ms) {
            return entry;
        }
        let mut looked_up = self.look_at_files(key, now);
        if looked_up.lasting == Lasting::No && self.cache.descriptors() > 0 {
            // Perhaps there are too few descriptors: those kept only for speed are closed first.
            self.cache.close_descriptors();
            looked_up = self.look_at_files(key, now);
        }
        if let Some((fingerprint, file)) = looked_up.opened {
            self.cache.keep_descriptor(fingerprint, file, now_ms);
        }
        let entry = Rc::new(looked_up.entry);
        match looked_up.lasting {
            Lasting::Yes => self.cache.insert(key, Rc::clone(&entry)),
            Lasting::No => self.cache.remove(key),
        }
        entry
    }

    fn look_at_files(&self, key: CacheKey<'_>, now: Now) -> LookedUp {
        Lookup::new(&self.shared, &self.root, key.preference, now).run(key.path)
    }

    /// The answer by what a path leads to.
    fn decide(
        &mut self,
        request: &FileRequest<'_>,
        key: CacheKey<'_>,
        entry: &CacheEntry,
        now: Now,
    ) -> Result<Decision, LookUpAgain> {
        let response = match &entry.result {
            // A range of what we compress ourselves is a range of the file: the compressed form may
            // be gone by the next request.
            LookupResult::Compressible { .. } if request.range().is_some() => {
                return Err(LookUpAgain);
            }
            LookupResult::File(file)
                if file.origin == Origin::Compressed && request.range().is_some() =>
            {
                return Err(LookUpAgain);
            }
            LookupResult::File(file) => self.file_answer(request, key, file, now)?,
            LookupResult::Compressible { identity, encoding } => {
                let validators = identity.to_be_compressed(*encoding);
                if let Some(response) = self.precondition_answer(request, &validators) {
                    return Ok(Decision::Done(response));
                }
                let Some(ready) = self.compressed(identity, *encoding) else {
                    let job = self.compress_job(key, identity, *encoding, now)?;
                    return Ok(Decision::Later(Job(Work::Compress(job))));
                };
                let result = LookupResult::File(Arc::clone(&ready));
                self.cache.refine(key, entry, result);
                self.file_answer(request, key, &ready, now)?
            }
            LookupResult::Listing(path) => {
                let job = ListJob::new(&self.root, path, request, &self.shared.options);
                return Ok(Decision::Later(Job(Work::List(job))));
            }
            LookupResult::Redirect(location) => self.redirect(location, request),
            LookupResult::Missing | LookupResult::SinglePage => {
                self.report(key.path, entry, Status::NOT_FOUND);
                self.missing(now)
            }
            LookupResult::Failed(status) => {
                self.report(key.path, entry, *status);
                self.failure(*status)
            }
        };
        Ok(Decision::Done(response))
    }

    /// Reports to the error log and to a trace why a path is not served.
    fn report(&self, path: &[u8], entry: &CacheEntry, status: Status) {
        let log = self.shared.tools.error_log.as_ref().filter(|log| log.takes(Level::Info));
        if log.is_none() && !is_traced() {
            return;
        }
        let single = self.shared.single.as_deref();
        let reason = reason(entry, self.shared.directory(), single);
        note(|| reason.clone());
        if let Some(log) = log {
            let path = String::from_utf8_lossy(path);
            let text = format_args!("{} for {path}: {reason}", status.code());
            log.write(Level::Info, "file", text);
        }
    }

    fn file_answer(
        &mut self,
        request: &FileRequest<'_>,
        key: CacheKey<'_>,
        file: &Representation,
        now: Now,
    ) -> Result<Response, LookUpAgain> {
        if let Some(response) = self.precondition_answer(request, file) {
            return Ok(response);
        }
        let source = match self.source(file, now) {
            Ok(source) => source,
            Err(OpenError::Missing) => return Err(self.discard(key)),
            Err(_) => return Ok(self.failure(Status::SERVICE_UNAVAILABLE)),
        };
        let options = &self.shared.options;
        let range = request.range().filter(|_| {
            let validators = file.validators();
            request
                .value(Known::IfRange)
                .is_none_or(|value| if_range_matches(&value, &validators, now.unix_seconds))
        });
        Ok(match range.map(|range| select(&range, file.length)) {
            None | Some(Selection::Whole) => Response::encoded(Status::OK, file.head.clone())
                .content(content_of(source.part(0, file.length))),
            Some(Selection::Partial(set)) => partial_answer(file, &source, &set, options),
            Some(Selection::NotSatisfiable) => unsatisfied_answer(file, options),
        })
    }

    /// 304 or 412, where the preconditions of a request require it.
    fn precondition_answer(
        &self,
        request: &FileRequest<'_>,
        file: &Representation,
    ) -> Option<Response> {
        if request.is_unconditional() {
            return None;
        }
        let validators = file.validators();
        match request.verdict(&validators) {
            Verdict::Proceed => None,
            Verdict::NotModified => {
                let head = file.encode_validator_head(Status::NOT_MODIFIED, &self.shared.options);
                Some(head.into_response(Status::NOT_MODIFIED, Content::Empty))
            }
            Verdict::PreconditionFailed => Some(self.failure(Status::PRECONDITION_FAILED)),
        }
    }

    /// The content of a file in the state of its entry; `Missing` where it has changed since.
    fn source(&self, file: &Representation, now: Now) -> Result<Source, OpenError> {
        if let Some(content) = &file.content {
            return Ok(Source::Memory(content.clone()));
        }
        let now_ms = now.monotonic_ms;
        if let Some(open) = self.cache.descriptor(&file.fingerprint, now_ms) {
            return Ok(Source::File(open));
        }
        let node = self.root.open_node(&file.source)?;
        if node.stat.kind != Kind::File || node.stat.fingerprint != file.fingerprint {
            return Err(OpenError::Missing);
        }
        let open = Arc::new(File::from(node.descriptor));
        self.cache.keep_descriptor(file.fingerprint, Arc::clone(&open), now_ms);
        Ok(Source::File(open))
    }

    /// Forgets an entry whose file has changed since.
    fn discard(&self, key: CacheKey<'_>) -> LookUpAgain {
        self.cache.remove(key);
        let preference = Preference::IDENTITY;
        self.cache.remove(CacheKey { preference, ..key });
        LookUpAgain
    }

    /// The file in a coding, if it has been compressed before; as it is, where that made it no
    /// smaller.
    fn compressed(
        &self,
        identity: &Arc<Representation>,
        encoding: Encoding,
    ) -> Option<Arc<Representation>> {
        let key = identity.compressed_key(encoding);
        Some(match self.shared.tools.compressed.get(&key)? {
            Compressed::Smaller(content) => {
                Arc::new(identity.of_compressed(encoding, content, &self.shared.options))
            }
            Compressed::NotSmaller => Arc::clone(identity),
        })
    }

    fn compress_job(
        &self,
        key: CacheKey<'_>,
        identity: &Arc<Representation>,
        encoding: Encoding,
        now: Now,
    ) -> Result<CompressJob, LookUpAgain> {
        let file = match self.source(identity, now) {
            Ok(Source::File(file)) => Some(file),
            Ok(Source::Memory(_)) => None,
            Err(_) => return Err(self.discard(key)),
        };
        Ok(CompressJob {
            identity: Arc::clone(identity),
            encoding,
            file,
            options: Arc::clone(&self.shared.options),
            results: Arc::clone(&self.shared.tools.compressed),
        })
    }

    fn redirect(&self, location: &str, request: &FileRequest<'_>) -> Response {
        let mount = percent_encode_path(request.mount);
        let mut location = [mount.as_bytes(), location.as_bytes()].concat();
        if let Some(query) = request.query {
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
            return self.failure(Status::NOT_FOUND);
        };
        let mut head = Head::new(Status::NOT_FOUND, &self.shared.options.server);
        head.field(Known::ContentType, page.media_type.as_bytes());
        head.into_response(Status::NOT_FOUND, page.content)
    }

    /// The file at a raw path as content of an answer of another status, with neither validators
    /// nor ranges; `None` where there is no file.
    pub(crate) fn page(&mut self, path: &[u8], now: Now) -> Option<Page> {
        let key = CacheKey { root: self.root_number, path, preference: Preference::IDENTITY };
        let entry = self.entry(key, now);
        let LookupResult::File(file) = &entry.result else {
            return None;
        };
        let source = self.source(file, now).ok()?;
        Some(Page {
            media_type: file.media_type.clone(),
            content: content_of(source.part(0, file.length)),
        })
    }

    fn failure(&self, status: Status) -> Response {
        let server = &self.shared.options.server;
        match status {
            Status::SERVICE_UNAVAILABLE => {
                error_answer_with(status, server, &[(Known::RetryAfter, b"1")])
            }
            _ => error_answer(status, server),
        }
    }

    /// Opens the root again where it was replaced by another folder, as site generators do, and
    /// closes idle descriptors. Checks once in [`CHECK_MS`].
    fn check_root(&mut self, now: Now) {
        if now.monotonic_ms.saturating_sub(self.checked_ms) < CHECK_MS {
            return;
        }
        self.checked_ms = now.monotonic_ms;
        self.cache.close_idle_descriptors(now.monotonic_ms);
        // Where the folder is gone for the moment, the old one answers that its files are missing.
        let opened = self.shared.open_root();
        let opened = opened.and_then(|root| Ok((root.stat(b"")?.fingerprint, root)));
        let Ok((state, root)) = opened else {
            return;
        };
        if (state.device, state.inode) != (self.root_state.device, self.root_state.inode) {
            self.cache.remove_root(self.root_number);
            self.root = Arc::new(root);
            self.root_state = state;
            self.root_number = self.shared.root_number(&state);
        }
    }
}

impl Service for Files {
    fn call(&mut self, exchange: Exchange<'_>) -> Outcome {
        match FileRequest::from_head(exchange.head()) {
            Ok(request) => self.respond(&request, exchange),
            Err(_) => Outcome::Done(self.failure(Status::BAD_REQUEST)),
        }
    }
}
