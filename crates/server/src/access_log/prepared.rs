//! From the logs that a document declares to a plan: targets opened, formats compiled, names kept.

use std::collections::HashMap;

use vervet_config::{Diagnostic, Diagnostics, Name, Named};

use super::logs::Logs;
use super::outlet::Outlet;
use super::plan::{LogNumber, LogPlan};
use super::rotation::Rotation;
use super::settings::LogSettings;

/// The logs of a document, open. Nothing that is in use has changed yet: what of it cannot be undone is left to
/// [`PreparedLogs::activate`].
#[derive(Debug, Default)]
pub struct PreparedLogs {
    /// The logs; choices and the names of sites and routes are to be added.
    pub plan: LogPlan,
    numbers: HashMap<String, LogNumber>,
    rotations: Vec<(Outlet, Option<Rotation>)>,
}

impl PreparedLogs {
    /// Opens the logs of a document; or says all that is wrong with them. Files that are made are given to `owner`, a user
    /// and a group.
    pub fn open(
        settings: &Named<LogSettings>,
        logs: &Logs,
        owner: Option<(u32, u32)>,
    ) -> Result<Self, Diagnostics> {
        let (mut prepared, mut problems) = (Self::default(), Diagnostics::new());
        // By target: where its rotation was said first.
        let mut rotations = HashMap::new();
        for (name, settings) in settings.iter() {
            match prepared.add((name, settings), logs, owner) {
                Err(problem) => problems.push(*problem),
                Ok((key, rotation)) => {
                    let first = rotations.entry(key).or_insert((name, rotation.clone()));
                    if first.1 != rotation {
                        problems.push(contradiction((name, settings), first.0));
                    }
                }
            }
        }
        if problems.is_empty() {
            Ok(prepared)
        } else {
            Err(problems)
        }
    }

    fn add(
        &mut self,
        (name, settings): (&Name, &LogSettings),
        logs: &Logs,
        owner: Option<(u32, u32)>,
    ) -> Result<(String, Option<Rotation>), Box<Diagnostic>> {
        let target = settings.target(name.span(), owner)?;
        let (rotation, condition) = (settings.rotation()?, settings.condition()?);
        let outlet = logs.open(&target).map_err(|error| {
            let span = if settings.file.value().is_some() {
                settings.file.span()
            } else {
                name.span()
            };
            Diagnostic::error(span, format!("cannot open {target}: {error}"))
        })?;
        self.rotations.push((outlet.clone(), rotation.clone()));
        let number = self
            .plan
            .add_log(settings.format.format().clone(), condition, outlet)
            .ok_or_else(|| Diagnostic::error(name.span(), "too many logs"))?;
        self.numbers.insert(name.value().clone(), number);
        Ok((target.key(), rotation))
    }

    /// The log of a name.
    pub fn number(&self, name: &str) -> Option<LogNumber> {
        self.numbers.get(name).copied()
    }

    /// Takes effect: from now on the files are put aside as this document says.
    pub fn activate(&self) {
        for (outlet, rotation) in &self.rotations {
            outlet.set_rotation(rotation.clone());
        }
    }
}

fn contradiction((name, settings): (&Name, &LogSettings), first: &Name) -> Diagnostic {
    let span = if settings.rotate.value().is_some() {
        settings.rotate.span()
    } else {
        name.span()
    };
    Diagnostic::error(span, "two logs put one file aside in different ways")
        .note_at(first.span(), "the other log is here")
}
