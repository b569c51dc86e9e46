//! A cgroup of version 2: who is in it, and the kernel's account of it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::kept::{Keep, Kept, Reader, Shape};
use crate::process::Forkers;
use crate::readings::{CgroupMount, cgroup_mount, cgroup_path, number_after};
use crate::sample::{CgroupSample, Cpu};

/// The most cgroups that are looked at below one, and when a unit is looked for.
const CGROUPS_MAX: usize = 10_000;

/// A cgroup.
#[derive(Debug)]
pub(crate) struct Cgroup {
    /// As the kernel calls it.
    pub(crate) name: PathBuf,
    folder: PathBuf,
    /// The inode of the folder: it changes when the cgroup is removed and created again.
    inode: u64,
    cpu: Kept,
    memory: Kept,
    memory_peak: Kept,
    /// The lists of processes, its own and those of the cgroups below.
    lists: Vec<Kept>,
}

impl Cgroup {
    /// The cgroup at a path of the hierarchy, or of the file system; none when there is none.
    pub(crate) fn at(mount: &CgroupMount, path: &Path) -> Option<Self> {
        let below = path
            .strip_prefix(&mount.point)
            .or_else(|_| path.strip_prefix(&mount.root))
            .or_else(|_| path.strip_prefix("/"))
            .ok()?;
        let folder = mount.point.join(below);
        // The root cgroup has no such file.
        if !folder.join("cgroup.type").is_file() {
            return None;
        }
        let file = |name| Kept::new(folder.join(name), Shape::Record, Keep::Open);
        Some(Self {
            name: mount.root.join(below),
            cpu: file("cpu.stat"),
            memory: file("memory.current"),
            memory_peak: file("memory.peak"),
            lists: Vec::new(),
            inode: fs::metadata(&folder).ok()?.ino(),
            folder,
        })
    }

    /// Whether it is the same one, not another of the same name.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.name == other.name && self.inode == other.inode
    }

    /// The cgroup that a process is in; none when that is the root.
    pub(crate) fn of(proc: &Path, pid: u32, reader: &mut Reader) -> Option<Self> {
        let file = proc.join(format!("{pid}/cgroup"));
        let path = cgroup_path(reader.read_once(&file, Shape::Record).ok()?)?;
        Self::at(&mount(proc, reader)?, &path)
    }

    /// The cgroup of a unit of systemd: the first folder of that name.
    pub(crate) fn of_unit(mount: &CgroupMount, unit: &str) -> Option<Self> {
        let found = folders_below(&mount.point)
            .into_iter()
            .find(|folder| folder.file_name() == Some(OsStr::new(unit)))?;
        Self::at(mount, &found)
    }

    /// The processes in it and below it. Cgroups below are looked for with the children of all
    /// threads.
    pub(crate) fn processes(&mut self, forkers: Forkers, reader: &mut Reader) -> Vec<u32> {
        if self.lists.is_empty() || forkers == Forkers::AllThreads {
            let folders = std::iter::once(self.folder.clone()).chain(folders_below(&self.folder));
            let lists = folders
                .map(|folder| Kept::new(folder.join("cgroup.procs"), Shape::List, Keep::Open));
            self.lists = lists.collect();
        }
        let mut found = Vec::new();
        for list in &mut self.lists {
            let text = list.read(reader).unwrap_or_default();
            let text = String::from_utf8_lossy(text);
            found.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
        }
        found
    }

    /// The account since the cgroup was made; none when it is gone.
    pub(crate) fn account(&mut self, reader: &mut Reader) -> Option<CgroupSample> {
        let text = self.cpu.read(reader).ok()?;
        let user_us = number_after(text, "user_usec")?;
        // The kernel divides `usage_usec`, which is exact, between the two.
        let cpu = Cpu {
            user_us,
            system_us: number_after(text, "usage_usec")?.saturating_sub(user_us),
        };
        let throttled_periods = number_after(text, "nr_throttled");
        let throttled_us = number_after(text, "throttled_usec");
        Some(CgroupSample {
            cpu,
            throttled_periods,
            throttled_us,
            memory_bytes: number(&mut self.memory, reader),
            memory_peak_bytes: number(&mut self.memory_peak, reader),
        })
    }
}

/// Where cgroups of version 2 are mounted.
pub(crate) fn mount(proc: &Path, reader: &mut Reader) -> Option<CgroupMount> {
    let file = proc.join("self/mountinfo");
    cgroup_mount(reader.read_once(&file, Shape::List).ok()?)
}

fn number(file: &mut Kept, reader: &mut Reader) -> Option<u64> {
    let text = std::str::from_utf8(file.read(reader).ok()?).ok()?;
    text.trim().parse().ok()
}

fn folders_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && found.len() < CGROUPS_MAX {
                found.push(entry.path());
                open.push(entry.path());
            }
        }
    }
    found
}
