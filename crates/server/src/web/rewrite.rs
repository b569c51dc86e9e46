//! Rewrites: a request continues as if it had asked for another path of the site.
//!
//! The router then matches the new path against the routes again, from the first one on.

use vervet_config::{Diagnostic, Setting, Text};
use vervet_http::target::{NormalPath, PathError};

use super::request::Request;
use crate::matching::{Offer, Template, TemplateUse};

/// Maximum number of rewrites of a request. Above it the routes form a loop: 500.
pub const REWRITES_MAX: usize = 8;

/// Rewrites the path and query of a request.
#[derive(Debug, Clone)]
pub struct RewriteAction {
    template: Template,
}

/// The rewritten path and query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The path in percent-encoded form.
    pub raw_path: Vec<u8>,
    /// The path decoded, dot segments resolved.
    pub path: Vec<u8>,
    /// The query without its question mark.
    pub query: Option<Vec<u8>>,
}

impl RewriteAction {
    /// Parses the target with the placeholders of the route.
    pub fn new(target: &Setting<Text>, offer: Offer<'_>) -> Result<Self, Diagnostic> {
        let template = Template::parse(target, TemplateUse::Inside, offer)
            .map_err(|flaw| flaw.at(target.span(), target))?;
        Ok(Self { template })
    }

    /// What the request asks for now. Its query stays unless the target has one; a target that ends
    /// with `?` has none.
    ///
    /// # Errors
    /// A value made a path that climbs above the root, or that no request could have: the answer is
    /// 400.
    pub fn rewrite(&self, request: &Request<'_>) -> Result<Rewritten, PathError> {
        let mut target = Vec::with_capacity(128);
        self.template.render(&request.template_values(request.rest().as_deref()), &mut target);
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
        Ok(Rewritten { raw_path, path, query })
    }
}
