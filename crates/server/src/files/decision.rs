//! The decisions of the file handler, without I/O on a socket, and the jobs that take too long for
//! a reactor.
//!
//! A job owns all that it needs, and runs on any thread.

use std::fs::File;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use vervet_engine::exchange::COPY_BYTES_MAX;
use vervet_engine::reactor::FileSlice;
use vervet_engine::{Content, Exchange, Outcome, Response};
use vervet_http::field::Known;
use vervet_http::negotiation::Encoding;
use vervet_http::status::Status;

use crate::compression::{Compressed, compress};
use crate::files::cache::{CacheEntry, LookupResult};
use crate::files::compressed::{CompressedFiles, CompressedKey};
use crate::files::listing::ListJob;
use crate::files::options::FilesOptions;
use crate::files::representation::{Representation, read_to};
use crate::files::root;
use crate::offload::Offload;
use crate::response::Head;

/// How a request for a file is answered.
#[derive(Debug)]
pub enum Decision {
    /// The complete answer, without an open file.
    Done(Response),
    /// All of a small file: the answer to most requests.
    Whole(Whole),
    /// Work that would hold up the reactor.
    Later(Job),
}

impl Decision {
    /// The answer, or the job that will give it.
    pub fn ready(self) -> Result<Response, Job> {
        match self {
            Self::Done(response) => Ok(response),
            Self::Whole(whole) => Ok(whole.into_response()),
            Self::Later(job) => Err(job),
        }
    }
}

/// A small file with its head, as the cache holds them.
#[derive(Debug)]
pub struct Whole(Rc<CacheEntry>);

impl Whole {
    pub(crate) fn from_entry(entry: &Rc<CacheEntry>) -> Option<Self> {
        match &entry.result {
            LookupResult::File(file) => {
                let content = file.content.as_ref()?;
                (content.len() <= COPY_BYTES_MAX).then(|| Self(Rc::clone(entry)))
            }
            _ => None,
        }
    }

    /// The head of the 200, and the content.
    pub(crate) fn parts(&self) -> (&[u8], &[u8]) {
        match &self.0.result {
            LookupResult::File(file) => (&file.head, file.content.as_deref().unwrap_or_default()),
            _ => (&[], &[]),
        }
    }

    /// The same as a response of its own.
    pub fn into_response(self) -> Response {
        let (head, content) = self.parts();
        Response::encoded(Status::OK, Bytes::copy_from_slice(head)).content(content.to_vec())
    }
}

/// An answer to be made on another thread.
#[derive(Debug)]
pub struct Job(pub(crate) Work);

#[derive(Debug)]
pub(crate) enum Work {
    Compress(CompressJob),
    List(ListJob),
}

/// A file to be compressed.
#[derive(Debug)]
pub(crate) struct CompressJob {
    pub(crate) identity: Arc<Representation>,
    pub(crate) encoding: Encoding,
    /// Open where the content is not in memory.
    pub(crate) file: Option<Arc<File>>,
    pub(crate) options: Arc<FilesOptions>,
    pub(crate) results: Arc<CompressedFiles>,
}

impl Job {
    /// Does the work; blocks for as long as it takes.
    pub fn run(self) -> Response {
        match self.0 {
            Work::Compress(job) => job.run(),
            Work::List(job) => job.run(),
        }
    }

    /// Answers an exchange when the work is done; at once, without the work, where its queue is
    /// full.
    pub(crate) fn answer(self, exchange: Exchange<'_>, offload: &Offload) -> Outcome {
        let Some(slot) = offload.slot() else {
            return Outcome::Done(self.decline());
        };
        let (responder, outcome) = exchange.later();
        offload.run(slot, Box::new(move || responder.send(self.run())));
        outcome
    }

    /// The answer where the queue for the work is full.
    pub fn decline(self) -> Response {
        match self.0 {
            Work::Compress(job) => job.uncompressed(),
            Work::List(job) => job.decline(),
        }
    }
}

impl CompressJob {
    fn run(self) -> Response {
        let key = self.key();
        let compressed = match self.results.peek(&key) {
            Some(compressed) => compressed,
            None => match self.content() {
                Ok(content) => {
                    let compressed = compress(&content, self.encoding);
                    self.results.insert(key, compressed.clone());
                    compressed
                }
                Err(changed) => return self.unvalidated(changed),
            },
        };
        match compressed {
            Compressed::Smaller(content) => {
                let length = content.clone();
                let representation =
                    self.identity.of_compressed(self.encoding, content, &self.options);
                Response::encoded(Status::OK, representation.head).content(Content::Bytes(length))
            }
            Compressed::NotSmaller => self.uncompressed(),
        }
    }

    fn key(&self) -> CompressedKey {
        self.identity.compressed_key(self.encoding)
    }

    fn uncompressed(self) -> Response {
        let content = match (&self.identity.content, self.file) {
            (Some(content), _) => Content::Bytes(content.clone()),
            (None, Some(file)) => {
                Content::File(FileSlice { file, offset: 0, length: self.identity.length })
            }
            (None, None) => Content::Empty,
        };
        Response::encoded(Status::OK, self.identity.head.clone()).content(content)
    }

    /// The content in the state that the validators promise; `Err` with what was read of another
    /// state.
    fn content(&self) -> Result<Bytes, Vec<u8>> {
        if let Some(content) = &self.identity.content {
            return Ok(content.clone());
        }
        let mut content = Vec::new();
        let Some(file) = &self.file else {
            return Err(content);
        };
        let promised = self.identity.fingerprint;
        let read = read_to(&mut content, file.as_fd(), promised.size);
        let state = root::stat(file.as_fd());
        match (read, state) {
            (Ok(()), Ok(stat)) if stat.fingerprint == promised => Ok(Bytes::from(content)),
            _ => Err(content),
        }
    }

    /// A file that changes while it is read, such as a log, is sent as found, with no validator to
    /// hold it to.
    fn unvalidated(&self, content: Vec<u8>) -> Response {
        let mut head = Head::new(Status::OK, &self.options.server);
        head.field(Known::ContentType, self.identity.media_type.as_bytes());
        head.field(Known::CacheControl, b"no-store");
        head.into_response(Status::OK, content)
    }
}
