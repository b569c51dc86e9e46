//! Valkey, or Redis where that is what there is.

use super::setup::DURABLE;
use super::{Client, TaskAdapter, TaskLaunch, TaskSetup};

/// The adapter.
pub(super) static ADAPTER: TaskAdapter = TaskAdapter {
    name: "redis",
    about: "puts and gets on Valkey, or on Redis",
    server: &["valkey-server", "redis-server"],
    beside: &[],
    client: Client::Stores,
    get: "install the Debian package valkey-server or redis-server",
    settings: &[DURABLE],
    version: &["--version"],
    launch,
};

fn launch(setup: &TaskSetup<'_>) -> TaskLaunch {
    let socket = setup.socket.display().to_string();
    let folder = setup.folder.display().to_string();
    let is_durable = setup.settings.get("durable") == "true";
    let log = if is_durable { "yes" } else { "no" };
    let arguments = [
        "--port",
        "0",
        "--unixsocket",
        &socket,
        "--dir",
        &folder,
        "--save",
        "",
        "--appendonly",
        log,
        "--appendfsync",
        "always",
    ];
    setup.served("redis", &arguments)
}
