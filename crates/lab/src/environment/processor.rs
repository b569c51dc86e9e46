//! The processor, its governor and its memory.

use std::collections::BTreeSet;
use std::fs;

use crate::record::{Environment, Weight};

/// Lines of /proc/cpuinfo that are told, each once for all cores that have the same.
const LINES: &[&str] = &[
    "model name",
    "cpu family",
    "model",
    "stepping",
    "microcode",
    "cache size",
];

pub(super) fn add(environment: &mut Environment) {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    for (name, value) in facts(&text) {
        environment.add("cpu", name, value, Weight::Decides);
    }
    let count = text
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    environment.add("cpu", "cores online", count.to_string(), Weight::Decides);
    for (name, file) in [
        (
            "governor",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        ),
        (
            "greatest frequency (kHz)",
            "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
        ),
        ("turbo off", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
        ("boost", "/sys/devices/system/cpu/cpufreq/boost"),
        ("simultaneous threads", "/sys/devices/system/cpu/smt/active"),
        (
            "clock source",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        (
            "transparent huge pages",
            "/sys/kernel/mm/transparent_hugepage/enabled",
        ),
    ] {
        if let Ok(value) = fs::read_to_string(file) {
            environment.add("cpu", name, value.trim(), Weight::Decides);
        }
    }
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    if let Some((_, total)) = memory.lines().find_map(|line| line.split_once("MemTotal:")) {
        environment.add("cpu", "memory", total.trim(), Weight::Decides);
    }
}

/// Each line's values, those that differ between cores side by side.
fn facts(cpuinfo: &str) -> Vec<(&'static str, String)> {
    let values = |name: &str| -> BTreeSet<String> {
        let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        let of_name = lines.filter(|(key, _)| key.trim() == name);
        of_name.map(|(_, value)| value.trim().to_owned()).collect()
    };
    let facts = LINES.iter().map(|name| (*name, values(name)));
    let present = facts.filter(|(_, values)| !values.is_empty());
    present
        .map(|(name, values)| (name, values.into_iter().collect::<Vec<_>>().join(" / ")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::facts;

    #[test]
    fn cores_that_differ_are_both_told() {
        let text = "processor\t: 0\nmodel name\t: Big\nmodel\t\t: 7\n\nprocessor\t: 1\nmodel name\t: Small\nmodel\t\t: 7\n";
        let expected = [
            ("model name", "Big / Small".to_owned()),
            ("model", "7".to_owned()),
        ];
        assert_eq!(facts(text), expected);
        assert!(facts("").is_empty());
    }
}
