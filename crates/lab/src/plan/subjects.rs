//! Resolves `[subject.NAME]`: how each subject is started, and errors in its directives.

use vervet_config::{Diagnostic, Diagnostics, Name, Named, Setting, Span, cited, nearest};

use super::resolve::Names;
use super::types::{CEILING, PlannedSubject, SubjectStart};
use crate::adapter::{self, Row, Serves, Settings};
use crate::document::{Lab, Log, Plain, Subject};
use crate::record::Role;

/// All subjects, the ceiling last.
pub(super) fn resolve(lab: &Lab, found: &mut Diagnostics) -> Vec<PlannedSubject> {
    if lab.subject.is_empty() {
        let problem = Diagnostic::error(lab.subject.span(), "the lab has no subject");
        found.push(problem.expected("a table such as `[subject.nginx]`"));
    }
    let subjects = lab.subject.iter().map(|(name, subject)| one(name, subject, found));
    let mut subjects: Vec<PlannedSubject> =
        subjects.collect::<Vec<_>>().into_iter().flatten().collect();
    if *lab.ceiling {
        subjects.push(ceiling());
    }
    subjects
}

fn ceiling() -> PlannedSubject {
    PlannedSubject {
        name: CEILING.to_owned(),
        role: Role::Ceiling,
        start: SubjectStart::Ceiling,
        program: None,
        app: None,
        beside: Vec::new(),
        requires: Vec::new(),
        environment: Vec::new(),
        ready: None,
        ready_within: std::time::Duration::from_secs(10),
        version: Vec::new(),
        process: None,
        log: Log::None,
    }
}

fn one(name: &Name, subject: &Subject, found: &mut Diagnostics) -> Option<PlannedSubject> {
    if name.as_str() == CEILING {
        let message = "`ceiling` is reserved for the canned-response server";
        found.push(Diagnostic::error(name.span(), message).expected("another name"));
    }
    let start = start(name, subject, found);
    if subject.process.is_some() && subject.address.is_none() {
        let message = "`process` is for a server that is already running";
        found.push(Diagnostic::error(subject.process.span(), message).expected("`address`, too"));
    }
    let texts = |named: &vervet_config::Named<String>| {
        named.iter().map(|(name, value)| (name.value().clone(), value.clone())).collect()
    };
    let path = |path: &Setting<Option<vervet_config::Path>>| {
        path.value().clone().map(vervet_config::Path::into_path_buf)
    };
    Some(PlannedSubject {
        name: name.value().clone(),
        role: Role::Contestant,
        start: start?,
        program: path(&subject.program),
        app: path(&subject.app),
        beside: subject.beside.value().clone(),
        requires: subject.requires.value().clone(),
        environment: texts(&subject.environment),
        ready: subject.ready.value().clone(),
        ready_within: subject.ready_within.duration(),
        version: subject.version.value().clone(),
        process: subject.process.value().clone(),
        log: *subject.log,
    })
}

/// How a subject is started: by exactly one of three directives.
fn start(name: &Name, subject: &Subject, found: &mut Diagnostics) -> Option<SubjectStart> {
    let kinds = [subject.adapter.is_some(), !subject.command.is_empty(), subject.address.is_some()];
    if kinds.iter().filter(|given| **given).count() != 1 {
        let name_text = name.value();
        let message = if kinds.contains(&true) {
            format!("the subject `{name_text}` has two ways to start")
        } else {
            format!("the subject `{name_text}` has no way to start")
        };
        let problem = Diagnostic::error(name.span(), message);
        found.push(problem.expected("one of `adapter`, `command`, `address`"));
        return None;
    }
    if subject.address.is_some() && !subject.beside.is_empty() {
        let message = "`beside` is for a server that the lab starts";
        let problem = Diagnostic::error(subject.beside.span(), message);
        found.push(problem.expected("`adapter` or `command`, or no `beside`"));
    }
    if let Some(adapter) = subject.adapter.value() {
        return of_adapter(adapter, subject, found);
    }
    let program = (subject.program.is_some(), "program", subject.program.span());
    let app = (subject.app.is_some(), "app", subject.app.span());
    let settings = &subject.settings;
    let settings = (!settings.is_empty(), "settings", settings.span());
    refuse_without_adapter(&[settings, program, app], found);
    let Some(address) = subject.address.value() else {
        return Some(SubjectStart::Command(subject.command.value().clone()));
    };
    let parsed = address.parse().ok();
    if parsed.is_none() {
        let message = format!("invalid address `{}`", cited(address));
        let problem = Diagnostic::error(subject.address.span(), message);
        found.push(problem.expected("an address with its port such as \"127.0.0.1:8080\""));
    }
    parsed.map(SubjectStart::Address)
}

/// Refuses directives that are for adapters, each with whether it is set.
pub(super) fn refuse_without_adapter(directives: &[(bool, &str, Span)], found: &mut Diagnostics) {
    for (_, directive, span) in directives.iter().filter(|(is_set, ..)| *is_set) {
        let message = format!("`{directive}` needs an adapter");
        found.push(Diagnostic::error(*span, message).expected("`adapter`, too"));
    }
}

fn of_adapter(name: &str, subject: &Subject, found: &mut Diagnostics) -> Option<SubjectStart> {
    let span = subject.adapter.span();
    let names = Names::new("adapter", adapter::names().into_iter());
    let adapter = adapter::ADAPTERS[names.index(name, span, found)?];
    if adapter.serves == Serves::App && subject.app.is_none() {
        let message = format!("the adapter `{name}` needs an application");
        found.push(Diagnostic::error(span, message).expected("`app`, too"));
    }
    check_settings(adapter.name, adapter.settings, &subject.settings, found);
    let given = subject.settings.iter().map(|(name, value)| (name.as_str(), value.0.as_str()));
    Some(SubjectStart::Adapter(adapter, Settings::new(adapter.settings, given)))
}

/// Checks the settings of a lab file against those of the adapter.
pub(super) fn check_settings(
    adapter: &str,
    rows: &[Row],
    given: &Named<Plain>,
    found: &mut Diagnostics,
) {
    for (setting, value) in given.iter() {
        let Some(row) = rows.iter().find(|row| row.name == setting.as_str()) else {
            found.push(unknown_setting(adapter, rows, setting));
            continue;
        };
        if let Some(refusal) = row.refusal(&value.0) {
            let message = format!("`{}` {refusal}, but is given `{}`", row.name, cited(&value.0));
            found.push(Diagnostic::error(setting.span(), message));
        }
    }
}

fn unknown_setting(adapter: &str, rows: &[Row], setting: &Name) -> Diagnostic {
    let known: Vec<&str> = rows.iter().map(|row| row.name).collect();
    let message = format!("the adapter `{adapter}` has no setting `{}`", cited(setting));
    let problem =
        Diagnostic::error(setting.span(), message).nearest(nearest(setting, known.iter().copied()));
    match known.as_slice() {
        [] => problem.note("it has none"),
        known => problem.expected(format!("one of {}", known.join(", "))),
    }
}
