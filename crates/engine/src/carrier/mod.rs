//! Who turns a reactor: a thread of its own, or an event loop that has other things to do as well.
//!
//! A carrier needs nothing but the reactor's descriptor and
//! [`Reactor::turn`](crate::reactor::Reactor::turn). The two here are what the server uses; a
//! foreign loop does the same in its own words (watch the descriptor for reading, turn when it is
//! readable).

mod thread;
#[cfg(feature = "tokio")]
mod tokio;

pub use thread::run as run_on_thread;
#[cfg(feature = "tokio")]
pub use tokio::run as run_on_tokio;
