//! Filters check a request before its action, and edit responses. Each filter is one file: its
//! section, the [`FilterDirective`] of that section, and the filter. A new one adds its module and
//! its line in [`filters!`].

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
                /// Allows or denies clients by IP address: `["allow 10.0.0.0/8", "deny all"]`.
                /// Denied clients get 403.
                access: $crate::filters::access::Access,
                /// Rejects requests by path.
                deny: Vec<$crate::filters::target_rules::Deny>,
                /// Rejects requests from pages of other sites (hotlink protection), by the Referer
                /// header.
                referer: $crate::filters::referer::Referer,
                /// Cross-origin resource sharing (CORS): which scripts of other origins may read
                /// responses.
                cors: $crate::filters::cors::Cors,
                /// Limits the request rate of each client: `"10/s"`. Requests above it get 429.
                rate: $crate::filters::rate::RateSettings,
                /// Limits the number of concurrent requests.
                concurrency: $crate::filters::connections::ConcurrencySettings,
                /// Requires a user name and password (HTTP basic authentication).
                auth: $crate::filters::basic_auth::Auth,
                /// Security headers for browsers: `"basic"` or `"strict"`.
                security: $crate::filters::security::Security,
                /// Sets, adds and removes headers.
                fields: $crate::filters::fields::FieldSettings,
                /// Compresses responses other than files, which `files` compresses itself.
                compression: $crate::filters::compression::Compression,
            }
        }
    };
}

pub(crate) use filters;
