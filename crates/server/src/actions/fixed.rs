//! An answer that is the same for every request: encoded once, shared by all reactors.

use bytes::Bytes;
use vervet_engine::exchange::COPY_BYTES_MAX;
use vervet_engine::{Exchange, Outcome, Response};
use vervet_http::status::Status;

/// Status, head and content.
#[derive(Debug, Clone)]
pub(super) struct Fixed {
    status: Status,
    head: Bytes,
    content: Bytes,
}

impl Fixed {
    pub(super) fn new(status: Status, head: Vec<u8>, content: Bytes) -> Self {
        Self {
            status,
            head: Bytes::from(head),
            content,
        }
    }

    /// Sends it; small content without counting a reference.
    pub(super) fn send(&self, exchange: Exchange<'_>) -> Outcome {
        if self.content.len() <= COPY_BYTES_MAX {
            return exchange.send_whole(self.status, &self.head, &self.content);
        }
        self.give()
    }

    /// Gives it as a response, which an error page may replace.
    pub(super) fn give(&self) -> Outcome {
        let response = Response::encoded(self.status, self.head.clone());
        Outcome::Done(response.content(self.content.clone()))
    }
}
