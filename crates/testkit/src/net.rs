//! Ports for programs that cannot be told to choose one and to say which.

use std::net::{Ipv4Addr, TcpListener};

/// A TCP port that was free on 127.0.0.1 a moment ago.
///
/// Another program may take it before the caller does. Where the program under test accepts port 0 and prints what
/// it got (`vervet serve --listen 127.0.0.1:0`), use that.
#[track_caller]
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on 127.0.0.1");
    listener
        .local_addr()
        .expect("a bound listener has an address")
        .port()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_can_be_bound() {
        let port = free_port();
        assert_ne!(port, 0);
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    }
}
