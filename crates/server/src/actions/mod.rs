//! What a route does with a request. Each action is a file of its own: its directives, and what it answers.

mod error_pages;
mod files;
mod fixed;
mod redirect;
mod respond;
mod rewrite;
mod status;
mod unrouted;
mod user_folders;
mod users;
mod values;

pub use error_pages::{ErrorPage, ErrorPages, ErrorPagesAtWork};
pub use files::{
    Alias, CompressionRule, FilesAction, FilesFrom, FilesSetup, FolderSettings, ServeFiles,
    SymlinkRule,
};
pub use redirect::{Redirect, RedirectAction};
pub use respond::{Respond, RespondAction};
pub use rewrite::{REWRITES_MAX, RewriteAction, Rewritten};
pub use status::StatusAction;
pub use unrouted::{method_not_allowed, not_found, slash_redirect, too_many_rewrites};
pub use user_folders::{USERS_OPEN_MAX, UserFolders, UserFoldersAction};
pub use users::{User, Users};
