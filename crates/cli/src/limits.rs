//! `vervet limits`: the table, for a terminal.

use std::fmt::Write as _;
use std::process::ExitCode;

use vervet_server::engine::limits::Limits;

use crate::console;
use crate::failure::Failure;

/// Prints the table.
pub(crate) fn print() -> Result<ExitCode, Failure> {
    console::print(&table()).map_err(Failure::Output)?;
    Ok(ExitCode::SUCCESS)
}

fn table() -> String {
    let width = Limits::TABLE.iter().map(|row| row.name.len()).max();
    let width = width.unwrap_or_default();
    let mut page = String::new();
    // Writing to a String does not fail.
    let _ = writeln!(
        page,
        "{:width$}  {:>12}  {:>8}  {:>16}  {:12}  WHAT IT BOUNDS",
        "LIMIT", "DEFAULT", "LEAST", "GREATEST", "UNIT"
    );
    for row in Limits::TABLE {
        let _ = writeln!(
            page,
            "{:width$}  {:>12}  {:>8}  {:>16}  {:12}  {}",
            row.name, row.default, row.min, row.max, row.unit, row.doc
        );
    }
    page
}
