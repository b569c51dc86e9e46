//! Connection limits, in total and by address: counted over all reactors of a process.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::capacity::{Capacity, REFUSED_MAX};
use crate::limits::Limits;

/// Which connection limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionLimit {
    /// The limit of all connections is reached.
    Total,
    /// The limit of connections from the peer's address is reached.
    PerAddress,
}

/// What counts as one peer: an IPv4 address, or a /64 of IPv6, the smallest network that a
/// subscriber gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AddressKey(IpAddr);

impl AddressKey {
    fn new(peer: SocketAddr) -> Self {
        match peer.ip() {
            IpAddr::V4(v4) => Self(IpAddr::V4(v4)),
            IpAddr::V6(v6) => {
                let prefix = v6.to_bits() & !u128::from(u64::MAX);
                Self(IpAddr::V6(Ipv6Addr::from_bits(prefix)))
            }
        }
    }
}

/// The connection counts and their limits.
#[derive(Debug, Default)]
pub struct Gate {
    connections: AtomicUsize,
    connections_max: AtomicUsize,
    per_address: Mutex<HashMap<AddressKey, u32>>,
    per_address_max: AtomicU32,
    refused_max: AtomicU32,
}

/// A permit of one counted connection, to be returned when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit(Option<AddressKey>);

impl Gate {
    /// Creates a gate for this many connections in total, and this many from one address; 0 means
    /// no limit.
    pub fn new(connections_max: usize, per_address_max: u32) -> Self {
        let gate = Self::default();
        gate.set_caps(connections_max, per_address_max);
        gate.refused_max.store(REFUSED_MAX, Ordering::Relaxed);
        gate
    }

    /// Creates the gate of an engine with these limits and this many workers.
    pub fn of_engine(limits: &Limits, workers: usize) -> Self {
        let gate = Self::default();
        gate.set_limits(limits, &Capacity::of_process(workers));
        gate
    }

    /// Changes the limits, as far as the open files allow. Existing connections are not closed.
    pub fn set_limits(&self, limits: &Limits, capacity: &Capacity) {
        let connections_max = match limits.connections_max {
            0 => capacity.connections_max,
            max => max.min(capacity.connections_max),
        };
        // 0 stays 0, no limit.
        let per_address_max = limits.connections_per_address_max.min(capacity.per_address_max);
        self.set_caps(connections_max as usize, per_address_max);
        self.refused_max.store(capacity.refused_max, Ordering::Relaxed);
    }

    /// Changes the limits. Existing connections are not closed.
    pub fn set_caps(&self, connections_max: usize, per_address_max: u32) {
        let in_all = match connections_max {
            0 => usize::MAX,
            max => max,
        };
        self.connections_max.store(in_all, Ordering::Relaxed);
        self.per_address_max.store(per_address_max, Ordering::Relaxed);
    }

    /// Returns the number of connections that are counted now.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns whether no more connections are admitted.
    pub fn is_full(&self) -> bool {
        self.connections() >= self.connections_max.load(Ordering::Relaxed)
    }

    /// Returns how many rejected connections of one reactor may linger.
    pub fn refused_max(&self) -> usize {
        self.refused_max.load(Ordering::Relaxed) as usize
    }

    fn addresses(&self) -> MutexGuard<'_, HashMap<AddressKey, u32>> {
        self.per_address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection unless a limit is reached. A peer without an address (a unix socket)
    /// counts in total only.
    pub fn enter(&self, peer: Option<SocketAddr>) -> Result<Permit, ConnectionLimit> {
        let connections_max = self.connections_max.load(Ordering::Relaxed);
        if self.connections.fetch_add(1, Ordering::Relaxed) >= connections_max {
            self.connections.fetch_sub(1, Ordering::Relaxed);
            return Err(ConnectionLimit::Total);
        }
        let per_address_max = self.per_address_max.load(Ordering::Relaxed);
        let Some(peer) = peer.filter(|_| per_address_max > 0) else {
            return Ok(Permit(None));
        };
        let key = AddressKey::new(peer);
        let mut addresses = self.addresses();
        let count = addresses.entry(key).or_default();
        if *count >= per_address_max {
            drop(addresses);
            self.connections.fetch_sub(1, Ordering::Relaxed);
            return Err(ConnectionLimit::PerAddress);
        }
        *count += 1;
        Ok(Permit(Some(key)))
    }

    /// Returns the permit of a connection that ended.
    pub fn leave(&self, entered: Permit) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
        let Some(key) = entered.0 else {
            return;
        };
        let mut addresses = self.addresses();
        if let Some(count) = addresses.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                addresses.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::unnecessary_wraps)] // as the gate takes it
    fn peer(text: &str) -> Option<SocketAddr> {
        Some(SocketAddr::new(text.parse().unwrap(), 1))
    }

    #[test]
    fn the_connection_above_the_cap_is_one_too_many() {
        let gate = Gate::new(2, 0);
        gate.enter(peer("10.0.0.1")).unwrap();
        let second = gate.enter(None).unwrap();
        assert_eq!(gate.enter(None), Err(ConnectionLimit::Total));
        gate.leave(second);
        gate.enter(None).unwrap();
        assert_eq!(gate.connections(), 2);
    }

    #[test]
    fn one_address_is_capped_and_others_are_not() {
        let gate = Gate::new(0, 1);
        let first = gate.enter(peer("10.0.0.1")).unwrap();
        assert_eq!(gate.enter(peer("10.0.0.1")), Err(ConnectionLimit::PerAddress));
        gate.enter(peer("10.0.0.2")).unwrap();
        gate.leave(first);
        gate.enter(peer("10.0.0.1")).unwrap();
        assert_eq!(gate.connections(), 2);
    }

    #[test]
    fn an_ipv6_network_of_64_bits_is_one_peer() {
        let gate = Gate::new(0, 1);
        gate.enter(peer("2001:db8::1")).unwrap();
        assert_eq!(gate.enter(peer("2001:db8::ffff:1")), Err(ConnectionLimit::PerAddress));
        gate.enter(peer("2001:db8:0:1::1")).unwrap();
    }

    /// A connection that was counted before the limits changed is returned as it was counted.
    #[test]
    fn caps_change_under_those_who_are_there() {
        let gate = Gate::new(0, 0);
        let uncounted = gate.enter(peer("10.0.0.1")).unwrap();
        gate.set_caps(3, 1);
        let counted = gate.enter(peer("10.0.0.1")).unwrap();
        gate.leave(uncounted);
        assert_eq!(gate.enter(peer("10.0.0.1")), Err(ConnectionLimit::PerAddress));
        gate.set_caps(1, 0);
        assert!(gate.is_full());
        assert_eq!(gate.enter(None), Err(ConnectionLimit::Total));
        gate.leave(counted);
        gate.set_caps(0, 1);
        gate.enter(peer("10.0.0.1")).unwrap();
        assert_eq!(gate.connections(), 1);
    }

    /// What is allowed by limits and open files: connections, and those of one address.
    #[track_caller]
    fn check_limits(connections_max: u32, per_address_max: u32, expected: (usize, u32)) {
        let limits = Limits {
            connections_max,
            connections_per_address_max: per_address_max,
            ..Limits::default()
        };
        let gate = Gate::default();
        gate.set_limits(&limits, &Capacity::new(1024, 2));
        let caps = (&gate.connections_max, &gate.per_address_max);
        let found = (caps.0.load(Ordering::Relaxed), caps.1.load(Ordering::Relaxed));
        assert_eq!(found, expected, "{connections_max} and {per_address_max}");
        assert_eq!(gate.refused_max(), 29);
    }

    #[test]
    fn no_limit_exceeds_what_the_open_files_allow() {
        check_limits(0, 0, (826, 0));
        check_limits(0, 413, (826, 413));
        check_limits(0, 414, (826, 413));
        check_limits(827, 1, (826, 1));
        check_limits(825, 1024, (825, 413));
    }

    #[test]
    fn unix_peers_are_counted_in_all_only() {
        let gate = Gate::new(0, 1);
        gate.enter(None).unwrap();
        gate.enter(None).unwrap();
    }
}
