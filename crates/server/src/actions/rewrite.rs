//! `rewrite = "/new/{id}"`: the directive; [`RewriteAction`] does the work.

use std::sync::Arc;

use vervet_config::{Diagnostic, Text, section};

use super::{ActionDirective, OpenAction};
use crate::matching::Offer;
use crate::resources::{Opened, Resources};
use crate::web::RewriteAction;

section! {
    /// Goes on with another path and query of the site: its routes are tried again, from the first
    /// one on.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/posts/:id(number)"
    /// rewrite = "/post.html?id={id}"
    /// ```
    pub struct Rewrite short(to) {
        /// The path, with the placeholders of `redirect`. The query of the request stays unless the
        /// target has one.
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
