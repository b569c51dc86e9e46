//! Many roots in one process: what they share, and what they do not.

use std::sync::Arc;

use crate::support::{NOW_S, age, text};
use vervet_engine::http::method::Method;
use vervet_engine::reactor::Now;
use vervet_server::files::options::CacheLimits;
use vervet_server::{FileRequest, Files, FilesOptions, FilesPool, FilesShared};
use vervet_testkit::TempTree;

const LIMITS: CacheLimits = CacheLimits { bytes_max: 200_000, descriptors_max: 4 };

const NOW: Now = Now { monotonic_ms: 5_000, unix_seconds: NOW_S };

fn root(pool: &FilesPool, tree: &TempTree) -> Arc<FilesShared> {
    pool.root(FilesOptions::new(tree.path()), LIMITS).unwrap()
}

/// Status and content of a GET at a moment.
fn get(files: &mut Files, path: &str, now: Now) -> (u16, Vec<u8>) {
    let request = FileRequest::plain(Method::Get, path.as_bytes());
    let response = files.answer(&request, now).ready().unwrap();
    let content = match response.content_ref() {
        vervet_engine::Content::Bytes(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    };
    (response.status().code(), content)
}

#[test]
fn a_folder_that_is_not_there_is_no_root() {
    let pool = FilesPool::new();
    let error = pool.root(FilesOptions::new("/nonexistent/folder"), LIMITS).unwrap_err();
    assert_eq!(error.to_string(), "cannot serve /nonexistent/folder: not found");
    assert!(pool.is_empty());
}

#[test]
fn equal_options_are_one_root_as_long_as_it_is_used() {
    let (one, other) = (TempTree::new(), TempTree::new());
    let pool = FilesPool::new();
    let first = root(&pool, &one);
    assert!(Arc::ptr_eq(&first, &root(&pool, &one)));
    let third = root(&pool, &other);
    assert!(!Arc::ptr_eq(&first, &third));
    let mut listed = FilesOptions::new(one.path());
    listed.index = vec!["default.htm".to_owned()];
    let fourth = pool.root(listed, LIMITS).unwrap();
    assert!(!Arc::ptr_eq(&first, &fourth));
    assert_eq!(pool.len(), 3);
    drop((third, fourth));
    assert_eq!(pool.len(), 1);
}

#[test]
fn roots_share_the_bounds_and_not_the_files() {
    let trees: Vec<_> = (0..20)
        .map(|number| {
            let tree = TempTree::new()
                .file("same.txt", number.to_string())
                .file("big.bin", text(40_000 + number));
            let tree =
                (0..10).fold(tree, |tree, page| tree.file(format!("{page}.txt"), text(4_000)));
            age(tree.path());
            tree
        })
        .collect();
    let pool = FilesPool::new();
    let mut sites: Vec<_> =
        trees.iter().map(|tree| Files::of_reactor(&root(&pool, tree))).collect();
    for round in 0..2 {
        for (number, files) in sites.iter_mut().enumerate() {
            assert_eq!(
                get(files, "/same.txt", NOW),
                (200, number.to_string().into_bytes()),
                "{round}"
            );
            for page in 0..10 {
                assert_eq!(get(files, &format!("/{page}.txt"), NOW).0, 200);
            }
            assert_eq!(get(files, "/big.bin", NOW).0, 200);
            let usage = files.usage();
            assert!(
                usage.bytes <= LIMITS.bytes_max && usage.descriptors <= LIMITS.descriptors_max,
                "{usage:?}"
            );
        }
    }
    // Each reports the sum, and it is the whole: twenty caches of their own would hold four
    // times as much.
    assert_eq!(sites[0].usage(), sites[19].usage());
    assert!(sites[0].usage().bytes > LIMITS.bytes_max / 2);
}

#[test]
fn a_root_that_is_replaced_is_forgotten_alone() {
    let outer = TempTree::new().file("a/x.txt", "old").file("b/x.txt", "stays");
    age(outer.path());
    let pool = FilesPool::new();
    let open = |name: &str| pool.root(FilesOptions::new(outer.join(name)), LIMITS).unwrap();
    let (mut a, mut again, mut b) = (
        Files::of_reactor(&open("a")),
        Files::of_reactor(&open("a")),
        Files::of_reactor(&open("b")),
    );
    assert_eq!(get(&mut a, "/x.txt", NOW).1, b"old");
    assert_eq!(get(&mut b, "/x.txt", NOW).1, b"stays");
    std::fs::rename(outer.join("a"), outer.join("gone")).unwrap();
    outer.write("a/x.txt", "new");
    let later = Now { monotonic_ms: NOW.monotonic_ms + 1_000, ..NOW };
    assert_eq!(get(&mut a, "/x.txt", later).1, b"new");
    assert_eq!(get(&mut again, "/x.txt", later).1, b"new");
    let before = b.usage().bytes;
    assert_eq!(get(&mut b, "/x.txt", later).1, b"stays");
    assert_eq!(b.usage().bytes, before, "what was known of the other root is known still");
}

/// The Location of a redirect, or the content of a listing, of a root that is found at `mount`.
fn mounted(tree: &TempTree, mount: &'static str, target: &str) -> String {
    let mut files = Files::new(&FilesShared::new(FilesOptions::new(tree.path())).unwrap());
    let (path, query) =
        target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let request = FileRequest::plain(Method::Get, path.as_bytes())
        .with_query(query.map(str::as_bytes))
        .with_mount(mount.as_bytes());
    let response = match files.answer(&request, NOW).ready() {
        Ok(response) => response,
        Err(job) => job.run(),
    };
    match (response.field_value("location"), response.content_ref()) {
        (Some(location), _) => String::from_utf8(location.to_vec()).unwrap(),
        (None, vervet_engine::Content::Bytes(bytes)) => String::from_utf8(bytes.to_vec()).unwrap(),
        other => panic!("neither redirect nor listing: {other:?}"),
    }
}

#[test]
fn a_mounted_root_is_told_by_its_place_on_the_site() {
    let tree = TempTree::new().dir("a b/c");
    assert_eq!(mounted(&tree, "", "/a%20b"), "/a%20b/");
    assert_eq!(mounted(&tree, "/st c", "/a%20b/c?d"), "/st%20c/a%20b/c/?d");
    let page = mounted(&tree, "/st c", "/a%20b/c/");
    assert!(page.contains("<a href=\"/st%20c/\">Files</a>"), "{page}");
    assert!(page.contains("<a href=\"/st%20c/a%20b/\"><bdi>a b</bdi></a>"), "{page}");
    let json = mounted(&tree, "/st c", "/a%20b/?json");
    assert!(json.starts_with("{\"path\":\"/st c/a b/\""), "{json}");
    assert!(mounted(&tree, "/x", "/?json").starts_with("{\"path\":\"/x/\""));
}
