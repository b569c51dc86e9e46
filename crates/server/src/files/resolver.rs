//! From a request path to what it leads to: decoding, hidden names, index files, redirects, siblings, the single
//! page. Every look at the file system is recorded as a witness, so that the cache can tell when to ask again.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;

use vervet_engine::reactor::Now;
use vervet_http::media_type;
use vervet_http::negotiation::Encoding;
use vervet_http::status::Status;
use vervet_http::target::{NormalPath, percent_encode_path};

use crate::files::cache::{Entry, Found, Question, Witness};
use crate::files::compression::{COMPRESS_BYTES_MAX, COMPRESS_BYTES_MIN};
use crate::files::options::{Compression, DotFiles, FilesOptions, Listing, UnknownPaths};
use crate::files::preference::Preference;
use crate::files::representation::{Draft, Representation, SMALL_FILE_BYTES_MAX, Vary};
use crate::files::root::{Fingerprint, Kind, Node, OpenError, Root, Stat};

/// Seconds after which a file counts as settled: equal times then mean equal content.
const SETTLED_S: u64 = 2;

/// Where paths are looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) root: &'a Root,
    pub(crate) options: &'a FilesOptions,
    /// The name of the one file that is served, if it is not a directory.
    pub(crate) single: Option<&'a [u8]>,
    pub(crate) now: Now,
}

/// What a look-up gives.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) entry: Entry,
    /// The file, where it is too large to be kept in memory.
    pub(crate) opened: Option<(Fingerprint, Arc<File>)>,
    pub(crate) lasting: Lasting,
}

/// Whether a finding says something about the files, and not about a shortage of the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasting {
    Yes,
    No,
}

/// Looks a path up.
pub(crate) fn resolve(place: Place<'_>, question: Question<'_>) -> Resolved {
    let mut resolver = Resolver {
        place,
        preference: question.preference,
        witnesses: Vec::new(),
        opened: None,
        lasting: Lasting::Yes,
        settled: true,
    };
    let found = resolver.find(question.path);
    Resolved {
        entry: Entry {
            found,
            witnesses: resolver.witnesses.into_boxed_slice(),
            checked_ms: Cell::new(place.now.monotonic_ms),
            settled: resolver.settled,
        },
        opened: resolver.opened,
        lasting: resolver.lasting,
    }
}

struct Resolver<'a> {
    place: Place<'a>,
    preference: Preference,
    witnesses: Vec<Witness>,
    opened: Option<(Fingerprint, Arc<File>)>,
    lasting: Lasting,
    settled: bool,
}

impl Resolver<'_> {
    fn find(&mut self, raw: &[u8]) -> Found {
        let Ok(path) = NormalPath::decode(raw) else {
            return Found::Failed(Status::BAD_REQUEST);
        };
        if self.place.options.dot_files == DotFiles::Hide && is_hidden(&path) {
            return Found::Missing;
        }
        let relative = &path.as_bytes()[1..];
        match (self.place.single, relative) {
            (Some(single), b"") => self.file_or_redirect(single),
            (Some(single), name) if single == name => self.file_or_redirect(single),
            (Some(_), _) => Found::Missing,
            (None, b"") => self.directory(b""),
            (None, [directory @ .., b'/']) => self.directory(directory),
            (None, _) => self.file_or_redirect(relative),
        }
    }

    fn file_or_redirect(&mut self, relative: &[u8]) -> Found {
        match self.open(relative) {
            Ok(node) if node.stat.kind == Kind::File => self.file(relative, node),
            // The path is normal and every special byte of it is encoded, so that neither `//host` nor a
            // backslash can lead elsewhere. Without scheme and host, those of the request hold.
            Ok(_) => {
                Found::Redirect(format!("/{}/", percent_encode_path(relative)).into_boxed_str())
            }
            Err(error) => self.failure(error, relative),
        }
    }

    fn directory(&mut self, relative: &[u8]) -> Found {
        let options = self.place.options;
        for name in &options.index {
            let index = join(relative, name.as_bytes());
            match self.open(&index) {
                Ok(node) if node.stat.kind == Kind::File => return self.file(&index, node),
                Ok(_) | Err(OpenError::Missing) => {}
                Err(error) => return self.failure(error, &index),
            }
        }
        match self.look(relative) {
            Ok(stat) if stat.kind == Kind::Directory && options.listing == Listing::On => {
                Found::Listing(Box::from(relative))
            }
            Ok(stat) if stat.kind == Kind::Directory => match options.unknown_paths {
                UnknownPaths::SinglePage => Found::SinglePage,
                UnknownPaths::NotFound => Found::Failed(Status::FORBIDDEN),
            },
            Ok(_) => Found::Missing,
            Err(error) => self.failure(error, relative),
        }
    }

    fn failure(&mut self, error: OpenError, relative: &[u8]) -> Found {
        match error {
            OpenError::Missing if self.is_routed_by_the_page(relative) => Found::SinglePage,
            // A link, a fifo, a path out of the root: that it exists is nobody's business.
            OpenError::Missing | OpenError::Linked | OpenError::Escapes | OpenError::Special => {
                Found::Missing
            }
            OpenError::Unreadable => Found::Failed(Status::FORBIDDEN),
            OpenError::Exhausted => {
                self.lasting = Lasting::No;
                Found::Failed(Status::SERVICE_UNAVAILABLE)
            }
            OpenError::System(_) => {
                self.lasting = Lasting::No;
                Found::Failed(Status::INTERNAL_SERVER_ERROR)
            }
        }
    }

    fn is_routed_by_the_page(&self, relative: &[u8]) -> bool {
        let name = relative
            .rsplit(|&byte| byte == b'/')
            .next()
            .unwrap_or_default();
        self.place.options.unknown_paths == UnknownPaths::SinglePage && !name.contains(&b'.')
    }

    fn file(&mut self, relative: &[u8], node: Node) -> Found {
        let options = self.place.options;
        let media_type = media_type_of(relative, options);
        let compressible =
            options.compression != Compression::Off && media_type::is_compressible(&media_type);
        let draft = Draft {
            source: Box::from(relative),
            fingerprint: node.stat.fingerprint,
            media_type,
            encoding: Encoding::Identity,
            vary: if compressible {
                Vary::AcceptEncoding
            } else {
                Vary::Nothing
            },
            now: self.place.now.unix_seconds,
        };
        if !compressible || self.preference == Preference::IDENTITY {
            return self
                .load(draft, node)
                .map_or_else(|found| found, Found::File);
        }
        if let Some((sibling, encoding)) = self.sibling(relative, node.stat) {
            let source = with_extension(relative, encoding);
            let fingerprint = sibling.stat.fingerprint;
            let draft = Draft {
                source,
                fingerprint,
                encoding,
                ..draft
            };
            return self
                .load(draft, sibling)
                .map_or_else(|found| found, Found::File);
        }
        let size = node.stat.fingerprint.size;
        let on_the_way = options.compression == Compression::On
            && (COMPRESS_BYTES_MIN..=COMPRESS_BYTES_MAX).contains(&size);
        match (self.load(draft, node), self.preference.encodings().next()) {
            (Err(found), _) => found,
            (Ok(identity), Some(encoding)) if on_the_way => {
                Found::Compressible { identity, encoding }
            }
            (Ok(identity), _) => Found::File(identity),
        }
    }

    /// The best acceptable sibling that is at least as new as the file. Whole seconds are compared: many tools
    /// that copy times lose the rest.
    fn sibling(&mut self, relative: &[u8], original: Stat) -> Option<(Node, Encoding)> {
        let seconds = |stat: Stat| stat.fingerprint.modified_ns.div_euclid(1_000_000_000);
        let preference = self.preference;
        preference.encodings().find_map(|encoding| {
            let node = self.open(&with_extension(relative, encoding)).ok()?;
            let usable = node.stat.kind == Kind::File && seconds(node.stat) >= seconds(original);
            usable.then_some((node, encoding))
        })
    }

    fn load(&mut self, draft: Draft, node: Node) -> Result<Arc<Representation>, Found> {
        let fingerprint = draft.fingerprint;
        let changed_s = fingerprint
            .modified_ns
            .max(fingerprint.changed_ns)
            .div_euclid(1_000_000_000);
        let age_s = self
            .place
            .now
            .unix_seconds
            .saturating_sub(u64::try_from(changed_s).unwrap_or(0));
        self.settled &= age_s >= SETTLED_S;
        let loaded = Representation::of_file(draft, node.descriptor.as_fd(), self.place.options);
        let Ok(representation) = loaded else {
            self.lasting = Lasting::No;
            return Err(Found::Failed(Status::INTERNAL_SERVER_ERROR));
        };
        if fingerprint.size > SMALL_FILE_BYTES_MAX {
            self.opened = Some((fingerprint, Arc::new(File::from(node.descriptor))));
        }
        Ok(Arc::new(representation))
    }

    fn open(&mut self, path: &[u8]) -> Result<Node, OpenError> {
        let opened = self.place.root.open_node(path);
        let seen = match &opened {
            Ok(node) => Ok(node.stat),
            // A later look does not read, and so may succeed where the open did not.
            Err(OpenError::Unreadable) => self.place.root.stat(path),
            Err(error) => Err(*error),
        };
        self.witnesses.push(Witness {
            path: Box::from(path),
            seen,
        });
        opened
    }

    fn look(&mut self, path: &[u8]) -> Result<Stat, OpenError> {
        let seen = self.place.root.stat(path);
        self.witnesses.push(Witness {
            path: Box::from(path),
            seen,
        });
        seen
    }
}

/// Names that begin with a dot are hidden, but for `.well-known` at the top (RFC 8615 §3).
fn is_hidden(path: &NormalPath<'_>) -> bool {
    path.segments()
        .enumerate()
        .any(|(depth, name)| name.starts_with(b".") && !(depth == 0 && name == b".well-known"))
}

fn media_type_of(path: &[u8], options: &FilesOptions) -> Cow<'static, str> {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let extension = name
        .rsplit(|&byte| byte == b'.')
        .next()
        .filter(|extension| extension.len() < name.len());
    let own = options.media_types.iter().find(|(known, _)| {
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case(known.as_bytes()))
    });
    match (own, media_type::by_file_name(path)) {
        (Some((_, media_type)), _) => Cow::Owned(media_type.clone()),
        (None, Some(media_type)) => Cow::Borrowed(media_type),
        (None, None) if options.default_media_type == media_type::DEFAULT => {
            Cow::Borrowed(media_type::DEFAULT)
        }
        (None, None) => Cow::Owned(options.default_media_type.clone()),
    }
}

fn with_extension(path: &[u8], encoding: Encoding) -> Box<[u8]> {
    let extension: &[u8] = match encoding {
        Encoding::Identity => b"",
        Encoding::Gzip => b".gz",
        Encoding::Brotli => b".br",
        Encoding::Zstd => b".zst",
    };
    [path, extension].concat().into_boxed_slice()
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() {
        name.to_vec()
    } else {
        [directory, b"/", name].concat()
    }
}
