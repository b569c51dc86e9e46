//! What the kernel counts of connections and retransmissions, from /proc/net.

use std::fs;

use vervet_report::KernelCounters;

/// The counters now; none where they cannot be read.
pub fn read_counters() -> Option<KernelCounters> {
    let netstat = fs::read_to_string("/proc/net/netstat").ok()?;
    let snmp = fs::read_to_string("/proc/net/snmp").ok()?;
    let extended = |name| counter(&netstat, "TcpExt:", name);
    Some(KernelCounters {
        listen_overflows: extended("ListenOverflows"),
        listen_drops: extended("ListenDrops"),
        retransmitted_segments: counter(&snmp, "Tcp:", "RetransSegs"),
        retransmitted_syns: extended("TCPSynRetrans"),
    })
}

/// What was counted between two readings.
pub(super) fn between(before: &KernelCounters, after: &KernelCounters) -> KernelCounters {
    let since = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
    KernelCounters {
        listen_overflows: since(after.listen_overflows, before.listen_overflows),
        listen_drops: since(after.listen_drops, before.listen_drops),
        retransmitted_segments: since(after.retransmitted_segments, before.retransmitted_segments),
        retransmitted_syns: since(after.retransmitted_syns, before.retransmitted_syns),
    }
}

/// One counter: a line of names, and behind it a line of numbers.
fn counter(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text
        .lines()
        .filter(|line| line.split_whitespace().next() == Some(group));
    let names = lines.next()?;
    let at = names.split_whitespace().position(|one| one == name)?;
    lines.next()?.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_counter_by_its_name() {
        let text = "TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 3 17\nIpExt: ListenOverflows\nIpExt: 9\n";
        assert_eq!(counter(text, "TcpExt:", "ListenOverflows"), Some(17));
        assert_eq!(counter(text, "TcpExt:", "ListenDrops"), None);
        assert_eq!(counter(text, "Tcp:", "ListenOverflows"), None);
        assert_eq!(counter("", "Tcp:", "RetransSegs"), None);
    }

    #[test]
    fn this_kernel_counts() {
        let before = read_counters().unwrap();
        let after = read_counters().unwrap();
        assert!(after.retransmitted_segments.unwrap() >= before.retransmitted_segments.unwrap());
        assert_eq!(between(&after, &before).listen_drops, Some(0));
    }
}
