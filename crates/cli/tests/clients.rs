//! Clients that people use, against the server that people run: curl, wget, aria2, apt and
//! Chromium.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use vervet_testkit::{TempTree, Vervet, find_program, sha256_hex, skip};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");
/// A download that several ranges of a parallel client fetch.
const LARGE_BYTES: usize = 10 << 20;

fn site() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site")
}

fn large() -> Vec<u8> {
    (0..LARGE_BYTES / 8).flat_map(|number| (number as u64).to_le_bytes()).collect()
}

/// Runs a client for a minute at most and wants it to succeed.
#[track_caller]
fn run(command: &mut Command) -> Output {
    let program = command.get_program().to_owned();
    let mut bounded = Command::new("timeout");
    bounded.arg("60").arg(&program).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        bounded.current_dir(folder);
    }
    let output = bounded.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} failed: {text}", program.display());
    output
}

#[test]
fn curl_downloads_resumes_and_revalidates() {
    if find_program("curl").is_none() {
        skip!("needs curl");
    }
    let tree =
        TempTree::new().file("large.bin", large()).file("page.html", "<p>hello\n".repeat(500));
    let server = Vervet::serve(BINARY, tree.path(), [""; 0]);
    let output = TempTree::new();

    let copy = output.join("large.bin");
    run(Command::new("curl")
        .args(["-sf", "-r", "0-999999", "-o"])
        .arg(&copy)
        .arg(server.url("/large.bin")));
    run(Command::new("curl")
        .args(["-sf", "-C", "-", "-o"])
        .arg(&copy)
        .arg(server.url("/large.bin")));
    assert_eq!(sha256_hex(std::fs::read(&copy).unwrap()), sha256_hex(large()));

    let head = run(Command::new("curl").args(["-sfI"]).arg(server.url("/page.html")));
    let head = String::from_utf8(head.stdout).unwrap();
    let tag = head.lines().find_map(|line| line.strip_prefix("ETag: ")).unwrap().trim().to_owned();
    let again = run(Command::new("curl")
        .args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H"])
        .arg(format!("If-None-Match: {tag}"))
        .arg(server.url("/page.html")));
    assert_eq!(String::from_utf8_lossy(&again.stdout), "304");

    let unpacked =
        run(Command::new("curl").args(["-sf", "--compressed"]).arg(server.url("/page.html")));
    assert_eq!(String::from_utf8_lossy(&unpacked.stdout), "<p>hello\n".repeat(500));
}

#[test]
fn wget_mirrors_the_example_site() {
    if find_program("wget").is_none() {
        skip!("needs wget");
    }
    let server = Vervet::serve(BINARY, site(), [""; 0]);
    let output = TempTree::new();
    run(Command::new("wget")
        .args([
            "-q",
            "-r",
            "-np",
            "-nH",
            "--restrict-file-names=nocontrol",
            "-X", // the site shows what a missing page looks like
            "/no",
            "-R",
            "offsets.dat,*\\?*",
        ])
        .arg(server.url("/"))
        .current_dir(output.path()));
    for path in ["index.html", "style.css", "about/index.html", "pictures/eagle.png"] {
        let (ours, theirs) = (std::fs::read(site().join(path)), std::fs::read(output.join(path)));
        assert_eq!(sha256_hex(ours.unwrap()), sha256_hex(theirs.unwrap()), "{path}");
    }
}

#[test]
fn aria2_puts_a_file_together_from_ranges() {
    if find_program("aria2c").is_none() {
        skip!("needs aria2c");
    }
    let tree = TempTree::new().file("large.bin", large());
    let server = Vervet::serve(BINARY, tree.path(), [""; 0]);
    let output = TempTree::new();
    run(Command::new("aria2c")
        .args(["-q", "-x", "8", "-s", "8", "-k", "1M", "--no-conf", "-d"])
        .arg(output.path())
        .arg(server.url("/large.bin")));
    assert_eq!(sha256_hex(std::fs::read(output.join("large.bin")).unwrap()), sha256_hex(large()));
}

/// A flat Debian archive of small packages, with its index and an unsigned release file.
fn archive(packages: usize) -> TempTree {
    let tree = TempTree::new();
    let mut index = String::new();
    for number in 0..packages {
        let (name, folder) = (format!("vervet-test-{number}"), format!("build/{number}"));
        let control = format!(
            "Package: {name}\nVersion: 1.{number}\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\n\
             Description: a package to be fetched\n"
        );
        tree.write(format!("{folder}/DEBIAN/control"), &control);
        tree.write(
            format!("{folder}/usr/share/{name}/text"),
            format!("{number}\n").repeat(1000 * number),
        );
        let package = tree.join(format!("{name}.deb"));
        run(Command::new("dpkg-deb")
            .args(["--build", "--root-owner-group"])
            .arg(tree.join(&folder))
            .arg(&package));
        let bytes = std::fs::read(&package).unwrap();
        let (size, hash) = (bytes.len(), sha256_hex(&bytes));
        writeln!(index, "{control}Filename: ./{name}.deb\nSize: {size}\nSHA256: {hash}\n").unwrap();
    }
    let (size, hash) = (index.len(), sha256_hex(&index));
    tree.write("Packages", &index);
    tree.write("Release", format!("Suite: stable\nSHA256:\n {hash} {size} Packages\n"));
    tree
}

#[test]
fn apt_fetches_an_archive_with_pipelined_requests() {
    if find_program("apt-get").is_none() || find_program("dpkg-deb").is_none() {
        skip!("needs apt-get and dpkg-deb");
    }
    let archive = archive(20);
    let server = Vervet::serve(BINARY, archive.path(), [""; 0]);
    let state =
        TempTree::new().dir("lists/partial").dir("cache/archives/partial").file("status", "");
    state.write("sources.list", format!("deb [trusted=yes] {} ./\n", server.url("/")));
    let mut options = vec![
        "-qq".to_owned(),
        "-oAcquire::http::Pipeline-Depth=10".to_owned(),
        "-oAcquire::http::Proxy=false".to_owned(),
        "-oAPT::Sandbox::User=root".to_owned(),
        "-oDir::Etc::sourceparts=-".to_owned(),
    ];
    for (name, path) in [
        ("Dir::State::lists", "lists"),
        ("Dir::Cache", "cache"),
        ("Dir::State::status", "status"),
        ("Dir::Etc::sourcelist", "sources.list"),
    ] {
        options.push(format!("-o{name}={}", state.join(path).display()));
    }
    let packages: Vec<_> = (0..20).map(|number| format!("vervet-test-{number}")).collect();
    run(Command::new("apt-get").args(&options).arg("update"));
    run(Command::new("apt-get")
        .args(&options)
        .arg("download")
        .args(&packages)
        .current_dir(state.path()));
    for (number, name) in packages.iter().enumerate() {
        let fetched = std::fs::read(state.join(format!("{name}_1.{number}_all.deb"))).unwrap();
        let original = std::fs::read(archive.join(format!("{name}.deb"))).unwrap();
        assert_eq!(sha256_hex(fetched), sha256_hex(original), "{name}");
    }
}

fn chromium(profile: &TempTree) -> Command {
    let mut command = Command::new("chromium");
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--virtual-time-budget=5000",
    ]);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command
}

#[test]
fn chromium_shows_the_site_and_a_listing() {
    if find_program("chromium").is_none() {
        skip!("needs chromium");
    }
    let server = Vervet::serve(BINARY, site(), [""; 0]);
    for (target, expected) in
        [("/", "Vervet"), ("/downloads/?sort=size&order=desc", "サバンナモンキー.txt")]
    {
        let profile = TempTree::new();
        let page = run(chromium(&profile).arg("--dump-dom").arg(server.url(target)));
        let page = String::from_utf8_lossy(&page.stdout);
        assert!(page.contains(expected), "{target}: {page}");
        // A picture of nothing is small: a blank page of this size takes some 4 KB.
        let picture = profile.join("page.png");
        run(chromium(&TempTree::new())
            .arg("--window-size=390,844")
            .arg(format!("--screenshot={}", picture.display()))
            .arg(server.url(target)));
        assert!(std::fs::metadata(&picture).unwrap().len() > 8_000, "{target}");
    }
}
