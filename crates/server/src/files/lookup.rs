//! Resolves a request path: decoding, hidden names, index files, redirects, compressed siblings,
//! the page of a single-page application. The state of every file involved is recorded, so that the
//! cache can check the result later.

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

use crate::compression::{COMPRESS_BYTES_MAX, COMPRESS_BYTES_MIN, Preference};
use crate::files::cache::{CacheEntry, LookupResult, PathState};
use crate::files::options::{Compression, DotFiles, FilesOptions, Listing, UnknownPaths};
use crate::files::representation::{Draft, Representation, SMALL_FILE_BYTES_MAX, Vary};
use crate::files::root::{Fingerprint, Kind, Node, OpenError, Reading, Root, Stat};
use crate::files::shared::FilesShared;

/// A look-up of a path in a root.
pub(crate) struct Lookup<'a> {
    root: &'a Root,
    options: &'a FilesOptions,
    /// The name of the one file that is served, if the root is not a directory.
    single: Option<&'a [u8]>,
    preference: Preference,
    now: Now,
    dependencies: Vec<PathState>,
    opened: Option<(Fingerprint, Arc<File>)>,
    lasting: Lasting,
    is_settled: bool,
}

/// The result of a look-up.
#[derive(Debug)]
pub(crate) struct LookedUp {
    pub(crate) entry: CacheEntry,
    /// The file, where it is too large to be kept in memory.
    pub(crate) opened: Option<(Fingerprint, Arc<File>)>,
    pub(crate) lasting: Lasting,
}

/// Whether a result depends on the files alone, and not on a shortage of the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasting {
    Yes,
    No,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(
        shared: &'a FilesShared,
        root: &'a Root,
        preference: Preference,
        now: Now,
    ) -> Self {
        Self {
            root,
            options: &shared.options,
            single: shared.single.as_deref(),
            preference,
            now,
            dependencies: Vec::new(),
            opened: None,
            lasting: Lasting::Yes,
            is_settled: true,
        }
    }

    /// Looks up a path as it came.
    pub(crate) fn run(mut self, raw_path: &[u8]) -> LookedUp {
        let result = self.find(raw_path);
        LookedUp {
            entry: CacheEntry {
                result,
                dependencies: self.dependencies.into_boxed_slice(),
                checked_ms: Cell::new(self.now.monotonic_ms),
                is_settled: self.is_settled,
            },
            opened: self.opened,
            lasting: self.lasting,
        }
    }

    fn find(&mut self, raw: &[u8]) -> LookupResult {
        let Ok(path) = NormalPath::decode(raw) else {
            return LookupResult::Failed(Status::BAD_REQUEST);
        };
        if self.options.dot_files == DotFiles::Hide && is_hidden(&path) {
            return LookupResult::Missing;
        }
        let relative = &path.as_bytes()[1..];
        match (self.single, relative) {
            (Some(single), b"") => self.file_or_redirect(single),
            (Some(single), name) if single == name => self.file_or_redirect(single),
            (Some(_), _) => LookupResult::Missing,
            (None, b"") => self.directory(b""),
            (None, [directory @ .., b'/']) => self.directory(directory),
            (None, _) => self.file_or_redirect(relative),
        }
    }

    fn file_or_redirect(&mut self, relative: &[u8]) -> LookupResult {
        match self.open(relative) {
            Ok(node) if node.stat.kind == Kind::File => self.file(relative, node),
            // The path is normal and every special byte of it is encoded, so that neither `//host`
            // nor a backslash can lead elsewhere. Without scheme and host, those of the request
            // hold.
            Ok(_) => LookupResult::Redirect(
                format!("/{}/", percent_encode_path(relative)).into_boxed_str(),
            ),
            Err(error) => self.failure(error, relative),
        }
    }

    fn directory(&mut self, relative: &[u8]) -> LookupResult {
        let options = self.options;
        for name in &options.index {
            let index = join(relative, name.as_bytes());
            match self.open(&index) {
                Ok(node) if node.stat.kind == Kind::File => return self.file(&index, node),
                Ok(_) | Err(OpenError::Missing) => {}
                Err(error) => return self.failure(error, &index),
            }
        }
        match self.stat(relative) {
            Ok(stat) if stat.kind == Kind::Directory && options.listing == Listing::On => {
                LookupResult::Listing(Box::from(relative))
            }
            Ok(stat) if stat.kind == Kind::Directory => match options.unknown_paths {
                UnknownPaths::SinglePage => LookupResult::SinglePage,
                UnknownPaths::NotFound => LookupResult::Failed(Status::FORBIDDEN),
            },
            Ok(_) => LookupResult::Missing,
            Err(error) => self.failure(error, relative),
        }
    }

    fn failure(&mut self, error: OpenError, relative: &[u8]) -> LookupResult {
        match error {
            OpenError::Missing if self.is_routed_by_page(relative) => LookupResult::SinglePage,
            // A link, a fifo, a path out of the root: clients must not learn that it exists.
            OpenError::Missing | OpenError::Linked | OpenError::Escapes | OpenError::Special => {
                LookupResult::Missing
            }
            OpenError::Unreadable => LookupResult::Failed(Status::FORBIDDEN),
            OpenError::Exhausted => {
                self.lasting = Lasting::No;
                LookupResult::Failed(Status::SERVICE_UNAVAILABLE)
            }
            OpenError::System(_) => {
                self.lasting = Lasting::No;
                LookupResult::Failed(Status::INTERNAL_SERVER_ERROR)
            }
        }
    }

    fn is_routed_by_page(&self, relative: &[u8]) -> bool {
        let name = relative.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        self.options.unknown_paths == UnknownPaths::SinglePage && !name.contains(&b'.')
    }

    fn file(&mut self, relative: &[u8], node: Node) -> LookupResult {
        let options = self.options;
        let media_type = media_type_of(relative, options);
        let compressible =
            options.compression != Compression::Off && media_type::is_compressible(&media_type);
        let draft = Draft {
            source: Box::from(relative),
            fingerprint: node.stat.fingerprint,
            reading: self.reading(&node.stat.fingerprint),
            media_type,
            encoding: Encoding::Identity,
            vary: if compressible { Vary::AcceptEncoding } else { Vary::Nothing },
            now: self.now.unix_seconds,
        };
        if !compressible || self.preference == Preference::IDENTITY {
            return self.load(draft, node).map_or_else(|result| result, LookupResult::File);
        }
        if let Some((sibling, encoding)) = self.sibling(relative, node.stat) {
            let source = with_extension(relative, encoding);
            let fingerprint = sibling.stat.fingerprint;
            let reading = self.reading(&fingerprint);
            let draft = Draft { source, fingerprint, reading, encoding, ..draft };
            return self.load(draft, sibling).map_or_else(|result| result, LookupResult::File);
        }
        let size = node.stat.fingerprint.size;
        let on_the_fly = options.compression == Compression::On
            && (COMPRESS_BYTES_MIN..=COMPRESS_BYTES_MAX).contains(&size);
        match (self.load(draft, node), self.preference.encodings().next()) {
            (Err(result), _) => result,
            (Ok(identity), Some(encoding)) if on_the_fly => {
                LookupResult::Compressible { identity, encoding }
            }
            (Ok(identity), _) => LookupResult::File(identity),
        }
    }

    /// The best acceptable sibling that is at least as new as the file. Whole seconds are compared:
    /// many tools that copy times lose the rest.
    fn sibling(&mut self, relative: &[u8], original: Stat) -> Option<(Node, Encoding)> {
        let seconds = |stat: Stat| stat.fingerprint.modified_ns.div_euclid(1_000_000_000);
        let preference = self.preference;
        preference.encodings().find_map(|encoding| {
            let node = self.open(&with_extension(relative, encoding)).ok()?;
            let usable = node.stat.kind == Kind::File && seconds(node.stat) >= seconds(original);
            usable.then_some((node, encoding))
        })
    }

    fn reading(&mut self, fingerprint: &Fingerprint) -> Reading {
        let reading = Reading::new(fingerprint, self.now.unix_seconds);
        self.is_settled &= reading == Reading::Settled;
        reading
    }

    fn load(&mut self, draft: Draft, node: Node) -> Result<Arc<Representation>, LookupResult> {
        let fingerprint = draft.fingerprint;
        let loaded = Representation::from_file(draft, node.descriptor.as_fd(), self.options);
        let Ok(representation) = loaded else {
            self.lasting = Lasting::No;
            return Err(LookupResult::Failed(Status::INTERNAL_SERVER_ERROR));
        };
        if fingerprint.size > SMALL_FILE_BYTES_MAX {
            self.opened = Some((fingerprint, Arc::new(File::from(node.descriptor))));
        }
        Ok(Arc::new(representation))
    }

    fn open(&mut self, path: &[u8]) -> Result<Node, OpenError> {
        let opened = self.root.open_node(path);
        let stat = match &opened {
            Ok(node) => Ok(node.stat),
            // A later look does not read, and so may succeed where the open did not.
            Err(OpenError::Unreadable) => self.root.stat(path),
            Err(error) => Err(*error),
        };
        self.record(path, stat);
        opened
    }

    fn stat(&mut self, path: &[u8]) -> Result<Stat, OpenError> {
        let stat = self.root.stat(path);
        self.record(path, stat);
        stat
    }

    fn record(&mut self, path: &[u8], stat: Result<Stat, OpenError>) {
        let path = Box::from(path);
        self.dependencies.push(PathState { path, stat });
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
    let extension =
        name.rsplit(|&byte| byte == b'.').next().filter(|extension| extension.len() < name.len());
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
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}
