//! From the logs that a document declares to a plan: targets opened, formats compiled, names kept.

use std::collections::HashMap;
use std::path::Path;

use vervet_config::{Diagnostic, Diagnostics, Name, Named};

use super::logs::Logs;
use super::outlet::Outlet;
use super::plan::{Choice, LogNumber, LogPlan};
use super::rotation::Rotation;
use super::settings::LogSettings;
use super::target::Target;

/// What targets are opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// To write to them. Files that are made are given to this user and group.
    Work(Option<(u32, u32)>),
    /// To find what would go wrong: nothing is made, and no line goes further than to memory.
    Rehearsal,
}

/// The logs of a document, open. Nothing that is in use has changed yet: what of it cannot be undone is left to
/// [`PreparedLogs::activate`].
#[derive(Debug, Default)]
pub struct PreparedLogs {
    /// The logs; the names of sites and routes are to be added.
    pub plan: LogPlan,
    numbers: HashMap<String, LogNumber>,
    rotations: Vec<(Outlet, Option<Rotation>)>,
}

impl PreparedLogs {
    /// Opens the logs of a document. One that cannot be had is found and left out.
    pub fn open(
        settings: &Named<LogSettings>,
        logs: &Logs,
        opening: Opening,
        found: &mut Diagnostics,
    ) -> Self {
        let mut prepared = Self::default();
        for (name, settings) in settings.iter() {
            if let Err(problem) = prepared.add((name, settings), logs, opening) {
                found.push(*problem);
            }
        }
        prepared
    }

    fn add(
        &mut self,
        (name, settings): (&Name, &LogSettings),
        logs: &Logs,
        opening: Opening,
    ) -> Result<(), Box<Diagnostic>> {
        let owner = match opening {
            Opening::Work(owner) => owner,
            Opening::Rehearsal => None,
        };
        let mut target = settings.target(name.span(), owner)?;
        let (rotation, condition) = (settings.rotation()?, settings.condition()?);
        let span = if settings.file.value().is_some() {
            settings.file.span()
        } else {
            name.span()
        };
        if opening == Opening::Rehearsal {
            rehearse(&target).map_err(|message| Diagnostic::error(span, message))?;
            target = Target::Memory;
        }
        let outlet = logs
            .open(&target)
            .map_err(|error| Diagnostic::error(span, format!("cannot open {target}: {error}")))?;
        self.rotations.push((outlet.clone(), rotation));
        let number = self
            .plan
            .add_log(settings.format.format().clone(), condition, outlet)
            .ok_or_else(|| Diagnostic::error(name.span(), "too many logs"))?;
        self.numbers.insert(name.value().clone(), number);
        Ok(())
    }

    /// The log of a name.
    pub fn number(&self, name: &str) -> Option<LogNumber> {
        self.numbers.get(name).copied()
    }

    /// The choice of the logs of these names; names of none are left out.
    pub fn choice<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Choice {
        let numbers = names.into_iter().filter_map(|name| self.number(name));
        let numbers: Vec<_> = numbers.collect();
        self.plan.choice(&numbers)
    }

    /// Takes effect: from now on the files are put aside as this document says.
    pub fn activate(&self) {
        for (outlet, rotation) in &self.rotations {
            outlet.set_rotation(rotation.clone());
        }
    }
}

/// Whether a file could be opened, as far as its folder tells.
fn rehearse(target: &Target) -> Result<(), String> {
    let Target::File(file) = target else {
        return Ok(());
    };
    match file.path.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => Err(format!(
            "there is no folder {} for the log",
            folder.display()
        )),
        _ => Ok(()),
    }
}
