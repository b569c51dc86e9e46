//! Addresses and networks that are blocked while the server runs, until a time or until they are
//! unblocked.
//!
//! All reactors read one table without a lock; a change creates a new table. Expired blocks are
//! ignored from that second on, and removed with the next change.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use arc_swap::ArcSwap;
use vervet_engine::reactor::Now;

use crate::matching::networks::{Network, Networks};
use crate::web::{Edits, Request, RequestFilter, Verdict};

/// Networks that may be blocked at a time: what a log scanner finds in a bad week, and some 10 MB.
pub const BLOCKS_MAX: usize = 100_000;

/// The longest reason, in bytes; what is longer is cut.
pub const REASON_BYTES_MAX: usize = 200;

/// A network that is blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The network that is blocked.
    pub network: Network,
    /// The reason, as entered by the operator.
    pub reason: String,
    /// When the block began, in seconds since 1970.
    pub since: u64,
    /// When the block ends, in seconds since 1970; `None` for no end.
    pub until: Option<u64>,
}

/// The result of unblocking a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unblocked {
    /// The block was removed.
    Removed(Block),
    /// The network itself was not blocked, but is covered by this wider block.
    Covered(Block),
    /// The network was not blocked.
    NotBlocked,
}

/// The maximum of [`BLOCKS_MAX`] blocks is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlocksFull;

impl fmt::Display for BlocksFull {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{BLOCKS_MAX} networks are blocked already: unblock some, or block wider networks"
        )
    }
}

impl std::error::Error for BlocksFull {}

/// The blocks of a server.
#[derive(Debug, Default)]
pub struct Blocks {
    table: ArcSwap<Networks<Block>>,
    /// Held by the thread that changes the table.
    change: Mutex<()>,
    turned_away: AtomicU64,
}

impl Blocks {
    /// Blocks a network until `until`, in seconds since 1970, or without end. A block of the same
    /// network is replaced.
    pub fn block(
        &self,
        network: Network,
        reason: &str,
        until: Option<u64>,
        now: Now,
    ) -> Result<(), BlocksFull> {
        let reason = reason[..reason.floor_char_boundary(REASON_BYTES_MAX)].to_owned();
        let block = Block { network, reason, since: now.unix_seconds, until };
        self.change(now, |table| {
            if table.len() >= BLOCKS_MAX && table.get(network).is_none() {
                return Err(BlocksFull);
            }
            table.insert(network, block);
            Ok(())
        })
    }

    /// Unblocks a network, if exactly this network is blocked.
    pub fn unblock(&self, network: Network, now: Now) -> Unblocked {
        self.change(now, |table| match table.remove(network) {
            Some(block) => Unblocked::Removed(block),
            None => table
                .covering_network(network)
                .map_or(Unblocked::NotBlocked, |wider| Unblocked::Covered(wider.clone())),
        })
    }

    /// The active blocks, in ascending order of their networks, IPv4 first.
    pub fn list(&self, now: Now) -> Vec<Block> {
        let table = self.table.load();
        let blocks = table.iter().map(|(_, block)| block);
        blocks.filter(|block| block.holds(now)).cloned().collect()
    }

    /// Whether a client is blocked. Clients without an address never are.
    pub fn is_blocked(&self, address: Option<IpAddr>, now: Now) -> bool {
        let table = self.table.load();
        match address {
            Some(address) if !table.is_empty() => {
                table.any_covering(address, |block| block.holds(now))
            }
            _ => false,
        }
    }

    /// Like [`Blocks::is_blocked`], and counts blocked clients.
    pub fn turns_away(&self, address: Option<IpAddr>, now: Now) -> bool {
        let is_blocked = self.is_blocked(address, now);
        if is_blocked {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
        }
        is_blocked
    }

    /// Number of connections and requests that were rejected.
    pub fn turned_away(&self) -> u64 {
        self.turned_away.load(Ordering::Relaxed)
    }

    /// Changes a copy of the table, without expired blocks, and publishes it.
    fn change<T>(&self, now: Now, change: impl FnOnce(&mut Networks<Block>) -> T) -> T {
        let _alone = self.change.lock().unwrap_or_else(PoisonError::into_inner);
        let table = self.table.load();
        let blocks = table.iter().filter(|(_, block)| block.holds(now));
        let mut next: Networks<Block> =
            blocks.map(|(network, block)| (network, block.clone())).collect();
        let result = change(&mut next);
        self.table.store(next.into());
        result
    }
}

impl Block {
    fn holds(&self, now: Now) -> bool {
        self.until.is_none_or(|until| now.unix_seconds < until)
    }
}

impl RequestFilter for Blocks {
    fn name(&self) -> &'static str {
        "blocks"
    }

    fn accepts(&self, address: Option<IpAddr>, now: Now) -> bool {
        !self.turns_away(address, now)
    }

    /// Closes the connection: one that came by way of a trusted forwarder, or was there before the
    /// block.
    fn check(&self, request: &mut Request<'_>, _: &mut Edits) -> Verdict {
        if self.turns_away(request.client(), request.now) { Verdict::Close } else { Verdict::Pass }
    }

    fn refused(&self) -> Vec<(&'static str, u64)> {
        vec![("blocks", self.turned_away())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(unix_seconds: u64) -> Now {
        Now { monotonic_ms: 0, unix_seconds }
    }

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    fn blocks(texts: &[&str]) -> Blocks {
        let blocks = Blocks::default();
        for text in texts {
            blocks.block(network(text), "test", None, at(100)).unwrap();
        }
        blocks
    }

    #[track_caller]
    fn check(blocks: &Blocks, now: u64, rows: &[(&str, bool)]) {
        for (address, expected) in rows {
            let found = blocks.is_blocked(address.parse().ok(), at(now));
            assert_eq!(found, *expected, "{address} at {now}");
        }
    }

    #[test]
    fn who_is_blocked_is_turned_away_in_every_spelling() {
        let blocks = blocks(&["192.0.2.0/24", "2001:db8::/32", "198.51.100.7"]);
        check(
            &blocks,
            100,
            &[
                ("192.0.2.1", true),
                ("::ffff:192.0.2.1", true),
                ("2001:db8:9::1", true),
                ("198.51.100.7", true),
                ("198.51.100.8", false),
                ("2001:db9::1", false),
                ("unix", false),
            ],
        );
    }

    #[test]
    fn nobody_is_blocked_at_first() {
        check(&Blocks::default(), 0, &[("192.0.2.1", false), ("::1", false), ("unix", false)]);
        assert_eq!(Blocks::default().list(at(0)), []);
    }

    #[test]
    fn a_block_ends_with_its_second() {
        let blocks = Blocks::default();
        blocks.block(network("192.0.2.1"), "", Some(200), at(100)).unwrap();
        check(&blocks, 199, &[("192.0.2.1", true)]);
        check(&blocks, 200, &[("192.0.2.1", false)]);
        assert_eq!(blocks.list(at(199)).len(), 1);
        assert_eq!(blocks.list(at(200)), []);
    }

    #[test]
    fn an_expired_block_does_not_hide_the_wider_one() {
        let blocks = blocks(&["192.0.2.0/24"]);
        blocks.block(network("192.0.2.1"), "", Some(101), at(100)).unwrap();
        check(&blocks, 300, &[("192.0.2.1", true)]);
    }

    #[test]
    fn unblocking_says_what_it_did() {
        let blocks = blocks(&["192.0.2.0/24", "198.51.100.7"]);
        let covered = blocks.unblock(network("192.0.2.1"), at(100));
        assert!(
            matches!(covered, Unblocked::Covered(wider) if wider.network == network("192.0.2.0/24"))
        );
        check(&blocks, 100, &[("192.0.2.1", true)]);
        assert_eq!(blocks.unblock(network("203.0.113.1"), at(100)), Unblocked::NotBlocked);
        let removed = blocks.unblock(network("::ffff:198.51.100.7"), at(100));
        assert!(matches!(removed, Unblocked::Removed(block) if block.reason == "test"));
        check(&blocks, 100, &[("198.51.100.7", false), ("192.0.2.1", true)]);
    }

    #[test]
    fn a_second_block_of_a_network_replaces_the_first() {
        let blocks = blocks(&["192.0.2.1"]);
        blocks.block(network("192.0.2.1"), "again", Some(300), at(200)).unwrap();
        let expected = Block {
            network: network("192.0.2.1"),
            reason: "again".into(),
            since: 200,
            until: Some(300),
        };
        assert_eq!(blocks.list(at(200)), [expected]);
    }

    #[test]
    fn a_reason_is_cut_at_a_character() {
        let blocks = Blocks::default();
        let long = format!("x{}", "ä".repeat(REASON_BYTES_MAX));
        blocks.block(network("192.0.2.1"), &long, None, at(0)).unwrap();
        assert_eq!(blocks.list(at(0))[0].reason.len(), REASON_BYTES_MAX - 1);
    }

    /// The table is filled at once: a change costs as much as the table is long.
    #[test]
    fn the_table_is_bounded_and_gives_back_what_expired() {
        let blocks = Blocks::default();
        let full = (0..u32::try_from(BLOCKS_MAX).unwrap()).map(|number| {
            let network = Network::from_address(IpAddr::V4(number.into()));
            let block = Block { network, reason: String::new(), since: 0, until: Some(10) };
            (network, block)
        });
        blocks.table.store(std::sync::Arc::new(full.collect()));
        assert_eq!(blocks.block(network("192.0.2.1"), "", None, at(0)), Err(BlocksFull));
        assert_eq!(blocks.block(network("0.0.0.1"), "", Some(10), at(0)), Ok(()));
        assert_eq!(blocks.block(network("192.0.2.1"), "", None, at(10)), Ok(()));
        assert_eq!(blocks.list(at(10)).len(), 1);
    }

    #[test]
    fn readers_and_writers_do_not_lose_each_other() {
        let blocks = Blocks::default();
        std::thread::scope(|scope| {
            for part in 0..4_u8 {
                let blocks = &blocks;
                scope.spawn(move || {
                    for number in 0..50_u8 {
                        let address = IpAddr::from([192, 0, part, number]);
                        blocks.block(Network::from_address(address), "", None, at(0)).unwrap();
                        assert!(blocks.is_blocked(Some(address), at(0)));
                    }
                });
            }
        });
        assert_eq!(blocks.list(at(0)).len(), 200);
    }
}
