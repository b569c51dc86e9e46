//! The summary of a watch as text, and the format of quantities in it.

use std::fmt::Write as _;

use vervet_report::units::bytes;
use vervet_watch::{Cpu, Network, Spread, Subject, Summary};

use super::rates::seconds;

/// The lines, each with its end.
pub(crate) fn text(subject: &Subject, summary: &Summary) -> String {
    let mut page = format!(
        "watched {} for {:.3} s, {} samples\n",
        described(subject),
        seconds(summary.duration_us),
        summary.samples
    );
    for (name, line) in lines(subject, summary) {
        // Writing to a String does not fail.
        let _ = writeln!(page, "  {name:<12} {line}");
    }
    for reason in &summary.invalid_because {
        let _ = writeln!(page, "  INVALID      {reason}");
    }
    page
}

/// The target, and the processes that it begins with.
pub(crate) fn described(subject: &Subject) -> String {
    let roots: Vec<_> = subject.roots.iter().map(ToString::to_string).collect();
    let roots = roots.join(", ");
    format!("{} [{roots}]", subject.target.escape_debug())
}

fn lines(subject: &Subject, summary: &Summary) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("cpu", cpu_line(summary)),
        ("memory", memory_line(summary)),
        ("faults", format!("{} minor, {} major", summary.faults.minor, summary.faults.major)),
    ];
    if let Some(switches) = summary.switches {
        let line =
            format!("{} voluntary, {} involuntary", switches.voluntary, switches.involuntary);
        lines.push(("switches", line));
    }
    lines.push(("processes", counts(summary.processes)));
    lines.push(("threads", counts(summary.threads)));
    if let Some((descriptors, sockets)) = summary.descriptors.zip(summary.sockets) {
        lines.push(("descriptors", counts(descriptors)));
        lines.push(("sockets", counts(sockets)));
    }
    if summary.unreadable > 0 {
        let line = format!(
            "cannot read descriptors or switches of {} processes (run as their user, or as root)",
            summary.unreadable
        );
        lines.push(("missing", line));
    }
    lines.extend(cgroup_line(subject, summary).map(|line| ("cgroup", line)));
    lines.extend(host_lines(summary));
    let share = format!("{:.2} % of a core", summary.watch_share() * 100.0);
    lines.push(("this watch", share));
    lines
}

fn cpu_line(summary: &Summary) -> String {
    format!(
        "{}; {:.3} cores on average, {:.3} peak",
        cpu(summary.cpu),
        summary.cores.mean,
        summary.cores.peak
    )
}

fn cpu(cpu: Cpu) -> String {
    format!(
        "{:.3} s: {:.3} s user, {:.3} s system",
        seconds(cpu.total_us()),
        seconds(cpu.user_us),
        seconds(cpu.system_us)
    )
}

fn memory_line(summary: &Summary) -> String {
    let spread = |spread: Spread| {
        let (mean, peak) = (bytes(spread.mean), bytes(spread.peak));
        format!("{mean} on average, {peak} peak")
    };
    let rss = format!("RSS {}", spread(summary.rss_bytes));
    match summary.pss_bytes {
        Some(pss) => format!("PSS {}; {rss}", spread(pss)),
        None => rss,
    }
}

fn counts(spread: Spread) -> String {
    format!("{:.1} on average, {} peak", spread.mean, spread.peak)
}

fn cgroup_line(subject: &Subject, summary: &Summary) -> Option<String> {
    let cgroup = summary.cgroup?;
    let name = subject.cgroup.as_ref()?.display();
    let mut line = format!("{name}: {}", cpu(cgroup.cpu));
    // Writing to a String does not fail.
    if let Some(memory) = cgroup.memory_bytes {
        let _ = write!(line, "; memory {} peak", bytes(memory.peak));
    }
    if let Some((us, periods)) = cgroup.throttled_us.zip(cgroup.throttled_periods) {
        let held_back = seconds(us);
        let _ = write!(line, "; throttled {held_back:.3} s in {periods} periods");
    }
    Some(line)
}

fn host_lines(summary: &Summary) -> Vec<(&'static str, String)> {
    let Some(host) = &summary.host else {
        return Vec::new();
    };
    let [one, five, fifteen] = host.load;
    let machine = format!(
        "{:.0} % busy, load {one} {five} {fifteen}, memory {} available at minimum, swap {} used at peak",
        host.busy * 100.0,
        bytes(to_f64(host.memory_available_min_bytes)),
        bytes(to_f64(host.swap_used_peak_bytes))
    );
    let network = |network: Network| {
        format!(
            "{} in, {} out, {} errors, {} drops",
            bytes(to_f64(network.received_bytes)),
            bytes(to_f64(network.sent_bytes)),
            network.errors,
            network.drops
        )
    };
    let tcp = format!(
        "{} listen overflows, {} listen drops, {} retransmits, {} resets",
        host.tcp.listen_overflows, host.tcp.listen_drops, host.tcp.retransmits, host.tcp.resets
    );
    vec![
        ("machine", machine),
        ("network", network(host.network)),
        ("loopback", network(host.loopback)),
        ("tcp", tcp),
    ]
}

// Exact up to 9 petabytes.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn to_f64(number: u64) -> f64 {
    number as f64
}
