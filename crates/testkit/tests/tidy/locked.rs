//! Every package that the product is made from has an accepted licence, comes from the registry and
//! is there in one version, as `deny.toml` says: what `cargo deny check licenses bans sources`
//! finds, without another tool to compile.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::path::Path;
use std::process::Command;
use std::str::SplitWhitespace;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What `deny.toml` says of licences and versions.
struct Policy {
    licenses: Vec<String>,
    /// Name and version of packages that may be there in addition to another version.
    skip: Vec<(String, String)>,
}

impl Policy {
    fn read() -> Self {
        let text = std::fs::read_to_string(Path::new(REPOSITORY).join("deny.toml")).unwrap();
        let document: toml::Table = text.parse().unwrap();
        let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
        let licenses = document["licenses"]["allow"].as_array().unwrap();
        let skip = document["bans"]["skip"].as_array().unwrap();
        Self {
            licenses: licenses.iter().map(text).collect(),
            skip: skip.iter().map(|skip| (text(&skip["name"]), text(&skip["version"]))).collect(),
        }
    }
}

#[test]
fn locked_packages_follow_deny_toml() {
    let findings = check(&packages(), &Policy::read());
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// All packages that the product is made from, on any platform: `name v1.0.0|licence`, with the
/// source in parentheses after the version where it is not the registry.
fn packages() -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--workspace", "--locked", "--all-features"])
        .args(["--target=all", "--edges=no-dev", "--prefix=none", "--no-dedupe"])
        .args(["--format", "{p}|{l}"])
        .current_dir(REPOSITORY)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn check(packages: &str, policy: &Policy) -> Vec<String> {
    let mut findings = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let lines = packages.lines().filter(|line| !line.is_empty());
    for line in lines.collect::<BTreeSet<_>>() {
        let (package, license) = line.split_once('|').unwrap();
        let package = package.replace(" (proc-macro)", "");
        let (package, source) = package.split_once(" (").unwrap_or((&package, ""));
        if source.starts_with('/') {
            // A crate of the workspace.
            continue;
        }
        if !source.is_empty() {
            findings.push(format!("{package} comes from {}", source.trim_end_matches(')')));
        }
        if !is_allowed(license, &policy.licenses) {
            findings.push(format!("{package}: deny.toml does not allow `{license}`"));
        }
        let (name, version) = line.split_once(" v").unwrap();
        let version = &version[..version.find([' ', '|']).unwrap()];
        let skips = |(skip, of): &(String, String)| skip == name && is_version(version, of);
        if !policy.skip.iter().any(skips) {
            versions.entry(name).or_default().push(version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    let twice = versions.into_iter();
    findings.extend(twice.map(|(name, all)| format!("{name} in versions {}", all.join(" and "))));
    findings
}

/// Whether an SPDX expression can be met with these licences. `/` is an old form of `OR`; an
/// exception (`WITH`) only permits more.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ");
    let spaced = spaced.replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    any(&mut words, allowed) && words.next().is_none()
}

type Words<'a> = Peekable<SplitWhitespace<'a>>;

/// Alternatives joined by `OR`.
fn any(words: &mut Words<'_>, allowed: &[String]) -> bool {
    let mut met = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words, allowed);
    }
    met
}

/// Requirements joined by `AND`.
fn all(words: &mut Words<'_>, allowed: &[String]) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

/// One licence, or an expression in parentheses.
fn one(words: &mut Words<'_>, allowed: &[String]) -> bool {
    if words.next_if_eq(&"(").is_some() {
        return any(words, allowed) & (words.next() == Some(")"));
    }
    let license = words.next().unwrap_or_default();
    if words.next_if_eq(&"WITH").is_some() {
        words.next();
    }
    allowed.iter().any(|allowed| allowed == license)
}

/// Whether `version` is `wanted` or begins with its numbers: `2.0.117` is a version `2`.
fn is_version(version: &str, wanted: &str) -> bool {
    let rest = version.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[test]
fn finds_licences_sources_and_second_versions() {
    let packages = "\
        good v1.0.0|MIT OR GPL-3.0-only\n\
        good v1.0.0|MIT OR GPL-3.0-only\n\
        both v1.0.0|(MIT OR ISC) AND GPL-3.0-only\n\
        fork v1.0.0 (https://example.org/fork#1234)|MIT\n\
        ours v1.0.0 (/somewhere/ours)|none\n\
        twice v1.0.0|MIT/Apache-2.0\n\
        twice v2.0.0 (proc-macro)|(GPL-2.0-only OR MIT) AND MIT\n\
        known v1.0.0|MIT WITH LLVM-exception\n\
        known v2.1.0|MIT\n";
    let policy = Policy {
        licenses: vec!["MIT".to_owned()],
        skip: vec![("known".to_owned(), "1".to_owned())],
    };
    assert_eq!(
        check(packages, &policy),
        [
            "both v1.0.0: deny.toml does not allow `(MIT OR ISC) AND GPL-3.0-only`",
            "fork v1.0.0 comes from https://example.org/fork#1234",
            "twice in versions 1.0.0 and 2.0.0",
        ]
    );
}
