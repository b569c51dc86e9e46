//! The access logs of a plan: which there are, and who writes to which.

use vervet_config::{Diagnostics, Setting, Text};

use super::hosts::unknown;
use super::tools::{Purpose, Tools};
use crate::access_log::{Opening, PreparedLogs};
use crate::settings::Document;

/// Finds what can be found without opening anything.
pub(super) fn check(document: &Document, found: &mut Diagnostics) {
    PreparedLogs::check(&document.log, found);
    let known: Vec<&str> = document.log.names().collect();
    let mut check = |names: Option<&[Setting<Text>]>| {
        for name in names.unwrap_or_default() {
            if !known.contains(&name.as_str()) {
                found.push(unknown(name, "log", &known));
            }
        }
    };
    for site in document.site.iter() {
        check(site.filters().log);
        for route in site.route.iter() {
            check(route.filters().log);
        }
    }
}

/// Opens the targets.
pub(super) fn open(document: &Document, tools: &Tools, found: &mut Diagnostics) -> PreparedLogs {
    let opening = match tools.purpose {
        Purpose::Rehearse => Opening::Rehearsal,
        Purpose::Serve => Opening::Work(tools.owner),
    };
    PreparedLogs::open(&document.log, &tools.logs, opening, found)
}
