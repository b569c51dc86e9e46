//! The directives that sites and routes have in common: what requests pass before an action, and what answers pass
//! after it.

use vervet_config::{Setting, Text};

use crate::filters::access::Access;
use crate::filters::basic_auth::Auth;
use crate::filters::compression::Compression;
use crate::filters::connections::ConcurrencySettings;
use crate::filters::cors::Cors;
use crate::filters::fields::FieldSettings;
use crate::filters::rate::RateSettings;
use crate::filters::referer::Referer;
use crate::filters::security::Security;
use crate::filters::target_rules::Deny;

/// Declares a section that has these directives behind its own. The registry of filters: one directive each. Sections of
/// their own lie elsewhere: few routes of ten thousand have them.
macro_rules! filtered {
    ($(#[doc = $doc:expr])* pub struct $Name:ident { $($own:tt)* }) => {
        vervet_config::section! {
            $(#[doc = $doc])*
            pub struct $Name in part {
                $($own)*
                /// The access logs that get a line, by their names. A route without it writes where its site does; `[]` is none.
                pub log: Option<Vec<vervet_config::Setting<vervet_config::Text>>>,
                /// Who may come in, by address: `["allow 10.0.0.0/8", "deny all"]`. Others are answered with 403.
                pub access: Option<std::sync::Arc<$crate::filters::access::Access>>,
                /// Paths that are refused.
                pub deny: Vec<$crate::filters::target_rules::Deny>,
                /// Requests that come from pages of other sites, refused.
                pub referer: Option<std::sync::Arc<$crate::filters::referer::Referer>>,
                /// How many requests a client may send in a time: `"10/s"`. Above it the answer is 429.
                pub rate: Option<std::sync::Arc<$crate::filters::rate::RateSettings>>,
                /// How many requests may be under way at a time.
                pub concurrency: Option<std::sync::Arc<$crate::filters::connections::ConcurrencySettings>>,
                /// Who may come in, by name and password.
                pub auth: Option<std::sync::Arc<$crate::filters::basic_auth::Auth>>,
                /// What scripts of other origins may read.
                pub cors: Option<std::sync::Arc<$crate::filters::cors::Cors>>,
                /// Fields that keep browsers from common mistakes: `"basic"` or `"strict"`.
                pub security: Option<std::sync::Arc<$crate::filters::security::Security>>,
                /// Fields that are set, added and removed.
                pub fields: Option<std::sync::Arc<$crate::filters::fields::FieldSettings>>,
                /// Answers that are no files, compressed on the way.
                pub compression: Option<std::sync::Arc<$crate::filters::compression::Compression>>,
            }
        }

        impl $Name {
            /// What it says of filters.
            pub(crate) fn filters(&self) -> $crate::settings::FilterSettings<'_> {
                $crate::settings::FilterSettings {
                    log: self.log.value().as_deref(),
                    access: self.access.value().as_deref(),
                    deny: &self.deny,
                    referer: self.referer.value().as_deref(),
                    rate: self.rate.value().as_deref(),
                    concurrency: self.concurrency.value().as_deref(),
                    auth: self.auth.value().as_deref(),
                    cors: self.cors.value().as_deref(),
                    security: self.security.value().as_deref(),
                    fields: self.fields.value().as_deref(),
                    compression: self.compression.value().as_deref(),
                }
            }
        }
    };
}

pub(crate) use filtered;

/// What a site or a route says of filters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterSettings<'s> {
    pub(crate) log: Option<&'s [Setting<Text>]>,
    pub(crate) access: Option<&'s Access>,
    pub(crate) deny: &'s Vec<Deny>,
    pub(crate) referer: Option<&'s Referer>,
    pub(crate) rate: Option<&'s RateSettings>,
    pub(crate) concurrency: Option<&'s ConcurrencySettings>,
    pub(crate) auth: Option<&'s Auth>,
    pub(crate) cors: Option<&'s Cors>,
    pub(crate) security: Option<&'s Security>,
    pub(crate) fields: Option<&'s FieldSettings>,
    pub(crate) compression: Option<&'s Compression>,
}
