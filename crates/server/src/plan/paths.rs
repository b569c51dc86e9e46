//! What of the file system a plan needs, for those who restrict the rest.

use std::path::{Path, PathBuf};

use vervet_config::{Diagnostic, Diagnostics, Setting, Span};

use super::ends::PlannedEnd;
use super::planned::Plan;
use crate::settings::FilterSettings;

/// Files and folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// That are read.
    pub read: Vec<PathBuf>,
    /// That are written to: the folders of logs and sockets.
    pub write: Vec<PathBuf>,
}

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// A path that a directive needs.
struct Need {
    path: PathBuf,
    access: Access,
    span: Span,
}

/// All that a plan needs, while it is gathered.
#[derive(Default)]
struct Needs(Vec<Need>);

impl Plan {
    /// What serving this plan needs. What is not there is left out, for nothing can be allowed of it.
    pub fn paths(&self) -> Paths {
        let mut paths = Paths::default();
        for need in self.needs() {
            match need.access {
                Access::Read => paths.read.push(need.path),
                Access::Write => paths.write.push(need.path),
            }
        }
        for list in [&mut paths.read, &mut paths.write] {
            list.retain(|path| path.exists());
            list.sort();
            list.dedup();
        }
        paths
    }

    /// What of this plan lies outside of what may be read and written since the process was restricted.
    pub fn outside(&self, allowed: &Paths) -> Diagnostics {
        let resolved = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let paths = paths.iter();
            paths.filter_map(|path| path.canonicalize().ok()).collect()
        };
        let (read, write) = (resolved(&allowed.read), resolved(&allowed.write));
        let outside = self.needs().into_iter().filter_map(|need| {
            // What is not there is found, and told, by who opens it.
            let path = need.path.canonicalize().ok()?;
            let is_in = |allowed: &[PathBuf]| allowed.iter().any(|known| path.starts_with(known));
            let (is_allowed, deed) = match need.access {
                Access::Read => (is_in(&read) || is_in(&write), "read"),
                Access::Write => (is_in(&write), "written"),
            };
            let message = format!(
                "{} may not be {deed}: the sandbox was made at the start",
                path.display()
            );
            let problem = Diagnostic::error(need.span, message);
            let hint = format!(
                "restart the server, or name the folder in `sandbox.{}` before",
                match need.access {
                    Access::Read => "read",
                    Access::Write => "write",
                }
            );
            (!is_allowed).then(|| problem.note(hint))
        });
        outside.collect()
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = Needs::default();
        let document = self.document();
        for site in &self.sites {
            needs.filters(site.settings.filters());
            for target in &site.targets {
                needs.end(&target.end);
                if let Some(route) = &target.settings {
                    needs.filters(route.filters());
                }
            }
        }
        let logs = document.log.iter().map(|(_, log)| &log.file);
        for file in logs.chain([&document.error_log.file]) {
            let folder = file.value().as_ref().and_then(|file| file.parent());
            needs.add(Access::Write, folder, file.span());
        }
        if let Some(sandbox) = document.sandbox.value() {
            for path in sandbox.read.iter() {
                needs.add(Access::Read, Some(path), sandbox.read.span());
            }
            for path in sandbox.write.iter() {
                needs.add(Access::Write, Some(path), sandbox.write.span());
            }
        }
        needs.0
    }
}

impl Needs {
    fn add(&mut self, access: Access, path: Option<&Path>, span: Span) {
        self.0.extend(path.map(|path| Need {
            path: path.to_owned(),
            access,
            span,
        }));
    }

    fn read<P: std::ops::Deref<Target = Path>>(&mut self, path: &Setting<P>) {
        self.add(Access::Read, Some(path.value()), path.span());
    }

    fn end(&mut self, end: &PlannedEnd) {
        match end {
            PlannedEnd::Made(_) | PlannedEnd::Rewrite(_) => {}
            PlannedEnd::Files(files) => self.read(&files.root),
            PlannedEnd::Alias(alias, _) => self.read(&alias.to),
            PlannedEnd::UserFolders(folders) => {
                self.read(&folders.accounts);
                let homes = Path::new("/home");
                self.add(Access::Read, Some(homes), folders.folder.span());
            }
            PlannedEnd::Page(page) => match page.folder.value() {
                Some(folder) => self.add(Access::Read, Some(folder), page.folder.span()),
                None => self.add(Access::Read, page.template.parent(), page.template.span()),
            },
        }
    }

    fn filters(&mut self, settings: FilterSettings<'_>) {
        if let Some(auth) = settings.auth {
            // The folder: a file is replaced by another when users change.
            for file in auth.files.iter() {
                self.add(Access::Read, file.parent(), auth.files.span());
            }
        }
    }
}
