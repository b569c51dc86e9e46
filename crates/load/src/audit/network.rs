//! What the kernel counted on the way. Its counters are those of the whole machine, so others may
//! have a part in them.

use vervet_report::{Finding, Run};

use super::{Evidence, Words, above, number};

/// Retransmitted segments for each request from which on they are reported.
const RETRANSMITS_PER_REQUEST: f64 = 0.0001;

pub(super) fn listen_overflows(run: &Run, _: &Evidence) -> Option<Finding> {
    let overflows = run.kernel.listen_overflows?;
    let drops = run.kernel.listen_drops.unwrap_or(0);
    let words = Words {
        rule: "listen_overflows",
        bound: "none; failed above 1 % of the connections opened",
        meaning: "a listener's queue was full: connections waited a second or more for the kernel, which looks like a slow server",
        advice: "raise the listener's backlog and net.core.somaxconn, or connect more slowly (--connect-rate)",
    };
    let share = number(overflows.max(drops)) / number(run.achieved.connections_opened.max(1));
    let measured = format!("{overflows} overflows, {drops} drops on this machine");
    Some(words.finding(above(share, 0.0, 0.01), measured))
}

pub(super) fn retransmits(run: &Run, _: &Evidence) -> Option<Finding> {
    let again = run.kernel.retransmitted_segments?;
    // On a busy machine nearly all are probes: on loopback 122 thousand of 129 thousand were.
    let probes = run.kernel.loss_probes.unwrap_or(0);
    let lost = again.saturating_sub(probes);
    let syns = run.kernel.retransmitted_syns.unwrap_or(0);
    let words = Words {
        rule: "retransmits",
        bound: "at most one segment in 10,000 requests; failed above one in 100",
        meaning: "segments were lost and sent again, which takes 200 ms and more",
        advice: "look for full queues, a narrow network, or other traffic on this machine",
    };
    let share = number(lost) / number(run.finished().max(1));
    let measured = format!(
        "{lost} segments, {syns} of them for connections, and {probes} probes, on this machine"
    );
    let verdict = above(share, RETRANSMITS_PER_REQUEST, 0.01);
    Some(words.finding(verdict, measured))
}
