//! The access logs of a plan: which there are, and who writes to which.

use std::collections::HashMap;

use vervet_config::{Diagnostic, Diagnostics, Setting, Text};

use super::hosts::unknown;
use crate::access_log::{Choice, LogNumber, LogPlan, LogSettings, Logs, Outlet};
use crate::settings::Document;

/// Finds what can be found without opening anything.
pub(super) fn check(document: &Document, found: &mut Diagnostics) {
    for (name, settings) in document.log.iter() {
        let findings = [
            settings.target(name.span(), None).err(),
            settings.rotation().err(),
            settings.condition().err(),
        ];
        findings
            .into_iter()
            .flatten()
            .for_each(|problem| found.push(*problem));
    }
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

/// The logs of a stage that is being made.
pub(super) struct OpenLogs {
    pub(super) plan: LogPlan,
    numbers: HashMap<String, LogNumber>,
    /// Keep targets open until the plan itself does.
    pub(super) outlets: Vec<Outlet>,
}

impl OpenLogs {
    /// Opens the targets.
    pub(super) fn open(
        document: &Document,
        logs: &Logs,
        owner: Option<(u32, u32)>,
        found: &mut Diagnostics,
    ) -> Self {
        let mut open = Self {
            plan: LogPlan::new(),
            numbers: HashMap::new(),
            outlets: Vec::new(),
        };
        for (name, settings) in document.log.iter() {
            let opened = outlet(name, settings, logs, owner);
            let added = opened.and_then(|outlet| {
                let condition = settings.condition()?;
                let format = settings.format.format().clone();
                open.outlets.push(outlet.clone());
                let number = open.plan.add_log(format, condition, outlet);
                number.ok_or_else(|| {
                    Box::new(Diagnostic::error(name.span(), "there are too many logs"))
                })
            });
            match added {
                Ok(number) => drop(open.numbers.insert(name.to_string(), number)),
                Err(problem) => found.push(*problem),
            }
        }
        open
    }

    /// The choice of logs by their names.
    pub(super) fn choice(&mut self, names: &[Setting<Text>]) -> Choice {
        let numbers = names
            .iter()
            .filter_map(|name| self.numbers.get(name.as_str()).copied());
        self.plan.choice(&numbers.collect::<Vec<_>>())
    }
}

fn outlet(
    name: &Setting<String>,
    settings: &LogSettings,
    logs: &Logs,
    owner: Option<(u32, u32)>,
) -> Result<Outlet, Box<Diagnostic>> {
    let target = settings.target(name.span(), owner)?;
    let opened = logs.open(&target);
    let outlet =
        opened.map_err(|error| Box::new(Diagnostic::error(name.span(), error.to_string())))?;
    outlet.set_rotation(settings.rotation()?);
    Ok(outlet)
}
