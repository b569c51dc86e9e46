//! Content codings: which one a client accepts, how hard content is compressed, and answers
//! compressed on their way out.
//!
//! What is kept of compressed files is the file server's business.

mod answer;
mod encode;
mod preference;

pub use answer::{AcceptedCodings, AnswerCompression, INLINE_BYTES_MAX};
pub use encode::{COMPRESS_BYTES_MAX, COMPRESS_BYTES_MIN};
pub(crate) use encode::{Compressed, compress, encode};
pub(crate) use preference::{Preference, PreferenceMemory};
