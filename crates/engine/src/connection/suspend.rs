//! Suspended exchanges: the head was kept, and the service is called again.

use vervet_http::field::{FIELDS_MAX, FieldSlots};
use vervet_http::h1::{HeadLimits, Received, Server};

use super::http::Http;
use super::receive::CallContext;
use super::state::{Answer, Connection, InProgress};
use crate::exchange::Service;
use crate::reactor::{Closing, Io};

/// A head that was accepted once is not checked against limits again, since they may have changed.
const NO_LIMITS: HeadLimits = HeadLimits {
    head_bytes_max: usize::MAX,
    fields_max: FIELDS_MAX,
    target_bytes_max: usize::MAX,
    trailer_bytes_max: usize::MAX,
};

impl<S: Service> Http<S> {
    /// Resumes a suspended exchange.
    pub(super) fn resume(&mut self, io: &mut Io<'_>, connection: &mut Connection, value: u64) {
        let suspended =
            |exchange: &mut Box<InProgress>| matches!(exchange.answer, Answer::Suspended(_));
        let Some(exchange) = connection.exchange.take_if(suspended) else {
            return;
        };
        let InProgress { answer, record, .. } = *exchange;
        let Answer::Suspended(head_bytes) = answer else {
            return;
        };
        let mut slots = FieldSlots::new();
        let received = Server::new().receive(&head_bytes, &mut slots, &NO_LIMITS);
        let Ok(Received::Head { head, .. }) = received else {
            // These bytes were parsed before, so this is a bug.
            return io.close(Closing::Abort);
        };
        let call = CallContext {
            head_bytes: &head_bytes,
            record,
            resumed: Some(value),
        };
        self.call(io, connection, &head, &call);
    }
}
