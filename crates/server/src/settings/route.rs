//! `[[site.route]]`: which requests, and what becomes of them.

use vervet_config::{Named, Setting, Text};

use super::registered::registered_section;
use crate::actions::actions;
use crate::filters::filters;
use crate::matching::{FieldCondition, MethodName, PathRegex, Pattern, TrailingSlash};

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
