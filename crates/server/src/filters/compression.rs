//! The directive `compression`: answers that are not files, compressed on their way out. How is the
//! business of [`crate::compression`].

use std::sync::Arc;

use vervet_config::{Size, section, words};
use vervet_http::negotiation::Encoding;

use super::FilterDirective;
use crate::compression::AnswerCompression;
use crate::resources::{Opened, Resources};
use crate::web::Pipeline;

words! {
    /// A content coding of compressed answers.
    pub enum Coding {
        /// zstd (RFC 8878): unpacks fastest.
        Zstd = "zstd",
        /// Brotli (RFC 7932): smaller than gzip, known to every browser.
        Brotli = "br",
        /// gzip (RFC 1952): known to everything.
        Gzip = "gzip",
    }
}

section! {
    /// Answers compressed on their way out, where the client takes a coding and the content is
    /// text: `compression = false` turns it off. Over TLS, an answer that holds both a secret and a
    /// text that a stranger can choose should not be compressed.
    pub struct Compression short(enabled) {
        /// Whether answers are compressed.
        pub enabled: bool = true,
        /// Smaller answers are sent as they are.
        pub min_size: Size = "1KiB" in "1"..="4MiB",
        /// Codings that may be used. Which of them is the client's choice, and of equals the first
        /// of zstd, br and gzip.
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
