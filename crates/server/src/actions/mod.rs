//! The actions of routes. Each action is one file: its section, the [`ActionDirective`] of that
//! section, and its handler. A new one adds its module and its line in [`actions!`].

mod files;
mod redirect;
mod respond;
mod rewrite;
mod status;
mod user_folders;
mod users;

use std::fmt;
use std::sync::Arc;

use vervet_config::Diagnostic;

use crate::matching::Offer;
use crate::resources::{Needs, Opened, Resources};
use crate::web::{Action, RewriteAction};

pub use files::{Alias, FilesAction, FilesFrom, ServeFiles};
pub use redirect::Redirect;
pub use respond::Respond;
pub use rewrite::Rewrite;
pub use status::StatusCode;
pub use user_folders::{USERS_OPEN_MAX, UserFolders};
pub use users::{User, Users};

/// The section of an action, as a route gives it.
pub(crate) trait ActionDirective: fmt::Debug + Send + Sync {
    /// Finds mistakes for which no file has to be opened. `offer` is what the path of the route
    /// provides.
    fn check(&self, _: Offer<'_>) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// Adds the files and folders that it reads. None are opened.
    fn needs(&self, _: &mut Needs) {}

    /// Opens it for a route.
    fn open(&self, offer: Offer<'_>, resources: &mut Resources<'_>) -> Opened<OpenAction>;
}

/// How a route answers.
pub(crate) enum OpenAction {
    /// An action that answers the request.
    Answer(Arc<dyn Action>),
    /// A rewrite to another path of the site.
    Rewrite(Arc<RewriteAction>),
}

impl OpenAction {
    /// An action that is ready, or its mistake.
    fn ready<A: Action + 'static>(action: Result<A, Diagnostic>) -> Opened<Self> {
        Ok(Self::Answer(Arc::new(action?)))
    }
}

/// The registry of actions: the directives of which each route has one.
macro_rules! actions {
    ($next:ident! $($section:tt)*) => {
        $next! {
            $($section)*
            actions: $crate::actions::ActionDirective {
                /// Serves the files of a folder.
                files: $crate::actions::ServeFiles,
                /// Serves a folder or a file from another location.
                alias: $crate::actions::Alias,
                /// Serves a folder in the home directory of each user, under `/~name/`.
                user_folders: $crate::actions::UserFolders,
                /// Renders a template.
                page: $crate::pages::PageSettings,
                /// Responds with text, HTML or JSON from the configuration.
                respond: $crate::actions::Respond,
                /// Responds with a status and its default page.
                status: $crate::actions::StatusCode,
                /// Redirects the client to another URL.
                redirect: $crate::actions::Redirect,
                /// Rewrites path and query, then matches the routes again.
                rewrite: $crate::actions::Rewrite,
            }
        }
    };
}

pub(crate) use actions;
