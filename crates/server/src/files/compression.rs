//! Content compressed on the way: which codings, how hard, and the results that are kept.
//!
//! Results are shared by the reactors of a process and keyed by the state of the file, so a changed file simply
//! has none. The work is done by [`crate::offload`]; what is worth compressing is the resolver's business.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use quick_cache::unsync::Cache;
use quick_cache::{DefaultHashBuilder, Lifecycle, Weighter};
use vervet_http::negotiation::Encoding;

use crate::caches::CacheCounts;
use crate::files::root::Fingerprint;

/// Smaller files are not compressed, in bytes: they fit one packet anyway.
pub const COMPRESS_BYTES_MIN: u64 = 1024;

/// Larger files are not compressed on the way, in bytes: it would take a tenth of a second and more. Siblings
/// made beforehand have no such bound.
pub const COMPRESS_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Memory for results, in bytes, of the process.
pub const RESULTS_BYTES_MAX: u64 = 32 * 1024 * 1024;

// Levels at which each costs about as much as the others for text: some 10 ms for 1 MB.
const ZSTD_LEVEL: i32 = 6;
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW_BITS: u32 = 20;
const GZIP_LEVEL: u32 = 6;

/// What compressing a file gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compressed {
    Smaller(Bytes),
    /// Not worth sending: the file is sent as it is.
    NotSmaller,
}

/// A state of a file, and a coding.
pub(crate) type ResultKey = (Fingerprint, Encoding);

#[derive(Debug, Clone, Copy)]
struct ByBytes;

impl Weighter<ResultKey, Compressed> for ByBytes {
    fn weight(&self, _: &ResultKey, compressed: &Compressed) -> u64 {
        const OVERHEAD: u64 = 128;
        match compressed {
            Compressed::Smaller(bytes) => OVERHEAD + bytes.len() as u64,
            Compressed::NotSmaller => OVERHEAD,
        }
    }
}

/// The results kept, for all reactors of a process.
#[derive(Debug)]
pub(crate) struct CompressionResults {
    kept: Mutex<Results>,
    counts: Arc<CacheCounts>,
}

type Results = Cache<ResultKey, Compressed, ByBytes, DefaultHashBuilder, Evictions>;

/// Counts what makes room.
#[derive(Debug, Clone)]
struct Evictions(Arc<CacheCounts>);

impl Lifecycle<ResultKey, Compressed> for Evictions {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), _: ResultKey, _: Compressed) {
        self.0.evicted();
    }
}

impl CompressionResults {
    pub(crate) fn new(bytes_max: u64, counts: Arc<CacheCounts>) -> Self {
        let hasher = DefaultHashBuilder::default();
        let evictions = Evictions(Arc::clone(&counts));
        let kept = Cache::with(64, bytes_max, ByBytes, hasher, evictions);
        Self {
            kept: Mutex::new(kept),
            counts,
        }
    }

    /// The result, if there is one. Counted under the lock, so that one thread at a time does.
    pub(crate) fn get(&self, key: &ResultKey) -> Option<Compressed> {
        let kept = self.kept();
        let result = kept.get(key).cloned();
        match result {
            Some(_) => self.counts.hit(),
            None => self.counts.miss(),
        }
        result
    }

    /// The same, uncounted, for who was told that there is none.
    pub(crate) fn peek(&self, key: &ResultKey) -> Option<Compressed> {
        self.kept().peek(key).cloned()
    }

    pub(crate) fn keep(&self, key: ResultKey, compressed: Compressed) {
        let mut kept = self.kept();
        kept.insert(key, compressed);
        self.counts.holds(kept.len(), kept.weight());
    }

    // What the cache does under the lock does not panic.
    fn kept(&self) -> MutexGuard<'_, Results> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compresses a content of at most [`COMPRESS_BYTES_MAX`] bytes.
pub(crate) fn compress(content: &[u8], encoding: Encoding) -> Compressed {
    match encode(content, encoding) {
        Ok(bytes) if bytes.len() < content.len() => Compressed::Smaller(bytes),
        _ => Compressed::NotSmaller,
    }
}

/// The content in a coding, whether or not it is smaller.
pub(crate) fn encode(content: &[u8], encoding: Encoding) -> std::io::Result<Bytes> {
    let coded = match encoding {
        Encoding::Identity => content.to_vec(),
        Encoding::Zstd => zstd::bulk::compress(content, ZSTD_LEVEL)?,
        Encoding::Brotli => brotli(content)?,
        Encoding::Gzip => gzip(content)?,
    };
    Ok(Bytes::from(coded.into_boxed_slice()))
}

fn brotli(content: &[u8]) -> std::io::Result<Vec<u8>> {
    const BUFFER_BYTES: usize = 4096;
    let output = Vec::with_capacity(content.len() / 4);
    let mut writer =
        brotli::CompressorWriter::new(output, BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW_BITS);
    writer.write_all(content)?;
    Ok(writer.into_inner())
}

fn gzip(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let output = Vec::with_capacity(content.len() / 4);
    let mut writer = flate2::write::GzEncoder::new(output, flate2::Compression::new(GZIP_LEVEL));
    writer.write_all(content)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn unpacked(bytes: &[u8], encoding: Encoding) -> Vec<u8> {
        let mut content = Vec::new();
        match encoding {
            Encoding::Identity => content.extend_from_slice(bytes),
            Encoding::Zstd => content = zstd::bulk::decompress(bytes, 1 << 23).unwrap(),
            Encoding::Brotli => {
                brotli::Decompressor::new(bytes, 4096)
                    .read_to_end(&mut content)
                    .unwrap();
            }
            Encoding::Gzip => {
                flate2::read::GzDecoder::new(bytes)
                    .read_to_end(&mut content)
                    .unwrap();
            }
        }
        content
    }

    fn check(content: &[u8], encoding: Encoding) {
        let Compressed::Smaller(bytes) = compress(content, encoding) else {
            panic!("{} bytes do not shrink with {encoding:?}", content.len());
        };
        assert!(
            unpacked(&bytes, encoding) == content,
            "{encoding:?} of {} bytes",
            content.len()
        );
    }

    #[test]
    fn noise_is_left_alone() {
        let mut noise = [0; 2000];
        rustix::rand::getrandom(&mut noise, rustix::rand::GetRandomFlags::empty()).unwrap();
        for encoding in [Encoding::Zstd, Encoding::Brotli, Encoding::Gzip] {
            assert_eq!(compress(&noise, encoding), Compressed::NotSmaller);
            assert_eq!(compress(b"", encoding), Compressed::NotSmaller);
        }
    }

    #[test]
    fn text_comes_back_as_it_was() {
        for size in [COMPRESS_BYTES_MIN, 50_000, 300_000] {
            let words = (0..).flat_map(|number: u32| format!("line {number}\n").into_bytes());
            let text: Vec<u8> = words.take(usize::try_from(size).unwrap()).collect();
            for encoding in [Encoding::Zstd, Encoding::Brotli, Encoding::Gzip] {
                check(&text, encoding);
            }
        }
    }

    #[test]
    fn results_stay_within_their_memory() {
        let results = CompressionResults::new(10_000, Arc::default());
        for inode in 0..100 {
            let fingerprint = Fingerprint {
                device: 1,
                inode,
                size: 1,
                modified_ns: 1,
                changed_ns: 1,
            };
            let compressed = Compressed::Smaller(Bytes::from(vec![0; 1000]));
            results.keep((fingerprint, Encoding::Gzip), compressed.clone());
            assert!(results.kept().weight() <= 10_000);
            assert_eq!(
                results.get(&(fingerprint, Encoding::Gzip)),
                Some(compressed)
            );
            assert_eq!(results.get(&(fingerprint, Encoding::Zstd)), None);
        }
    }
}
