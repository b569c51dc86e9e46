//! The reactor: one pollable descriptor and one function.
//!
//! Behind the descriptor is an epoll set with the listeners, the connections, one timer and one
//! wake-up descriptor. [`Reactor::turn`] takes what is ready, hands completed events to a
//! [`Protocol`], writes what it can and returns; it never blocks. Whoever has an event loop can
//! carry it.
//!
//! The border upwards lies at *completed events* (bytes that have been received, output that has
//! been sent), neither at readiness nor at a future per operation: so another back end, such as
//! `io_uring`, fits behind the same trait, and an idle connection owns no buffer.

mod accept;
mod clock;
mod command;
mod driver;
mod io;
mod listening;
mod mailbox;
mod options;
mod outgoing;
mod poller;
mod protocol;
mod reading;
mod removal;
mod socket;
mod spare_sockets;
pub(crate) mod sys;
mod team;
mod timers;

pub use accept::{Accepted, Admission, Overload};
pub use clock::Now;
pub use command::{Command, CommandError, Receipt, Reply};
pub use driver::{Reactor, Turn};
pub use io::{Closing, Io};
pub use mailbox::{Handle, Mailbox};
pub use options::{ReactorOptions, Tuning};
pub use outgoing::{ConnectFailure, Outgoing};
pub use poller::Token;
pub use protocol::{Protocol, Reason};
pub use socket::FileSlice;
pub use team::{Membership, Team};
