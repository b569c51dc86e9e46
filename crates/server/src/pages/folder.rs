//! The folder of the templates, and the guarantee that none is read from outside it.
//!
//! Names are relative to the folder, also in included templates. [`crate::files::root`] guarantees
//! that no link leads outside.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use crate::files::representation::read_to;
use crate::files::root::{Fingerprint, Kind, OpenError, Root, Symlinks};
use crate::pages::limits::TEMPLATE_BYTES_MAX;

/// A folder of templates.
#[derive(Debug)]
pub(crate) struct TemplateFolder {
    pub(crate) path: PathBuf,
    root: Root,
    state: Fingerprint,
}

/// The state of a template file when it was read, to detect changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Witness {
    pub(crate) name: String,
    seen: Result<Fingerprint, OpenError>,
}

impl Witness {
    /// The time of the last change of the file, in seconds since 1970.
    pub(crate) fn changed_s(&self) -> i64 {
        let changed_ns = self.seen.map_or(0, |seen| seen.modified_ns.max(seen.changed_ns));
        changed_ns.div_euclid(1_000_000_000)
    }
}

impl TemplateFolder {
    /// Opens a folder.
    pub(crate) fn open(path: &Path, symlinks: Symlinks) -> Result<Self, OpenError> {
        let root = Root::open(path, symlinks)?;
        let state = root.stat(b"")?.fingerprint;
        Ok(Self { path: path.to_owned(), root, state })
    }

    /// Whether this is the same folder as the other one.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.state.device, self.state.inode) == (other.state.device, other.state.inode)
    }

    /// Whether the template file has not changed.
    pub(crate) fn stands(&self, witness: &Witness) -> bool {
        self.look(&witness.name) == witness.seen
    }

    /// Reads a template. Returns the text or an error message, and the state of the file.
    pub(crate) fn read(&self, name: &str) -> (Witness, Result<String, String>) {
        if let Some(wrong) = wrong_name(name) {
            let seen = Err(OpenError::Escapes);
            return (Witness { name: name.to_owned(), seen }, Err(wrong));
        }
        let (seen, text) = match self.read_file(name) {
            Ok((fingerprint, text)) => (Ok(fingerprint), text),
            Err(error) => (Err(error), Err(refusal(name, error))),
        };
        (Witness { name: name.to_owned(), seen }, text)
    }

    fn read_file(&self, name: &str) -> Result<(Fingerprint, Result<String, String>), OpenError> {
        let node = self.root.open_node(name.as_bytes())?;
        let fingerprint = node.stat.fingerprint;
        if node.stat.kind != Kind::File {
            return Ok((fingerprint, Err(format!("{name} is a folder"))));
        }
        if fingerprint.size > TEMPLATE_BYTES_MAX {
            let text = format!(
                "{name} has {} bytes; a template can have at most {TEMPLATE_BYTES_MAX}",
                fingerprint.size
            );
            return Ok((fingerprint, Err(text)));
        }
        let mut content = Vec::new();
        read_to(&mut content, node.descriptor.as_fd(), fingerprint.size)
            .map_err(OpenError::System)?;
        let text = String::from_utf8(content).map_err(|error| {
            let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
                .split(|byte| *byte == b'\n')
                .count();
            format!("{name} is not valid UTF-8 in line {line}")
        });
        Ok((fingerprint, text))
    }

    fn look(&self, name: &str) -> Result<Fingerprint, OpenError> {
        match wrong_name(name) {
            Some(_) => Err(OpenError::Escapes),
            None => self.root.stat(name.as_bytes()).map(|stat| stat.fingerprint),
        }
    }
}

/// The error of a template name that could lead outside the folder, or that no file can have.
fn wrong_name(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("the template name is empty".to_owned());
    }
    if name.starts_with('/') {
        return Some(format!(
            "{name} is an absolute path; template names are relative to the template folder"
        ));
    }
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Some(format!(
            "{name} is not a plain path; template names are relative to the template folder, without . and .."
        ));
    }
    if name.contains(|character: char| character.is_control() || character == '\\') {
        return Some(format!(
            "{name:?} contains a character that is not allowed in template names"
        ));
    }
    None
}

fn refusal(name: &str, error: OpenError) -> String {
    match error {
        OpenError::Missing => format!("the template {name} does not exist"),
        OpenError::Linked => {
            format!(
                "{name} is a symbolic link or is reached through one (symlinks = \"follow\" allows links that stay in the folder)"
            )
        }
        OpenError::Escapes => format!("{name} leads outside the template folder"),
        other => format!("{name} cannot be read: {other}"),
    }
}
