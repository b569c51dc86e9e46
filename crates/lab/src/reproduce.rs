//! The files of a lab, written out of its record into a folder. Each must have the hash that the
//! record has of it: a record that was changed by hand does not run as if it were the old one.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use crate::hash::sha256_hex;
use crate::record::{Asset, LabRecord};

/// The files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The path of the lab file.
    pub lab_file: PathBuf,
    /// The list of all files with their hashes, as `sha256sum -c` reads it.
    pub list: PathBuf,
    /// Files that the record does not carry, by path: they have to be put there before the lab can
    /// run.
    pub missing: Vec<String>,
}

/// Why a lab cannot be written out.
#[derive(Debug)]
pub enum BundleError {
    /// A file or folder.
    File(PathBuf, io::Error),
    /// An invalid path, or one that leads out of the folder.
    Path(String),
    /// The content does not match the hash in the record.
    Unlike(Unlike),
}

/// A file whose content does not match its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike {
    /// The path of the file.
    pub path: String,
    /// The hash in the record.
    pub said: String,
    /// The hash of the content.
    pub found: String,
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Path(path) => write!(
                f,
                "the record contains the file {path:?}, which is outside of the folder of the lab"
            ),
            Self::Unlike(unlike) => write!(
                f,
                "{} should have SHA-256 {} but has {}: the file or the record was changed",
                unlike.path, unlike.said, unlike.found
            ),
        }
    }
}

impl std::error::Error for BundleError {}

/// Writes the lab file, the files that the record carries, and the list of hashes into a folder.
/// Files that are there are left alone when they are the same, and are an error otherwise.
pub fn write_bundle(record: &LabRecord, folder: &Path) -> Result<Written, BundleError> {
    let head = &record.head;
    let mut list = String::new();
    let mut missing = Vec::new();
    let lab_file = write(folder, &head.lab.name, &head.lab.text, &head.lab.sha256)?;
    add(&mut list, &head.lab.sha256, &head.lab.name);
    for asset in &head.assets {
        let path = inside(folder, &asset.path)?;
        match &asset.text {
            Some(text) => {
                let path = write(folder, &asset.path, text, &asset.sha256)?;
                set_mode(&path, asset)?;
            }
            None if !path.exists() => missing.push(asset.path.clone()),
            None => check_file(&path, asset)?,
        }
        add(&mut list, &asset.sha256, &asset.path);
    }
    let path = folder.join("SHA256SUMS");
    fs::write(&path, list).map_err(|error| BundleError::File(path.clone(), error))?;
    Ok(Written { lab_file, list: path, missing })
}

/// A line as `sha256sum` writes it.
fn add(list: &mut String, sha256: &str, path: &str) {
    list.push_str(sha256);
    list.push_str("  ");
    list.push_str(path);
    list.push('\n');
}

fn write(folder: &Path, name: &str, text: &str, said: &str) -> Result<PathBuf, BundleError> {
    let path = inside(folder, name)?;
    check(name, text.as_bytes(), said)?;
    let failed = |error| BundleError::File(path.clone(), error);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    if path.exists() {
        check(name, &fs::read(&path).map_err(failed)?, said)?;
    } else {
        fs::write(&path, text).map_err(failed)?;
    }
    Ok(path)
}

fn check_file(path: &Path, asset: &Asset) -> Result<(), BundleError> {
    let content = fs::read(path).map_err(|error| BundleError::File(path.to_owned(), error))?;
    check(&asset.path, &content, &asset.sha256)
}

fn check(path: &str, content: &[u8], said: &str) -> Result<(), BundleError> {
    let found = sha256_hex(content);
    if found == said {
        return Ok(());
    }
    Err(BundleError::Unlike(Unlike { path: path.to_owned(), said: said.to_owned(), found }))
}

/// Resolves a path below a folder. Records come from others and must not write elsewhere.
fn inside(folder: &Path, name: &str) -> Result<PathBuf, BundleError> {
    let plain = |component: Component<'_>| matches!(component, Component::Normal(_));
    let path = Path::new(name);
    let has_parts = path.components().next().is_some();
    if has_parts && path.components().all(plain) && !name.contains(['\n', '\r', '\0']) {
        return Ok(folder.join(path));
    }
    Err(BundleError::Path(name.to_owned()))
}

fn set_mode(path: &Path, asset: &Asset) -> Result<(), BundleError> {
    if !asset.executable {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|error| BundleError::File(path.to_owned(), error))
}
