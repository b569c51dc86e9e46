//! `[[site.route]]`: which requests, and what becomes of them.

use std::sync::Arc;

use vervet_config::{Named, Text};

use super::filters::filtered;
use crate::actions::{Alias, Redirect, Respond, ServeFiles, UserFolders};
use crate::matching::{FieldCondition, MethodName, PathRegex, Pattern, TrailingSlash};
use crate::pages::PageSettings;

// A document may have ten thousand: what few of them have lies elsewhere.
const _: () = assert!(size_of::<Route>() <= 768);

filtered! {
    /// What becomes of the requests for a part of a site. The first route that fits is taken, in the order of the file.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/u/:id(number)"
    /// method = ["GET"]
    /// redirect = "/users/{id}"
    /// ```
    pub struct Route {
        /// The path: `"/about"` is this one, `"/static/*"` all below, `"/u/:id(number)"` has a variable, which takes one
        /// segment. Types are `number`, `integer`, `word`, `slug`, `uuid`, `date` and `any`. Without path and regex any
        /// path fits.
        pub path: Option<Pattern>,
        /// A regular expression that finds something in the decoded path, in place of `path`. Its named groups are
        /// variables.
        pub regex: Option<PathRegex>,
        /// The methods; all without any. Who takes GET takes HEAD.
        pub method: Vec<MethodName>,
        /// Fields that the request must have, by their names: a value, or a condition.
        pub field: Named<FieldCondition>,
        /// What becomes of a path that differs from that of the route by a slash at its end.
        pub trailing_slash: TrailingSlash = "strict",
        /// What logs and counters call the route; its path where it has no name.
        pub name: Option<Text>,
        /// Serve the files of a folder.
        pub files: Option<Arc<ServeFiles>>,
        /// Serve a folder or a file that lies somewhere else.
        pub alias: Option<Arc<Alias>>,
        /// Serve the folders of the users of this machine, below `/~name/`.
        pub user_folders: Option<Arc<UserFolders>>,
        /// Render a template.
        pub page: Option<Arc<PageSettings>>,
        /// Answer with content that stands here.
        pub respond: Option<Arc<Respond>>,
        /// Answer with a status alone.
        pub status: Option<u16>,
        /// Send the client elsewhere.
        pub redirect: Option<Arc<Redirect>>,
        /// Go on with another path and query of the site: its routes are asked again, from the first one on. It may hold
        /// what `redirect` may.
        pub rewrite: Option<Text>,
    }
}
