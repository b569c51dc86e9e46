//! Path safety (FEATURES B6): every row runs under both ways of containment.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use vervet_server::files::root::{Containment, Kind, OpenError, Root, Symlinks};

const BOTH: [Containment; 2] = [Containment::Kernel, Containment::Walk];

fn tree() -> TempDir {
    let base = tempfile::tempdir().unwrap();
    let root = base.path().join("root");
    fs::create_dir_all(root.join("dir/deep")).unwrap();
    fs::create_dir_all(base.path().join("outside")).unwrap();
    for (name, content) in [
        ("root/a.txt", "a"),
        ("root/a..b", "dots"),
        ("root/..c", "leading dots"),
        ("root/dir/b.txt", "b"),
        ("root/dir/deep/c.txt", "c"),
        ("root/back\\slash", "backslash"),
        ("outside/secret", "secret"),
    ] {
        fs::write(base.path().join(name), content).unwrap();
    }
    for (target, link) in [
        ("a.txt", "to-a"),
        ("dir", "to-dir"),
        ("../a.txt", "dir/up-to-a"),
        ("../../dir/deep/../b.txt", "dir/deep/long-way"),
        ("../outside/secret", "out"),
        ("../outside", "out-dir"),
        ("../root/a.txt", "out-and-in"),
        ("/etc/passwd", "absolute"),
        ("loop", "loop"),
        ("nothing", "dangling"),
        ("a.txt/", "to-a-slash"),
        ("dir/", "to-dir-slash"),
        ("/proc/self/root/etc/passwd", "magic"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    base
}

type Expected<'a> = Result<&'a str, OpenError>;

fn check(base: &Path, symlinks: Symlinks, path: &str, expected: Expected<'_>) {
    for containment in BOTH {
        let root = Root::open_contained(&base.join("root"), symlinks, containment).unwrap();
        let opened = root.open_node(path.as_bytes());
        assert_eq!(
            opened.as_ref().map(|node| node.stat).map_err(|error| *error),
            root.stat(path.as_bytes()),
            "{path:?} looked at, {containment:?}"
        );
        let content = opened.map(|node| match node.stat.kind {
            Kind::Directory => "directory".to_owned(),
            Kind::File => std::io::read_to_string(fs::File::from(node.descriptor)).unwrap(),
        });
        assert_eq!(content.as_deref().map_err(|e| *e), expected, "{path:?} by {containment:?}");
    }
}

#[test]
fn nothing_outside_the_root_is_opened() {
    let base = tree();
    for path in ["..", "../outside/secret", "dir/../../outside/secret", "/etc/passwd", "dir/../.."]
    {
        check(base.path(), Symlinks::Refuse, path, Err(OpenError::Escapes));
        check(base.path(), Symlinks::Follow, path, Err(OpenError::Escapes));
    }
    for path in
        ["a.txt\0", "a.txt/", "a.txt/x", "nothing", "dir/nothing", "..\\outside", "dir\\b.txt"]
    {
        check(base.path(), Symlinks::Refuse, path, Err(OpenError::Missing));
        check(base.path(), Symlinks::Follow, path, Err(OpenError::Missing));
    }
}

#[test]
fn a_link_in_any_part_is_refused() {
    let base = tree();
    for path in [
        "to-a",
        "to-dir",
        "to-dir/b.txt",
        "dir/up-to-a",
        "dir/deep/long-way",
        "out",
        "out-dir",
        "out-dir/secret",
        "absolute",
        "loop",
        "dangling",
        "to-dir-slash",
        "magic",
    ] {
        check(base.path(), Symlinks::Refuse, path, Err(OpenError::Linked));
    }
}

#[test]
fn links_allowed_stay_beneath_the_root() {
    let base = tree();
    for path in ["out", "out-dir", "out-dir/secret", "out-and-in", "absolute", "magic"] {
        check(base.path(), Symlinks::Follow, path, Err(OpenError::Escapes));
    }
    for (path, expected) in [
        ("loop", Err(OpenError::Linked)),
        ("dangling", Err(OpenError::Missing)),
        ("to-a-slash", Err(OpenError::Missing)),
        ("to-a/x", Err(OpenError::Missing)),
        ("to-a", Ok("a")),
        ("to-dir/b.txt", Ok("b")),
        ("to-dir-slash", Ok("directory")),
        ("to-dir-slash/deep/c.txt", Ok("c")),
        ("dir/up-to-a", Ok("a")),
        ("dir/deep/long-way", Ok("b")),
    ] {
        check(base.path(), Symlinks::Follow, path, expected);
    }
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let base = tree();
    symlink("a.txt", base.path().join("root/link1")).unwrap();
    for number in 2..=41 {
        let link = base.path().join(format!("root/link{number}"));
        symlink(format!("link{}", number - 1), link).unwrap();
    }
    check(base.path(), Symlinks::Follow, "link40", Ok("a"));
    check(base.path(), Symlinks::Follow, "link41", Err(OpenError::Linked));
}

#[test]
fn special_nodes_are_refused_without_waiting() {
    let base = tree();
    check(base.path(), Symlinks::Refuse, "fifo", Err(OpenError::Special));
    let _socket = std::os::unix::net::UnixListener::bind(base.path().join("root/socket")).unwrap();
    check(base.path(), Symlinks::Refuse, "socket", Err(OpenError::Special));
    for containment in BOTH {
        let devices =
            Root::open_contained(Path::new("/dev"), Symlinks::Refuse, containment).unwrap();
        assert_eq!(devices.open_node(b"null").unwrap_err(), OpenError::Special);
    }
}

#[test]
fn unusual_names_are_served() {
    let base = tree();
    for (path, expected) in [
        ("a..b", "dots"),
        ("..c", "leading dots"),
        ("back\\slash", "backslash"),
        ("a.txt", "a"),
        ("dir/deep/c.txt", "c"),
        ("dir", "directory"),
        ("dir/", "directory"),
        ("", "directory"),
    ] {
        check(base.path(), Symlinks::Refuse, path, Ok(expected));
    }
}

#[test]
fn an_unreadable_file_is_told_from_a_missing_one() {
    let base = tree();
    let path = base.path().join("root/a.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        return; // the superuser reads everything
    }
    for containment in BOTH {
        let root =
            Root::open_contained(&base.path().join("root"), Symlinks::Refuse, containment).unwrap();
        assert_eq!(root.open_node(b"a.txt").unwrap_err(), OpenError::Unreadable);
    }
}

/// Opens with the link instead of the directory, and without it, before the row counts as proved.
const SWAPS_SEEN: u32 = 200;

#[test]
fn a_link_swapped_in_during_the_run_leads_nowhere() {
    let base = tree();
    symlink("../outside", base.path().join("root/swap")).unwrap();
    fs::create_dir(base.path().join("root/real")).unwrap();
    fs::write(base.path().join("root/real/secret"), "public").unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapping = scope.spawn(|| swap_until(&done, &base.path().join("root")));
        let _end = AtEnd(&done);
        for symlinks in [Symlinks::Refuse, Symlinks::Follow] {
            for containment in BOTH {
                let root =
                    Root::open_contained(&base.path().join("root"), symlinks, containment).unwrap();
                let (mut opened, mut refused) = (0, 0);
                while opened < SWAPS_SEEN || refused < SWAPS_SEEN {
                    assert!(!swapping.is_finished(), "nothing is swapped any more");
                    match root.open_node(b"real/secret") {
                        Ok(node) => {
                            let mut file = fs::File::from(node.descriptor);
                            let mut content = String::new();
                            file.read_to_string(&mut content).unwrap();
                            assert_eq!(content, "public");
                            opened += 1;
                        }
                        Err(_) => refused += 1,
                    }
                    std::thread::yield_now();
                }
            }
        }
    });
}

/// Ends the other thread whatever becomes of this one.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn swap_until(done: &AtomicBool, root: &Path) {
    while !done.load(Ordering::Relaxed) {
        let (cwd, flags) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
        rustix::fs::renameat_with(cwd, root.join("real"), cwd, root.join("swap"), flags).unwrap();
        std::thread::yield_now();
    }
}

#[test]
fn the_kernel_contains_where_it_can() {
    let base = tree();
    let root = Root::open(&base.path().join("root"), Symlinks::Refuse).unwrap();
    assert_eq!(root.containment(), Containment::Kernel);
}
