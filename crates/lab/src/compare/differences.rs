//! What makes two records hard to compare: another machine, another workload, another version.

use crate::record::{Environment, LabRecord, Weight};

/// The differences between what two records were made with, one sentence each.
pub fn differences(base: &LabRecord, other: &LabRecord) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: &str, one: &str, two: &str| {
        if one != two {
            found.push(format!("{what} differs: {one} in the base, {two} in the other"));
        }
    };
    environments(&base.head.environment, &other.head.environment, &mut differ);
    subjects(base, other, &mut differ);
    workloads(base, other, &mut differ);
    differ(
        "the omitted part of the lab file",
        &base.head.shortened.to_string(),
        &other.head.shortened.to_string(),
    );
    if base.head.lab.sha256 != other.head.lab.sha256 {
        found.push("the lab files differ: compare their text".to_owned());
    }
    for (name, record) in [("the base", base), ("the other", other)] {
        if record.ended_unix_ms.is_none() {
            found.push(format!("{name} was interrupted, or is still running"));
        }
    }
    found
}

fn environments(
    base: &Environment,
    other: &Environment,
    differ: &mut impl FnMut(&str, &str, &str),
) {
    let decides = |fact: &&crate::record::Fact| fact.weight == Weight::Decides;
    for fact in base.facts.iter().filter(decides) {
        let value = other.value(&fact.name).unwrap_or("unknown");
        differ(&format!("{} {}", fact.group, fact.name), &fact.value, value);
    }
    for fact in other.facts.iter().filter(decides) {
        if base.value(&fact.name).is_none() {
            differ(&format!("{} {}", fact.group, fact.name), "unknown", &fact.value);
        }
    }
}

fn subjects(base: &LabRecord, other: &LabRecord, differ: &mut impl FnMut(&str, &str, &str)) {
    for subject in &base.head.subjects {
        let Some(same) = other.subject(&subject.name) else {
            continue;
        };
        let name = &subject.name;
        let version =
            |version: &Option<String>| version.clone().unwrap_or_else(|| "unknown".to_owned());
        differ(
            &format!("the version of {name}"),
            &version(&subject.version),
            &version(&same.version),
        );
        differ(
            &format!("the command of {name}"),
            &subject.command.join(" "),
            &same.command.join(" "),
        );
        if subject.configuration != same.configuration {
            differ(&format!("the configuration of {name}"), "one", "another");
        }
        let cores = |cores: &Option<String>| cores.clone().unwrap_or_else(|| "all".to_owned());
        differ(&format!("the cores of {name}"), &cores(&subject.cores), &cores(&same.cores));
    }
}

fn workloads(base: &LabRecord, other: &LabRecord, differ: &mut impl FnMut(&str, &str, &str)) {
    for workload in &base.head.workloads {
        let Some(same) = other.workload(&workload.name) else {
            continue;
        };
        let name = &workload.name;
        differ(&format!("the workload {name}"), &workload.description, &same.description);
        let seconds = |seconds: f64| format!("{seconds} s");
        differ(
            &format!("the Apdex T of {name}"),
            &seconds(workload.apdex_seconds),
            &seconds(same.apdex_seconds),
        );
    }
    for asset in &base.head.assets {
        let mut others = other.head.assets.iter();
        let Some(same) = others.find(|other| other.path == asset.path) else {
            continue;
        };
        let short = |hash: &str| -> String { hash.chars().take(12).collect() };
        let what = format!("the content of {}", asset.path);
        differ(&what, &short(&asset.sha256), &short(&same.sha256));
    }
}
