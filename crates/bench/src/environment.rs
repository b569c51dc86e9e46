//! What a reader must know about the machine to trust or repeat the figures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use crate::run::{GENERATOR_CORE, SERVER_CORE};
use crate::subject::SUBJECTS;

const SYSCTLS: [&str; 7] = [
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.ip_local_port_range",
    "net.core.somaxconn",
    "kernel.sched_autogroup_enabled",
];

/// Facts by name; the names sort in a sensible order.
pub(crate) fn record(vervet: &Path) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut put = |name: &str, value: String| facts.insert(name.to_owned(), value);
    put("commit", commit());
    put("date", httpdate::fmt_http_date(SystemTime::now()));
    put("cpu", cpu());
    put(
        "cores",
        format!("server on {SERVER_CORE}, generator on {GENERATOR_CORE}"),
    );
    put("kernel", read("/proc/sys/kernel/osrelease"));
    let private = fs::read_link("/proc/self/ns/net").ok() != fs::read_link("/proc/1/ns/net").ok();
    put(
        "network",
        if private {
            "private namespace"
        } else {
            "the system's own"
        }
        .to_owned(),
    );
    for name in SYSCTLS {
        put(
            &format!("sysctl {name}"),
            read(&format!("/proc/sys/{}", name.replace('.', "/"))),
        );
    }
    for subject in &SUBJECTS {
        put(
            &format!("version of {}", subject.name),
            subject.version(vervet),
        );
    }
    let generator = output("wrk", &["-v"]);
    put(
        "version of wrk",
        generator.lines().next().unwrap_or("missing").to_owned(),
    );
    facts
}

fn read(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|_| "unknown".to_owned());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models: Vec<&str> = info
        .lines()
        .filter(|line| line.starts_with("model name"))
        .collect();
    let model = models
        .first()
        .and_then(|line| line.split_once(": "))
        .map_or("unknown", |(_, model)| model);
    format!("{} × {model}", models.len())
}

fn commit() -> String {
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"]);
    let clean = output("git", &["status", "--porcelain", "--untracked-files=no"]).is_empty();
    format!(
        "{}{}",
        commit.trim(),
        if clean { "" } else { " with changes" }
    )
}

/// Both outputs of a command, or nothing if it cannot run.
fn output(program: &str, arguments: &[&str]) -> String {
    let Ok(output) = Command::new(program).args(arguments).output() else {
        return String::new();
    };
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}
