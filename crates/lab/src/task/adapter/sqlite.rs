//! `SQLite`: a file within the client, with a write-ahead log.

use super::setup::{DURABLE, INDEX};
use super::{Client, TaskAdapter, TaskLaunch, TaskSetup};

/// The adapter.
pub(super) static ADAPTER: TaskAdapter = TaskAdapter {
    name: "sqlite",
    about: "puts and gets on SQLite, a file within the client",
    server: &[],
    beside: &[],
    client: Client::Stores,
    get: "it is within vervet-stores",
    settings: &[DURABLE, INDEX],
    version: &[],
    launch,
};

fn launch(setup: &TaskSetup<'_>) -> TaskLaunch {
    TaskLaunch {
        client: setup.client("sqlite", &setup.own("pairs.sqlite")),
        ..TaskLaunch::default()
    }
}
