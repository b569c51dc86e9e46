//! The host that a tree runs on: its files in `/proc`, kept open.

use std::path::Path;

use crate::kernel_file::{Keep, KernelFile, Reader, Shape};
use crate::process::Units;
use crate::readings::{number_after, paired};
use crate::sample::{Host, HostCpu, Network, Tcp};

const KIB: u64 = 1024;

/// The files of the host in `/proc`.
#[derive(Debug)]
pub(crate) struct HostFiles {
    load: KernelFile,
    stat: KernelFile,
    memory: KernelFile,
    files: KernelFile,
    devices: KernelFile,
    extended: KernelFile,
    tcp: KernelFile,
    /// Counters at the first reading.
    base: Option<Host>,
}

impl HostFiles {
    /// With the network namespace of a process, which may be that of a container.
    pub(crate) fn new(proc: &Path, pid: u32) -> Self {
        let file = |path: &str, shape| KernelFile::new(proc.join(path), shape, Keep::Open);
        let network = if proc.join(format!("{pid}/net/netstat")).is_file() {
            format!("{pid}/net")
        } else {
            "self/net".to_owned()
        };
        Self {
            load: file("loadavg", Shape::Record),
            stat: file("stat", Shape::Record),
            memory: file("meminfo", Shape::Record),
            files: file("sys/fs/file-nr", Shape::Record),
            devices: file(&format!("{network}/dev"), Shape::List),
            extended: file(&format!("{network}/netstat"), Shape::Record),
            tcp: file(&format!("{network}/snmp"), Shape::Record),
            base: None,
        }
    }

    /// Reads the host, with counters since the first reading; none if a file is not readable.
    pub(crate) fn read(&mut self, units: Units, reader: &mut Reader) -> Option<Host> {
        let now = self.read_raw(units, reader)?;
        let base = self.base.get_or_insert_with(|| now.clone());
        Some(since(&now, base))
    }

    fn read_raw(&mut self, units: Units, reader: &mut Reader) -> Option<Host> {
        let mut host = Host { load: load(self.load.read(reader).ok()?)?, ..Host::default() };
        let text = self.stat.read(reader).ok()?;
        host.cpu = cpu(text, units.tick_us)?;
        host.switches = number_after(text, "ctxt")?;
        let text = self.memory.read(reader).ok()?;
        let bytes = |label| number_after(text, label).map(|kib| kib.saturating_mul(KIB));
        host.memory_total_bytes = bytes("MemTotal:")?;
        host.memory_available_bytes = bytes("MemAvailable:")?;
        host.swap_total_bytes = bytes("SwapTotal:")?;
        host.swap_used_bytes = host.swap_total_bytes.saturating_sub(bytes("SwapFree:")?);
        let text = self.files.read(reader).ok()?;
        let text = std::str::from_utf8(text).ok()?;
        host.files_open = text.split_ascii_whitespace().next()?.parse().ok()?;
        (host.network, host.loopback) = devices(self.devices.read(reader).ok()?)?;
        host.tcp = self.tcp(reader)?;
        Some(host)
    }

    fn tcp(&mut self, reader: &mut Reader) -> Option<Tcp> {
        let text = self.extended.read(reader).ok()?;
        let listen_overflows = paired(text, "TcpExt", "ListenOverflows")?;
        let listen_drops = paired(text, "TcpExt", "ListenDrops")?;
        let text = self.tcp.read(reader).ok()?;
        let number = |name| paired(text, "Tcp", name);
        Some(Tcp {
            listen_overflows,
            listen_drops,
            retransmits: number("RetransSegs")?,
            resets: number("EstabResets")?,
            opened: number("ActiveOpens")?,
            accepted: number("PassiveOpens")?,
        })
    }
}

fn since(now: &Host, base: &Host) -> Host {
    Host {
        cpu: HostCpu::since(now.cpu, base.cpu),
        switches: now.switches.saturating_sub(base.switches),
        network: Network::since(now.network, base.network),
        loopback: Network::since(now.loopback, base.loopback),
        tcp: Tcp::since(now.tcp, base.tcp),
        ..now.clone()
    }
}

/// The three load averages.
fn load(text: &[u8]) -> Option<[f64; 3]> {
    let text = std::str::from_utf8(text).ok()?;
    let mut words = text.split_ascii_whitespace();
    let mut next = || words.next()?.parse::<f64>().ok().filter(|load| load.is_finite());
    Some([next()?, next()?, next()?])
}

/// The time of all processors, from `/proc/stat`.
fn cpu(text: &[u8], tick_us: u64) -> Option<HostCpu> {
    let line = text.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.strip_prefix("cpu ")?;
    let mut ticks = [0; 8];
    let mut words = line.split_ascii_whitespace();
    for tick in &mut ticks {
        *tick = words.next()?.parse::<u64>().ok()?;
    }
    let [user, nice, system, idle, disk, interrupts, soft_interrupts, steal] = ticks;
    let us = |ticks: u64| ticks.saturating_mul(tick_us);
    Some(HostCpu {
        user_us: us(user.saturating_add(nice)),
        system_us: us(system.saturating_add(interrupts).saturating_add(soft_interrupts)),
        idle_us: us(idle.saturating_add(disk)),
        steal_us: us(steal),
    })
}

/// The traffic of all interfaces except loopback, and of loopback.
fn devices(text: &[u8]) -> Option<(Network, Network)> {
    let text = std::str::from_utf8(text).ok()?;
    let (mut others, mut loopback) = (Network::default(), Network::default());
    for line in text.lines().skip(2) {
        let (name, numbers) = line.split_once(':')?;
        let sum = if name.trim() == "lo" { &mut loopback } else { &mut others };
        add_device(sum, numbers)?;
    }
    Some((others, loopback))
}

fn add_device(sum: &mut Network, numbers: &str) -> Option<()> {
    let mut words = numbers.split_ascii_whitespace();
    let mut number = |skipped: usize| words.nth(skipped)?.parse::<u64>().ok();
    sum.received_bytes += number(0)?;
    sum.received_packets += number(0)?;
    sum.errors += number(0)?;
    sum.drops += number(0)?;
    // fifo, frame, compressed, multicast
    sum.sent_bytes += number(4)?;
    sum.sent_packets += number(0)?;
    sum.errors += number(0)?;
    sum.drops += number(0)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_text_has_no_value() {
        for text in ["", "0.1", "0.1 0.2", "0.1 0.2 x", "NaN 1 2", "inf 1 2"] {
            assert_eq!(load(text.as_bytes()), None, "{text}");
        }
        for text in [
            "",
            "cpu",
            "cpu ",
            "cpu  1 2 3 4 5 6 7\n",
            "cpu0 1 2 3 4 5 6 7 8",
            "cpu  1 2 3 4 x 6 7 8",
        ] {
            assert_eq!(cpu(text.as_bytes(), 1), None, "{text}");
        }
        for line in ["eth0", "eth0: 1 2", "eth0: 1 2 3 4 5 6 7 8 9 10 11"] {
            assert_eq!(devices(format!("a\nb\n{line}\n").as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn loads_are_read() {
        assert_eq!(load(b"2.16 1.84 1.12 1/96 27213\n"), Some([2.16, 1.84, 1.12]));
    }

    #[test]
    fn the_processors_are_summed_by_what_they_did() {
        let text = b"cpu  1 20 300 4000 5 60 700 8 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\nctxt 5\n";
        let expected = HostCpu { user_us: 210, system_us: 10_600, idle_us: 40_050, steal_us: 80 };
        assert_eq!(cpu(text, 10), Some(expected));
    }

    #[test]
    fn loopback_is_kept_apart() {
        let text = b"Inter-|  \n face |\n    lo: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n\
            \x20 eth0:10 20 30 40 0 0 0 0 50 60 70 80 0 0 0 0\n  eth1: 1 1 1 1 9 9 9 9 1 1 1 1 9 9 9 9\n";
        let network =
            |received_bytes, received_packets, sent_bytes, sent_packets, errors, drops| Network {
                received_bytes,
                received_packets,
                sent_bytes,
                sent_packets,
                errors,
                drops,
            };
        let expected = (network(11, 21, 51, 61, 102, 122), network(1, 2, 5, 6, 10, 12));
        assert_eq!(devices(text), Some(expected));
        assert_eq!(devices(b"a\nb\n"), Some(Default::default()));
    }
}
