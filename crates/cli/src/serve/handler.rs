//! What answers the requests: the files that the options ask for.

use std::path::Path;
use std::sync::Arc;

use vervet_server::options::{CacheControl, Compression, DotFiles, Listing, UnknownPaths};
use vervet_server::root::Symlinks;
use vervet_server::{Files, FilesOptions, FilesShared};

use super::arguments::FilesArguments;
use crate::failure::Failure;
use crate::talk;

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
    FilesShared::new(options).map_err(|error| Failure::Root(path.to_owned(), error))
}

/// The files as one reactor serves them.
pub(super) fn of_reactor(shared: &Arc<FilesShared>) -> Files {
    Files::new(shared).unwrap_or_else(|error| {
        // It could be opened a moment ago. A worker that cannot start ends the program, as it would have then.
        let path = shared.options().root.clone();
        talk::say(format_args!("{}", Failure::Root(path, error)));
        std::process::exit(1)
    })
}
