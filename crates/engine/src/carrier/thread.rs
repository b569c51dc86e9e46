//! The plain thread: waits on the descriptor and turns.

use rustix::io::Errno;

use crate::reactor::{Protocol, Reactor};

/// Turns the reactor until it is done, on this thread.
pub fn run<P: Protocol>(reactor: &mut Reactor<P>) -> Result<(), Errno> {
    while !reactor.wait_and_turn()?.done {}
    Ok(())
}
