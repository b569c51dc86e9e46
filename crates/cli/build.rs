//! Leaves for `vervet version --build` what only the build knows. Nothing here may fail a build:
//! what is not known is said to be unknown.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| "unknown".to_owned());
    set("COMMIT", &commit().unwrap_or_else(|| "unknown".to_owned()));
    set("TARGET", &variable("TARGET"));
    set("PROFILE", &variable("PROFILE"));
    set("OPT_LEVEL", &variable("OPT_LEVEL"));
    set("RECORDING", recording(&variable("CARGO_ENCODED_RUSTFLAGS")));
    let rustc = first_line(Command::new(variable("RUSTC")).arg("--version"));
    set("RUSTC", &rustc.unwrap_or_else(|| "unknown".to_owned()));
    pack_relocations();
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    for (variable, package) in [
        ("BROTLI", "brotli"),
        ("RUSTIX", "rustix"),
        ("TOKIO", "tokio"),
        ("ZLIB_RS", "zlib-rs"),
        ("ZSTD", "zstd-sys"),
    ] {
        set(variable, &locked(package).unwrap_or_else(|| "unknown".to_owned()));
    }
}

fn set(name: &str, value: &str) {
    println!("cargo::rustc-env=VERVET_BUILD_{name}={value}");
}

/// Whether the compiler knows which branches a server takes, as `scripts/profiled` tells it.
fn recording(flags: &str) -> &'static str {
    if flags.contains("profile-use=") { "used" } else { "none" }
}

/// Relocations in a sixtieth of the space: what the loader reads at each start stays in memory. A
/// program linked so asks for glibc 2.36 where it runs, which is what it asks for anyway when it is
/// built where that is; musl's start code knows packed relocations since 1.2.4, which is what Rust
/// brings along. Older linkers ignore the word.
fn pack_relocations() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_linux = variable("CARGO_CFG_TARGET_OS") == "linux";
    let known = match &*variable("CARGO_CFG_TARGET_ENV") {
        "musl" => true,
        "gnu" => variable("HOST") == variable("TARGET") && glibc() >= Some((2, 36)),
        _ => false,
    };
    if is_linux && known {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's glibc.
fn glibc() -> Option<(u32, u32)> {
    let line = first_line(Command::new("getconf").arg("GNU_LIBC_VERSION"))?;
    let (major, minor) = line.strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The commit, where the source lies in a repository and git is installed; changed files are not
/// looked for, since they would have to be looked at before each build.
fn commit() -> Option<String> {
    let head = first_line(Command::new("git").args(["rev-parse", "--git-path", "HEAD"]))?;
    let log = first_line(Command::new("git").args(["rev-parse", "--git-path", "logs/HEAD"]))?;
    for path in [head, log] {
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    first_line(Command::new("git").args(["rev-parse", "--short=12", "HEAD"]))
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::to_owned)
}

/// The version of a package in the lock file.
fn locked(package: &str) -> Option<String> {
    let lock = std::fs::read_to_string("../../Cargo.lock").ok()?;
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{package}\""));
    let version = lines.nth(1)?.strip_prefix("version = \"")?;
    Some(version.trim_end_matches('"').to_owned())
}
