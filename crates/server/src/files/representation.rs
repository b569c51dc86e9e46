//! A file as it is sent: its validators, its encoded head, and its content if that is small.

use std::borrow::Cow;
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use vervet_http::conditional::Validators;
use vervet_http::date::UnixSeconds;
use vervet_http::etag::EntityTag;
use vervet_http::field::Known;
use vervet_http::negotiation::Encoding;
use vervet_http::status::Status;

use crate::files::compressed::CompressedKey;
use crate::files::options::{CacheControl, FilesOptions};
use crate::files::root::{Fingerprint, Reading};
use crate::response::Head;

/// Files up to this size are kept in memory and sent in one piece with their head; larger ones are
/// sent from their descriptor. Two system calls are dearer than copying this much, the other way
/// round above it.
pub const SMALL_FILE_BYTES_MAX: u64 = 32 * 1024;

/// Where the content of a representation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file itself.
    File,
    /// Compressed by us: there only as long as the cache keeps it, so ranges are not served from
    /// it.
    Compressed,
}

/// Whether Accept-Encoding may change the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vary {
    Nothing,
    AcceptEncoding,
}

#[derive(Debug)]
pub(crate) struct Representation {
    /// Path of the file, relative to the root.
    pub(crate) source: Box<[u8]>,
    /// State of the file when it was read.
    pub(crate) fingerprint: Fingerprint,
    reading: Reading,
    /// Bytes of the content.
    pub(crate) length: u64,
    pub(crate) media_type: Cow<'static, str>,
    pub(crate) encoding: Encoding,
    pub(crate) origin: Origin,
    pub(crate) vary: Vary,
    pub(crate) last_modified: UnixSeconds,
    etag: Box<[u8]>,
    /// The head of a 200.
    pub(crate) head: Bytes,
    /// The content, where it is small or made by us.
    pub(crate) content: Option<Bytes>,
}

/// The properties of a representation before its head is encoded.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) source: Box<[u8]>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) reading: Reading,
    pub(crate) media_type: Cow<'static, str>,
    pub(crate) encoding: Encoding,
    pub(crate) vary: Vary,
    /// The present time; a date of modification after it is not told (RFC 9110 §8.8.2.1).
    pub(crate) now: UnixSeconds,
}

impl Representation {
    /// Reads a small file into memory, with its head before it in one allocation.
    pub(crate) fn from_file(
        draft: Draft,
        descriptor: BorrowedFd<'_>,
        options: &FilesOptions,
    ) -> Result<Self, Errno> {
        let length = draft.fingerprint.size;
        let mut representation = Self::without_content(draft, length, Origin::File);
        let mut bytes = representation.encode_head(Status::OK, options).into_bytes();
        let head_bytes = bytes.len();
        if length <= SMALL_FILE_BYTES_MAX {
            read_to(&mut bytes, descriptor, length)?;
            // A file cut while it was read is sent as it was found; its new state shows at the next
            // look.
            representation.length = (bytes.len() - head_bytes) as u64;
            let mut all = Bytes::from(bytes);
            representation.content = Some(all.split_off(head_bytes));
            representation.head = all;
        } else {
            representation.head = Bytes::from(bytes);
        }
        Ok(representation)
    }

    /// The same file, its content compressed by us.
    pub(crate) fn of_compressed(
        &self,
        encoding: Encoding,
        content: Bytes,
        options: &FilesOptions,
    ) -> Self {
        let draft = Draft { encoding, ..self.draft() };
        let mut compressed = Self::without_content(draft, content.len() as u64, Origin::Compressed);
        compressed.head = Bytes::from(compressed.encode_head(Status::OK, options).into_bytes());
        compressed.content = Some(content);
        compressed
    }

    /// As [`Representation::of_compressed`] before there is content: for its validators and fields
    /// only.
    pub(crate) fn to_be_compressed(&self, encoding: Encoding) -> Self {
        Self::without_content(Draft { encoding, ..self.draft() }, 0, Origin::Compressed)
    }

    /// The key of its content in a coding.
    pub(crate) fn compressed_key(&self, encoding: Encoding) -> CompressedKey {
        (self.fingerprint, self.reading, encoding)
    }

    pub(crate) fn validators(&self) -> Validators<'_> {
        Validators { etag: EntityTag::parse(&self.etag), last_modified: Some(self.last_modified) }
    }

    /// A head with the fields that every answer about this representation carries, 304 included
    /// (RFC 9110 §15.4.5).
    pub(crate) fn encode_validator_head(&self, status: Status, options: &FilesOptions) -> Head {
        let mut head = Head::new(status, &options.server);
        head.field(Known::ETag, &self.etag);
        head.date_field(Known::LastModified, self.last_modified);
        match options.cache_control {
            CacheControl::Unsaid => {}
            CacheControl::NoCache => head.field(Known::CacheControl, b"no-cache"),
            CacheControl::MaxAge { seconds } => {
                head.field(Known::CacheControl, format!("max-age={seconds}").as_bytes());
            }
        }
        if self.vary == Vary::AcceptEncoding {
            head.field(Known::Vary, b"Accept-Encoding");
        }
        head
    }

    /// A head with all fields of an answer that sends this representation, but for Content-Type.
    pub(crate) fn encode_untyped_head(&self, status: Status, options: &FilesOptions) -> Head {
        let mut head = self.encode_validator_head(status, options);
        head.field(Known::AcceptRanges, b"bytes");
        if self.encoding != Encoding::Identity {
            head.field(Known::ContentEncoding, self.encoding.token().as_bytes());
        }
        head
    }

    /// A head with all fields of an answer that sends this representation.
    pub(crate) fn encode_head(&self, status: Status, options: &FilesOptions) -> Head {
        let mut head = self.encode_untyped_head(status, options);
        head.field(Known::ContentType, self.media_type.as_bytes());
        head
    }

    /// Bytes that it occupies in addition to itself.
    pub(crate) fn memory_bytes(&self) -> usize {
        let content = self.content.as_ref().map_or(0, Bytes::len);
        self.source.len() + self.etag.len() + self.head.len() + content
    }

    fn draft(&self) -> Draft {
        Draft {
            source: self.source.clone(),
            fingerprint: self.fingerprint,
            reading: self.reading,
            media_type: self.media_type.clone(),
            encoding: self.encoding,
            vary: self.vary,
            now: self.last_modified,
        }
    }

    fn without_content(draft: Draft, length: u64, origin: Origin) -> Self {
        let modified = u64::try_from(draft.fingerprint.modified_ns / 1_000_000_000).unwrap_or(0);
        Self {
            etag: etag(&draft.fingerprint, draft.encoding),
            source: draft.source,
            fingerprint: draft.fingerprint,
            reading: draft.reading,
            length,
            media_type: draft.media_type,
            encoding: draft.encoding,
            origin,
            vary: draft.vary,
            last_modified: modified.min(draft.now),
            head: Bytes::new(),
            content: None,
        }
    }
}

/// Strong: the nanoseconds of the modification and the size, and the coding, since each coding is
/// other bytes.
fn etag(fingerprint: &Fingerprint, encoding: Encoding) -> Box<[u8]> {
    let (modified, size) = (fingerprint.modified_ns, fingerprint.size);
    let tag = match encoding {
        Encoding::Identity => format!("\"{modified:x}-{size:x}\""),
        other => format!("\"{modified:x}-{size:x}-{}\"", other.token()),
    };
    tag.into_bytes().into_boxed_slice()
}

/// Appends up to `length` bytes from the beginning of a file, fewer if it has become shorter.
pub(crate) fn read_to(into: &mut Vec<u8>, file: BorrowedFd<'_>, length: u64) -> Result<(), Errno> {
    let start = into.len();
    let length = usize::try_from(length).map_err(|_| Errno::FBIG)?;
    into.reserve_exact(length);
    while into.len() - start < length {
        let offset = (into.len() - start) as u64;
        let wanted = length - (into.len() - start);
        // The spare capacity may be larger than what is wanted: a file that grows meanwhile is cut
        // afterwards.
        match rustix::io::pread(file.as_fd(), spare_capacity(into), offset) {
            Ok(0) => break,
            Ok(read) if read >= wanted => into.truncate(start + length),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
