//! The plain thread: waits for the reactor's descriptor and runs its turns.

use rustix::io::Errno;

use crate::reactor::{Protocol, Reactor};

/// Runs the reactor on this thread until it is done.
pub fn run<P: Protocol>(reactor: &mut Reactor<P>) -> Result<(), Errno> {
    while !reactor.wait_and_turn()?.done {}
    Ok(())
}
