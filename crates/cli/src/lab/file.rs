//! Lab files: read, with their mistakes told.

use std::io::IsTerminal as _;
use std::path::Path;

use vervet_lab::plan::{Pace, Plan};
use vervet_lab::{Checked, check_file};
use vervet_server::config::{Severity, Style};

use crate::console;
use crate::failure::Failure;

/// The plan of a lab file. What is wrong with it is said.
pub(crate) fn planned(file: &Path, pace: Pace) -> Result<Plan, Failure> {
    let checked = told(file, pace)?;
    let errors = checked
        .diagnostics
        .iter()
        .filter(|one| one.severity == Severity::Error)
        .count();
    let count = if errors == 1 {
        "1 error".to_owned()
    } else {
        format!("{errors} errors")
    };
    checked
        .plan
        .ok_or_else(|| Failure::Other(format!("{} has {count}", file.display())))
}

/// A lab file as it was read, its findings said.
fn told(file: &Path, pace: Pace) -> Result<Checked, Failure> {
    let checked = check_file(file, pace).map_err(|error| Failure::Read(file.to_owned(), error))?;
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let coloured = std::io::stderr().is_terminal() && !refused;
    let style = if coloured {
        Style::Coloured
    } else {
        Style::Plain
    };
    if !checked.diagnostics.is_empty() {
        console::message_block(&checked.to_text(style));
    }
    Ok(checked)
}
