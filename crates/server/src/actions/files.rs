//! `files = "www"` and `alias = "/srv/manual"`: serve folders and files.

use std::sync::Arc;

use vervet_config::{Diagnostic, Path, Setting, Text, Time, section, words};
use vervet_engine::{Exchange, Outcome};

use super::{ActionDirective, OpenAction};
use crate::files::options::{
    CacheControl, Compression, DotFiles, FilesOptions, Listing, UnknownPaths,
};
use crate::files::root::Symlinks;
use crate::files::{FileRequest, Files, FilesShared};
use crate::matching::{Offer, Rest};
use crate::resources::{Needs, Opened, Resources};
use crate::web::{Action, Handler, Request};

words! {
    /// Which part of the path is looked up in the folder.
    pub enum FilesFrom {
        /// The part that `*` matches: with `path = "/static/*"`, `/static/a.css` is `a.css` in the
        /// folder. For a route without `*`, the whole path.
        Matched = "matched",
        /// The whole path: `/static/a.css` is `static/a.css` in the folder.
        Path = "path",
    }
}

section! {
    /// Serves the files of a folder.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/static/*"
    /// files = { root = "static", max_age = "1h" }
    /// ```
    pub struct ServeFiles short(root) {
        /// The folder, or a single file, which is served for `/` and for its own name. Nothing
        /// outside it is served, regardless of the path and of symbolic links.
        pub root: Path,
        /// Index files for requests of a folder; the first that exists is served.
        pub index: Vec<Text> = ["index.html"],
        /// Lists the content of a folder without an index file; if false, the response is 403.
        pub listing: bool = false,
        /// How long caches may use a file without revalidation (`Cache-Control: max-age`); `"0s"`
        /// sends `no-cache`. If not set, no Cache-Control header is sent, and caches decide.
        pub max_age: Option<Time> = _ in "0s"..="3650d",
        /// Serves names that begin with a dot. `.well-known` at the top is always served.
        pub hidden: bool = false,
        /// How symbolic links are handled.
        pub symlinks: Symlinks = "refuse",
        /// For single-page applications: unknown paths whose last segment has no dot get the page
        /// at `/`.
        pub spa: bool = false,
        /// Sends compressed files to clients that accept them.
        pub compression: Compression = "on",
        /// Which part of the path is looked up in the folder.
        pub from: FilesFrom = "matched",
    }
}

section! {
    /// Serves a folder or a file from another location: `files` with fewer options.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/manual/*"
    /// alias = "/usr/share/doc/manual"
    ///
    /// [[site.route]]
    /// path = "/favicon.ico"
    /// alias = "images/icon.png"
    /// ```
    pub struct Alias short(to) {
        /// The folder, if the path of the route ends with `*`; or a single file, for any path.
        pub to: Path,
        /// Lists the content of a folder without an index file; if false, the response is 403.
        pub listing: bool = false,
        /// How long caches may use a file without revalidation, as for `files`.
        pub max_age: Option<Time> = _ in "0s"..="3650d",
    }
}

/// The directives that folders of all kinds have.
#[derive(Debug, Clone, Copy)]
pub(super) struct FolderSettings<'s> {
    /// Index files for requests of a folder.
    pub(super) index: &'s [Text],
    /// Whether folders are listed.
    pub(super) listing: Listing,
    /// How long caches may use a file.
    pub(super) max_age: Option<Time>,
    /// Whether links are followed.
    pub(super) symlinks: Symlinks,
}

impl FolderSettings<'_> {
    /// The options of a folder with these directives.
    pub(super) fn options(self, root: &std::path::Path, resources: &Resources<'_>) -> FilesOptions {
        FilesOptions {
            index: self.index.to_vec(),
            listing: self.listing,
            symlinks: self.symlinks,
            cache_control: cache_control(self.max_age),
            media_types: resources.media_types.to_vec(),
            default_media_type: resources.default_media_type.to_owned(),
            server: resources.server.to_owned(),
            ..FilesOptions::new(root)
        }
    }
}

/// Opens the folder or file with these options, which the directive `root` names.
fn open_root(
    options: FilesOptions,
    root: &Setting<Path>,
    resources: &Resources<'_>,
) -> Result<Arc<FilesShared>, Diagnostic> {
    let opened = resources.pool.root(options, resources.cache_limits);
    opened.map_err(|error| {
        Diagnostic::error(root.span(), error.to_string()).expected("a folder or a file")
    })
}

fn cache_control(max_age: Option<Time>) -> CacheControl {
    match max_age.map(|max_age| max_age.as_secs()) {
        None => CacheControl::Unsaid,
        Some(0) => CacheControl::NoCache,
        Some(seconds) => {
            CacheControl::MaxAge { seconds: u32::try_from(seconds).unwrap_or(u32::MAX) }
        }
    }
}

/// Whether a directory is listed, from a directive that says yes or no.
pub(super) fn listing(setting: &Setting<bool>) -> Listing {
    if *setting.value() { Listing::On } else { Listing::Off }
}

/// Answers with files of a folder.
#[derive(Debug, Clone)]
pub struct FilesAction {
    shared: Arc<FilesShared>,
    path: LookupPath,
}

/// Two actions are equal if they look up the same path in the same open folder.
impl PartialEq for FilesAction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) && self.path == other.path
    }
}

/// The path that is looked up in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LookupPath {
    /// The part of the path that `*` matches, or the whole path.
    Matched,
    /// The whole path.
    Path,
    /// The one file.
    Single,
}

impl ServeFiles {
    /// Opens the folder.
    pub(crate) fn open_folder(&self, resources: &Resources<'_>) -> Result<FilesAction, Diagnostic> {
        let folder = FolderSettings {
            index: self.index.value(),
            listing: listing(&self.listing),
            max_age: *self.max_age.value(),
            symlinks: *self.symlinks.value(),
        };
        let options = FilesOptions {
            dot_files: if *self.hidden.value() { DotFiles::Serve } else { DotFiles::Hide },
            unknown_paths: if *self.spa.value() {
                UnknownPaths::SinglePage
            } else {
                UnknownPaths::NotFound
            },
            compression: *self.compression.value(),
            ..folder.options(&self.root, resources)
        };
        Ok(FilesAction {
            shared: open_root(options, &self.root, resources)?,
            path: match self.from.value() {
                FilesFrom::Matched => LookupPath::Matched,
                FilesFrom::Path => LookupPath::Path,
            },
        })
    }
}

impl ActionDirective for ServeFiles {
    fn needs(&self, needs: &mut Needs) {
        needs.read(&self.root, self.root.span());
    }

    fn open(&self, _: Offer<'_>, resources: &mut Resources<'_>) -> Opened<OpenAction> {
        let opened = self.open_folder(resources);
        kept(opened, resources)
    }
}

impl Alias {
    /// Opens the folder or file for a route whose path ends with `*` or does not.
    fn open_target(
        &self,
        rest: Rest,
        resources: &Resources<'_>,
    ) -> Result<FilesAction, Diagnostic> {
        let folder = FolderSettings {
            index: &["index.html".to_owned()],
            listing: listing(&self.listing),
            max_age: *self.max_age.value(),
            symlinks: Symlinks::Refuse,
        };
        let shared = open_root(folder.options(&self.to, resources), &self.to, resources)?;
        if rest == Rest::Absent && !shared.is_single() {
            let message = format!(
                "{} is a folder, but the path of the route does not end with `*`",
                self.to.display()
            );
            let expected = "a file, or a route whose `path` ends with `/*`";
            return Err(Diagnostic::error(self.to.span(), message).expected(expected));
        }
        let path = if shared.is_single() { LookupPath::Single } else { LookupPath::Matched };
        Ok(FilesAction { shared, path })
    }
}

impl ActionDirective for Alias {
    fn needs(&self, needs: &mut Needs) {
        needs.read(&self.to, self.to.span());
    }

    fn open(&self, offer: Offer<'_>, resources: &mut Resources<'_>) -> Opened<OpenAction> {
        let opened = self.open_target(offer.rest, resources);
        kept(opened, resources)
    }
}

/// The action of another route or of the last plan, if it serves the same folder: its handlers go
/// on with their caches.
fn kept(
    opened: Result<FilesAction, Diagnostic>,
    resources: &mut Resources<'_>,
) -> Opened<OpenAction> {
    let action = opened?;
    let key = format!("files {:p} {:?}", Arc::as_ptr(&action.shared), action.path);
    let make = || Ok(action.clone());
    let kept: Arc<FilesAction> = resources.keeper.keep_at(key, &action, make)?;
    Ok(OpenAction::Answer(kept))
}

impl FilesAction {
    /// The folder.
    pub(crate) fn shared(&self) -> &Arc<FilesShared> {
        &self.shared
    }
}

impl Action for FilesAction {
    fn name(&self) -> &'static str {
        "files"
    }

    fn handler(&self) -> Box<dyn Handler> {
        Box::new(FilesHandler { files: Files::of_reactor(&self.shared), path: self.path })
    }
}

struct FilesHandler {
    files: Files,
    path: LookupPath,
}

impl Handler for FilesHandler {
    fn answer(&mut self, request: &Request<'_>, exchange: Exchange<'_>) -> Outcome {
        let rest = request.rest();
        let (path, mount) = match (self.path, &rest) {
            (LookupPath::Single, _) => (&b"/"[..], &[][..]),
            (LookupPath::Matched, Some(rest)) => {
                (&**rest, &request.path[..request.rest_at.unwrap_or_default()])
            }
            (LookupPath::Matched, None) | (LookupPath::Path, _) => (&*request.raw_path, &[][..]),
        };
        let file_request = FileRequest {
            method: request.head.method,
            path,
            query: request.query.as_deref(),
            mount,
            fields: request.head.fields,
        };
        self.files.respond(&file_request, exchange)
    }
}
