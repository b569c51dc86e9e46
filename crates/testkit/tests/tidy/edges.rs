//! Which crate may use which: the map of ARCHITECTURE.md as a table. Nothing points up.

use crate::tidy::tree::{Finding, Tree};

/// Each crate and what it may use. `testkit` is for tests only: it may be a dev-dependency of all,
/// and uses none of ours, so that tests share nothing with what they test.
const MAP: &[(&str, &[&str])] = &[
    ("cli", &["server", "supervisor", "lab", "load", "report", "watch"]),
    ("server", &["engine", "config", "http", "apps", "data"]),
    ("apps", &["engine", "http"]),
    ("supervisor", &["config", "watch", "engine"]),
    ("lab", &["load", "report", "watch", "config"]),
    ("load", &["http", "engine", "config", "report"]),
    // What others fill and read: values, no I/O. `http` has the OpenMetrics writer and text for
    // people.
    ("report", &["http", "config"]),
    ("engine", &["http"]),
    ("http", &[]),
    ("config", &[]),
    ("watch", &[]),
    ("data", &[]),
    ("testkit", &[]),
    // Other languages carry a reactor in their own loops.
    ("bindings/poll", &["engine"]),
    ("bindings/c", &["server"]),
    ("bindings/python", &["server"]),
];

/// The crates that do no I/O may not use one that does, whatever they call of it.
const SYSTEM_CRATES: &[&str] = &["rustix", "libc", "nix", "mio", "polling", "socket2", "tokio"];
const PURE: &[&str] = &["http", "config", "report"];

/// One line of a dependency table.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// The package.
    pub(crate) name: String,
    /// Where the manifest asks for it.
    pub(crate) kind: Kind,
    /// The line in the manifest.
    pub(crate) line: usize,
}

/// What a dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The crate itself, or its build script.
    Product,
    /// Tests, examples and benchmarks.
    Tests,
}

/// Finds edges that the map does not have.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree
        .ending("/Cargo.toml")
        .filter(|(path, _)| path.starts_with("crates/") || path.starts_with("bindings/"))
    {
        let user = path.trim_start_matches("crates/").trim_end_matches("/Cargo.toml");
        let Some((_, allowed)) = MAP.iter().find(|(name, _)| *name == user) else {
            findings.push(Finding::at(
                path,
                0,
                format!("the crate `{user}` is not on the map in edges.rs"),
            ));
            continue;
        };
        for dependency in dependencies(text) {
            if let Some(why) = refusal(user, allowed, &dependency) {
                findings.push(Finding::at(path, dependency.line, why));
            }
        }
    }
    findings
}

fn refusal(user: &str, allowed: &[&str], dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    let Some(ours) = name.strip_prefix("vervet-") else {
        let impure = PURE.contains(&user)
            && dependency.kind == Kind::Product
            && SYSTEM_CRATES.contains(&name);
        return impure.then(|| format!("`{user}` does no I/O and may not use `{name}`"));
    };
    if ours == "testkit" {
        let fine = dependency.kind == Kind::Tests && user != "testkit";
        return (!fine).then(|| "`testkit` is for tests: put it under dev-dependencies".to_owned());
    }
    (!allowed.contains(&ours))
        .then(|| format!("`{user}` may not use `{ours}`: the map in edges.rs has no such edge"))
}

/// The dependencies of a manifest, including those of single platforms. An invalid manifest has
/// none: cargo rejects it.
pub(crate) fn dependencies(manifest: &str) -> Vec<Dependency> {
    let Ok(table) = manifest.parse::<toml::Table>() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    collect(&table, manifest, &mut found);
    let platforms = table.get("target").and_then(toml::Value::as_table).into_iter().flatten();
    for (_, platform) in platforms {
        if let Some(platform) = platform.as_table() {
            collect(platform, manifest, &mut found);
        }
    }
    found
}

fn collect(table: &toml::Table, manifest: &str, found: &mut Vec<Dependency>) {
    let sections = [
        ("dependencies", Kind::Product),
        ("build-dependencies", Kind::Product),
        ("dev-dependencies", Kind::Tests),
    ];
    for (section, kind) in sections {
        for (key, value) in table.get(section).and_then(toml::Value::as_table).into_iter().flatten()
        {
            let renamed = value.get("package").and_then(toml::Value::as_str);
            let begins = |line: &str| {
                line.trim_start()
                    .strip_prefix(key)
                    .is_some_and(|rest| rest.starts_with([' ', '.', '=']))
            };
            let line = manifest.lines().position(begins).map_or(0, |index| index + 1);
            found.push(Dependency { name: renamed.unwrap_or(key).to_owned(), kind, line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    #[track_caller]
    fn check_manifest(name: &str, text: &str, lines: &[usize]) {
        let path = format!("crates/{name}/Cargo.toml");
        let expected: Vec<_> = lines.iter().map(|line| format!("{path}:{line}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        check_rule(check, &[(&path, text)], &expected);
    }

    #[test]
    fn finds_edges_that_point_up_or_aside() {
        check_manifest("http", "[dependencies]\nvervet-engine.workspace = true", &[2]);
        check_manifest("engine", "[dependencies]\nvervet-server = { path = \"../server\" }", &[2]);
        check_manifest("supervisor", "[build-dependencies]\nvervet-server.workspace = true", &[2]);
        check_manifest("engine", "[dev-dependencies]\nvervet-server.workspace = true", &[2]);
        check_manifest(
            "engine",
            "[target.'cfg(unix)'.dependencies]\nvervet-server.workspace = true",
            &[2],
        );
        check_manifest("http", "[dependencies]\nx = { package = \"vervet-engine\" }", &[2]);
        check_manifest("server", "[dependencies]\nvervet-engine.workspace = true", &[]);
    }

    #[test]
    fn the_test_kit_is_for_tests_and_uses_none_of_ours() {
        check_manifest("server", "[dependencies]\nvervet-testkit.workspace = true", &[2]);
        check_manifest("testkit", "[dev-dependencies]\nvervet-http.workspace = true", &[2]);
        check_manifest("server", "[dev-dependencies]\nvervet-testkit.workspace = true", &[]);
    }

    #[test]
    fn finds_crates_that_are_not_on_the_map() {
        check_manifest("extras", "[dependencies]\n", &[0]);
    }

    #[test]
    fn bindings_are_on_the_map_too() {
        let manifest = "[dependencies]\nvervet-supervisor.workspace = true";
        let files = [("bindings/c/Cargo.toml", manifest), ("bindings/x/Cargo.toml", "")];
        check_rule(check, &files, &["bindings/c/Cargo.toml:2", "bindings/x/Cargo.toml:0"]);
    }

    #[test]
    fn finds_system_crates_below_pure_ones() {
        check_manifest("http", "[dependencies]\nrustix = \"1\"", &[2]);
        check_manifest("http", "[dev-dependencies]\ntokio = \"1\"", &[]);
        check_manifest("engine", "[dependencies]\nrustix = \"1\"", &[]);
    }

    /// The table itself points down only: no crate can be reached from itself.
    #[test]
    fn the_map_has_no_circle() {
        let allowed = |name: &str| {
            MAP.iter()
                .find(|(user, _)| *user == name)
                .map_or(&[] as &[&str], |(_, allowed)| allowed)
        };
        for (begin, _) in MAP {
            let mut reached: Vec<&str> = allowed(begin).to_vec();
            let mut next = 0;
            while next < reached.len() {
                let more: Vec<_> = allowed(reached[next])
                    .iter()
                    .filter(|name| !reached.contains(name))
                    .copied()
                    .collect();
                reached.extend(more);
                next += 1;
            }
            assert!(!reached.contains(begin), "{begin} uses itself");
        }
    }
}
