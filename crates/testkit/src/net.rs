//! Ports for programs that cannot be told to choose one and to say which.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that the kernel gives to clients (`net.ipv4.ip_local_port_range`, 32768 and
/// above by default): the connection of another test cannot get one of these in the moment before a
/// server binds it.
const PORTS: Range<u16> = 20_000..32_000;

/// Ports handed out by this process, which never repeats one before it has been through all.
static TAKEN: AtomicU16 = AtomicU16::new(0);

/// A TCP port that was free on 127.0.0.1 a moment ago.
///
/// Another server may take it before the caller does, though no client can. Where the program under
/// test accepts port 0 and prints what it got (`vervet serve --listen 127.0.0.1:0`), use that.
#[track_caller]
pub fn free_port() -> u16 {
    let count = PORTS.end - PORTS.start;
    // Programs that run at the same time begin at different places: a prime spreads neighbouring
    // process numbers.
    let begin = process::id().wrapping_mul(7919) % u32::from(count);
    let begin = u16::try_from(begin).expect("below the number of ports");
    let candidates = (0..count).map(|_| {
        let step = TAKEN.fetch_add(1, Ordering::Relaxed);
        PORTS.start
            + u16::try_from((u32::from(begin) + u32::from(step)) % u32::from(count))
                .expect("a port")
    });
    candidates
        .into_iter()
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("a free port on 127.0.0.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_can_be_bound() {
        let port = free_port();
        assert!(PORTS.contains(&port), "{port}");
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    }

    #[test]
    fn a_port_is_not_given_twice() {
        assert_ne!(free_port(), free_port());
    }

    #[test]
    fn a_port_that_is_taken_is_passed_over() {
        let first = free_port();
        let next = first + 1;
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, next));
        assert_ne!(free_port(), next);
    }
}
