//! Content codings: which one a client accepts, compression levels, and compressed responses.
//!
//! The cache of compressed files belongs to the file server.

mod answer;
mod encode;
mod preference;

pub use answer::{AcceptedCodings, AnswerCompression, INLINE_BYTES_MAX};
pub use encode::{COMPRESS_BYTES_MAX, COMPRESS_BYTES_MIN};
pub(crate) use encode::{Compressed, compress, encode};
pub(crate) use preference::{Preference, PreferenceMemory};
