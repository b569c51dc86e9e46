//! Sites without configuration: a folder whose name is a host and that contains a folder `www` is
//! the site of that host.
//!
//! ```text
//! sites/example.org/www/        the site of example.org
//! sites/www.example.org         a link to example.org: another name of the same site
//! sites/*.example.net/www/      the site of every host below example.net
//! sites/default/www/            the site of every other host
//! sites/_shop.example.org/      off, until the underscore is taken away
//! ```

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use vervet_config::toml_string;

use crate::matching::HostPattern;

/// The folder of a site whose files are served.
pub const CONTENT: &str = "www";

/// The name of the folder of the default site.
pub const DEFAULT: &str = "default";

/// Maximum number of names in the folder.
pub const NAMES_MAX: usize = 100_000;

/// The sites of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The sites, in the order of their first names.
    pub sites: Vec<LayoutSite>,
    /// Names that are not sites, in order, with the reason.
    pub passed_over: Vec<(PathBuf, PassedOver)>,
}

/// A site of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutSite {
    /// The hosts of the site; [`HostPattern::Any`] for the default site.
    pub hosts: Vec<HostPattern>,
    /// The folder whose files are served.
    pub root: PathBuf,
}

/// Why a name in the folder is not a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassedOver {
    /// The name begins with an underscore.
    Off,
    /// It is not a folder.
    NoFolder,
    /// A folder without a folder `www`.
    NoContent,
    /// Not a hostname, for this reason.
    NoHost(String),
}

impl std::fmt::Display for PassedOver {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Off => {
                formatter.write_str("disabled, because its name begins with an underscore")
            }
            Self::NoFolder => formatter.write_str("not a folder"),
            Self::NoContent => write!(formatter, "it contains no folder `{CONTENT}`"),
            Self::NoHost(reason) => write!(formatter, "its name is not a hostname: {reason}"),
        }
    }
}

impl Layout {
    /// Reads the sites of a folder. Names that begin with a dot are not looked at.
    ///
    /// # Errors
    /// The folder cannot be read, or has more than [`NAMES_MAX`] names.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut names = Vec::new();
        for entry in folder.read_dir()? {
            let name = entry?.file_name();
            if name.as_bytes().starts_with(b".") {
                continue;
            }
            if names.len() == NAMES_MAX {
                let message = format!("more than {NAMES_MAX} names");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
            }
            names.push(name);
        }
        names.sort();
        let mut layout = Self::default();
        let mut by_place: HashMap<PathBuf, usize> = HashMap::new();
        for name in names {
            let place = folder.join(&name);
            match site(&place, &name) {
                Ok((host, root)) => layout.add(host, root, &mut by_place),
                Err(reason) => layout.passed_over.push((place, reason)),
            }
        }
        Ok(layout)
    }

    /// The sites as a document: what `vervet run FOLDER` serves.
    pub fn document(&self) -> String {
        let mut text = String::new();
        for site in &self.sites {
            let hosts: Vec<String> =
                site.hosts.iter().map(|host| toml_string(&host.to_string())).collect();
            let root = toml_string(&site.root.to_string_lossy());
            // Writing to a String does not fail.
            let _ = writeln!(text, "[[site]]\nhosts = [{}]\nroot = {root}", hosts.join(", "));
        }
        text
    }

    /// Adds a site; names of the same folder become hosts of one site.
    fn add(&mut self, host: HostPattern, root: PathBuf, by_place: &mut HashMap<PathBuf, usize>) {
        let place = root.canonicalize().unwrap_or_else(|_| root.clone());
        let number = *by_place.entry(place).or_insert(self.sites.len());
        match self.sites.get_mut(number) {
            Some(site) => site.hosts.push(host),
            None => self.sites.push(LayoutSite { hosts: vec![host], root }),
        }
    }
}

fn site(place: &Path, name: &OsStr) -> Result<(HostPattern, PathBuf), PassedOver> {
    if name.as_bytes().starts_with(b"_") {
        return Err(PassedOver::Off);
    }
    if !place.is_dir() {
        return Err(PassedOver::NoFolder);
    }
    let root = place.join(CONTENT);
    if !root.is_dir() {
        return Err(PassedOver::NoContent);
    }
    let name = name.to_string_lossy();
    let host = match &*name {
        DEFAULT => Ok(HostPattern::Any),
        name => HostPattern::parse(name),
    };
    let host = host.map_err(|flaw| PassedOver::NoHost(flaw.message))?;
    Ok((host, root))
}
