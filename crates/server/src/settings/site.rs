//! `[[site]]`: what a host name leads to.

use std::sync::Arc;

use vervet_config::{Named, Setting, Text};

use super::registered::registered_section;
use super::route::Route;
use crate::actions::ServeFiles;
use crate::filters::filters;
use crate::matching::HostPattern;
use crate::web::ErrorPage;

filters! { registered_section! {
    /// What is served under some host names.
    ///
    /// ```toml
    /// [[site]]
    /// hosts = ["example.org", "*.example.org"]
    /// root = "www"
    /// ```
    pub struct Site {
        /// Its names: exact ones, or `"*.example.org"` for all below. The longest that fits is
        /// taken. Without any the site answers for every name that no other site has.
        pub hosts: Vec<Setting<HostPattern>>,
        /// The site answers for every name that no other site has.
        pub default: bool = false,
        /// What logs and counters call it; its first host where it has no name.
        pub name: Option<Text>,
        /// The listeners that lead to it, by their names; all without any.
        pub listen: Vec<Setting<Text>>,
        /// A folder whose files are served where no route takes the request: as a last route for
        /// every path with `files`. Pages in place of failures lie there, too.
        pub root: Option<Arc<ServeFiles>>,
        /// Pages in place of failures, by status (`404`) or class (`5xx`).
        pub error_pages: Named<ErrorPage>,
        /// The access logs that get a line, by their names; `[]` is none.
        pub log: Option<Vec<Setting<Text>>>,
        /// The routes, in the order in which they are tried.
        pub route: Vec<Setting<Arc<Route>>>,
    }
} }
