//! Which files and folders a plan names. Whether they are there is not asked.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use vervet_config::{Setting, Span};

use super::ends::PlannedEnd;
use super::planned::Plan;
use crate::settings::FilterSettings;

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is read.
    Read,
    /// It is written to, or in it.
    Write,
}

/// A path that a directive needs.
pub(crate) struct Need {
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
    pub(crate) span: Span,
}

/// All that a plan needs, while it is gathered.
#[derive(Default)]
struct Needs(Vec<Need>);

impl Plan {
    /// What serving this plan needs.
    pub(crate) fn needs(&self) -> Vec<Need> {
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

    fn read<P: Deref<Target = Path>>(&mut self, path: &Setting<P>) {
        self.add(Access::Read, Some(path.value()), path.span());
    }

    fn end(&mut self, end: &PlannedEnd) {
        match end {
            PlannedEnd::Made(_) | PlannedEnd::Rewrite(_) | PlannedEnd::Missing => {}
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
