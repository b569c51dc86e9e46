//! The machine that a tree runs on: its files, kept open.

use std::path::Path;

use crate::kept::{Keep, Kept, Reader, Shape};
use crate::process::Units;
use crate::readings::{cpu, devices, load, number_after, paired};
use crate::sample::{Host, HostCpu, Network, Tcp};

const KIB: u64 = 1024;

/// The files.
#[derive(Debug)]
pub(crate) struct HostFiles {
    load: Kept,
    stat: Kept,
    memory: Kept,
    files: Kept,
    devices: Kept,
    extended: Kept,
    tcp: Kept,
    /// Counters at the first reading.
    base: Option<Host>,
}

impl HostFiles {
    /// With the network of a process, which in a container is another than ours.
    pub(crate) fn of(proc: &Path, pid: u32) -> Self {
        let file = |path: &str, shape| Kept::new(proc.join(path), shape, Keep::Open);
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

    /// What the machine says now, counters since the first reading; none when it does not tell.
    pub(crate) fn read(&mut self, units: Units, reader: &mut Reader) -> Option<Host> {
        let now = self.read_raw(units, reader)?;
        let base = self.base.get_or_insert_with(|| now.clone());
        Some(since(&now, base))
    }

    fn read_raw(&mut self, units: Units, reader: &mut Reader) -> Option<Host> {
        let mut host = Host {
            load: load(self.load.read(reader).ok()?)?,
            ..Host::default()
        };
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
