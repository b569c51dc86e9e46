//! Kernel counters of this machine during a run: full accept queues and retransmitted segments.

use vervet_report::KernelCounters;

/// Time that this thread waited for a CPU, in nanoseconds; `None` if the kernel does not report it.
pub(crate) fn thread_waited_ns() -> Option<u64> {
    waited_ns(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// Parses time on a CPU, time waiting for one, and time slices.
fn waited_ns(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

/// The counters as they are now, since the machine was started.
pub(crate) fn counters() -> KernelCounters {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    parse(&read("/proc/net/netstat"), &read("/proc/net/snmp"))
}

/// What was counted between two readings.
pub(crate) fn difference(before: &KernelCounters, after: &KernelCounters) -> KernelCounters {
    let since = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
    KernelCounters {
        listen_overflows: since(before.listen_overflows, after.listen_overflows),
        listen_drops: since(before.listen_drops, after.listen_drops),
        retransmitted_segments: since(before.retransmitted_segments, after.retransmitted_segments),
        loss_probes: since(before.loss_probes, after.loss_probes),
        retransmitted_syns: since(before.retransmitted_syns, after.retransmitted_syns),
    }
}

fn parse(netstat: &str, snmp: &str) -> KernelCounters {
    KernelCounters {
        listen_overflows: value(netstat, "TcpExt:", "ListenOverflows"),
        listen_drops: value(netstat, "TcpExt:", "ListenDrops"),
        retransmitted_segments: value(snmp, "Tcp:", "RetransSegs"),
        loss_probes: value(netstat, "TcpExt:", "TCPLossProbes"),
        retransmitted_syns: value(netstat, "TcpExt:", "TCPSynRetrans"),
    }
}

/// A group is two lines: names, then values.
fn value(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|found| found == name)?;
    values.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let netstat = "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPSynRetrans TCPLossProbes\nTcpExt: 1 2 3 4 5\nIpExt: ListenDrops\nIpExt: 9\n";
        let snmp = "Tcp: RtoMin MaxConn RetransSegs\nTcp: 200 -1 55\n";
        let counters = parse(netstat, snmp);
        let values = counters.named().map(|(_, value)| value);
        assert_eq!(values, [Some(2), Some(3), Some(55), Some(5), Some(4)]);
        for broken in ["", "TcpExt: ListenDrops", "TcpExt: ListenDrops\nTcpExt: many\n"] {
            let counters = parse(broken, broken);
            assert_eq!(counters.named().map(|(_, value)| value), [None; 5]);
        }
    }

    #[test]
    fn the_wait_for_a_processor_is_the_second_number() {
        assert_eq!(waited_ns("12 5084677 1\n"), Some(5_084_677));
        assert_eq!((waited_ns(""), waited_ns("12 many 1")), (None, None));
    }

    #[test]
    fn a_counter_that_is_missing_has_no_difference() {
        let with = |value| KernelCounters { listen_drops: value, ..KernelCounters::default() };
        let since = |a, b| difference(&with(a), &with(b)).listen_drops;
        assert_eq!(since(Some(3), Some(8)), Some(5));
        assert_eq!((since(None, Some(8)), since(Some(3), None)), (None, None));
    }

    #[test]
    fn this_machine_has_counters() {
        assert!(counters().retransmitted_segments.is_some());
    }
}
