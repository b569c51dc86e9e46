//! What the cache keeps, for how long, and how much of it (FEATURES B7).

use std::fs;

use crate::support::{NOW_S, Site, date, text};
use vervet_engine::http::method::Method;
use vervet_server::Decision;
use vervet_server::files::options::{CacheLimits, Listing};
use vervet_testkit::TempTree;

const A_SECOND_MS: u64 = 1000;

/// Serves `before`, changes the tree, and expects `after` a second later.
fn check(before: (u16, &str), change: impl FnOnce(&Site), after: (u16, &str)) {
    let tree = TempTree::new().file("page.html", "one").file("dir/x", "x").file("other", "other");
    let mut site = Site::with(tree, |options| options.listing = Listing::Off);
    let shown = site.get("/page.html");
    assert_eq!((shown.status, shown.text()), before);
    change(&site);
    site.pass_ms(A_SECOND_MS);
    let shown = site.get("/page.html");
    let content = if shown.status == 200 { shown.text() } else { "" };
    assert_eq!((shown.status, content), after);
}

#[test]
fn a_change_is_visible_within_a_second() {
    let page = |site: &Site| site.tree.join("page.html");
    check((200, "one"), |site| fs::remove_file(page(site)).unwrap(), (404, ""));
    check((200, "one"), |site| fs::write(page(site), "two").unwrap(), (200, "two"));
    check((200, "one"), |site| fs::write(page(site), "longer").unwrap(), (200, "longer"));
    check((200, "one"), |site| fs::write(page(site), "").unwrap(), (200, ""));
    let same_date = |site: &Site| {
        fs::write(site.tree.join("new"), "two").unwrap();
        date(&site.tree.join("new"), NOW_S - 86_400);
        fs::rename(site.tree.join("new"), page(site)).unwrap();
    };
    check((200, "one"), same_date, (200, "two"));
    let directory = |site: &Site| {
        fs::remove_file(page(site)).unwrap();
        fs::create_dir(page(site)).unwrap();
    };
    check((200, "one"), directory, (301, ""));
    let link = |site: &Site| {
        fs::rename(page(site), site.tree.join("moved")).unwrap();
        std::os::unix::fs::symlink("moved", page(site)).unwrap();
    };
    check((200, "one"), link, (404, ""));
}

#[test]
fn what_comes_into_being_is_visible_within_a_second() {
    let mut site = Site::with(TempTree::new().dir("dir"), |options| {
        options.listing = Listing::Off;
    });
    for (target, before) in
        [("/new.txt", 404), ("/dir/", 403), ("/dir", 301), ("/sub/new.txt", 404)]
    {
        assert_eq!(site.get(target).status, before, "{target}");
    }
    site.tree.write("new.txt", "new");
    site.tree.write("dir/index.html", "index");
    site.tree.write("sub/new.txt", "new");
    assert_eq!(site.get("/new.txt").status, 404, "believed for a moment");
    site.pass_ms(A_SECOND_MS);
    for target in ["/new.txt", "/dir/", "/sub/new.txt"] {
        assert_eq!(site.get(target).status, 200, "{target}");
    }
    fs::remove_dir_all(site.tree.join("dir")).unwrap();
    site.pass_ms(A_SECOND_MS);
    assert_eq!(site.get("/dir").status, 404);
}

#[test]
fn a_part_of_the_path_that_becomes_a_link_is_refused_within_a_second() {
    let mut site = Site::new(TempTree::new().file("dir/deep/x", "x"));
    assert_eq!(site.get("/dir/deep/x").status, 200);
    fs::rename(site.tree.join("dir/deep"), site.tree.join("dir/moved")).unwrap();
    std::os::unix::fs::symlink("moved", site.tree.join("dir/deep")).unwrap();
    site.pass_ms(A_SECOND_MS);
    assert_eq!(site.get("/dir/deep/x").status, 404);
}

#[test]
fn a_second_write_within_a_tick_of_the_clock_is_seen() {
    let mut site = Site::new(TempTree::new().file("x", "one"));
    let now = site.now.unix_seconds;
    date(&site.tree.join("x"), now);
    assert_eq!(site.get("/x").text(), "one");
    // What a coarse clock does: other content, the same size, the same times.
    site.tree.write("x", "two");
    date(&site.tree.join("x"), now);
    site.pass_ms(A_SECOND_MS);
    assert_eq!(site.get("/x").text(), "two");
}

#[test]
fn a_replaced_root_is_visible_within_a_second() {
    let tree = TempTree::new().file("site/x", "old").file("next/x", "new");
    let mut site = Site::with(tree, |options| options.root.push("site"));
    assert_eq!(site.get("/x").text(), "old");
    fs::rename(site.tree.join("site"), site.tree.join("before")).unwrap();
    site.pass_ms(A_SECOND_MS);
    assert_eq!(site.get("/x").text(), "old", "nothing new is there yet");
    fs::rename(site.tree.join("next"), site.tree.join("site")).unwrap();
    site.pass_ms(A_SECOND_MS);
    assert_eq!(site.get("/x").text(), "new");
}

#[test]
fn an_open_file_keeps_its_state_for_answers_under_way() {
    let mut site = Site::new(TempTree::new().file("large.bin", text(100_000)));
    let Decision::Done(answer) = site.decide(Method::Get, "/large.bin", &[]) else {
        panic!("files are answered at once");
    };
    fs::remove_file(site.tree.join("large.bin")).unwrap();
    site.pass_ms(A_SECOND_MS);
    assert_eq!(site.get("/large.bin").status, 404);
    let vervet_engine::Content::File(slice) = answer.content_ref() else {
        panic!("large files are sent from their descriptor");
    };
    assert_eq!(slice.file.metadata().unwrap().len(), 100_000);
}

#[test]
fn memory_and_descriptors_stay_under_their_limits() {
    const FILES: usize = 3000;
    let limits = CacheLimits { bytes_max: 400_000, descriptors_max: 8 };
    let mut tree = TempTree::new();
    for number in 0..FILES {
        tree = tree.file(format!("{number}"), text(number % 2000));
    }
    for number in 0..50 {
        tree = tree.file(format!("large{number}"), text(40_000 + number));
    }
    let mut site = Site::with(tree, |options| options.limits = limits);
    for round in 0..2 {
        for number in 0..FILES {
            assert_eq!(
                site.get(&format!("/{number}")).content.len(),
                number % 2000,
                "round {round}"
            );
            assert_eq!(site.get(&format!("/missing{number}")).status, 404);
            assert!(site.files.usage().bytes <= limits.bytes_max);
        }
        for number in 0..50 {
            assert_eq!(site.get(&format!("/large{number}")).content, text(40_000 + number));
            assert!(site.files.usage().descriptors <= limits.descriptors_max);
        }
    }
    assert!(site.files.usage().bytes > limits.bytes_max / 2, "the memory given is used");
}

#[test]
fn idle_descriptors_are_closed() {
    let mut site = Site::new(TempTree::new().file("large.bin", text(100_000)).file("x", "x"));
    site.get("/large.bin");
    assert_eq!(site.files.usage().descriptors, 1);
    for _ in 0..3 {
        site.pass_ms(60_000);
        site.get("/x");
    }
    assert_eq!(site.files.usage().descriptors, 0);
    assert_eq!(site.get("/large.bin").content, text(100_000));
}

#[test]
fn one_path_under_many_codings_does_not_grow_without_bound() {
    let mut site = Site::new(TempTree::new().file("x.txt", text(30_000)));
    for number in 0..1000 {
        let codings = format!("gzip;q=0.{number:03}, br;q=0.5, x{number}");
        let _ = site.decide(Method::Get, "/x.txt", &[("accept-encoding", &codings)]);
    }
    assert!(site.files.usage().bytes < 1_000_000);
}

/// Room for about a dozen files of [`state`].
const SMALL: CacheLimits = CacheLimits { bytes_max: 40_000, descriptors_max: 8 };
/// More files than there is room for.
const CROWD: usize = 30;

/// Content of one length that names a state of a file.
fn state(word: &str) -> String {
    format!("{word:2000}")
}

/// A site whose cache is filled by a crowd, with three more files that nobody has asked for.
fn crowded(limits: CacheLimits) -> Site {
    let mut tree = TempTree::new();
    for number in 0..CROWD {
        tree = tree.file(format!("crowd{number}"), state("before"));
    }
    for name in ["a", "b", "c"] {
        tree = tree.file(name, state("before"));
    }
    let mut site = Site::with(tree, |options| options.limits = limits);
    for number in 0..CROWD {
        site.get(&format!("/crowd{number}"));
    }
    site
}

/// Asks for the files of `asked` one after the other. Says whether the last of them is then
/// answered from memory: as it was before it changed.
fn check_admission(limits: CacheLimits, asked: &[&str], kept: bool) {
    let mut site = crowded(limits);
    for name in asked {
        assert_eq!(site.get(&format!("/{name}")).text(), state("before"));
    }
    let last = asked[asked.len() - 1];
    site.tree.write(last, state("after"));
    let expected = state(if kept { "before" } else { "after" });
    assert_eq!(site.get(&format!("/{last}")).text(), expected, "{asked:?}");
}

#[test]
fn only_what_is_asked_for_twice_comes_into_a_full_cache() {
    check_admission(SMALL, &["a"], false);
    check_admission(SMALL, &["a", "b", "c"], false);
    check_admission(SMALL, &["a", "a"], true);
    check_admission(SMALL, &["a", "b", "c", "a"], true);
    check_admission(CacheLimits::default(), &["a"], true);
}

#[test]
fn a_crowd_that_passes_by_puts_nothing_out() {
    let mut site = crowded(SMALL);
    assert!(site.files.usage().bytes > SMALL.bytes_max * 3 / 4);
    // The first of the crowd found room; the rest of it asks only once more than before.
    site.tree.write("crowd0", state("after"));
    for number in CROWD / 2..CROWD {
        site.tree.write(format!("new{number}"), state("new"));
        site.get(&format!("/new{number}"));
    }
    assert_eq!(site.get("/crowd0").text(), state("before"));
}

#[test]
fn a_changed_file_keeps_its_place_in_a_full_cache() {
    let mut site = crowded(SMALL);
    for word in ["second", "third"] {
        site.tree.write("crowd0", state(word));
        date(&site.tree.join("crowd0"), NOW_S - 86_400);
        site.pass_ms(A_SECOND_MS);
        assert_eq!(site.get("/crowd0").text(), state(word));
        site.tree.write("crowd0", state("unseen"));
        assert_eq!(site.get("/crowd0").text(), state(word), "from memory");
    }
}
