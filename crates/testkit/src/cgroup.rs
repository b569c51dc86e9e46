//! A cgroup of version 2 for one test: what the kernel itself says of the processes in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::wait::{PATIENCE, wait_until};

/// A new, empty cgroup. On drop, the processes in it are killed and it is removed.
#[derive(Debug)]
pub struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// Makes one called `vervet-test-…` with an end of the caller's; none where that is not allowed
    /// or there is no version 2.
    pub fn new(end: &str) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let mut mounts = mounts.lines().map(|line| line.split(' '));
        let point = mounts.find_map(|mut fields| {
            let point = fields.nth(1)?;
            (fields.next()? == "cgroup2").then_some(point)
        })?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("vervet-test-{}-{number}{end}", std::process::id());
        let folder = Path::new(point).join(name);
        fs::create_dir(&folder).ok()?;
        Some(Self { folder })
    }

    /// Returns the folder of the group.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Takes a process in; those that it forks from now on are in it, too. Those that it has forked
    /// are not.
    #[track_caller]
    pub fn adopt(&self, pid: u32) {
        let list = self.folder.join("cgroup.procs");
        fs::write(&list, pid.to_string()).unwrap_or_else(|error| {
            panic!("cannot take process {pid} into {}: {error}", list.display())
        });
    }

    /// Takes a process and all below it in, as far as their main threads forked them. One that ends
    /// meanwhile needs none.
    #[track_caller]
    pub fn adopt_tree(&self, pid: u32) {
        self.adopt(pid);
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            let child: u32 = child.parse().expect("a process number");
            if Path::new(&format!("/proc/{child}")).exists() {
                self.adopt_tree(child);
            }
        }
    }

    /// The processor time that it has used, in microseconds: exact, not in ticks.
    #[track_caller]
    pub fn cpu_us(&self) -> u64 {
        let text =
            fs::read_to_string(self.folder.join("cpu.stat")).expect("a cgroup has an account");
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("usage_usec "));
        lines.next().expect("usage_usec").parse().expect("a number")
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
        // Busy until the last process is gone. Failing to remove the folder does not fail the test.
        wait_until(PATIENCE, || match fs::remove_dir(&self.folder) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Child, skip};

    #[test]
    fn it_counts_who_is_in_it_and_is_gone_afterwards() {
        let Some(cgroup) = Cgroup::new("") else {
            skip!("needs root and a writable cgroup of version 2");
        };
        let mut child = Child::start("sh", ["-c", "while :; do :; done"]);
        cgroup.adopt_tree(child.id());
        assert!(wait_until(PATIENCE, || cgroup.cpu_us() > 1000));
        let path = cgroup.path().to_owned();
        drop(cgroup);
        assert!(!path.exists());
        child.wait_exit(PATIENCE);
    }
}
