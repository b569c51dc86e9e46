//! What the file handler decides, before anything of it touches a socket.

use std::rc::Rc;

use bytes::Bytes;
use vervet_engine::Response;
use vervet_engine::exchange::COPY_BYTES_MAX;
use vervet_http::status::Status;

use crate::files::cache::{Entry, Found};
use crate::files::job::Job;

/// What becomes of a request for a file.
#[derive(Debug)]
pub enum Decision {
    /// The answer.
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
pub struct Whole(Rc<Entry>);

impl Whole {
    pub(crate) fn of(entry: &Rc<Entry>) -> Option<Self> {
        match &entry.found {
            Found::File(file) => {
                let content = file.content.as_ref()?;
                (content.len() <= COPY_BYTES_MAX).then(|| Self(Rc::clone(entry)))
            }
            _ => None,
        }
    }

    /// The head of the 200, and the content.
    pub(crate) fn parts(&self) -> (&[u8], &[u8]) {
        match &self.0.found {
            Found::File(file) => (&file.head, file.content.as_deref().unwrap_or_default()),
            _ => (&[], &[]),
        }
    }

    /// The same as a response of its own.
    pub fn into_response(self) -> Response {
        let (head, content) = self.parts();
        Response::encoded(Status::OK, Bytes::copy_from_slice(head)).content(content.to_vec())
    }
}
