//! The machine and its settings as a record holds them: what affects figures, and no secrets.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};
use rustix::system::uname;

use crate::plan::Plan;
use crate::record::{Environment, Weight};
use crate::subject::cores_here;

/// Reads the environment. `program` is this program with its version and commit.
pub fn read(plan: &Plan, program: &str) -> Environment {
    let mut environment = Environment::default();
    processor(&mut environment);
    kernel(&mut environment, plan);
    sysctl(&mut environment);
    limits(&mut environment);
    cgroup(&mut environment);
    let cores = |cores: &[u32]| match cores {
        [] => "all".to_owned(),
        cores => list(cores),
    };
    let decides = Weight::Decides;
    environment.add("lab", "cores of this process", list(&cores_here()), decides);
    environment.add("lab", "cores of the server", cores(&plan.server_cores), decides);
    environment.add("lab", "cores of the generator", cores(&plan.generator_cores), decides);
    environment.add("lab", "program", program, decides);
    environment.add("lab", SIGNATURE, plan.signature(), Weight::Informs);
    environment
}

/// The fact that identifies a lab when it is resumed.
pub(crate) const SIGNATURE: &str = "plan";

/// Adds the content of a file as a fact, if there is such a file.
fn add_file(environment: &mut Environment, group: &str, name: &str, file: impl AsRef<Path>) {
    if let Ok(value) = fs::read_to_string(file) {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        environment.add(group, name, value, Weight::Decides);
    }
}

fn kernel(environment: &mut Environment, plan: &Plan) {
    let name = uname();
    let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    environment.add("kernel", "release", text(name.release()), Weight::Decides);
    environment.add("kernel", "version", text(name.version()), Weight::Informs);
    environment.add("kernel", "machine", text(name.machine()), Weight::Decides);
    if plan.names_host {
        environment.add("kernel", "host name", text(name.nodename()), Weight::Informs);
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(3).collect();
    environment.add("kernel", "load before the lab", load.join(" "), Weight::Informs);
}

fn limits(environment: &mut Environment) {
    for (name, resource) in [
        ("open files", Resource::Nofile),
        ("processes", Resource::Nproc),
        ("locked memory", Resource::Memlock),
    ] {
        let limit = getrlimit(resource);
        let text =
            |value: Option<u64>| value.map_or("unlimited".to_owned(), |value| value.to_string());
        let value = format!("{} (at most {})", text(limit.current), text(limit.maximum));
        environment.add("limits", name, value, Weight::Decides);
    }
}

fn list(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    texts.join(", ")
}

/// Lines of /proc/cpuinfo that are recorded, each once for all cores that have the same.
const PROCESSOR_LINES: &[&str] =
    &["model name", "cpu family", "model", "stepping", "microcode", "cache size"];

fn processor(environment: &mut Environment) {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    for (name, value) in processor_facts(&text) {
        environment.add("cpu", name, value, Weight::Decides);
    }
    let count = text.lines().filter(|line| line.starts_with("processor")).count();
    environment.add("cpu", "cores online", count.to_string(), Weight::Decides);
    for (name, file) in [
        ("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        ("maximum frequency (kHz)", "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"),
        ("turbo off", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
        ("boost", "/sys/devices/system/cpu/cpufreq/boost"),
        ("simultaneous threads", "/sys/devices/system/cpu/smt/active"),
        ("clock source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ("transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
    ] {
        add_file(environment, "cpu", name, file);
    }
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    if let Some((_, total)) = memory.lines().find_map(|line| line.split_once("MemTotal:")) {
        environment.add("cpu", "memory", total.trim(), Weight::Decides);
    }
}

/// Each line's values, those that differ between cores side by side.
fn processor_facts(cpuinfo: &str) -> Vec<(&'static str, String)> {
    let values = |name: &str| -> BTreeSet<String> {
        let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        let of_name = lines.filter(|(key, _)| key.trim() == name);
        of_name.map(|(_, value)| value.trim().to_owned()).collect()
    };
    let facts = PROCESSOR_LINES.iter().map(|name| (*name, values(name)));
    let present = facts.filter(|(_, values)| !values.is_empty());
    present
        .map(|(name, values)| (name, values.into_iter().collect::<Vec<_>>().join(" / ")))
        .collect()
}

/// Settings of the kernel's network that figures depend on.
const SYSCTL_NAMES: &[&str] = &[
    "net.core.somaxconn",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.default_qdisc",
    "net.core.busy_poll",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.ip_local_port_range",
    "net.netfilter.nf_conntrack_max",
    "kernel.sched_autogroup_enabled",
    "vm.swappiness",
    "fs.file-max",
];

fn sysctl(environment: &mut Environment) {
    for name in SYSCTL_NAMES {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        add_file(environment, "sysctl", name, file);
    }
}

/// Limits that a container sets.
const CGROUP_FILES: &[&str] =
    &["cpu.max", "cpu.weight", "cpuset.cpus.effective", "memory.max", "memory.high", "pids.max"];

fn cgroup(environment: &mut Environment) {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some(path) = cgroup_path(&text) else {
        return;
    };
    let folder = Path::new("/sys/fs/cgroup").join(path.trim_start_matches('/'));
    for name in CGROUP_FILES {
        add_file(environment, "cgroup", name, folder.join(name));
    }
}

/// The path of the one hierarchy of cgroup v2.
fn cgroup_path(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::"))
}

#[cfg(test)]
mod processor_tests {
    use super::processor_facts;

    #[test]
    fn cores_that_differ_are_both_told() {
        let text = "processor\t: 0\nmodel name\t: Big\nmodel\t\t: 7\n\nprocessor\t: 1\nmodel name\t: Small\nmodel\t\t: 7\n";
        let expected = [("model name", "Big / Small".to_owned()), ("model", "7".to_owned())];
        assert_eq!(processor_facts(text), expected);
        assert!(processor_facts("").is_empty());
    }
}

#[cfg(test)]
mod cgroup_tests {
    use super::cgroup_path;

    #[test]
    fn finds_the_second_version_only() {
        assert_eq!(cgroup_path("12:cpu:/a\n0::/b/c\n"), Some("/b/c"));
        assert_eq!(cgroup_path("12:cpu:/a\n"), None);
    }
}
