//! A lab file read and resolved, with everything that is wrong with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use vervet_config::{Diagnostics, Documents, Sources, Style, render_text};

use crate::document::Lab;
use crate::hash::sha256_hex;
use crate::plan::{Pace, Plan};
use crate::record::LabFile;

/// The result of checking a lab file.
#[derive(Debug)]
pub struct Checked {
    /// The plan, if nothing refuses the file.
    pub plan: Option<Plan>,
    /// All findings, in the order of their lines.
    pub diagnostics: Diagnostics,
    /// The texts that the findings point into.
    pub sources: Sources,
}

impl Checked {
    /// Formats the findings as text.
    pub fn to_text(&self, style: Style) -> String {
        render_text(&self.diagnostics, &self.sources, style)
    }
}

/// Reads a lab file from the disk.
pub fn check_file(file: &Path, pace: Pace) -> io::Result<Checked> {
    let bytes = fs::read(file)?;
    let folder = std::path::absolute(file)?;
    let folder = folder.parent().map_or_else(PathBuf::new, Path::to_owned);
    Ok(check_text(file, &bytes, &folder, pace))
}

/// Reads the text of a lab file that is called `name` and lies in `folder`, without input or
/// output.
pub fn check_text(name: &Path, bytes: &[u8], folder: &Path, pace: Pace) -> Checked {
    let environment = |name: &str| std::env::var(name).ok();
    let mut documents = Documents::new(&environment);
    documents.add(name.to_string_lossy(), bytes);
    let reading = documents.read::<Lab>();
    let mut diagnostics = reading.diagnostics;
    let mut plan = None;
    if let Some(lab) = &reading.value {
        let file = LabFile {
            name: name.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            text: String::from_utf8_lossy(bytes).into_owned(),
            sha256: sha256_hex(bytes),
        };
        match Plan::resolve(lab, file, folder, pace) {
            Ok((found, warnings)) => {
                diagnostics.extend(warnings);
                plan = Some(found);
            }
            Err(found) => diagnostics.extend(found),
        }
    }
    diagnostics.sort();
    Checked { plan, diagnostics, sources: reading.sources }
}
