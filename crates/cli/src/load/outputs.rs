//! Writes a run in the requested forms to standard output and to files.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use vervet_report::forms::Form;
use vervet_report::{Interval, Run};

use super::arguments::OutputArguments;
use crate::console;
use crate::failure::Failure;

/// Collectors run as other users; the umask of this process still applies.
const READABLE: u32 = 0o666;

/// Where a run is written, and in which forms.
#[derive(Default)]
pub(crate) struct Outputs {
    /// On standard output.
    format: Option<&'static Form>,
    files: Vec<(&'static Form, PathBuf)>,
}

impl Outputs {
    /// The forms that the command line names.
    pub(crate) fn new(arguments: &OutputArguments) -> Self {
        Self { format: Some(arguments.format), files: arguments.output.clone() }
    }

    /// Writes an interval that has ended, if the form is a stream.
    pub(crate) fn interval(&self, interval: &Interval) -> io::Result<()> {
        match self.format.and_then(|form| form.stream) {
            Some(stream) => console::print(&(stream.interval)(interval)),
            None => Ok(()),
        }
    }

    /// Writes the run when it is over; the intervals of a stream have been written before.
    pub(crate) fn run(&self, run: &Run) -> Result<(), Failure> {
        if let Some(form) = self.format {
            let write = form.stream.map_or(form.write, |stream| stream.end);
            console::print(&write(run)).map_err(Failure::Output)?;
        }
        for (form, file) in &self.files {
            let text = (form.write)(run);
            let result =
                if form.replaces_file { replace(file, &text) } else { fs::write(file, text) };
            result.map_err(Failure::write(file))?;
        }
        Ok(())
    }
}

/// Replaces a file as a whole: a collector that reads meanwhile gets the old or the new content.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut new = tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(READABLE))
        .tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.persist(file)?;
    Ok(())
}
