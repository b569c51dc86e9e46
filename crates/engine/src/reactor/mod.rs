//! The reactor: one pollable descriptor and one function.
//!
//! The descriptor is an epoll set with the listeners, the connections, one timer and one wake-up
//! descriptor. [`Reactor::turn`] takes what is ready, passes completed events to a [`Protocol`],
//! writes what it can and returns; it never blocks. Any event loop can run it.
//!
//! The interface consists of *completed events* (bytes received, output sent), not of readiness or
//! a future per operation: so another back end, such as `io_uring`, fits the same trait, and an
//! idle connection owns no buffer.

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

pub use command::{Command, CommandError, Receipt, Reply};
pub use driver::{Reactor, Turn};
pub use io::{Closing, Io};
pub use mailbox::{Handle, Mailbox};
pub use options::{Overload, ReactorOptions, Tuning};
pub use outgoing::{ConnectFailure, Outgoing};
pub use poller::Token;
pub use protocol::{Accepted, Admission, Protocol, Reason};
pub use socket::FileSlice;
pub use team::{Membership, Team};
pub use timers::Now;
