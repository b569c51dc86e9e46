//! The PROXY protocol header in front of the first request, from peers that are trusted to send it.

use super::http::Http;
use super::state::{Connection, Waiting};
use crate::exchange::{Admit, Service};
use crate::proxy_protocol::{self, Parsed};
use crate::reactor::{Closing, Io};

impl<S: Service> Http<S> {
    /// Reads the header from the connection's buffer. Says whether the connection may go on.
    pub(super) fn preface(&mut self, io: &mut Io<'_>, connection: &mut Connection) -> bool {
        match proxy_protocol::parse(&connection.input) {
            Ok(Parsed::NeedMore) => false,
            Ok(Parsed::Header {
                source, consumed, ..
            }) => {
                // A LOCAL header has no source: the connection is the proxy's own, such as a health check.
                if source.is_some() {
                    connection.peer = source;
                }
                if self.service.admit(connection.peer, &connection.listener) == Admit::Close {
                    self.counters.denied.add(1);
                    io.close(Closing::AfterSent);
                    return false;
                }
                connection.input.drain(..consumed);
                connection.waiting = Waiting::Head;
                io.set_deadline(u64::from(self.limits.head_timeout_ms));
                true
            }
            Err(_) => {
                // Whoever this is speaks another protocol: an HTTP answer would only confuse it.
                self.counters.violations.add(1);
                io.close(Closing::Abort);
                false
            }
        }
    }
}
