//! What checks a request before its action, and what changes answers. Each filter is a file of its
//! own: its section, the [`FilterDirective`] of that section, and the filter. Adding one adds its
//! module and its line in [`filters!`].

pub mod access;
pub mod basic_auth;
pub mod blocks;
pub mod compression;
pub mod connections;
pub mod cors;
pub mod field_template;
pub mod field_text;
pub mod fields;
pub mod forwarded;
pub mod host_pattern;
pub mod meters;
pub mod rate;
pub mod referer;
pub mod security;
pub mod target_rules;

use std::fmt;

use crate::resources::{Needs, Opened, Resources};
use crate::web::Pipeline;

/// The section of a filter, as a site or a route gives it.
pub(crate) trait FilterDirective: fmt::Debug + Send + Sync {
    /// Adds the files and folders that it reads. None are opened.
    fn needs(&self, _: &mut Needs) {}

    /// Opens it, and adds it to what requests pass at this site or route.
    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened;
}

/// The registry of filters: the directives that each site and route has, in the order in which they
/// run.
macro_rules! filters {
    ($next:ident! $($section:tt)*) => {
        $next! {
            $($section)*
            filters: $crate::filters::FilterDirective {
                /// Who may come in, by address: `["allow 10.0.0.0/8", "deny all"]`. Others are
                /// answered with 403.
                access: $crate::filters::access::Access,
                /// Paths that are refused.
                deny: Vec<$crate::filters::target_rules::Deny>,
                /// Requests that come from pages of other sites, refused.
                referer: $crate::filters::referer::Referer,
                /// What scripts of other origins may read.
                cors: $crate::filters::cors::Cors,
                /// How many requests a client may send in a time: `"10/s"`. Above it the answer is
                /// 429.
                rate: $crate::filters::rate::RateSettings,
                /// How many requests may be under way at a time.
                concurrency: $crate::filters::connections::ConcurrencySettings,
                /// Who may come in, by name and password.
                auth: $crate::filters::basic_auth::Auth,
                /// Fields that keep browsers from common mistakes: `"basic"` or `"strict"`.
                security: $crate::filters::security::Security,
                /// Fields that are set, added and removed.
                fields: $crate::filters::fields::FieldSettings,
                /// Compression of answers that are not files.
                compression: $crate::filters::compression::Compression,
            }
        }
    };
}

pub(crate) use filters;
