//! Reads a configuration: its file, included files, flags and the environment.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Args;
use vervet_server::config::{
    Diagnostic, Diagnostics, Documents, Include, Reading, SOURCE_BYTES_MAX, Severity, Source,
    SourceKind, Sources, Style, render_text,
};
use vervet_server::engine::listener::ListenAddress;
use vervet_server::files::{ReadError, read_regular};
use vervet_server::layout::{Layout, PassedOver};
use vervet_server::plan::Plan;
use vervet_server::settings::Document;
use vervet_server::staging::rehearse;

use crate::console;
use crate::failure::Failure;
use crate::run::rehearse_start;

/// The default configuration file.
const DEFAULT_FILE: &str = "vervet.toml";

/// The maximum size of all files of a configuration, in bytes; of one, it is [`SOURCE_BYTES_MAX`].
const CONFIGURATION_BYTES_MAX: u64 = 256 << 20;

/// A configuration file, and flags that take precedence over it.
#[derive(Clone, Debug, Args)]
pub(crate) struct FileArguments {
    /// Configuration file; or a directory of sites, each named after its host with its files in www
    #[arg(value_name = "FILE", default_value = DEFAULT_FILE)]
    pub(crate) file: PathBuf,
    /// Set a top-level directive; takes precedence over environment and file; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
}

/// Reads `NAME=VALUE`.
pub(crate) fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("invalid setting `{text}`: expected NAME=VALUE"))?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// Reads all of it.
pub(crate) fn read(arguments: &FileArguments) -> Result<Reading<Document>, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let mut documents = Documents::new(&environment);
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    documents.variables(names);
    let mut left = CONFIGURATION_BYTES_MAX;
    let bytes = main_document(&arguments.file, &mut left)
        .map_err(|error| Failure::Read(arguments.file.clone(), error))?;
    documents.add(arguments.file.to_string_lossy(), bytes);
    for (name, value) in &arguments.set {
        documents.flag(name, &format!("--set {name}"), value);
    }
    while let Some(include) = documents.wanted() {
        match matching(&include, &mut left) {
            Ok(files) => documents.supply(&include, files),
            Err(reason) => documents.refuse(&include, &reason),
        }
    }
    Ok(documents.read())
}

/// The bytes of the file; for a folder, a document of the sites in it.
fn main_document(file: &Path, left: &mut u64) -> io::Result<Vec<u8>> {
    if !file.is_dir() {
        return Ok(load(file, left)?);
    }
    let layout = Layout::read(&std::path::absolute(file)?)?;
    for (place, reason) in &layout.passed_over {
        if *reason != PassedOver::Off {
            let place = place.display();
            console::message(format_args!("note: {place} is not a site: {reason}"));
        }
    }
    Ok(layout.document().into_bytes())
}

/// The process that examines a configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Examiner<'f> {
    /// One that serves nothing: it takes on the account of the configuration, which this file has,
    /// if it has one.
    Starting(Option<&'f Path>),
    /// A running server.
    Serving,
}

/// All findings about a configuration: those of reading it, of planning it, and of a rehearsal of
/// its start.
pub(crate) fn examined(
    reading: &Reading<Document>,
    default_listen: &[ListenAddress],
    examiner: Examiner<'_>,
) -> Diagnostics {
    let mut found = reading.diagnostics.clone();
    if let Some(document) = reading.value.as_ref().or(reading.partial.as_ref()) {
        let (plan, problems) = Plan::as_far_as_it_goes(document, default_listen);
        found.extend_with_later(problems);
        found.extend_with_later(match examiner {
            Examiner::Starting(file) => rehearse_start(&plan, file),
            Examiner::Serving => rehearse(&plan),
        });
    }
    found.sort();
    found
}

/// A configuration that can be served.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// The texts that findings point into.
    pub(crate) sources: Sources,
    /// The findings of reading and planning.
    pub(crate) warnings: Diagnostics,
}

/// The plan of a configuration.
///
/// # Errors
/// The configuration is invalid. All findings have been printed; `path` names it in the message.
pub(crate) fn plan(
    reading: Reading<Document>,
    path: &Path,
    default_listen: &[ListenAddress],
    examiner: Examiner<'_>,
) -> Result<Planned, Failure> {
    let planned = reading.value.as_ref();
    let planned = planned.map(|document| Plan::as_far_as_it_goes(document, default_listen));
    if let Some((plan, found)) = planned.filter(|(_, found)| !found.has_errors()) {
        let mut warnings = reading.diagnostics;
        warnings.extend(found);
        return Ok(Planned { plan, sources: reading.sources, warnings });
    }
    let found = examined(&reading, default_listen, examiner);
    report(&found, &reading.sources);
    Err(refusal(path, &found, &reading.sources))
}

/// A configuration that cannot be served: its first error in one line.
pub(crate) fn refusal(path: &Path, found: &Diagnostics, sources: &Sources) -> Failure {
    let mut errors = found.iter().filter(|one| one.severity == Severity::Error);
    let first = errors.next().map(|one| line(one, sources));
    Failure::Configuration(path.to_owned(), first.unwrap_or_default())
}

/// A finding in one line, with its position.
pub(crate) fn line(one: &Diagnostic, sources: &Sources) -> String {
    let is_file = |source: &Source| source.kind() == SourceKind::File;
    match sources.position(one.span) {
        Some(at) if sources.get(one.span.source()).is_some_and(is_file) => {
            format!("{}:{}:{}: {}", at.file, at.line, at.column, one.message)
        }
        Some(at) => format!("{}: {}", at.file, one.message),
        None => one.message.clone(),
    }
}

/// The files of a pattern, in the order of their names.
fn matching(include: &Include, left: &mut u64) -> Result<Vec<(String, Vec<u8>)>, String> {
    let pattern = include.pattern.to_string_lossy();
    let paths = glob::glob(&pattern).map_err(|error| error.msg.to_owned())?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| error.to_string())?;
        if path.is_dir() {
            continue;
        }
        let bytes = load(&path, left).map_err(|error| format!("{}: {error}", path.display()))?;
        files.push((path.to_string_lossy().into_owned(), bytes));
    }
    files.sort();
    Ok(files)
}

/// Reads a file of the configuration, of which `left` bytes may be read. Reading ends at once, and
/// does not wait: the thread that reads a configuration again also handles signals.
fn load(path: &Path, left: &mut u64) -> Result<Vec<u8>, ReadError> {
    let bytes = read_regular(path, (*left).min(SOURCE_BYTES_MAX as u64))?;
    *left -= bytes.len() as u64;
    Ok(bytes)
}

/// Prints findings to standard error.
pub(crate) fn report(diagnostics: &Diagnostics, sources: &Sources) {
    if !diagnostics.is_empty() {
        console::message_block(&render_text(diagnostics, sources, style()));
    }
}

/// Colours on a terminal, unless `NO_COLOR` asks for none.
pub(crate) fn style() -> Style {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if std::io::stderr().is_terminal() && !refused { Style::Coloured } else { Style::Plain }
}
