//! `[[site]]` and `[[site.route]]`: hostnames, conditions on requests, and the directives of
//! filters and actions.

use std::sync::Arc;

use vervet_config::{Named, Setting, Text};

use super::registered::registered_section;
use crate::actions::{ServeFiles, actions};
use crate::filters::filters;
use crate::matching::{FieldCondition, HostPattern, MethodName, PathRegex, Pattern, TrailingSlash};
use crate::web::ErrorPage;

filters! { registered_section! {
    /// A virtual host: what is served under some hostnames.
    ///
    /// ```toml
    /// [[site]]
    /// hosts = ["example.org", "*.example.org"]
    /// root = "www"
    /// ```
    pub struct Site {
        /// Hostnames: exact ones, or `"*.example.org"` for all subdomains; the longest match wins.
        /// If not set, the site is a default site.
        pub hosts: Vec<Setting<HostPattern>>,
        /// Makes this site the default: it serves hostnames that no other site has. If no site is
        /// the default, the first site of each listener is.
        pub default: bool = false,
        /// The name in logs and metrics; if not set, the first hostname.
        pub name: Option<Text>,
        /// The names of the listeners that serve this site; if not set, all listeners.
        pub listen: Vec<Setting<Text>>,
        /// The folder with the files of the site, served if no route matches: like a last route for
        /// all paths with `files`. The files of `error_pages` are in it, too.
        pub root: Option<Arc<ServeFiles>>,
        /// Custom error pages, by status (`404`) or class (`5xx`).
        pub error_pages: Named<ErrorPage>,
        /// The names of the access logs for requests to this site; if not set, none.
        pub log: Option<Vec<Setting<Text>>>,
        /// The routes; the first one that matches handles the request.
        pub route: Vec<Setting<Arc<Route>>>,
    }
} }

// A document may have ten thousand: what few of them have lies elsewhere.
const _: () = assert!(size_of::<Route>() <= 768);

actions! { filters! registered_section! {
    /// Selects requests by path, method and headers, and says how to respond. The first route in
    /// file order that matches handles the request. Each route has one action, such as `files` or
    /// `redirect`.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/u/:id(number)"
    /// method = ["GET"]
    /// redirect = "/users/{id}"
    /// ```
    pub struct Route {
        /// The path: `"/about"` matches only this path, `"/static/*"` all paths below it;
        /// `"/u/:id(number)"` has a variable for one segment. Types of variables are `number`,
        /// `integer`, `word`, `slug`, `uuid`, `date` and `any`. If neither `path` nor `regex` is
        /// set, all paths match.
        pub path: Option<Pattern>,
        /// A regular expression that is searched in the decoded path, instead of `path`. Its named
        /// groups are variables.
        pub regex: Option<PathRegex>,
        /// The methods that match; if not set, all. `GET` includes HEAD.
        pub method: Vec<MethodName>,
        /// Conditions on request headers, by name: a value, or a table. All must hold.
        pub field: Named<FieldCondition>,
        /// What happens if the path differs from that of the route only by a slash at its end.
        pub trailing_slash: TrailingSlash = "strict",
        /// The name in logs and metrics; if not set, the path.
        pub name: Option<Text>,
        /// The names of the access logs for requests to this route; if not set, those of the site.
        /// `[]` is none.
        pub log: Option<Vec<Setting<Text>>>,
    }
} }
