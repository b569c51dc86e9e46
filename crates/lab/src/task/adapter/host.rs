//! The host itself: what a processor, the loopback, the disk and a system call take.

use super::{Client, TaskAdapter, TaskLaunch, TaskSetup};
use crate::adapter::{Kind, Row};

/// The adapter.
pub(super) static ADAPTER: TaskAdapter = TaskAdapter {
    name: "host",
    about: "the host: pi drawn on all cores, the loopback, the disk, a system call",
    server: &[],
    beside: &[],
    client: Client::Ours,
    get: "it is within vervet",
    settings: &[SAMPLES, ROUND_TRIPS, SYNCS, CALLS],
    version: &[],
    launch,
};

const SAMPLES: Row = count("samples", "50000000", "points drawn for pi by each core");
const ROUND_TRIPS: Row = count(
    "round_trips",
    "20000",
    "bytes that go over the loopback and come back",
);
const SYNCS: Row = count(
    "syncs",
    "200",
    "writes that are on the disk before the next",
);
const CALLS: Row = count("calls", "2000000", "system calls");

const fn count(name: &'static str, default: &'static str, about: &'static str) -> Row {
    Row {
        name,
        default,
        kind: Kind::Count(1, 1_000_000_000),
        about,
    }
}

fn launch(setup: &TaskSetup<'_>) -> TaskLaunch {
    let mut client = ["lab", "probe", "--folder"].map(str::to_owned).to_vec();
    client.push(setup.folder.display().to_string());
    for row in ADAPTER.settings {
        client.push(format!("--{}", row.name.replace('_', "-")));
        client.push(setup.settings.get(row.name).to_owned());
    }
    TaskLaunch {
        client,
        ..TaskLaunch::default()
    }
}
