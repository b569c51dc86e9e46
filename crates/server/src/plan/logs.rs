//! The access logs of a document, and who writes to which.

use vervet_config::{Diagnostics, Setting, Text};

use super::hosts::unknown;
use crate::access_log::check_logs;
use crate::settings::Document;

/// Finds what can be found without opening anything.
pub(super) fn check(document: &Document, found: &mut Diagnostics) {
    check_logs(&document.log, found);
    let known: Vec<&str> = document.log.names().collect();
    let mut check = |names: Option<&[Setting<Text>]>| {
        for name in names.unwrap_or_default() {
            if !known.contains(&name.as_str()) {
                found.push(unknown(name, "log", &known));
            }
        }
    };
    for site in document.site.iter() {
        check(site.log.value().as_deref());
        for route in site.route.iter() {
            check(route.log.value().as_deref());
        }
    }
}
