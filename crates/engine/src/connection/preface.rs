//! The PROXY protocol header before the first request, from trusted peers.

use super::http::Http;
use super::state::{Connection, Waiting};
use crate::exchange::{Admit, Service};
use crate::proxy_protocol::{self, Parsed};
use crate::reactor::{Closing, Io};

impl<S: Service> Http<S> {
    /// Reads the header from the connection's buffer. Returns whether the connection may continue.
    pub(super) fn preface(&mut self, io: &mut Io<'_>, connection: &mut Connection) -> bool {
        match proxy_protocol::parse(&connection.input) {
            Ok(Parsed::NeedMore) => false,
            Ok(Parsed::Header {
                source, consumed, ..
            }) => {
                // A LOCAL header has no source: the connection is the proxy's own, such as a health
                // check.
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
                // The peer speaks another protocol: an HTTP response would only confuse it.
                self.counters.violations.add(1);
                io.close(Closing::Abort);
                false
            }
        }
    }
}
