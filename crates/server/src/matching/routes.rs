//! The routes of a site: the first in file order that matches a request.
//!
//! A route matches if its path, its methods and its headers do. The result is that of a scan from
//! the first route to the last; [`super::index`] finds it without one.

use vervet_config::words;
use vervet_http::field::Fields;
use vervet_http::method::Method;

use super::captures::Captures;
use super::field_rule::FieldRule;
use super::index::Index;
use super::methods::MethodSet;
use super::path_regex::PathRegex;
use super::pattern::Pattern;
use super::template::{Offer, Rest};

/// The condition of a route on the path.
#[derive(Debug, Clone)]
pub enum PathRule {
    /// The route matches any path.
    Any,
    /// The route matches paths of this pattern.
    Pattern(Pattern),
    /// The route matches paths in which this regular expression is found.
    Regex(PathRegex),
}

words! {
    /// What happens if a path differs from that of the route only by a slash at its end.
    pub enum TrailingSlash {
        /// The route does not match.
        Strict = "strict",
        /// Redirects to the path of the route: `/a/` to `/a` for the route `/a`, `/a` to `/a/` for
        /// `/a/` and `/a/*`.
        Redirect = "redirect",
    }
}

impl PathRule {
    /// Whether every path that the other rule matches is one that this rule matches.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Pattern(own), Self::Pattern(other)) => own.covers(other),
            (Self::Pattern(own), _) => own.as_str() == "/*",
            (Self::Regex(own), Self::Regex(other)) => own == other,
            (Self::Regex(_), _) => false,
        }
    }

    /// The placeholders that targets of the route can use.
    pub fn offer(&self) -> Offer<'_> {
        let (variables, rest) = match self {
            Self::Any => (&[][..], Rest::There),
            Self::Pattern(pattern) if pattern.is_open() => (pattern.variables(), Rest::There),
            Self::Pattern(pattern) => (pattern.variables(), Rest::Absent),
            Self::Regex(regex) => (regex.variables(), Rest::Absent),
        };
        Offer { variables: Some(variables), rest }
    }
}

/// The conditions of a route.
#[derive(Debug, Clone)]
pub struct Route {
    /// The rule of the path.
    pub path: PathRule,
    /// The methods; `None` for all.
    pub methods: Option<MethodSet>,
    /// The conditions on headers, all of which must hold.
    pub fields: Vec<FieldRule>,
    /// How a path with a different trailing slash is handled. Not used for regular expressions.
    pub slash: TrailingSlash,
}

/// How the path of a request differs from the form that the route has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlashForm {
    /// The path has the form of the route.
    AsIs,
    /// The path lacks the trailing slash.
    Add,
    /// The path has an extra trailing slash.
    Remove,
}

/// The properties of a request that routes are matched with.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// The decoded path, as `NormalPath` gives it.
    pub path: &'q [u8],
    /// The method of the request.
    pub method: Method,
    /// The name of the method, which is compared if it is not a known one.
    pub method_token: &'q str,
    /// The fields of the request.
    pub fields: &'q Fields<'q>,
}

/// The result of matching a request with the routes.
#[derive(Debug, Clone)]
pub enum Routed<'r> {
    /// A route matches the request.
    To {
        /// The number of the route.
        route: usize,
        /// The values of its variables, as ranges in the path.
        captures: Captures<'r>,
        /// The position in the path where the part that `*` matches begins.
        rest: Option<usize>,
    },
    /// The path of the first route that matches differs by a trailing slash: a redirect.
    Slash {
        /// The number of the route.
        route: usize,
        /// How the path must change: [`SlashForm::Add`] or [`SlashForm::Remove`].
        form: SlashForm,
    },
    /// Routes match except for the method: 405 with these in Allow (RFC 9110 §15.5.6).
    OtherMethods(MethodSet),
    /// No route matches, with any method: 404.
    Missing,
}

/// The routes of a site.
#[derive(Debug, Clone)]
pub struct Routes {
    in_order: Box<[Route]>,
    /// Whether the first route fits every request for a path.
    first_takes_all: bool,
    index: Index,
}

impl Routes {
    /// Takes the routes in file order.
    pub fn new(routes: Vec<Route>) -> Self {
        let first_takes_all = routes.first().is_some_and(|first| {
            matches!(first.path, PathRule::Any)
                && first.methods.is_none()
                && first.fields.is_empty()
        });
        Self { first_takes_all, index: Index::new(&routes), in_order: routes.into_boxed_slice() }
    }

    /// The routes in file order.
    pub fn as_slice(&self) -> &[Route] {
        &self.in_order
    }

    /// The first route that matches.
    pub fn find(&self, question: &Question<'_>) -> Routed<'_> {
        if self.first_takes_all && question.path.first() == Some(&b'/') {
            return Routed::To { route: 0, captures: Captures::default(), rest: Some(0) };
        }
        let mut others: Option<MethodSet> = None;
        let fits = |number: usize| {
            let route = &self.in_order[number];
            if !route.fields.iter().all(|rule| rule.fits(question.fields)) {
                return false;
            }
            let Some(methods) = &route.methods else {
                return true;
            };
            let fits = methods.takes(question.method, question.method_token);
            if !fits {
                others.get_or_insert_default().extend(methods);
            }
            fits
        };
        match (self.index.first(&self.in_order, question.path, fits), others) {
            (Some(candidate), _) if candidate.form == SlashForm::AsIs => {
                self.to(candidate.route, question.path)
            }
            (Some(candidate), _) => Routed::Slash { route: candidate.route, form: candidate.form },
            (None, Some(methods)) => Routed::OtherMethods(methods),
            (None, None) => Routed::Missing,
        }
    }

    /// The first route that takes the path and `fits`, and the form in which it takes it.
    pub(crate) fn first(
        &self,
        path: &[u8],
        fits: impl FnMut(usize) -> bool,
    ) -> Option<(usize, SlashForm)> {
        let candidate = self.index.first(&self.in_order, path, fits)?;
        Some((candidate.route, candidate.form))
    }

    /// An earlier route that takes every path of a route and `fits`.
    pub(crate) fn covering(
        &self,
        route: usize,
        mut fits: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let rule = &self.in_order[route].path;
        let covers = |earlier: usize| self.in_order[earlier].path.covers(rule);
        let (path, is_only) = match rule {
            PathRule::Pattern(pattern) => {
                (pattern.sample(), pattern.variables().is_empty() && !pattern.is_open())
            }
            // What covers it takes every path.
            PathRule::Any => (b"/".to_vec(), false),
            PathRule::Regex(_) => {
                return (0..route).find(|earlier| covers(*earlier) && fits(*earlier));
            }
        };
        let takes = |earlier: usize| earlier < route && (is_only || covers(earlier));
        let first = self.first(&path, |earlier| takes(earlier) && fits(earlier));
        first.map(|(earlier, _)| earlier)
    }

    /// The placeholders that the path of the route with this number provides.
    pub fn offer(&self, route: usize) -> Offer<'_> {
        self.in_order[route].path.offer()
    }

    fn to(&self, route: usize, path: &[u8]) -> Routed<'_> {
        let (captures, rest) = match &self.in_order[route].path {
            PathRule::Any => (None, Some(0)),
            PathRule::Pattern(pattern) => match pattern.find(path) {
                Some(matched) => (Some(matched.captures), matched.rest),
                None => (None, None),
            },
            PathRule::Regex(regex) => (regex.captures(path), None),
        };
        Routed::To { route, captures: captures.unwrap_or_default(), rest }
    }
}

#[cfg(test)]
mod tests;
