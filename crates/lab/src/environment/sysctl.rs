//! Settings of the kernel's network that figures depend on.

use std::fs;

use crate::record::{Environment, Weight};

const NAMES: &[&str] = &[
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

pub(super) fn add(environment: &mut Environment) {
    for name in NAMES {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        if let Ok(value) = fs::read_to_string(file) {
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            environment.add("sysctl", name, value, Weight::Decides);
        }
    }
}
