//! `user_folders = "public_html"`: `/~bob/` is the folder of that name in Bob's home.
//!
//! The file of accounts determines the users. The folder is opened from the home without following
//! symbolic links, so that a user cannot replace it with another one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use vervet_config::{Diagnostic, Path, Text, Time, section};
use vervet_engine::{Exchange, Outcome, Response};
use vervet_http::target::percent_encode_path;

use super::files::{FolderSettings, listing};
use super::users::{Accounts, Users};
use super::{ActionDirective, OpenAction};
use crate::files::FileRequest;
use crate::files::Files;
use crate::files::FilesPool;
use crate::files::options::{CacheLimits, FilesOptions};
use crate::files::root::Symlinks;
use crate::matching::{Offer, SlashForm};
use crate::resources::{Needs, Opened, Resources};
use crate::web::{Action, Handler, Request, not_found, slash_redirect};

/// Maximum number of user folders that a reactor keeps open. Above it, all are closed.
pub const USERS_OPEN_MAX: usize = 256;

section! {
    /// Serves a folder in the home directory of each user: `/~bob/` is `public_html` in the home of
    /// `bob`.
    ///
    /// Never served: the user with ID 0, names that begin with a dot, and homes that are `/`.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/~*"
    /// user_folders = "public_html"
    /// ```
    pub struct UserFolders short(folder) {
        /// The folder, relative to the home directory. Neither it nor its parent folders in the
        /// home may be symbolic links.
        pub folder: Text = "public_html",
        /// The smallest user ID that is served; system accounts usually have IDs below 1000.
        pub uid_min: u32 = 1000 in 1..=4294967295,
        /// The names of the users to serve; if not set, all.
        pub only: Vec<Text>,
        /// The names of users that are not served.
        pub except: Vec<Text>,
        /// The file with the user accounts, in the format of `/etc/passwd`.
        pub accounts: Path = "/etc/passwd",
        /// Index files for requests of a folder; the first that exists is served.
        pub index: Vec<Text> = ["index.html"],
        /// Lists the content of a folder without an index file; if false, the response is 403.
        pub listing: bool = false,
        /// How long caches may use a file without revalidation, as for `files`.
        pub max_age: Option<Time> = _ in "0s"..="3650d",
        /// How symbolic links below the folder are handled.
        pub symlinks: Symlinks = "refuse",
    }
}

/// Serves the files of users.
#[derive(Debug, Clone)]
struct UserFoldersAction(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    uid_min: u32,
    only: Vec<String>,
    except: Vec<String>,
    accounts: PathBuf,
    /// The options of all folders, without their paths.
    options: FilesOptions,
    limits: CacheLimits,
    pool: Arc<FilesPool>,
}

impl ActionDirective for UserFolders {
    fn needs(&self, needs: &mut Needs) {
        needs.read(&self.accounts, self.accounts.span());
        needs.read(std::path::Path::new("/home"), self.folder.span());
    }

    fn open(&self, _: Offer<'_>, resources: &mut Resources<'_>) -> Opened<OpenAction> {
        OpenAction::ready(UserFoldersAction::new(self, resources))
    }
}

impl UserFoldersAction {
    /// Prepares the rules. Folders are opened on their first request.
    fn new(settings: &UserFolders, resources: &Resources<'_>) -> Result<Self, Diagnostic> {
        let folder = PathBuf::from(settings.folder.value());
        let is_name = |part| matches!(part, std::path::Component::Normal(_));
        if folder.as_os_str().is_empty() || !folder.components().all(is_name) {
            let message = format!(
                "`folder` cannot be `{}`: it must be relative to the home directory",
                folder.display()
            );
            return Err(Diagnostic::error(settings.folder.span(), message)
                .expected("a name such as `public_html`"));
        }
        if !settings.accounts.is_file() {
            let message = format!("the file {} does not exist", settings.accounts.display());
            return Err(Diagnostic::error(settings.accounts.span(), message));
        }
        let common = FolderSettings {
            index: settings.index.value(),
            listing: listing(&settings.listing),
            max_age: *settings.max_age.value(),
            symlinks: *settings.symlinks.value(),
        };
        Ok(Self(Arc::new(Shared {
            folder,
            uid_min: *settings.uid_min.value(),
            only: settings.only.value().clone(),
            except: settings.except.value().clone(),
            accounts: settings.accounts.value().clone().into_path_buf(),
            options: common.options(std::path::Path::new("/"), resources),
            limits: resources.cache_limits,
            pool: Arc::clone(resources.pool),
        })))
    }
}

impl Action for UserFoldersAction {
    fn name(&self) -> &'static str {
        "user_folders"
    }

    fn handler(&self) -> Box<dyn Handler> {
        Box::new(UserFoldersHandler {
            users: Users::new(&self.0.accounts),
            open: HashMap::new(),
            shared: Arc::clone(&self.0),
        })
    }
}

struct UserFoldersHandler {
    shared: Arc<Shared>,
    users: Users,
    open: HashMap<Box<[u8]>, Files>,
}

impl Handler for UserFoldersHandler {
    fn answer(&mut self, request: &Request<'_>, exchange: Exchange<'_>) -> Outcome {
        let Some((name, rest)) = split(&request.path) else {
            return Outcome::Done(self.missing());
        };
        if self.users.look(request.now) == Accounts::Changed {
            self.open.clear();
        }
        if !self.serves(name) {
            return Outcome::Done(self.missing());
        }
        if rest.is_empty() {
            // So that relative links of its pages lead into the folder.
            let server = &self.shared.options.server;
            return Outcome::Done(slash_redirect(request, SlashForm::Add, server));
        }
        if !self.open.contains_key(name) && !self.open_folder(name) {
            return Outcome::Done(self.missing());
        }
        let Some(files) = self.open.get_mut(name) else {
            return Outcome::Done(self.missing());
        };
        // From the decoded path, in which no dot segment is left.
        let path = percent_encode_path(rest);
        let file_request =
            FileRequest::new(request.head.method, path.as_bytes(), &request.head.fields)
                .with_query(request.query.as_deref())
                .with_mount(&request.path[..name.len() + 2]);
        files.respond(&file_request, exchange)
    }
}

/// Splits `/~name/...` into the name and the rest.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let named = path.strip_prefix(b"/~")?;
    let end = memchr::memchr(b'/', named).unwrap_or(named.len());
    (end > 0).then(|| named.split_at(end))
}

impl UserFoldersHandler {
    /// Whether the files of this user may be served. Refused and unknown users get the same
    /// response.
    fn serves(&self, name: &[u8]) -> bool {
        let rules = &*self.shared;
        let is_in = |names: &[String]| names.iter().any(|known| known.as_bytes() == name);
        let is_open = !name.starts_with(b".") && (rules.only.is_empty() || is_in(&rules.only));
        let user = self.users.get(name).filter(|_| is_open && !is_in(&rules.except));
        user.is_some_and(|user| user.uid >= rules.uid_min.max(1) && user.home.parent().is_some())
    }

    fn open_folder(&mut self, name: &[u8]) -> bool {
        let Some(user) = self.users.get(name) else {
            return false;
        };
        let options = FilesOptions {
            root: user.home.clone(),
            beneath: Some(self.shared.folder.clone()),
            ..self.shared.options.clone()
        };
        let Ok(root) = self.shared.pool.root(options, self.shared.limits) else {
            return false;
        };
        if self.open.len() >= USERS_OPEN_MAX {
            self.open.clear();
        }
        self.open.insert(Box::from(name), Files::of_reactor(&root));
        true
    }

    fn missing(&self) -> Response {
        not_found(&self.shared.options.server)
    }
}
