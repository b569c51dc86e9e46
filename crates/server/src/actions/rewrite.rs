//! `rewrite = "/new/{id}"`: the request goes on as if it had asked for another path of the site.
//!
//! The routes are asked again with the new path, from the first one on. Who does that is the way of a request through
//! its site; here is what the new path is.

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Setting, Text, section};
use vervet_http::target::{NormalPath, PathError};

use super::values::values;
use super::{ActionDirective, OpenAction};
use crate::matching::{Offer, Template, TemplateUse};
use crate::resources::Resources;
use crate::web::Request;

/// How often one request is rewritten. Then the routes lead in a circle, and the answer is 500.
pub const REWRITES_MAX: usize = 8;

section! {
    /// Goes on with another path and query of the site: its routes are tried again, from the first one on.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/posts/:id(number)"
    /// rewrite = "/post.html?id={id}"
    /// ```
    pub struct Rewrite short(to) {
        /// The path, with the placeholders of `redirect`. The query of the request stays unless the target has one.
        pub to: Text,
    }
}

impl ActionDirective for Rewrite {
    fn check(&self, offer: Offer<'_>) -> Result<(), Diagnostic> {
        RewriteAction::new(&self.to, offer).map(drop)
    }

    fn open(&self, offer: Offer<'_>, _: &mut Resources<'_>) -> Result<OpenAction, Diagnostics> {
        let action = RewriteAction::new(&self.to, offer)?;
        Ok(OpenAction::Rewrite(Arc::new(action)))
    }
}

/// Gives a request another path and query.
#[derive(Debug, Clone)]
pub struct RewriteAction {
    template: Template,
}

/// What a request asks for now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The path, percent-encoded.
    pub raw_path: Vec<u8>,
    /// The path decoded, dot segments resolved.
    pub path: Vec<u8>,
    /// The query without its question mark.
    pub query: Option<Vec<u8>>,
}

impl RewriteAction {
    /// Reads the target for a route that has this to offer.
    pub fn new(target: &Setting<Text>, offer: Offer<'_>) -> Result<Self, Diagnostic> {
        let template = Template::parse(target, TemplateUse::Inside, offer)
            .map_err(|flaw| flaw.at(target.span(), target))?;
        Ok(Self { template })
    }

    /// What the request asks for now. Its query stays unless the target has one; a target that ends with `?` has none.
    ///
    /// # Errors
    /// A value made a path that climbs above the root, or that no request could have: the answer is 400.
    pub fn rewrite(&self, request: &Request<'_>) -> Result<Rewritten, PathError> {
        let mut target = Vec::with_capacity(128);
        self.template.render(&values(request), &mut target);
        let (raw_path, query) = match memchr::memchr(b'?', &target) {
            Some(at) => {
                let query = target.split_off(at + 1);
                target.truncate(at);
                (target, (!query.is_empty()).then_some(query))
            }
            None if self.template.has_query => (target, None),
            None => (target, request.query.as_deref().map(<[u8]>::to_vec)),
        };
        let path = NormalPath::decode(&raw_path)?.as_bytes().to_vec();
        Ok(Rewritten {
            raw_path,
            path,
            query,
        })
    }
}
