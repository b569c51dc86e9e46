//! Recently verified passwords, so that further requests of a user cost no Argon2.
//!
//! Only a keyed hash of name, password and stored hash is kept: no password, and nothing that is
//! valid after the stored hash changes. The keys never leave the process.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use super::credentials::Credentials;
use super::stored_hash::StoredHash;

/// Users that are remembered at a time.
pub(super) const REMEMBERED_MAX: usize = 4096;

/// How long a verified password is remembered, in milliseconds.
pub(super) const REMEMBERED_MS: u64 = 5 * 60 * 1000;

const SHARDS: usize = 16;
const SHARD_MAX: usize = REMEMBERED_MAX / SHARDS;

/// Recently verified passwords, shared by all reactors.
#[derive(Debug)]
pub(super) struct Memory {
    keys: [RandomState; 2],
    /// Until when each is remembered, in milliseconds of the monotonic clock.
    shards: [Mutex<HashMap<u128, u64>>; SHARDS],
}

impl Memory {
    pub(super) fn new() -> Self {
        Self { keys: [RandomState::new(), RandomState::new()], shards: Default::default() }
    }

    pub(super) fn remember(&self, credentials: &Credentials, hash: &StoredHash, now_ms: u64) {
        let (mark, shard) = self.mark(credentials, hash);
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if shard.len() >= SHARD_MAX && !shard.contains_key(&mark) {
            let oldest = shard.iter().min_by_key(|(_, until)| **until).map(|(mark, _)| *mark);
            if let Some(oldest) = oldest {
                shard.remove(&oldest);
            }
        }
        shard.insert(mark, now_ms + REMEMBERED_MS);
    }

    pub(super) fn knows(&self, credentials: &Credentials, hash: &StoredHash, now_ms: u64) -> bool {
        let (mark, shard) = self.mark(credentials, hash);
        let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        shard.get(&mark).is_some_and(|until| now_ms < *until)
    }

    fn mark(
        &self,
        credentials: &Credentials,
        hash: &StoredHash,
    ) -> (u128, &Mutex<HashMap<u128, u64>>) {
        // Strings are hashed with an end mark, so that two cannot be parted in another place.
        let whole = (credentials.user.as_str(), credentials.password.as_str(), hash.text());
        let [low, high] = [self.keys[0].hash_one(whole), self.keys[1].hash_one(whole)];
        let shard = usize::try_from(low % SHARDS as u64).unwrap_or(0);
        (u128::from(high) << 64 | u128::from(low), &self.shards[shard])
    }
}

#[cfg(test)]
mod tests {
    use super::super::stored_hash::OldHashes;
    use super::*;

    fn credentials(user: &str, password: &str) -> Credentials {
        Credentials { user: user.to_owned(), password: password.to_owned() }
    }

    fn hash(text: &str) -> StoredHash {
        StoredHash::parse(text, OldHashes::Allowed).unwrap()
    }

    #[test]
    fn only_the_very_same_is_known() {
        let memory = Memory::new();
        let one = hash("{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=");
        let changed = hash("{SHA}AAAAAAAAAAAAAAAAAAAAAAAAAAA=");
        memory.remember(&credentials("ann", "pass"), &one, 0);
        let check = |user, password, hash, expected| {
            assert_eq!(
                memory.knows(&credentials(user, password), hash, 0),
                expected,
                "{user} {password}"
            );
        };
        check("ann", "pas", &one, false);
        check("annp", "ass", &one, false);
        check("an", "npass", &one, false);
        check("Ann", "pass", &one, false);
        check("ann", "pass", &changed, false);
        check("ann", "pass", &one, true);
    }

    #[test]
    fn it_is_forgotten_after_minutes() {
        let memory = Memory::new();
        let one = hash("{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=");
        memory.remember(&credentials("ann", "pass"), &one, 1000);
        assert!(memory.knows(&credentials("ann", "pass"), &one, 1000 + REMEMBERED_MS - 1));
        assert!(!memory.knows(&credentials("ann", "pass"), &one, 1000 + REMEMBERED_MS));
    }

    #[test]
    fn the_memory_is_bounded_and_the_oldest_goes() {
        let memory = Memory::new();
        let one = hash("{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=");
        for number in 0..2 * REMEMBERED_MAX {
            memory.remember(&credentials(&format!("user{number}"), ""), &one, number as u64);
        }
        let held: usize = memory.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(held <= REMEMBERED_MAX);
        assert!(!memory.knows(&credentials("user0", ""), &one, 0));
        let last = 2 * REMEMBERED_MAX - 1;
        assert!(memory.knows(&credentials(&format!("user{last}"), ""), &one, last as u64));
    }
}
