//! What an adapter is told: where to listen, what to serve, and what for.

use std::path::Path;

use rustix::process::{Resource, getrlimit, getuid};

use super::Settings;
use crate::document::Log;

/// What a server is set up for.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The program; for a Python module the interpreter that has it.
    pub program: &'a Path,
    /// Where to listen, on 127.0.0.1.
    pub port: u16,
    /// An empty folder for configurations and state.
    pub folder: &'a Path,
    /// The folder of the generated files.
    pub site: &'a Path,
    /// The application, page or script.
    pub app: Option<&'a Path>,
    /// The settings.
    pub settings: &'a Settings,
    /// Which log of requests is written.
    pub log: Log,
    /// What is going to be asked for.
    pub traffic: Traffic,
}

/// What is going to be asked for: an expert sets a server up for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The length of the largest content, where it is known.
    pub content_bytes_max: u64,
    /// How many files there are.
    pub files: u64,
    /// What becomes of connections.
    pub connections: Connections,
    /// The most connections at a time.
    pub connections_max: u64,
}

/// What becomes of a connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// It carries further requests.
    Kept,
    /// It is closed.
    Closed,
}

/// From this length on a file is cheaper to send by sendfile(2) than from memory.
const LARGE_BYTES: u64 = 32 * 1024;
/// Descriptors that are counted on where the system does not tell.
const DESCRIPTORS: u64 = 65_536;
/// The most descriptors that a server is told of; some keep a table of that length.
const DESCRIPTORS_MAX: u64 = 200_000;

impl Traffic {
    /// Whether contents are so large that sendfile(2) pays.
    pub fn is_large(self) -> bool {
        self.content_bytes_max >= LARGE_BYTES
    }

    /// Whether each answer ends its connection.
    pub fn closes(self) -> bool {
        self.connections == Connections::Closed
    }
}

impl Setup<'_> {
    /// A path below the subject's own folder, as text.
    pub fn own(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The application's path; that of the site where there is none.
    pub fn app(&self) -> &Path {
        self.app.unwrap_or(self.site)
    }

    /// `text` if a log of requests is to be written, else `otherwise`.
    pub fn logged<'t>(&self, text: &'t str, otherwise: &'t str) -> &'t str {
        match self.log {
            Log::Access => text,
            Log::None => otherwise,
        }
    }
}

/// Descriptors that a server may have open.
pub(super) fn descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile).current;
    limit.unwrap_or(DESCRIPTORS).min(DESCRIPTORS_MAX)
}

/// A line for root alone: servers change to another user when started by root, who could then not read the lab's folders.
pub(super) fn as_root(line: &str) -> &str {
    if getuid().is_root() { line } else { "" }
}
