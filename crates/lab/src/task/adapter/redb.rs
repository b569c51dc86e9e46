//! redb: a file within the client.

use super::setup::DURABLE;
use super::{Client, TaskAdapter, TaskLaunch, TaskSetup};

/// The adapter.
pub(super) static ADAPTER: TaskAdapter = TaskAdapter {
    name: "redb",
    about: "puts and gets on redb, a file within the client",
    server: &[],
    beside: &[],
    client: Client::Stores,
    get: "it is within vervet-stores",
    settings: &[DURABLE],
    version: &[],
    launch,
};

fn launch(setup: &TaskSetup<'_>) -> TaskLaunch {
    TaskLaunch {
        client: setup.client("redb", &setup.own("pairs.redb")),
        ..TaskLaunch::default()
    }
}
