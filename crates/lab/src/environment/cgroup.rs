//! Limits that a container sets.

use std::fs;
use std::path::Path;

use crate::record::{Environment, Weight};

const FILES: &[&str] = &[
    "cpu.max",
    "cpu.weight",
    "cpuset.cpus.effective",
    "memory.max",
    "memory.high",
    "pids.max",
];

pub(super) fn add(environment: &mut Environment) {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some(path) = own(&text) else {
        return;
    };
    let folder = Path::new("/sys/fs/cgroup").join(path.trim_start_matches('/'));
    for name in FILES {
        if let Ok(value) = fs::read_to_string(folder.join(name)) {
            environment.add("cgroup", name, value.trim(), Weight::Decides);
        }
    }
}

/// The path of the one hierarchy of cgroup v2.
fn own(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn finds_the_second_version_only() {
        assert_eq!(own("12:cpu:/a\n0::/b/c\n"), Some("/b/c"));
        assert_eq!(own("12:cpu:/a\n"), None);
    }
}
