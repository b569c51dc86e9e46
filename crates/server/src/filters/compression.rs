//! The directive `compression`: compresses responses other than files, by [`crate::compression`].

use std::sync::Arc;

use vervet_config::{Size, section, words};
use vervet_http::negotiation::Encoding;

use super::FilterDirective;
use crate::compression::AnswerCompression;
use crate::resources::{Opened, Resources};
use crate::web::Pipeline;

words! {
    /// A content coding of compressed responses.
    pub enum Coding {
        /// zstd (RFC 8878): the fastest to decompress.
        Zstd = "zstd",
        /// Brotli (RFC 7932): smaller than gzip, supported by all browsers.
        Brotli = "br",
        /// gzip (RFC 1952): supported by all clients.
        Gzip = "gzip",
    }
}

section! {
    /// Compresses responses if the client accepts it and the content is text: `compression = false`
    /// disables it. Over TLS, do not compress responses that contain both a secret and text that an
    /// attacker can choose (BREACH).
    pub struct Compression short(enabled) {
        /// Whether responses are compressed.
        pub enabled: bool = true,
        /// Responses with less content are not compressed.
        pub min_size: Size = "1KiB" in "1"..="4MiB",
        /// The codings that may be used. The preference of the client decides; if it has none, the
        /// first of zstd, br and gzip.
        pub codings: Vec<Coding> = ["zstd", "br", "gzip"],
    }
}

impl FilterDirective for Compression {
    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        let compression = self.enabled.then(|| {
            let codings = self.codings.iter().map(|coding| coding.encoding());
            let (min_bytes, offload) = (self.min_size.bytes(), resources.pool.offload());
            Arc::new(AnswerCompression::new(min_bytes, codings.collect(), offload))
        });
        pipeline.finish.compression = compression;
        Ok(())
    }
}

impl Coding {
    fn encoding(self) -> Encoding {
        match self {
            Self::Zstd => Encoding::Zstd,
            Self::Brotli => Encoding::Brotli,
            Self::Gzip => Encoding::Gzip,
        }
    }
}
