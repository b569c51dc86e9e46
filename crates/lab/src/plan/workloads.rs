//! Resolves `[workload.NAME]` and `[tree.NAME]`: requests, expected responses and subjects.

use vervet_config::{Diagnostic, Diagnostics, Name, Setting, Span, cited};

use super::loads;
use super::resolve::{Names, Pace};
use super::types::{Expected, PlannedTree, PlannedWorkload, Request};
use crate::document::{Expect, Lab, Workload};

/// Placeholder for a file of the tree in a request target.
pub(crate) const FILE: &str = "{file}";

/// Fields that the generator writes itself.
const WRITTEN: &[&str] = &["host", "connection", "content-length", "transfer-encoding"];

/// All workloads, in the order of the file; with `--quick` those that it names.
pub(super) fn resolve(
    lab: &Lab,
    trees: &[PlannedTree],
    pace: Pace,
    found: &mut Diagnostics,
) -> Vec<PlannedWorkload> {
    for (table, count, span) in [
        ("workload", lab.workload.len(), lab.workload.span()),
        ("load", lab.load.len(), lab.load.span()),
    ] {
        if count == 0 {
            let problem = Diagnostic::error(span, format!("the lab has no {table}"));
            found.push(problem.expected(format!("a table such as `[{table}.main]`")));
        }
    }
    let names = Names::new("workload", lab.workload.names());
    let quick = names.indices(&lab.quick.workloads, found);
    for (_, subject) in lab.subject.iter() {
        names.indices(&subject.workloads, found);
    }
    let loads: Vec<_> =
        lab.load.iter().map(|(name, load)| loads::resolve(name, load, lab, pace, found)).collect();
    let mut workloads = Vec::new();
    for (index, (name, workload)) in lab.workload.iter().enumerate() {
        let mut planned = one(name, workload, lab, trees, found);
        let wanted = Names::new("load", lab.load.names()).indices(&workload.loads, found);
        planned.loads = wanted.into_iter().flat_map(|load| loads[load].clone()).collect();
        if pace == Pace::Full || quick.contains(&index) {
            workloads.extend(variants(planned, &lab.congestion));
        }
    }
    workloads
}

/// One workload per congestion control, named after it if there are several.
fn variants(workload: PlannedWorkload, congestion: &[String]) -> Vec<PlannedWorkload> {
    if congestion.is_empty() {
        return vec![workload];
    }
    let variant = |control: &String| PlannedWorkload {
        name: match congestion.len() {
            1 => workload.name.clone(),
            _ => format!("{} ({control})", workload.name),
        },
        congestion: Some(control.clone()),
        ..workload.clone()
    };
    congestion.iter().map(variant).collect()
}

fn one(
    name: &Name,
    workload: &Workload,
    lab: &Lab,
    trees: &[PlannedTree],
    found: &mut Diagnostics,
) -> PlannedWorkload {
    let tree = workload.tree.as_ref().and_then(|tree| {
        let names = Names::new("tree", trees.iter().map(|tree| tree.name.as_str()));
        names.index(tree, workload.tree.span(), found)
    });
    check_target(workload, found);
    check_fields(workload, found);
    let method = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if workload.method.is_empty() || !workload.method.bytes().all(method) {
        let message = format!("invalid method `{}`", cited(&workload.method));
        found.push(
            Diagnostic::error(workload.method.span(), message).expected("a token such as \"GET\""),
        );
    }
    PlannedWorkload {
        name: name.value().clone(),
        about: workload.about.value().clone(),
        apdex: workload.apdex.duration(),
        congestion: None,
        request: Request {
            method: workload.method.value().clone(),
            host: workload.host.value().clone(),
            target: workload.path.value().clone(),
            fields: workload.fields.value().clone(),
            content: workload.content.value().clone(),
        },
        tree,
        expected: expected(&workload.expect, tree.map(|tree| &trees[tree]), found),
        subjects: participants(name, workload, lab, found),
        loads: Vec::new(),
    }
}

/// The subjects that both sides want, and the ceiling.
fn participants(
    name: &Name,
    workload: &Workload,
    lab: &Lab,
    found: &mut Diagnostics,
) -> Vec<usize> {
    let names = Names::new("subject", lab.subject.names());
    let mut subjects = names.indices(&workload.subjects, found);
    let takes_part = |index: &usize| {
        let subject = lab.subject.iter().nth(*index).map(|(_, subject)| subject);
        subject.is_some_and(|subject| {
            subject.workloads.is_empty() || subject.workloads.contains(name.value())
        })
    };
    subjects.retain(takes_part);
    if subjects.is_empty() && workload.subjects.is_empty() && !lab.subject.is_empty() {
        let message = format!("no subject takes part in the workload `{}`", name.value());
        found.push(Diagnostic::error(name.span(), message));
    }
    // The canned response has status 200.
    if *lab.ceiling && *workload.expect.status == 200 {
        subjects.push(lab.subject.len());
    }
    subjects
}

fn check_target(workload: &Workload, found: &mut Diagnostics) {
    let path = &workload.path;
    let visible = |byte: u8| byte.is_ascii_graphic();
    if !path.starts_with('/') || !path.bytes().all(visible) {
        let message = format!("invalid request target `{}`", cited(path));
        let problem = Diagnostic::error(path.span(), message);
        found.push(problem.expected("a path that begins with `/`, percent-encoded"));
    }
    let has_file = path.contains(FILE);
    match (has_file, workload.tree.is_some()) {
        (true, false) => {
            let message = "`{file}` needs a tree";
            found.push(Diagnostic::error(path.span(), message).expected("`tree`, too"));
        }
        (false, true) => {
            let message = "`tree` is unused: `path` has no `{file}`";
            found.push(Diagnostic::error(workload.tree.span(), message));
        }
        _ => {}
    }
}

fn check_fields(workload: &Workload, found: &mut Diagnostics) {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if let Some(host) = workload.host.value()
        && !host.bytes().all(|byte| byte.is_ascii_graphic())
    {
        let message = format!("invalid host `{}`", cited(host));
        found.push(Diagnostic::error(workload.host.span(), message));
    }
    for field in workload.fields.iter() {
        let span = workload.fields.span();
        let name = field.split_once(':').map(|(name, _)| name);
        let name = name.filter(|name| !name.is_empty() && name.bytes().all(token));
        let Some(name) = name.filter(|_| !field.contains(['\r', '\n', '\0'])) else {
            let message = format!("invalid field `{}`", cited(field));
            found.push(
                Diagnostic::error(span, message)
                    .expected("a name and a value such as \"Accept: text/html\""),
            );
            continue;
        };
        if WRITTEN.contains(&name.to_ascii_lowercase().as_str()) {
            let message = format!("the lab sets the header `{name}` itself");
            let problem = Diagnostic::error(span, message);
            found.push(problem.note("`keep_alive` of a load sets the Connection header"));
        }
    }
}

fn expected(expect: &Expect, tree: Option<&PlannedTree>, found: &mut Diagnostics) -> Expected {
    let sha256 = expect.sha256.as_ref().map(|hash| hash.to_ascii_lowercase());
    let is_hash =
        |hash: &String| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if sha256.as_ref().is_some_and(|hash| !is_hash(hash)) {
        let problem = Diagnostic::error(expect.sha256.span(), "`sha256` is not a valid hash");
        found.push(problem.expected("64 hexadecimal digits"));
    }
    let refuse = |span: Span, directive: &str, found: &mut Diagnostics| {
        let message = format!("`{directive}` and `text` are both set");
        found.push(Diagnostic::error(span, message).expected("only one of them"));
    };
    let mut planned = Expected {
        status: *expect.status,
        length: expect.length.value().map(vervet_config::Size::bytes),
        sha256,
        contains: expect.contains.value().clone(),
    };
    if let Some(text) = expect.text.value() {
        let given = |setting: &Setting<Option<String>>| setting.is_some();
        if expect.length.is_some() {
            refuse(expect.length.span(), "length", found);
        }
        if given(&expect.sha256) {
            refuse(expect.sha256.span(), "sha256", found);
        }
        planned.length = Some(text.len() as u64);
        planned.sha256 = Some(crate::hash::sha256_hex(text.as_bytes()));
    }
    // Files of one length are checked by it; each has a hash of its own, and the fairness gate
    // looks at one of them.
    if let Some(tree) = tree.filter(|tree| tree.bytes_min == tree.bytes_max) {
        planned.length.get_or_insert(tree.bytes_max);
    }
    planned
}

/// The most bytes of all trees together.
const BYTES_MAX: u64 = 64 << 30;

/// All trees, in the order of the file.
pub(super) fn resolve_trees(lab: &Lab, pace: Pace, found: &mut Diagnostics) -> Vec<PlannedTree> {
    let mut trees = Vec::new();
    let mut bytes: u64 = 0;
    for (name, tree) in lab.tree.iter() {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if !name.bytes().all(plain) {
            let problem =
                Diagnostic::error(name.span(), "the name of a tree must be a valid path segment");
            found.push(problem.expected("letters, digits, `-` and `_`"));
        }
        let least = tree.size.bytes();
        let most = tree.size_max.map_or(least, vervet_config::Size::bytes);
        if most < least {
            let problem = Diagnostic::error(tree.size_max.span(), "`size_max` is less than `size`");
            found.push(problem.note_at(tree.size.span(), "the smallest"));
        }
        let files = match pace {
            Pace::Full => *tree.files,
            Pace::Quick => (*tree.files).min(*lab.quick.files),
        };
        bytes = bytes.saturating_add(most.saturating_mul(u64::from(files)));
        if bytes > BYTES_MAX {
            let message =
                format!("the trees may have {bytes} bytes, at most {BYTES_MAX} are allowed");
            found.push(Diagnostic::error(name.span(), message).expected("fewer or smaller files"));
        }
        let content = tree.content.value().clone();
        let length = content.as_ref().map(|content| content.len() as u64);
        trees.push(PlannedTree {
            name: name.value().clone(),
            files,
            bytes_min: length.unwrap_or(least),
            bytes_max: length.unwrap_or(most),
            content,
        });
    }
    trees
}
