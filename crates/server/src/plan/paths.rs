//! What of the file system a plan needs, for those who restrict the rest.

use std::path::{Path, PathBuf};

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

impl Plan {
    /// What serving this plan needs. What is not there is left out, for nothing can be allowed of it.
    pub fn paths(&self) -> Paths {
        let mut paths = Paths::default();
        let document = self.document();
        for site in &self.sites {
            filters(&mut paths, site.settings.filters());
            for target in &site.targets {
                end(&mut paths, &target.end);
                if let Some(route) = &target.settings {
                    filters(&mut paths, route.filters());
                }
            }
        }
        let logs = document.log.iter().map(|(_, log)| log.file.value());
        for file in logs.chain([document.error_log.file.value()]).flatten() {
            paths.write.extend(file.parent().map(Path::to_owned));
        }
        if let Some(sandbox) = document.sandbox.value() {
            paths
                .read
                .extend(sandbox.read.iter().map(|path| path.to_path_buf()));
            paths
                .write
                .extend(sandbox.write.iter().map(|path| path.to_path_buf()));
        }
        for list in [&mut paths.read, &mut paths.write] {
            list.retain(|path| path.exists());
            list.sort();
            list.dedup();
        }
        paths
    }
}

fn end(paths: &mut Paths, end: &PlannedEnd) {
    match end {
        PlannedEnd::Made(_) | PlannedEnd::Rewrite(_) => {}
        PlannedEnd::Files(files) => paths.read.push(files.root.to_path_buf()),
        PlannedEnd::Alias(alias, _) => paths.read.push(alias.to.to_path_buf()),
        PlannedEnd::UserFolders(folders) => {
            paths.read.push(folders.accounts.to_path_buf());
            paths.read.push(PathBuf::from("/home"));
        }
        PlannedEnd::Page(page) => match page.folder.value() {
            Some(folder) => paths.read.push(folder.to_path_buf()),
            None => paths
                .read
                .extend(page.template.parent().map(Path::to_owned)),
        },
    }
}

fn filters(paths: &mut Paths, settings: FilterSettings<'_>) {
    if let Some(auth) = settings.auth {
        // The folder: a file is replaced by another when users change.
        let folders = auth.files.iter().filter_map(|file| file.parent());
        paths.read.extend(folders.map(Path::to_owned));
    }
}
