//! The congestion control of new connections, set for the network namespace of the lab.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use crate::plan::Plan;

/// Where the kernel has the default of a namespace.
const CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Sets it. The namespace of the system, which other programs use, is left alone.
pub(super) fn apply(control: &str) -> Result<(), String> {
    let fail = |error: io::Error| format!("cannot set the congestion control {control}: {error}");
    if fs::read_to_string(CONTROL).map_err(fail)?.trim() == control {
        return Ok(());
    }
    if namespace("self").map_err(fail)? == namespace("1").map_err(fail)? {
        return Err(format!(
            "cannot set the congestion control {control}: the network namespace is that of the \
             system (bench/lab runs a lab in one of its own)"
        ));
    }
    fs::write(CONTROL, control).map_err(fail)
}

fn namespace(process: &str) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/{process}/ns/net"))
}

/// The congestion controls of a plan that cannot be set, each with the reason.
pub(super) fn unusable(plan: &Plan) -> Vec<(String, String)> {
    let controls = plan.workloads.iter();
    let controls: BTreeSet<&String> = controls
        .filter_map(|workload| workload.congestion.as_ref())
        .collect();
    let refused = |control: &String| Some((control.clone(), apply(control).err()?));
    controls.into_iter().filter_map(refused).collect()
}
