//! The directives that sites and routes have in common: what requests pass before an action, and what answers pass
//! after it.

use vervet_config::{Setting, Text};

use crate::filters::compression::Compression;
use crate::filters::cors::Cors;
use crate::filters::fields::FieldSettings;
use crate::filters::referer::Referer;
use crate::filters::security::Security;

/// Declares a section that has these directives behind its own. The registry of filters: one directive each.
macro_rules! filtered {
    ($(#[doc = $doc:expr])* pub struct $Name:ident { $($own:tt)* }) => {
        vervet_config::section! {
            $(#[doc = $doc])*
            pub struct $Name {
                $($own)*
                /// The access logs that get a line, by their names. A route without it writes where its site does; `[]` is none.
                pub log: Option<Vec<vervet_config::Setting<vervet_config::Text>>>,
                /// Requests that come from pages of other sites, refused.
                pub referer: Option<$crate::filters::referer::Referer>,
                /// What scripts of other origins may read.
                pub cors: Option<$crate::filters::cors::Cors>,
                /// Fields that keep browsers from common mistakes: `"basic"` or `"strict"`.
                pub security: Option<$crate::filters::security::Security>,
                /// Fields that are set, added and removed.
                pub fields: Option<$crate::filters::fields::FieldSettings>,
                /// Answers that are no files, compressed on the way.
                pub compression: Option<$crate::filters::compression::Compression>,
            }
        }

        impl $Name {
            /// What it says of filters.
            pub(crate) fn filters(&self) -> $crate::settings::FilterSettings<'_> {
                $crate::settings::FilterSettings {
                    log: self.log.value().as_deref(),
                    referer: self.referer.value().as_ref(),
                    cors: &self.cors,
                    security: self.security.value().as_ref(),
                    fields: self.fields.value().as_ref(),
                    compression: self.compression.value().as_ref(),
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
    pub(crate) referer: Option<&'s Referer>,
    pub(crate) cors: &'s Setting<Option<Cors>>,
    pub(crate) security: Option<&'s Security>,
    pub(crate) fields: Option<&'s FieldSettings>,
    pub(crate) compression: Option<&'s Compression>,
}
