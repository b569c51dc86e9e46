//! The cache of compressed files, shared by all reactors of a process.
//!
//! The key contains the state of the file, so a changed file has no result. For a file that had
//! been written just before it was read it also contains the reading: another one may find other
//! content in the same state.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vervet_http::negotiation::Encoding;

use crate::caches::CacheCounts;
use crate::compression::Compressed;
use crate::files::byte_cache::ByteCache;
use crate::files::root::{Fingerprint, Reading};

/// Memory for compressed files, in bytes, of the process.
pub(crate) const COMPRESSED_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A state of a file, its reading, and a coding.
pub(crate) type CompressedKey = (Fingerprint, Reading, Encoding);

/// The compressed files of a process.
#[derive(Debug)]
pub(crate) struct CompressedFiles(Mutex<ByteCache<CompressedKey, Compressed>>);

impl CompressedFiles {
    pub(crate) fn new(bytes_max: u64, counts: Arc<CacheCounts>) -> Self {
        Self(Mutex::new(ByteCache::new(64, bytes_max, counts)))
    }

    /// The result of compressing the file, if it is cached.
    pub(crate) fn get(&self, key: &CompressedKey) -> Option<Compressed> {
        self.lock().get_valid(key, |_| true).cloned()
    }

    /// As [`CompressedFiles::get`], uncounted: for a job that began because there was no result.
    pub(crate) fn peek(&self, key: &CompressedKey) -> Option<Compressed> {
        self.lock().peek(key).cloned()
    }

    pub(crate) fn insert(&self, key: CompressedKey, compressed: Compressed) {
        const OVERHEAD: u64 = 128;
        let bytes = match &compressed {
            Compressed::Smaller(bytes) => OVERHEAD + bytes.len() as u64,
            Compressed::NotSmaller => OVERHEAD,
        };
        self.lock().insert(key, bytes, compressed);
    }

    // What the cache does under the lock does not panic.
    fn lock(&self) -> MutexGuard<'_, ByteCache<CompressedKey, Compressed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn results_stay_within_their_memory() {
        let results = CompressedFiles::new(10_000, Arc::default());
        for inode in 0..100 {
            let fingerprint =
                Fingerprint { device: 1, inode, size: 1, modified_ns: 1, changed_ns: 1 };
            let compressed = Compressed::Smaller(Bytes::from(vec![0; 1000]));
            let key = |encoding| (fingerprint, Reading::Settled, encoding);
            results.insert(key(Encoding::Gzip), compressed.clone());
            assert!(results.lock().bytes() <= 10_000);
            assert_eq!(results.get(&key(Encoding::Gzip)), Some(compressed));
            assert_eq!(results.get(&key(Encoding::Zstd)), None);
        }
    }
}
