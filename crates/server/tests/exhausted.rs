//! No descriptor is left.

use std::fs::File;

use crate::support::{Site, text};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use vervet_testkit::{TempTree, own_process};

const DESCRIPTORS_MAX: u64 = 64;

#[test]
fn a_shortage_of_descriptors_is_503_and_passes() {
    own_process!();
    let tree =
        TempTree::new().file("a.txt", "a").file("b.txt", "b").file("large.bin", text(50_000));
    let mut site = Site::new(tree);
    assert_eq!(site.get("/a.txt").status, 200);
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(DESCRIPTORS_MAX), maximum }).unwrap();
    let mut taken = Vec::new();
    let mut take_all = || {
        while let Ok(file) = File::open("/dev/null") {
            taken.push(file);
        }
        taken.len()
    };

    assert!(take_all() > 0);
    for _ in 0..2 {
        let shown = site.get("/b.txt");
        assert_eq!((shown.status, shown.field("retry-after")), (503, Some("1")));
        assert_eq!(site.get("/a.txt").status, 200, "what is in memory needs no descriptor");
        site.pass_ms(1000);
    }

    // What the cache holds open gives way to what is asked for.
    taken.pop();
    assert_eq!(site.get("/large.bin").content, text(50_000));
    assert_eq!(site.files.usage().descriptors, 1);
    assert!(File::open("/dev/null").is_err());
    assert_eq!(site.get("/b.txt").text(), "b");

    taken.clear();
    assert_eq!(site.get("/large.bin").content, text(50_000));
}
