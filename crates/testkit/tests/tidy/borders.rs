//! What a crate may not touch: `http`, `config` and `report` neither the system nor the clock,
//! `engine` neither routes nor files; and where `unsafe` may stand.

use crate::tidy::source::{identifiers, is_test_file, named_paths};
use crate::tidy::tree::{Finding, Tree};

/// What does no I/O and reads no clock (`now` is an argument there): crates, and in `server` the
/// step from a document to its plan, with what it calls. `staging`, the next step, opens a plan.
const PURE: &[&str] = &[
    "crates/http/src/",
    "crates/config/src/",
    "crates/report/src/",
    "crates/server/src/access_log/check.rs",
    "crates/server/src/actions/redirect.rs",
    "crates/server/src/actions/respond.rs",
    "crates/server/src/actions/status.rs",
    "crates/server/src/matching/",
    "crates/server/src/plan/",
    "crates/server/src/settings/document.rs",
    "crates/server/src/settings/filters.rs",
    "crates/server/src/settings/limits.rs",
    "crates/server/src/settings/listen.rs",
    "crates/server/src/settings/route.rs",
    "crates/server/src/settings/site.rs",
    "crates/server/src/staging/kept.rs",
    "crates/server/src/web/rewrite.rs",
];

/// What a pure part may not name, with everything below it.
const IMPURE: &[&str] = &[
    "std::net",
    "std::fs",
    "std::io",
    "std::os",
    "std::process",
    "std::thread",
    "std::env",
    "core::net",
    "rustix",
    "libc",
    "tokio",
];

/// Paths below these that do no I/O: addresses, errors, and writing into memory.
const PURE_ALL_THE_SAME: &[&str] = &[
    "std::io::Write",
    "std::io::Error",
    "std::io::ErrorKind",
    "std::io::Result",
    "std::io::IoSlice",
    "std::net::IpAddr",
    "std::net::Ipv4Addr",
    "std::net::Ipv6Addr",
    "std::net::SocketAddr",
];

/// The ends of paths, and methods, that read a clock.
const CLOCKS: &[&str] = &["Instant::now", "SystemTime::now", "Now::read", ".elapsed"];

/// Methods of paths that look at the disk.
const LOOKS: &[&str] = &[
    ".canonicalize",
    ".exists",
    ".is_dir",
    ".is_file",
    ".metadata",
    ".read_dir",
    ".read_link",
    ".symlink_metadata",
    ".try_exists",
];

/// The words that only the crates above the engine know.
const ABOVE_THE_ENGINE: &[&str] =
    &["route", "routes", "router", "site", "sites", "document", "vhost"];

/// Where `unsafe` may stand: a file, or a folder with a slash at the end.
const UNSAFE: &[&str] = &["crates/engine/src/reactor/sys.rs", "bindings/"];

/// Finds what crosses a border.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        if !is_allowed(path, UNSAFE) {
            findings.extend(find_unsafe(path, text));
        }
        if is_test_file(path) {
            continue;
        }
        if PURE.iter().any(|pure| path.starts_with(pure)) {
            findings.extend(find_impure(path, text));
        }
        if path.starts_with("crates/engine/src/") {
            findings.extend(find_words_from_above(path, text));
        }
    }
    findings
}

fn is_allowed(path: &str, list: &[&str]) -> bool {
    list.iter()
        .any(|allowed| path == *allowed || (allowed.ends_with('/') && path.starts_with(allowed)))
}

fn find_unsafe(path: &str, text: &str) -> Vec<Finding> {
    let found = identifiers(text).into_iter().filter(|(name, _)| name == "unsafe");
    found
        .map(|(_, line)| {
            Finding::at(path, line, format!("`unsafe` may only stand in {}", UNSAFE.join(", ")))
        })
        .collect()
}

fn find_impure(path: &str, text: &str) -> Vec<Finding> {
    let Ok(file) = syn::parse_file(text) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for named in named_paths(&file) {
        let name = named.path.as_str();
        if IMPURE.iter().any(|root| is_below(name, root))
            && !PURE_ALL_THE_SAME.iter().any(|pure| is_below(name, pure))
        {
            findings.push(Finding::at(
                path,
                named.line,
                format!("`{name}`: this part does no I/O"),
            ));
        }
        if LOOKS.contains(&name) {
            findings.push(Finding::at(
                path,
                named.line,
                format!("`{name}` looks at the disk: this part does no I/O"),
            ));
        }
        if CLOCKS.iter().any(|clock| name.ends_with(clock)) {
            findings.push(Finding::at(
                path,
                named.line,
                format!("`{name}`: this part reads no clock, take `now`"),
            ));
        }
    }
    findings
}

fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn find_words_from_above(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, line) in identifiers(text) {
        if words_of(&name).iter().any(|word| ABOVE_THE_ENGINE.contains(&word.as_str())) {
            findings.push(Finding::at(
                path,
                line,
                format!("`{name}`: the engine knows one `Service`, no routes and files"),
            ));
        }
    }
    findings
}

/// The words of `snake_case`, `CamelCase` and `UPPER_CASE`, in small letters.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = '_';
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && previous.is_lowercase()) {
            words.push(String::new());
        }
        if letter != '_' {
            words.last_mut().unwrap().extend(letter.to_lowercase());
        }
        previous = letter;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::check_rule;

    /// The lines of findings in one planted file.
    #[track_caller]
    fn check_file(path: &str, text: &str, lines: &[usize]) {
        let expected: Vec<_> = lines.iter().map(|line| format!("{path}:{line}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        check_rule(check, &[(path, text)], &expected);
    }

    #[test]
    fn finds_input_and_output_in_http() {
        let file = |text| check_file("crates/http/src/a.rs", text, &[1]);
        file("use std::net::TcpStream;");
        file("use std::{fs};");
        file("use std::io::{self, Write};");
        file("use std::io::Read as R;");
        file("use std::net::*;");
        file("fn f() { std::process::exit(1) }");
        file("use rustix::fd::OwnedFd;");
        check_file(
            "crates/http/src/a.rs",
            "use std::io::Write;\nuse std::net::IpAddr;\nuse std::fmt;",
            &[],
        );
    }

    #[test]
    fn finds_clocks_in_http() {
        let file = |text, lines: &[usize]| check_file("crates/http/src/a.rs", text, lines);
        file("fn f() {\n    let t = Instant::now();\n    t.elapsed();\n}", &[2, 3]);
        file("fn f() -> u64 { std::time::SystemTime::now(); 1 }", &[1]);
        file("fn f(now: std::time::Instant) {}", &[]);
    }

    #[test]
    fn finds_input_and_clocks_on_the_way_to_a_plan() {
        let planned = "crates/server/src/plan/planned.rs";
        check_file(planned, "fn f() { std::fs::read(p).ok(); }", &[1]);
        check_file(planned, "fn f(p: &Path) -> bool {\n    p.exists()\n}", &[2]);
        check_file(planned, "fn f() {\n    let now = Now::read();\n}", &[2]);
        check_file("crates/server/src/settings/site.rs", "use std::env;", &[1]);
        check_file("crates/server/src/plan/needs.rs", "fn f(p: &Path) { p.exists(); }", &[1]);
        check_file("crates/server/src/staging/paths.rs", "fn f(p: &Path) { p.exists(); }", &[]);
    }

    #[test]
    fn tests_and_other_crates_may_use_the_system() {
        check_file("crates/http/src/a.rs", "#[cfg(test)]\nmod tests { use std::fs; }", &[]);
        check_file("crates/http/tests/a.rs", "use std::fs;", &[]);
        check_file("crates/server/src/a.rs", "use std::fs;", &[]);
    }

    #[test]
    fn finds_unsafe_wherever_it_hides() {
        let file = |text, lines: &[usize]| check_file("crates/server/src/a.rs", text, lines);
        file("fn f() {\n    unsafe { g() }\n}", &[2]);
        file("unsafe impl Send for A {}", &[1]);
        file("m!(unsafe { g() });", &[1]);
        file("#[unsafe(no_mangle)] fn f() {}", &[1]);
        file("// unsafe\nconst A: &str = \"unsafe\";", &[]);
        check_file("crates/server/tests/a.rs", "unsafe extern \"C\" {}", &[1]);
        check_file("crates/engine/src/reactor/sys.rs", "unsafe extern \"C\" {}", &[]);
        check_file("bindings/c/src/lib.rs", "unsafe extern \"C\" {}", &[]);
    }

    #[test]
    fn finds_routes_in_the_engine() {
        check_file(
            "crates/engine/src/a.rs",
            "struct RouteTable;\nfn site_of() {}\nfn website() {}",
            &[1, 2],
        );
        check_file("crates/server/src/a.rs", "struct Route;", &[]);
        check_file("crates/engine/tests/a.rs", "struct Router;", &[]);
    }
}
