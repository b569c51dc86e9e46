//! `rewrite = "/new/{id}"`: the directive of [`RewriteAction`].

use std::sync::Arc;

use vervet_config::{Diagnostic, Text, section};

use super::{ActionDirective, OpenAction};
use crate::matching::Offer;
use crate::resources::{Opened, Resources};
use crate::web::RewriteAction;

section! {
    /// Rewrites path and query, then matches the routes of the site again, from the first one on.
    /// After 8 rewrites of a request the response is 500.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/posts/:id(number)"
    /// rewrite = "/post.html?id={id}"
    /// ```
    pub struct Rewrite short(to) {
        /// The new path, with the placeholders of `redirect`. If it has no query, the query of the
        /// request is kept; a `?` at its end removes it.
        pub to: Text,
    }
}

impl ActionDirective for Rewrite {
    fn check(&self, offer: Offer<'_>) -> Result<(), Diagnostic> {
        RewriteAction::new(&self.to, offer).map(drop)
    }

    fn open(&self, offer: Offer<'_>, _: &mut Resources<'_>) -> Opened<OpenAction> {
        let action = RewriteAction::new(&self.to, offer)?;
        Ok(OpenAction::Rewrite(Arc::new(action)))
    }
}
