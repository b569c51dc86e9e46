//! One process of a tree: its files, kept open, and their values. The start time distinguishes it
//! from a later process with the same ID.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::account::{Counters, Reading};
use crate::clock::ProcessClock;
use crate::kernel_file::{Keep, KernelFile, Reader, Shape};
use crate::readings::{number_after, socket_inode, stat};
use crate::sample::{Descriptors, Switches};

const KIB: u64 = 1024;

/// The units of the kernel on this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    /// The length of a tick in microseconds.
    pub(crate) tick_us: u64,
    pub(crate) page_bytes: u64,
}

impl Units {
    pub(crate) fn here() -> Self {
        Self {
            tick_us: 1_000_000 / rustix::param::clock_ticks_per_second().max(1),
            page_bytes: rustix::param::page_size() as u64,
        }
    }
}

/// The threads whose children are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildLookup {
    /// The main thread, which forks all children of most programs.
    MainThread,
    /// Every thread, which costs a file each.
    AllThreads,
}

/// A process of a tree.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) name: String,
    pub(crate) start_ticks: u64,
    /// Its parent at the first reading; when that exits, the process gets another one.
    pub(crate) forked_by: u32,
    pub(crate) rss_bytes: u64,
    pub(crate) threads: u32,
    pub(crate) reading: Reading,
    state: u8,
    folder: PathBuf,
    stat: KernelFile,
    children: KernelFile,
    clock: Option<ProcessClock>,
    /// The last reading of each thread.
    switches: Option<HashMap<u32, Switches>>,
}

/// Values that are expensive to read; none without permission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessDetail {
    pub(crate) pss_bytes: Option<u64>,
    pub(crate) swap_bytes: Option<u64>,
    pub(crate) descriptors: Option<Descriptors>,
    /// Context switches since the previous reading, or since the process started.
    pub(crate) switches: Option<Switches>,
}

impl Process {
    /// Reads it for the first time; none if it does not exist.
    pub(crate) fn open(
        proc: &Path,
        pid: u32,
        keep: Keep,
        units: Units,
        reader: &mut Reader,
    ) -> Option<Self> {
        let folder = proc.join(pid.to_string());
        let mut process = Self {
            pid,
            name: String::new(),
            start_ticks: 0,
            forked_by: 0,
            rss_bytes: 0,
            threads: 0,
            reading: Reading::default(),
            state: 0,
            stat: KernelFile::new(folder.join("stat"), Shape::Record, keep),
            children: KernelFile::new(
                folder.join(format!("task/{pid}/children")),
                Shape::List,
                keep,
            ),
            folder,
            clock: ProcessClock::new(pid),
            switches: None,
        };
        let text = process.stat.read(reader).ok()?;
        let stat = stat(text)?;
        process.start_ticks = stat.start_ticks;
        process.forked_by = stat.parent;
        process.refresh(units, reader)?;
        Some(process)
    }

    /// Reads it again; none if it has been reaped.
    pub(crate) fn refresh(&mut self, units: Units, reader: &mut Reader) -> Option<Reading> {
        // The clock goes by the number, the file by the process: read first, it was still the same
        // one's.
        let clock_us = self.clock.and_then(ProcessClock::read_us);
        let stat = stat(self.stat.read(reader).ok()?)?;
        if stat.start_ticks != self.start_ticks || matches!(stat.state, b'X' | b'x') {
            return None;
        }
        if stat.name != self.name.as_bytes() {
            self.name = String::from_utf8_lossy(stat.name).into_owned();
        }
        self.state = stat.state;
        self.threads = stat.threads;
        self.rss_bytes = stat.rss_pages * units.page_bytes;
        let us = |ticks: u64| ticks * units.tick_us;
        let cpu_us = clock_us.unwrap_or(us(stat.user_ticks + stat.system_ticks));
        let own = Counters {
            cpu_us,
            system_us: us(stat.system_ticks).min(cpu_us),
            minor_faults: stat.minor_faults,
            major_faults: stat.major_faults,
        };
        let reaped = Counters {
            cpu_us: us(stat.reaped_user_ticks + stat.reaped_system_ticks),
            system_us: us(stat.reaped_system_ticks),
            minor_faults: stat.reaped_minor_faults,
            major_faults: stat.reaped_major_faults,
        };
        self.reading = Reading { parent: stat.parent, own: own.max(self.reading.own), reaped };
        Some(self.reading)
    }

    /// Whether it has exited and waits to be reaped.
    pub(crate) fn is_zombie(&self) -> bool {
        self.state == b'Z'
    }

    /// Adds the IDs of its children. Fails if the kernel does not list them.
    pub(crate) fn children(
        &mut self,
        lookup: ChildLookup,
        found: &mut Vec<u32>,
        reader: &mut Reader,
    ) -> io::Result<()> {
        push_numbers(self.children.read(reader)?, found);
        if lookup == ChildLookup::AllThreads && self.threads > 1 {
            for thread in self.thread_ids() {
                let path = self.folder.join(format!("task/{thread}/children"));
                if let (true, Ok(text)) = (thread != self.pid, reader.read_once(&path, Shape::List))
                {
                    push_numbers(text, found);
                }
            }
        }
        Ok(())
    }

    /// Reads the expensive values.
    pub(crate) fn detail(&mut self, reader: &mut Reader) -> ProcessDetail {
        if self.is_zombie() {
            // It has neither memory nor descriptors any more.
            return ProcessDetail {
                pss_bytes: Some(0),
                swap_bytes: Some(0),
                descriptors: Some(Descriptors::default()),
                switches: Some(Switches::default()),
            };
        }
        let path = self.folder.join("smaps_rollup");
        let memory = reader.read_once(&path, Shape::Record).map(|text| {
            let bytes = |label| number_after(text, label).map(|kib| kib * KIB);
            (bytes("Pss:"), bytes("SwapPss:"))
        });
        let (pss_bytes, swap_bytes) = match memory {
            Ok(memory) => memory,
            // It has exited meanwhile, or is a kernel thread.
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => (Some(0), Some(0)),
            Err(_) => (None, None),
        };
        ProcessDetail {
            pss_bytes,
            swap_bytes,
            descriptors: descriptors(&self.folder.join("fd")),
            switches: self.switches(reader),
        }
    }

    /// Counts context switches since the start of the process instead of since the first reading.
    pub(crate) fn count_switches_from_start(&mut self) {
        self.switches = Some(HashMap::new());
    }

    fn switches(&mut self, reader: &mut Reader) -> Option<Switches> {
        let mut now = HashMap::new();
        let mut sum = Switches::default();
        for thread in self.thread_ids() {
            let path = self.folder.join(format!("task/{thread}/status"));
            let Ok(text) = reader.read_once(&path, Shape::Record) else {
                continue;
            };
            let switches = Switches {
                voluntary: number_after(text, "voluntary_ctxt_switches:")?,
                involuntary: number_after(text, "nonvoluntary_ctxt_switches:")?,
            };
            if let Some(known) = &self.switches {
                let before = known.get(&thread).copied().unwrap_or_default();
                sum.voluntary += switches.voluntary.saturating_sub(before.voluntary);
                sum.involuntary += switches.involuntary.saturating_sub(before.involuntary);
            }
            now.insert(thread, switches);
        }
        self.switches = Some(now);
        Some(sum)
    }

    fn thread_ids(&self) -> Vec<u32> {
        if self.threads <= 1 {
            return vec![self.pid];
        }
        let entries = fs::read_dir(self.folder.join("task")).into_iter().flatten();
        let names = entries.flatten().map(|entry| entry.file_name());
        names.filter_map(|name| name.to_str()?.parse().ok()).collect()
    }
}

fn push_numbers(text: &[u8], found: &mut Vec<u32>) {
    let text = String::from_utf8_lossy(text);
    found.extend(text.split_ascii_whitespace().filter_map(|word| word.parse::<u32>().ok()));
}

/// None without permission.
fn descriptors(folder: &Path) -> Option<Descriptors> {
    let mut count = Descriptors::default();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return None,
        Err(_) => return Some(count),
    };
    for entry in entries.flatten() {
        count.open += 1;
        let link = fs::read_link(entry.path()).unwrap_or_default();
        count.sockets += u64::from(socket_inode(link.as_os_str().as_encoded_bytes()).is_some());
    }
    Some(count)
}
