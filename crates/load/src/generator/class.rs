//! How a connection that did not come about is counted.

use rustix::io::Errno;
use vervet_engine::reactor::ConnectFailure;
use vervet_report::ErrorClass;

/// The class of a connection that did not come about.
pub(super) fn class_of(errno: Errno) -> ErrorClass {
    match ConnectFailure::from_errno(errno) {
        // A unix socket whose queue is full says at once what TCP says after seconds.
        ConnectFailure::Refused | ConnectFailure::QueueFull => ErrorClass::Refused,
        ConnectFailure::Timeout => ErrorClass::Timeout,
        ConnectFailure::Unreachable | ConnectFailure::Other => ErrorClass::Unreachable,
        ConnectFailure::Exhausted => ErrorClass::Local,
    }
}
