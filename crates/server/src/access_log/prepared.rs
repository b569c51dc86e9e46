//! Opens the targets of the access logs in a document and compiles their formats.

use std::collections::HashMap;
use std::path::Path;

use vervet_config::{Diagnostic, Diagnostics, Name, Named};

use super::plan::{LogNumber, LogPlan, LogSet};
use super::settings::LogSettings;
use crate::log_sinks::{LogSink, LogSinks, Rotation, Target};

/// How targets are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// To write to them. New files belong to this user and group.
    Write(Option<(u32, u32)>),
    /// To find errors: nothing is created, and lines go to memory only.
    DryRun,
}

/// The open logs of a document. Sinks in use have not changed yet: [`PreparedLogs::activate`] does
/// what cannot be undone.
#[derive(Debug, Default)]
pub struct PreparedLogs {
    /// The logs. The caller adds the names of sites and routes.
    pub plan: LogPlan,
    numbers: HashMap<String, LogNumber>,
    rotations: Vec<(LogSink, Option<Rotation>)>,
}

impl PreparedLogs {
    /// Opens the logs of a document. Those that fail are reported and left out.
    pub fn open(
        settings: &Named<LogSettings>,
        logs: &LogSinks,
        mode: OpenMode,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut prepared = Self::default();
        for (name, settings) in settings.iter() {
            if let Err(problem) = prepared.add(name, settings, logs, mode) {
                diagnostics.push(*problem);
            }
        }
        prepared
    }

    fn add(
        &mut self,
        name: &Name,
        settings: &LogSettings,
        logs: &LogSinks,
        mode: OpenMode,
    ) -> Result<(), Box<Diagnostic>> {
        let owner = match mode {
            OpenMode::Write(owner) => owner,
            OpenMode::DryRun => None,
        };
        let mut target = settings.target(name.span(), owner)?;
        let (rotation, condition) = (settings.rotation()?, settings.condition()?);
        let span = if settings.file.value().is_some() { settings.file.span() } else { name.span() };
        if mode == OpenMode::DryRun {
            check_directory(&target).map_err(|message| Diagnostic::error(span, message))?;
            target = Target::Memory;
        }
        let sink = logs
            .open(&target)
            .map_err(|error| Diagnostic::error(span, format!("cannot open {target}: {error}")))?;
        self.rotations.push((sink.clone(), rotation));
        let format = settings.format.format_for(&target);
        let number = self
            .plan
            .add_log(format, condition, sink)
            .ok_or_else(|| Diagnostic::error(name.span(), "too many logs"))?;
        self.numbers.insert(name.value().clone(), number);
        Ok(())
    }

    /// The log of this name.
    pub fn number(&self, name: &str) -> Option<LogNumber> {
        self.numbers.get(name).copied()
    }

    /// The set of the logs of these names; unknown names are left out.
    pub fn log_set<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> LogSet {
        let numbers = names.into_iter().filter_map(|name| self.number(name));
        let numbers: Vec<_> = numbers.collect();
        self.plan.log_set(&numbers)
    }

    /// Applies the rotation settings of the document to the sinks.
    pub fn activate(&self) {
        for (sink, rotation) in &self.rotations {
            sink.set_rotation(rotation.clone());
        }
    }
}

/// Fails if the directory of a log file does not exist.
fn check_directory(target: &Target) -> Result<(), String> {
    let Target::File(file) = target else {
        return Ok(());
    };
    match file.path.parent() {
        Some(directory) if directory != Path::new("") && !directory.is_dir() => {
            let directory = directory.display();
            Err(format!("the directory {directory} of the log file does not exist"))
        }
        _ => Ok(()),
    }
}
