//! What the host itself takes, before any server runs on it: a computation on all cores, a byte
//! over the loopback and back, a write that is on the disk, a system call. Each is printed as it
//! ends, as a task prints its phases.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// What each write to the disk has: a page.
const PAGE: [u8; 4096] = [b'v'; 4096];
/// What the points for pi are drawn from: each core has the next seed.
const SEED: u64 = 0x7069;

/// How much is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostProbe {
    /// Points drawn for pi by each core.
    pub samples: u64,
    /// Round trips of one byte over loopback.
    pub round_trips: u64,
    /// Writes that are on the disk before the next.
    pub syncs: u64,
    /// The number of system calls.
    pub calls: u64,
    /// The folder on whose disk they are written.
    pub folder: PathBuf,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq)]
pub enum HostFigure {
    /// Name, number of operations and their total time.
    Time(&'static str, u64, Duration),
    /// A value for interpreting the times.
    Fact(&'static str, String),
}

impl fmt::Display for HostFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(name, operations, time) => {
                write!(f, "probe {name} {operations} {}", time.as_nanos())
            }
            Self::Fact(name, value) => write!(f, "fact {name} {value}"),
        }
    }
}

impl HostProbe {
    /// Runs all probes, and reports each figure as soon as it is known.
    pub fn pass(
        &self,
        tell: &mut dyn FnMut(HostFigure) -> io::Result<()>,
    ) -> Result<(), (&'static str, io::Error)> {
        let of = |what: &'static str| move |error: io::Error| (what, error);
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let begin = Instant::now();
        let (pi, points) = pi(cores, self.samples);
        let time = begin.elapsed();
        let tell = &mut |figure: HostFigure| tell(figure).map_err(of("print a figure"));
        tell(HostFigure::Time("pi", points, time))?;
        tell(HostFigure::Fact("pi", format!("{pi:.6}")))?;
        tell(HostFigure::Fact("cores", cores.to_string()))?;
        let time = loopback(self.round_trips).map_err(of("use the loopback"))?;
        tell(HostFigure::Time("loopback", self.round_trips, time))?;
        let time = syncs(&self.folder, self.syncs).map_err(of("write to the disk"))?;
        tell(HostFigure::Time("fsync", self.syncs, time))?;
        tell(HostFigure::Time("system-call", self.calls, calls(self.calls)))
    }
}

/// Pi, from points drawn by each core, and how many there were.
fn pi(cores: usize, samples: u64) -> (f64, u64) {
    let within: u64 = thread::scope(|scope| {
        let seeds = (SEED..).take(cores);
        let cores: Vec<_> =
            seeds.map(|seed| scope.spawn(move || points_within(seed, samples))).collect();
        // Nothing in it panics; a core that was lost would show in the value.
        let counts = cores.into_iter().map(|core| core.join().unwrap_or_default());
        counts.sum()
    });
    let points = samples * cores as u64;
    (4.0 * crate::statistics::share(within, points), points)
}

/// Counts the random points of a square that lie within the quarter circle.
fn points_within(seed: u64, samples: u64) -> u64 {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut within = 0;
    for _ in 0..samples {
        let (x, y) = (random.f64(), random.f64());
        within += u64::from(x * x + y * y <= 1.0);
    }
    within
}

/// Times round trips of one byte over loopback, one after the other.
fn loopback(round_trips: u64) -> io::Result<Duration> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (mut far, _) = listener.accept()?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut byte = [0];
            // It ends when the other side does.
            while far.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
        });
        // It takes the near end along, and with it the far one ends.
        trips(near, round_trips)
    })
}

fn trips(mut near: TcpStream, round_trips: u64) -> io::Result<Duration> {
    let begin = Instant::now();
    let mut byte = [0];
    for number in 0..round_trips {
        let sent = [number.to_le_bytes()[0]];
        near.write_all(&sent)?;
        near.read_exact(&mut byte)?;
        if byte != sent {
            return Err(io::Error::other("the wrong byte came back"));
        }
    }
    Ok(begin.elapsed())
}

/// Times writes of a page, each with fsync.
fn syncs(folder: &Path, syncs: u64) -> io::Result<Duration> {
    let path = folder.join("vervet-probe");
    let mut file = File::create(&path)?;
    let begin = Instant::now();
    let mut write = || -> io::Result<()> {
        for _ in 0..syncs {
            file.write_all(&PAGE)?;
            file.sync_all()?;
        }
        Ok(())
    };
    let written = write();
    let time = begin.elapsed();
    std::fs::remove_file(&path)?;
    written.map(|()| time)
}

/// Times a trivial system call that no library caches.
fn calls(calls: u64) -> Duration {
    let begin = Instant::now();
    for _ in 0..calls {
        std::hint::black_box(rustix::process::getppid());
    }
    begin.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::parse_output;
    use vervet_testkit::TempTree;

    #[test]
    fn pi_lies_within_five_standard_deviations() {
        let (found, points) = pi(3, 1_000_000);
        assert_eq!(points, 3_000_000);
        // A point lies within by the chance pi / 4: the deviation of the estimate is 1.64 /
        // sqrt(points).
        let deviation = 1.642 / 3_000_000_f64.sqrt();
        let error = (found - std::f64::consts::PI).abs();
        assert!(error < 5.0 * deviation, "{found}");
        // Each core draws points of its own.
        assert_ne!(points_within(SEED, 1000), points_within(SEED + 1, 1000));
    }

    #[test]
    fn what_it_tells_is_what_a_task_tells() {
        let folder = TempTree::new();
        let probe = HostProbe {
            samples: 1000,
            round_trips: 20,
            syncs: 3,
            calls: 50,
            folder: folder.path().to_owned(),
        };
        let mut text = String::new();
        let told = probe.pass(&mut |figure| {
            text.extend([figure.to_string().as_str(), "\n"]);
            Ok(())
        });
        assert!(told.is_ok(), "{told:?}");
        let found = parse_output(&text).unwrap();
        let phases = found.phases.iter();
        let phases: Vec<(&str, u64, bool)> =
            phases.map(|phase| (phase.name.as_str(), phase.operations, phase.is_part)).collect();
        let cores = thread::available_parallelism().unwrap().get() as u64;
        let expected = [
            ("pi", 1000 * cores, false),
            ("loopback", 20, false),
            ("fsync", 3, false),
            ("system-call", 50, false),
        ];
        assert_eq!(phases, expected);
        assert_eq!(found.facts.len(), 2);
        assert!(found.rest.is_empty(), "{:?}", found.rest);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_disk_that_cannot_be_written_is_named() {
        let probe = HostProbe {
            samples: 1,
            round_trips: 1,
            syncs: 1,
            calls: 1,
            folder: PathBuf::from("/no-such-folder"),
        };
        let (what, _) = probe.pass(&mut |_| Ok(())).unwrap_err();
        assert_eq!(what, "write to the disk");
    }
}
