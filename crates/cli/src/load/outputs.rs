//! A run in the forms that were asked for, to standard output and to files.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use vervet_report::forms;
use vervet_report::{Interval, Run};

use super::arguments::{Form, OutputArguments};
use crate::failure::Failure;
use crate::talk;

/// Collectors are other users; the mask of this process still holds.
const READABLE: u32 = 0o666;

/// What is written of a run, and where.
pub(crate) struct Outputs {
    format: Form,
    files: Vec<(Form, PathBuf)>,
}

impl Outputs {
    pub(crate) fn new(arguments: &OutputArguments) -> Self {
        Self {
            format: arguments.format,
            files: arguments.output.clone(),
        }
    }

    /// Nothing at all.
    pub(crate) fn silent() -> Self {
        Self {
            format: Form::Text,
            files: Vec::new(),
        }
    }

    /// An interval is over: a stream tells it now.
    pub(crate) fn interval(&self, interval: &Interval) -> io::Result<()> {
        match self.format {
            Form::Ndjson => talk::print(&forms::stream_interval(interval)),
            _ => Ok(()),
        }
    }

    /// The run is over.
    pub(crate) fn run(&self, run: &Run) -> Result<(), Failure> {
        let printed = match self.format {
            // The intervals have been told.
            Form::Ndjson => forms::stream_run(run),
            form => written(form, run),
        };
        talk::print(&printed).map_err(Failure::Output)?;
        for (form, file) in &self.files {
            let text = written(*form, run);
            let result = match form {
                Form::Openmetrics => write_whole(file, &text),
                _ => fs::write(file, text),
            };
            result.map_err(Failure::write(file))?;
        }
        Ok(())
    }
}

/// Collectors read whenever they like: the file is there whole, or as it was before.
fn write_whole(file: &Path, text: &str) -> io::Result<()> {
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

fn written(form: Form, run: &Run) -> String {
    match form {
        Form::Text => forms::text(run),
        Form::Json => forms::json(run),
        Form::Csv => forms::csv_intervals(run),
        Form::Ndjson => {
            let intervals = run.intervals.iter().map(forms::stream_interval);
            intervals.chain([forms::stream_run(run)]).collect()
        }
        Form::Hgrm => forms::hgrm(&run.timings.response),
        Form::Html => forms::html(run),
        Form::Openmetrics => forms::openmetrics(run),
    }
}
