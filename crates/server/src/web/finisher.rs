//! What is done to a response before it is sent: a failure gets its error page, filters' edits are
//! applied, content is compressed, and the access log sees the head.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use vervet_engine::exchange::PipeFactory;
use vervet_engine::reactor::Now;
use vervet_engine::{Content, Outcome, Response};

use super::edits::Edits;
use super::error_pages::ReactorErrorPages;
use crate::access_log::LogWriter;
use crate::compression::{AcceptedCodings, AnswerCompression};
use crate::trace::Trace;

/// What is to be done to one response.
pub(super) struct Finisher {
    pub(super) error_pages: Option<ReactorErrorPages>,
    pub(super) edits: Edits,
    pub(super) encoder: Option<Encoder>,
    pub(super) log: Option<ResponseLog>,
    pub(super) trace: Trace,
    pub(super) now: Now,
}

/// Compresses the content of one response.
pub(super) struct Encoder {
    pub(super) compression: Arc<AnswerCompression>,
    pub(super) accepted: AcceptedCodings,
    pub(super) piping: PipeFactory,
}

/// The access log that needs the head of the response.
pub(super) struct ResponseLog {
    pub(super) writer: Rc<RefCell<LogWriter>>,
    /// The tag of the exchange.
    pub(super) tag: u32,
}

impl Finisher {
    /// Whether every response is changed or looked at, and not failures only: then a handler must
    /// not send it by itself.
    pub(super) fn touches_every_response(&self) -> bool {
        !self.edits.is_empty() || self.encoder.is_some() || self.log.is_some() || self.trace.is_on()
    }

    /// The outcome with all of it done, now or when the response comes.
    pub(super) fn finish(self, outcome: Outcome) -> Outcome {
        outcome.amend(move |response| self.apply(response))
    }

    fn apply(self, mut response: Response) -> Response {
        let trace = &self.trace;
        trace.step(|| describe("answer", &response));
        if let Some(pages) = &self.error_pages {
            response = pages.replace(response, self.now);
            trace.step(|| describe("after error pages", &response));
        }
        if !self.edits.is_empty() {
            response = self.edits.apply(response);
            trace.step(|| describe("after edits", &response));
        }
        if let Some(encoder) = self.encoder {
            let pipe = || encoder.piping.stream();
            response = encoder.compression.apply(encoder.accepted, response, pipe);
            trace.step(|| describe("after compression", &response));
        }
        if let Some(ResponseLog { writer, tag }) = &self.log {
            writer.borrow_mut().record_response(*tag, response.head_bytes());
        }
        response
    }
}

/// A response as traces describe it.
fn describe(step: &str, response: &Response) -> String {
    let status = response.status().code();
    let head_bytes = response.head_bytes().len();
    let content = response.content_ref();
    let kind = match content {
        Content::Empty => "without content",
        Content::Bytes(_) => "from memory",
        Content::File(_) => "from a file",
        Content::Pieces(_) => "in pieces",
        Content::Stream { .. } => "as a stream",
    };
    match content.length() {
        Some(length) => {
            format!("{step}: {status}, head {head_bytes} bytes, content {length} bytes {kind}")
        }
        None => format!("{step}: {status}, head {head_bytes} bytes, content {kind}"),
    }
}
