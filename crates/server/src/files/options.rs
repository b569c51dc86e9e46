//! The options of a file handler, with their defaults.

use std::path::PathBuf;

use vervet_config::words;

use crate::files::root::Symlinks;

/// How the files of one root are served.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilesOptions {
    /// A directory, or one file that is the whole site.
    pub root: PathBuf,
    /// A folder beneath `root` that is served instead of it, reached without passing a symbolic
    /// link.
    pub beneath: Option<PathBuf>,
    /// Names tried in order where a directory is asked for; the first that exists is served.
    pub index: Vec<String>,
    /// Whether a directory without an index file is listed.
    pub listing: Listing,
    /// Whether symbolic links are followed.
    pub symlinks: Symlinks,
    /// Whether names that begin with a dot are served.
    pub dot_files: DotFiles,
    /// The response to an unknown path.
    pub unknown_paths: UnknownPaths,
    /// The Cache-Control field of files.
    pub cache_control: CacheControl,
    /// Whether and how content is sent encoded.
    pub compression: Compression,
    /// Media types by extension (without the dot, in lower case), before the built-in table.
    pub media_types: Vec<(String, String)>,
    /// Media type of files with an unknown extension.
    pub default_media_type: String,
    /// The value of the Server field.
    pub server: String,
    /// Bounds of the memory and descriptors that each reactor keeps.
    pub limits: CacheLimits,
}

impl FilesOptions {
    /// The defaults of `vervet serve` for `root`: `index.html`, a listing, nothing hidden, edits
    /// seen at once.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            beneath: None,
            index: vec!["index.html".to_owned()],
            listing: Listing::On,
            symlinks: Symlinks::Refuse,
            dot_files: DotFiles::Hide,
            unknown_paths: UnknownPaths::NotFound,
            cache_control: CacheControl::NoCache,
            compression: Compression::On,
            media_types: Vec::new(),
            default_media_type: vervet_http::media_type::DEFAULT.to_owned(),
            server: "Vervet".to_owned(),
            limits: CacheLimits::default(),
        }
    }
}

/// The response for a directory without an index file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Listing {
    /// Answers with status 403.
    Off,
    /// A listing as HTML, or as JSON on request.
    On,
}

/// Whether names that begin with a dot are served. `.well-known` (RFC 8615) at the top always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DotFiles {
    /// Not served: the response is 404.
    Hide,
    /// Served like other files.
    Serve,
}

/// The response to a path without a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnknownPaths {
    /// 404, with the `404.html` of the root where there is one.
    NotFound,
    /// The page at `/` with 200 where the last name has no extension: the page's script routes it.
    SinglePage,
}

/// How long caches may use a file without revalidation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheControl {
    /// No Cache-Control: caches estimate from the age of the file (RFC 9111 §4.2.2).
    Unsaid,
    /// `no-cache`: kept, but asked for each time, which costs a 304.
    NoCache,
    /// Caches may keep it for `max-age` seconds.
    MaxAge {
        /// The lifetime in seconds.
        seconds: u32,
    },
}

words! {
    /// Whether files are sent compressed to clients that accept it.
    pub enum Compression {
        /// Never.
        Off = "off",
        /// Only precompressed files next to the original, with the extension `.zst`, `.br` or
        /// `.gz`.
        Siblings = "siblings",
        /// Precompressed files if they exist; otherwise files are compressed once and cached.
        On = "on",
    }
}

/// Bounds of one reactor's file cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheLimits {
    /// Memory for entries with their heads and the content of small files, in bytes. Each entry
    /// counts at least
    /// [`crate::files::cache::ENTRY_BYTES_MIN`], which bounds their number.
    pub bytes_max: u64,
    /// Descriptors of larger files kept open; the others are opened for each request.
    pub descriptors_max: usize,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { bytes_max: 64 * 1024 * 1024, descriptors_max: 1024 }
    }
}
