//! Exchanges that waited for something other than the client: the head was kept, and the service is called once more.

use vervet_http::field::{FIELDS_MAX, FieldSlots};
use vervet_http::h1::{HeadLimits, Received, Server};

use super::http::Http;
use super::receive::Call;
use super::state::{Answer, Connection, InProgress};
use crate::exchange::Service;
use crate::reactor::{Closing, Io};

/// What was let through once is not held against limits again: they may be others by now.
const NO_LIMITS: HeadLimits = HeadLimits {
    head_bytes_max: usize::MAX,
    fields_max: FIELDS_MAX,
    target_bytes_max: usize::MAX,
    trailer_bytes_max: usize::MAX,
};

impl<S: Service> Http<S> {
    /// Goes on with a suspended exchange.
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
            // These bytes have been a head before: our bug.
            return io.close(Closing::Abort);
        };
        let call = Call {
            head_bytes: &head_bytes,
            record,
            resumed: Some(value),
        };
        self.call(io, connection, &head, &call);
    }
}
