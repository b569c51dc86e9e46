//! Stores that one client and at most one plain server make: memcached, Valkey or Redis, and redb and
//! `SQLite`, which are files in the client.

use super::setup::{DURABLE, INDEX, as_root};
use super::{Client, TaskAdapter, TaskLaunch, TaskSetup};

/// memcached, in memory only.
pub(super) static MEMCACHED: TaskAdapter = TaskAdapter {
    name: "memcached",
    about: "puts and gets on memcached",
    server: &["memcached"],
    beside: &[],
    client: Client::Stores,
    get: "install the Debian package memcached",
    settings: &[],
    version: &["-V"],
    launch: memcached,
};

fn memcached(setup: &TaskSetup<'_>) -> TaskLaunch {
    let socket = setup.socket.display().to_string();
    let mut arguments = vec!["-s", &socket, "-m", "1024", "-t", "1"];
    if let Some(root) = as_root("root") {
        arguments.extend(["-u", root]);
    }
    setup.served("memcached", &arguments)
}

/// Valkey, or Redis where Valkey is not installed.
pub(super) static REDIS: TaskAdapter = TaskAdapter {
    name: "redis",
    about: "puts and gets on Valkey, or on Redis",
    server: &["valkey-server", "redis-server"],
    beside: &[],
    client: Client::Stores,
    get: "install the Debian package valkey-server or redis-server",
    settings: &[DURABLE],
    version: &["--version"],
    launch: redis,
};

fn redis(setup: &TaskSetup<'_>) -> TaskLaunch {
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

/// redb, a file in the client.
pub(super) static REDB: TaskAdapter = TaskAdapter {
    name: "redb",
    about: "puts and gets on redb, a file within the client",
    server: &[],
    beside: &[],
    client: Client::Stores,
    get: "it is part of vervet-stores",
    settings: &[DURABLE],
    version: &[],
    launch: redb,
};

fn redb(setup: &TaskSetup<'_>) -> TaskLaunch {
    TaskLaunch {
        client: setup.client("redb", &setup.own("pairs.redb")),
        ..TaskLaunch::default()
    }
}

/// `SQLite`, a file in the client, with a write-ahead log.
pub(super) static SQLITE: TaskAdapter = TaskAdapter {
    name: "sqlite",
    about: "puts and gets on SQLite, a file within the client",
    server: &[],
    beside: &[],
    client: Client::Stores,
    get: "it is part of vervet-stores",
    settings: &[DURABLE, INDEX],
    version: &[],
    launch: sqlite,
};

fn sqlite(setup: &TaskSetup<'_>) -> TaskLaunch {
    TaskLaunch {
        client: setup.client("sqlite", &setup.own("pairs.sqlite")),
        ..TaskLaunch::default()
    }
}
