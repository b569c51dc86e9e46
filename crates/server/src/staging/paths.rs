//! The files and folders that a plan needs, to restrict access to all others.

use std::path::PathBuf;

use vervet_config::{Diagnostic, Diagnostics};

use crate::plan::Plan;
use crate::resources::Access;

/// The files and folders that a plan uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Paths that are read.
    pub read: Vec<PathBuf>,
    /// Paths that are written: the folders of logs and sockets.
    pub write: Vec<PathBuf>,
}

impl Plan {
    /// The paths that this plan needs. Missing ones are left out, because access cannot be granted
    /// to them.
    pub fn paths(&self) -> Paths {
        let mut paths = Paths::default();
        for need in self.needs().paths {
            match need.access {
                Access::Read => paths.read.push(need.path),
                Access::Write => paths.write.push(need.path),
            }
        }
        for list in [&mut paths.read, &mut paths.write] {
            list.retain(|path| path.exists());
            list.sort();
            list.dedup();
            list.shrink_to_fit();
        }
        paths
    }

    /// Finds paths of this plan that the process cannot access since it was restricted.
    pub fn outside(&self, allowed: &Paths) -> Diagnostics {
        let resolved = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let paths = paths.iter();
            paths.filter_map(|path| path.canonicalize().ok()).collect()
        };
        let (read, write) = (resolved(&allowed.read), resolved(&allowed.write));
        let outside = self.needs().paths.into_iter().filter_map(|need| {
            // A missing path is reported where it is opened.
            let path = need.path.canonicalize().ok()?;
            let is_in = |allowed: &[PathBuf]| allowed.iter().any(|known| path.starts_with(known));
            let (is_allowed, deed) = match need.access {
                Access::Read => (is_in(&read) || is_in(&write), "read"),
                Access::Write => (is_in(&write), "written"),
            };
            let message = format!(
                "{} cannot be {deed}: it is outside the sandbox, which was set up at the start",
                path.display()
            );
            let problem = Diagnostic::error(need.span, message);
            let hint = format!(
                "restart the server, or add the folder to `sandbox.{}` before the start",
                match need.access {
                    Access::Read => "read",
                    Access::Write => "write",
                }
            );
            (!is_allowed).then(|| problem.note(hint))
        });
        outside.collect()
    }
}
