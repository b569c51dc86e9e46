//! How many connections there may be, in all and from one address: counted over all reactors of a process.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a connection is one too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMany {
    /// The cap on all connections is reached.
    InAll,
    /// The peer's address has as many as one address may.
    FromAddress,
}

/// Who is counted as one peer: an IPv4 address, or a /64 of IPv6, which is the least that one subscriber gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AddressKey(IpAddr);

impl AddressKey {
    fn of(peer: SocketAddr) -> Self {
        match peer.ip() {
            IpAddr::V4(v4) => Self(IpAddr::V4(v4)),
            IpAddr::V6(v6) => {
                let prefix = v6.to_bits() & !u128::from(u64::MAX);
                Self(IpAddr::V6(Ipv6Addr::from_bits(prefix)))
            }
        }
    }
}

/// The counts and their caps.
#[derive(Debug, Default)]
pub struct Gate {
    connections: AtomicUsize,
    connections_max: AtomicUsize,
    per_address: Mutex<HashMap<AddressKey, u32>>,
    per_address_max: AtomicU32,
}

/// Says that a connection was counted in, and as whose: to be handed back when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered(Option<AddressKey>);

impl Gate {
    /// A gate for this many connections in all, and this many from one address; 0 means no cap.
    pub fn new(connections_max: usize, per_address_max: u32) -> Self {
        let gate = Self::default();
        gate.set_caps(connections_max, per_address_max);
        gate
    }

    /// Sets other caps. Connections that are there stay, however many they are.
    pub fn set_caps(&self, connections_max: usize, per_address_max: u32) {
        let in_all = match connections_max {
            0 => usize::MAX,
            max => max,
        };
        self.connections_max.store(in_all, Ordering::Relaxed);
        self.per_address_max
            .store(per_address_max, Ordering::Relaxed);
    }

    /// Connections now counted.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Whether one more connection would be too many.
    pub fn is_full(&self) -> bool {
        self.connections() >= self.connections_max.load(Ordering::Relaxed)
    }

    fn addresses(&self) -> MutexGuard<'_, HashMap<AddressKey, u32>> {
        self.per_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection in, unless it is one too many. A peer without an address (a unix socket) counts in
    /// all only.
    pub fn enter(&self, peer: Option<SocketAddr>) -> Result<Entered, TooMany> {
        let connections_max = self.connections_max.load(Ordering::Relaxed);
        if self.connections.fetch_add(1, Ordering::Relaxed) >= connections_max {
            self.connections.fetch_sub(1, Ordering::Relaxed);
            return Err(TooMany::InAll);
        }
        let per_address_max = self.per_address_max.load(Ordering::Relaxed);
        let Some(peer) = peer.filter(|_| per_address_max > 0) else {
            return Ok(Entered(None));
        };
        let key = AddressKey::of(peer);
        let mut addresses = self.addresses();
        let count = addresses.entry(key).or_default();
        if *count >= per_address_max {
            drop(addresses);
            self.connections.fetch_sub(1, Ordering::Relaxed);
            return Err(TooMany::FromAddress);
        }
        *count += 1;
        Ok(Entered(Some(key)))
    }

    /// Counts out a connection that was counted in.
    pub fn leave(&self, entered: Entered) {
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
        assert_eq!(gate.enter(None), Err(TooMany::InAll));
        gate.leave(second);
        gate.enter(None).unwrap();
        assert_eq!(gate.connections(), 2);
    }

    #[test]
    fn one_address_is_capped_and_others_are_not() {
        let gate = Gate::new(0, 1);
        let first = gate.enter(peer("10.0.0.1")).unwrap();
        assert_eq!(gate.enter(peer("10.0.0.1")), Err(TooMany::FromAddress));
        gate.enter(peer("10.0.0.2")).unwrap();
        gate.leave(first);
        gate.enter(peer("10.0.0.1")).unwrap();
        assert_eq!(gate.connections(), 2);
    }

    #[test]
    fn an_ipv6_network_of_64_bits_is_one_peer() {
        let gate = Gate::new(0, 1);
        gate.enter(peer("2001:db8::1")).unwrap();
        assert_eq!(
            gate.enter(peer("2001:db8::ffff:1")),
            Err(TooMany::FromAddress)
        );
        gate.enter(peer("2001:db8:0:1::1")).unwrap();
    }

    /// Whoever came in before the caps changed leaves as who they were then.
    #[test]
    fn caps_change_under_those_who_are_there() {
        let gate = Gate::new(0, 0);
        let uncounted = gate.enter(peer("10.0.0.1")).unwrap();
        gate.set_caps(3, 1);
        let counted = gate.enter(peer("10.0.0.1")).unwrap();
        gate.leave(uncounted);
        assert_eq!(gate.enter(peer("10.0.0.1")), Err(TooMany::FromAddress));
        gate.set_caps(1, 0);
        assert!(gate.is_full());
        assert_eq!(gate.enter(None), Err(TooMany::InAll));
        gate.leave(counted);
        gate.set_caps(0, 1);
        gate.enter(peer("10.0.0.1")).unwrap();
        assert_eq!(gate.connections(), 1);
    }

    #[test]
    fn unix_peers_are_counted_in_all_only() {
        let gate = Gate::new(0, 1);
        gate.enter(None).unwrap();
        gate.enter(None).unwrap();
    }
}
