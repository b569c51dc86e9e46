//! What is done to an answer on its way out: a failure gets its page, edits are applied, content is encoded, and the log
//! is told the head.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use vervet_engine::exchange::PipeFactory;
use vervet_engine::reactor::Now;
use vervet_engine::{Content, Exchange, Outcome, Response};

use super::edits::Edits;
use super::reactor_stage::ReactorStage;
use super::request::Request;
use super::stage::Finish;
use crate::access_log::LogWriter;
use crate::actions::ErrorPagesAtWork;
use crate::filters::compression::{AnswerCompression, Taken};
use crate::trace::Trace;

/// The log that wants to see the head of an answer, and the tag of its exchange.
pub(super) type Told = Option<(Rc<RefCell<LogWriter>>, u32)>;

/// What is to be done to one answer.
pub(super) struct Finishing {
    error_pages: Option<ErrorPagesAtWork>,
    edits: Edits,
    encoder: Option<Encoder>,
    told: Told,
    trace: Option<Rc<Trace>>,
    now: Now,
}

struct Encoder {
    compression: Arc<AnswerCompression>,
    taken: Taken,
    piping: PipeFactory,
}

impl Finishing {
    /// What a request asks to be done to its answer.
    pub(super) fn new(
        request: &Request<'_>,
        exchange: &Exchange<'_>,
        (edits, told): (Edits, Told),
        (finish, current): (&Finish, &ReactorStage),
    ) -> Self {
        let encoder = finish.compression.as_ref().map(|compression| Encoder {
            compression: Arc::clone(compression),
            taken: AnswerCompression::taken(request),
            piping: exchange.pipe_factory(),
        });
        Self {
            error_pages: finish
                .error_pages
                .and_then(|number| current.error_pages(number)),
            edits,
            encoder,
            told,
            trace: None,
            now: request.now,
        }
    }

    /// The same, told as it happens.
    pub(super) fn traced(self, trace: Option<&Rc<Trace>>) -> Self {
        Self {
            trace: trace.map(Rc::clone),
            ..self
        }
    }

    /// Whether a failure may get another page.
    pub(super) fn has_error_pages(&self) -> bool {
        self.error_pages.is_some()
    }

    /// The same without error pages, for an action whose failures have content of their own.
    pub(super) fn without_error_pages(self) -> Self {
        Self {
            error_pages: None,
            ..self
        }
    }

    /// Whether a success is changed, too: then a handler must not send it by itself.
    pub(super) fn touches_every_answer(&self) -> bool {
        let is_seen = self.told.is_some() || self.trace.is_some();
        !self.edits.is_empty() || self.encoder.is_some() || is_seen
    }

    /// The outcome with all of it done, now or when the answer comes.
    pub(super) fn finish(self, outcome: Outcome) -> Outcome {
        if self.error_pages.is_none() && !self.touches_every_answer() {
            return outcome;
        }
        outcome.amend(move |response| self.change(response))
    }

    fn change(self, mut response: Response) -> Response {
        self.step("answer", &response);
        if let Some(pages) = &self.error_pages {
            response = pages.replace(response, self.now);
            self.step("behind error pages", &response);
        }
        if !self.edits.is_empty() {
            response = self.edits.apply(response);
            self.step("behind edits", &response);
        }
        if let Some(encoder) = self.encoder {
            let Encoder {
                compression,
                taken,
                piping,
            } = encoder;
            response = compression.apply(taken, response, || piping.stream());
            step(self.trace.as_ref(), "behind compression", &response);
        }
        if let Some((scribe, tag)) = &self.told {
            scribe
                .borrow_mut()
                .record_response(*tag, response.head_bytes());
        }
        response
    }

    fn step(&self, what: &str, response: &Response) {
        step(self.trace.as_ref(), what, response);
    }
}

/// Tells whoever traces the request what its answer has become.
fn step(trace: Option<&Rc<Trace>>, what: &str, response: &Response) {
    let Some(trace) = trace else {
        return;
    };
    let status = response.status().code();
    let fields = response.head_bytes().len();
    let content = response.content_ref();
    let kind = match content {
        Content::Empty => "without content",
        Content::Bytes(_) => "from memory",
        Content::File(_) => "from a file",
        Content::Pieces(_) => "in pieces",
        Content::Stream { .. } => "as a stream",
    };
    match content.length() {
        Some(length) => trace.step(format_args!(
            "{what}: {status}, head {fields} bytes, content {length} bytes {kind}"
        )),
        None => trace.step(format_args!(
            "{what}: {status}, head {fields} bytes, content {kind}"
        )),
    }
}
