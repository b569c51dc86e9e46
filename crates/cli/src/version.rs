//! `vervet version`: the version, and how the program was built, for bug reports.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;

use crate::console;
use crate::failure::Failure;

/// The arguments of `vervet version`.
#[derive(Debug, Args)]
pub(crate) struct VersionArguments {
    /// Also print build details: commit, target, compiler, libraries
    #[arg(long)]
    build: bool,
    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

const ALLOCATOR: &str = "mimalloc";

const FACTS: &[(&str, &str)] = &[
    ("commit", env!("VERVET_BUILD_COMMIT")),
    ("target", env!("VERVET_BUILD_TARGET")),
    ("profile", env!("VERVET_BUILD_PROFILE")),
    ("opt_level", env!("VERVET_BUILD_OPT_LEVEL")),
    ("recording", env!("VERVET_BUILD_RECORDING")),
    ("carriers", "thread, tokio"),
    ("rustc", env!("VERVET_BUILD_RUSTC")),
    ("allocator", ALLOCATOR),
];

const LIBRARIES: &[(&str, &str)] = &[
    ("brotli", env!("VERVET_BUILD_BROTLI")),
    ("rustix", env!("VERVET_BUILD_RUSTIX")),
    ("tokio", env!("VERVET_BUILD_TOKIO")),
    ("zlib-rs", env!("VERVET_BUILD_ZLIB_RS")),
    ("zstd", env!("VERVET_BUILD_ZSTD")),
];

/// This program with its commit, for records.
pub(crate) fn program() -> String {
    format!("vervet {VERSION} ({})", env!("VERVET_BUILD_COMMIT"))
}

/// Prints it.
pub(crate) fn print(arguments: &VersionArguments) -> Result<ExitCode, Failure> {
    let text = match arguments {
        VersionArguments { json: true, .. } => json(),
        VersionArguments { build: true, .. } => build(),
        _ => format!("vervet {VERSION}\n"),
    };
    console::print(&text).map_err(Failure::Output)?;
    Ok(ExitCode::SUCCESS)
}

fn build() -> String {
    let mut text = format!("vervet {VERSION}\n");
    for (name, value) in FACTS.iter().chain(LIBRARIES) {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{name:<10} {value}");
    }
    text
}

fn json() -> String {
    let version = [("version", VERSION)];
    let facts: Vec<_> = version.iter().chain(FACTS).map(member).collect();
    let libraries: Vec<_> = LIBRARIES.iter().map(member).collect();
    format!("{{{},\"libraries\":{{{}}}}}\n", facts.join(","), libraries.join(","))
}

/// The build writes plain words; a quote in one would have to come from the name of a compiler.
fn member((name, value): &(&str, &str)) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{name}\":\"{value}\"")
}
