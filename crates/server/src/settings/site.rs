//! `[[site]]` and `[[site.route]]`: what a host name leads to, which requests a route takes, and
//! what becomes of them.

use std::sync::Arc;

use vervet_config::{Named, Setting, Text};

use super::registered::registered_section;
use crate::actions::{ServeFiles, actions};
use crate::filters::filters;
use crate::matching::{FieldCondition, HostPattern, MethodName, PathRegex, Pattern, TrailingSlash};
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

// A document may have ten thousand: what few of them have lies elsewhere.
const _: () = assert!(size_of::<Route>() <= 768);

actions! { filters! registered_section! {
    /// What becomes of the requests for a part of a site. The first route that fits is taken, in
    /// the order of the file.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/u/:id(number)"
    /// method = ["GET"]
    /// redirect = "/users/{id}"
    /// ```
    pub struct Route {
        /// The path: `"/about"` is this one, `"/static/*"` all below, `"/u/:id(number)"` has a
        /// variable, which takes one segment. Types are `number`, `integer`, `word`, `slug`,
        /// `uuid`, `date` and `any`. Without path and regex any path fits.
        pub path: Option<Pattern>,
        /// A regular expression that finds something in the decoded path, in place of `path`. Its
        /// named groups are variables.
        pub regex: Option<PathRegex>,
        /// The methods; all without any. Who takes GET takes HEAD.
        pub method: Vec<MethodName>,
        /// Fields that the request must have, by their names: a value, or a condition.
        pub field: Named<FieldCondition>,
        /// What becomes of a path that differs from that of the route by a slash at its end.
        pub trailing_slash: TrailingSlash = "strict",
        /// What logs and counters call the route; its path where it has no name.
        pub name: Option<Text>,
        /// The access logs that get a line, by their names; those of the site where it is not
        /// given; `[]` is none.
        pub log: Option<Vec<Setting<Text>>>,
    }
} }
