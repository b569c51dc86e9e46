//! The access logs of a plan: which there are, and who writes to which.

use std::collections::HashMap;

use vervet_config::{Diagnostic, Diagnostics, Setting, Text};

use super::hosts::unknown;
use super::tools::{Purpose, Tools};
use crate::access_log::{Choice, LogNumber, LogPlan, LogSettings, Outlet, Target};
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
    pub(super) fn open(document: &Document, tools: &Tools, found: &mut Diagnostics) -> Self {
        let mut open = Self {
            plan: LogPlan::new(),
            numbers: HashMap::new(),
            outlets: Vec::new(),
        };
        for (name, settings) in document.log.iter() {
            let opened = outlet(name, settings, tools);
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
    tools: &Tools,
) -> Result<Outlet, Box<Diagnostic>> {
    let mut target = settings.target(name.span(), tools.owner)?;
    let refuse = |reason: String| Box::new(Diagnostic::error(name.span(), reason));
    if tools.purpose == Purpose::Rehearse {
        if let Target::File(file) = &target
            && let Some(folder) = file.path.parent().filter(|folder| *folder != "")
            && !folder.is_dir()
        {
            let message = format!("there is no folder {} for the log", folder.display());
            return Err(refuse(message));
        }
        target = Target::Memory;
    }
    let opened = tools.logs.open(&target);
    let outlet = opened.map_err(|error| refuse(error.to_string()))?;
    outlet.set_rotation(settings.rotation()?);
    Ok(outlet)
}
