//! memcached: in memory, and nowhere else.

use super::setup::as_root;
use super::{Client, TaskAdapter, TaskLaunch, TaskSetup};

/// The adapter.
pub(super) static ADAPTER: TaskAdapter = TaskAdapter {
    name: "memcached",
    about: "puts and gets on memcached",
    server: &["memcached"],
    beside: &[],
    client: Client::Stores,
    get: "install the Debian package memcached",
    settings: &[],
    version: &["-V"],
    launch,
};

fn launch(setup: &TaskSetup<'_>) -> TaskLaunch {
    let socket = setup.socket.display().to_string();
    let mut arguments = vec!["-s", &socket, "-m", "1024", "-t", "1"];
    if let Some(root) = as_root("root") {
        arguments.extend(["-u", root]);
    }
    setup.served("memcached", &arguments)
}
