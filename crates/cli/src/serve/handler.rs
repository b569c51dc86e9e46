//! What answers the requests: the files that the options ask for.

use std::path::Path;
use std::sync::Arc;

use vervet_server::options::{CacheControl, Compression, DotFiles, Listing, UnknownPaths};
use vervet_server::root::Symlinks;
use vervet_server::{FilesOptions, FilesShared};

use super::arguments::FilesArguments;
use crate::failure::Failure;

/// The name that answers give as `Server`.
pub(super) const SERVER: &str = "Vervet";

/// What all reactors share of the files at `path`.
pub(super) fn files(path: &Path, arguments: &FilesArguments) -> Result<Arc<FilesShared>, Failure> {
    let options = FilesOptions {
        index: arguments.index.clone(),
        listing: if arguments.no_listing {
            Listing::Off
        } else {
            Listing::On
        },
        symlinks: if arguments.follow_symlinks {
            Symlinks::Follow
        } else {
            Symlinks::Refuse
        },
        dot_files: if arguments.hidden {
            DotFiles::Serve
        } else {
            DotFiles::Hide
        },
        unknown_paths: if arguments.spa {
            UnknownPaths::SinglePage
        } else {
            UnknownPaths::NotFound
        },
        cache_control: match arguments.max_age.as_secs() {
            0 => CacheControl::NoCache,
            seconds => CacheControl::MaxAge {
                seconds: u32::try_from(seconds).unwrap_or(u32::MAX),
            },
        },
        compression: if arguments.no_compression {
            Compression::Off
        } else {
            Compression::On
        },
        server: SERVER.to_owned(),
        ..FilesOptions::new(path)
    };
    FilesShared::new(options).map_err(Failure::Root)
}
