//! Sites without configuration.

use vervet_server::layout::Layout;
use vervet_testkit::TempTree;

/// Each site as `host, host: folder`, and each name passed over with its reason.
#[track_caller]
fn check(tree: &TempTree, sites: &[&str], passed_over: &[&str]) {
    let layout = Layout::read(tree.path()).unwrap();
    let found: Vec<String> = layout
        .sites
        .iter()
        .map(|site| {
            let hosts: Vec<String> = site.hosts.iter().map(ToString::to_string).collect();
            let root = site.root.strip_prefix(tree.path()).unwrap();
            format!("{}: {}", hosts.join(", "), root.display())
        })
        .collect();
    assert_eq!(found, sites);
    let found: Vec<String> = layout
        .passed_over
        .iter()
        .map(|(place, reason)| {
            format!("{}: {reason}", place.file_name().unwrap().to_string_lossy())
        })
        .collect();
    assert_eq!(found, passed_over);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    assert!(Layout::read(std::path::Path::new("/nonexistent")).is_err());
}

#[test]
fn what_makes_no_site_is_told_why() {
    let tree = TempTree::new()
        .file("notes.txt", "")
        .file("a.org/www", "a file")
        .dir("b.org/html")
        .dir("c d/www")
        .dir("_off.org/www")
        .dir(".hidden/www")
        .dir("port:80/www")
        .symlink("gone.org", "nowhere");
    check(
        &tree,
        &[],
        &[
            "_off.org: disabled, because its name begins with an underscore",
            "a.org: it contains no folder `www`",
            "b.org: it contains no folder `www`",
            "c d: its name is not a hostname: a hostname consists of letters, digits, hyphens, underscores and dots",
            "gone.org: not a folder",
            "notes.txt: not a folder",
            "port:80: its name is not a hostname: expected a hostname without port: set the port in [[listen]]",
        ],
    );
}

#[test]
fn folders_are_sites_and_links_are_further_names() {
    let tree = TempTree::new()
        .dir("example.org/www")
        .dir("*.example.net/www")
        .dir("default/www")
        .dir("[::1]/www")
        .dir("elsewhere.org")
        .symlink("www.example.org", "example.org")
        .symlink("elsewhere.org/www", "../example.org/www");
    check(
        &tree,
        &[
            "*.example.net: *.example.net/www",
            "[::1]: [::1]/www",
            "*: default/www",
            "elsewhere.org, example.org, www.example.org: elsewhere.org/www",
        ],
        &[],
    );
}
