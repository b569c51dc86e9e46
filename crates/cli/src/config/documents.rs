//! Reading a configuration from the disk: its file, what it includes, and the environment.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Args;
use vervet_server::config::{
    Diagnostics, Documents, Include, Reading, Severity, Sources, Style, render_text,
};
use vervet_server::engine::listener::ListenAddress;
use vervet_server::layout::{Layout, PassedOver};
use vervet_server::plan::Plan;
use vervet_server::settings::Document;
use vervet_server::staging::rehearse;

use crate::failure::Failure;
use crate::talk;

/// What is read unless another file is named.
const DEFAULT_FILE: &str = "vervet.toml";

/// Which configuration, and what goes before it.
#[derive(Clone, Debug, Args)]
pub(crate) struct FileArguments {
    /// Configuration file; or a folder of sites, each a folder named by its host with its files in www
    #[arg(value_name = "FILE", default_value = DEFAULT_FILE)]
    pub(crate) file: PathBuf,
    /// Set a directive of the top level, before environment and file; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("\"{text}\" is not of the form NAME=VALUE"))?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// Reads all of it.
pub(crate) fn read(arguments: &FileArguments) -> Result<Reading<Document>, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let mut documents = Documents::new(&environment);
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    documents.variables(names);
    let bytes = main_document(&arguments.file)
        .map_err(|error| Failure::Read(arguments.file.clone(), error))?;
    documents.add(arguments.file.to_string_lossy(), bytes);
    for (name, value) in &arguments.set {
        documents.flag(name, &format!("--set {name}"), value);
    }
    while let Some(include) = documents.wanted() {
        match matching(&include) {
            Ok(files) => documents.supply(&include, files),
            Err(reason) => documents.refuse(&include, &reason),
        }
    }
    Ok(documents.read())
}

/// The bytes of the file; for a folder, a document of the sites in it.
fn main_document(file: &Path) -> io::Result<Vec<u8>> {
    if !file.is_dir() {
        return std::fs::read(file);
    }
    let layout = Layout::read(&std::path::absolute(file)?)?;
    for (place, reason) in &layout.passed_over {
        if *reason != PassedOver::Off {
            let place = place.display();
            talk::say(format_args!("note: {place} is no site: {reason}"));
        }
    }
    Ok(layout.document().into_bytes())
}

/// All that is wrong with a configuration: as it is read, as it is planned, and as it would be served.
pub(crate) fn examined(reading: &Reading<Document>, unasked: &[ListenAddress]) -> Diagnostics {
    let mut found = reading.diagnostics.clone();
    if let Some(document) = reading.value.as_ref().or(reading.partial.as_ref()) {
        let (plan, problems) = Plan::as_far_as_it_goes(document, unasked);
        found.extend_behind(problems);
        found.extend_behind(rehearse(&plan));
    }
    found.sort();
    found
}

/// The plan of a configuration, with the texts that findings point into. What is wrong is said here, all of it.
pub(crate) fn planned(
    arguments: &FileArguments,
    unasked: &[ListenAddress],
) -> Result<(Plan, Sources), Failure> {
    let reading = read(arguments)?;
    let plan = reading.value.as_ref();
    let plan = plan.and_then(|document| Plan::of(document, unasked).ok());
    let Some(plan) = plan else {
        let found = examined(&reading, unasked);
        report(&found, &reading.sources);
        return Err(refusal(&arguments.file, &found, &reading.sources));
    };
    report(&reading.diagnostics, &reading.sources);
    Ok((plan, reading.sources))
}

/// A configuration that cannot be served: its first error in one line.
pub(crate) fn refusal(file: &Path, found: &Diagnostics, sources: &Sources) -> Failure {
    let mut errors = found.iter().filter(|one| one.severity == Severity::Error);
    let first = errors.next().map(|one| match sources.position(one.span) {
        Some(at) => format!("{}:{}:{}: {}", at.file, at.line, at.column, one.message),
        None => one.message.clone(),
    });
    Failure::Configuration(file.to_owned(), first.unwrap_or_default())
}

/// The files of a pattern, in the order of their names.
fn matching(include: &Include) -> Result<Vec<(String, Vec<u8>)>, String> {
    let pattern = include.pattern.to_string_lossy();
    let paths = glob::glob(&pattern).map_err(|error| error.msg.to_owned())?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| error.to_string())?;
        if path.is_dir() {
            continue;
        }
        files.push((path.to_string_lossy().into_owned(), load(&path)?));
    }
    files.sort();
    Ok(files)
}

fn load(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Prints findings to standard error.
pub(crate) fn report(diagnostics: &Diagnostics, sources: &Sources) {
    if !diagnostics.is_empty() {
        talk::say_block(&render_text(diagnostics, sources, style()));
    }
}

/// Colours on a terminal, unless `NO_COLOR` asks for none.
pub(crate) fn style() -> Style {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if std::io::stderr().is_terminal() && !refused {
        Style::Coloured
    } else {
        Style::Plain
    }
}
