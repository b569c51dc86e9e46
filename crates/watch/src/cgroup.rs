//! A cgroup v2: its processes, and the kernel's accounting of it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::kernel_file::{Keep, KernelFile, Reader, Shape};
use crate::process::ChildLookup;
use crate::readings::number_after;
use crate::sample::{CgroupSample, Cpu};

/// The maximum number of cgroups below one, also in the search for a unit.
const CGROUPS_MAX: usize = 10_000;

/// A cgroup v2.
#[derive(Debug)]
pub(crate) struct Cgroup {
    /// Its path in the hierarchy.
    pub(crate) name: PathBuf,
    folder: PathBuf,
    /// The inode of the folder: it changes when the cgroup is removed and created again.
    inode: u64,
    cpu: KernelFile,
    memory: KernelFile,
    memory_peak: KernelFile,
    /// The lists of processes, its own and those of its descendants.
    lists: Vec<KernelFile>,
}

impl Cgroup {
    /// The cgroup at a path in the hierarchy or in the file system; none if it does not exist.
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
        let file = |name| KernelFile::new(folder.join(name), Shape::Record, Keep::Open);
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

    /// Whether both are the same cgroup, not one that was created later with the same name.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.name == other.name && self.inode == other.inode
    }

    /// The cgroup of a process; none if that is the root.
    pub(crate) fn of_process(proc: &Path, pid: u32, reader: &mut Reader) -> Option<Self> {
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

    /// The processes of the cgroup and its descendants, which are listed again with
    /// [`ChildLookup::AllThreads`].
    pub(crate) fn processes(&mut self, lookup: ChildLookup, reader: &mut Reader) -> Vec<u32> {
        if self.lists.is_empty() || lookup == ChildLookup::AllThreads {
            let folders = std::iter::once(self.folder.clone()).chain(folders_below(&self.folder));
            let lists = folders.map(|folder| {
                KernelFile::new(folder.join("cgroup.procs"), Shape::List, Keep::Open)
            });
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

    /// The counters since the cgroup was created; none if it was removed.
    pub(crate) fn account(&mut self, reader: &mut Reader) -> Option<CgroupSample> {
        let text = self.cpu.read(reader).ok()?;
        let user_us = number_after(text, "user_usec")?;
        // The kernel divides `usage_usec`, which is exact, between the two.
        let cpu =
            Cpu { user_us, system_us: number_after(text, "usage_usec")?.saturating_sub(user_us) };
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

fn number(file: &mut KernelFile, reader: &mut Reader) -> Option<u64> {
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

/// A mount of the cgroup v2 hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CgroupMount {
    /// The cgroup that is mounted: in a container often only its own.
    root: PathBuf,
    /// The mount point.
    point: PathBuf,
}

/// The first mount of the type `cgroup2`.
fn cgroup_mount(mountinfo: &[u8]) -> Option<CgroupMount> {
    mountinfo.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b' ');
        let root = fields.nth(3)?;
        let point = fields.next()?;
        fields.find(|field| *field == b"-")?;
        (fields.next()? == b"cgroup2")
            .then(|| CgroupMount { root: unescaped(root), point: unescaped(point) })
    })
}

/// The path of the cgroup v2 of a process.
fn cgroup_path(cgroup: &[u8]) -> Option<PathBuf> {
    let mut lines = cgroup.split(|byte| *byte == b'\n');
    let path = lines.find_map(|line| line.strip_prefix(b"0::"))?;
    // Of a process whose cgroup was removed under it.
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    path.starts_with(b"/").then(|| OsStr::from_bytes(path).into())
}

/// Spaces and such are written as `\040`.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'\\').then(|| after.get(..3)).flatten();
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    OsStr::from_bytes(&bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str)>) {
        let expected =
            expected.map(|(root, point)| CgroupMount { root: root.into(), point: point.into() });
        assert_eq!(cgroup_mount(line.as_bytes()), expected, "{line}");
    }

    #[test]
    fn other_mounts_and_cut_lines_are_passed_over() {
        check("", None);
        check("10:31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw", None);
        check("12 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu", None);
        check("20 41 0:38 / /sys/fs/cgroup", None);
        check("20 41 0:38 / /sys/fs/cgroup rw,relatime -", None);
    }

    #[test]
    fn the_mount_is_found_with_its_root() {
        check(
            "1 1 0:1 / /proc rw - proc proc rw\n20 41 0:38 / /sys/fs/cgroup rw shared:1 - cgroup2 cgroup2 rw\n",
            Some(("/", "/sys/fs/cgroup")),
        );
        check(
            "20 41 0:38 /a/b /my\\040cgroups\\134x rw - cgroup2 none rw",
            Some(("/a/b", "/my cgroups\\x")),
        );
        check("2 4 0:3 / /a\\04 rw - cgroup2 none rw", Some(("/", "/a\\04")));
    }

    #[test]
    fn the_path_of_version_2_is_taken() {
        let path = |text: &str| cgroup_path(text.as_bytes());
        assert_eq!(path(""), None);
        assert_eq!(path("4:memory:/a\n"), None);
        assert_eq!(path("0::a\n"), None);
        assert_eq!(path("4:memory:/a\n0::/b c/d\n"), Some("/b c/d".into()));
        assert_eq!(path("0::/gone (deleted)\n"), Some("/gone".into()));
    }
}
