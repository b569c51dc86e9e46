//! Where cgroups of version 2 are mounted (`/proc/self/mountinfo`), and which one a process is in
//! (`/proc/PID/cgroup`).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// A mount of the hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CgroupMount {
    /// The cgroup that is its root: a container often sees only its own.
    pub(crate) root: PathBuf,
    /// Where it is.
    pub(crate) point: PathBuf,
}

/// The first mount of the type `cgroup2`.
pub(crate) fn cgroup_mount(mountinfo: &[u8]) -> Option<CgroupMount> {
    mountinfo.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b' ');
        let root = fields.nth(3)?;
        let point = fields.next()?;
        fields.find(|field| *field == b"-")?;
        (fields.next()? == b"cgroup2").then(|| CgroupMount {
            root: unescaped(root),
            point: unescaped(point),
        })
    })
}

/// The path of the cgroup of version 2 that a process is in.
pub(crate) fn cgroup_path(cgroup: &[u8]) -> Option<PathBuf> {
    let mut lines = cgroup.split(|byte| *byte == b'\n');
    let path = lines.find_map(|line| line.strip_prefix(b"0::"))?;
    // Of a process whose cgroup was removed under it.
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    path.starts_with(b"/")
        .then(|| OsStr::from_bytes(path).into())
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
        let expected = expected.map(|(root, point)| CgroupMount {
            root: root.into(),
            point: point.into(),
        });
        assert_eq!(cgroup_mount(line.as_bytes()), expected, "{line}");
    }

    #[test]
    fn other_mounts_and_cut_lines_are_passed_over() {
        check("", None);
        check(
            "10:31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw",
            None,
        );
        check(
            "12 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu",
            None,
        );
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
        check(
            "2 4 0:3 / /a\\04 rw - cgroup2 none rw",
            Some(("/", "/a\\04")),
        );
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
