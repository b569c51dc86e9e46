//! Stores that one client and at most one plain server make: memcached, Valkey or Redis, and redb
//! and `SQLite`, which are files in the client.

use std::path::Path;

use super::setup::{DURABLE, INDEX, as_root, part};
use super::{Client, TaskAdapter, TaskLaunch, TaskSetup};
use crate::adapter::{Kind, Row};

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
    get: "included in vervet-stores",
    settings: &[DURABLE],
    version: &[],
    launch: redb,
};

fn redb(setup: &TaskSetup<'_>) -> TaskLaunch {
    TaskLaunch { client: setup.client("redb", &setup.own("pairs.redb")), ..TaskLaunch::default() }
}

/// `SQLite`, a file in the client, with a write-ahead log.
pub(super) static SQLITE: TaskAdapter = TaskAdapter {
    name: "sqlite",
    about: "puts and gets on SQLite, a file within the client",
    server: &[],
    beside: &[],
    client: Client::Stores,
    get: "included in vervet-stores",
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

/// `MariaDB`, with a table of `InnoDB`.
pub(super) static MARIADB: TaskAdapter = TaskAdapter {
    name: "mariadb",
    about: "puts and gets on MariaDB, a table of InnoDB",
    server: &["mariadbd"],
    beside: &[INSTALL],
    client: Client::Stores,
    get: "install the Debian package mariadb-server",
    settings: &[DURABLE, INDEX],
    version: &["--version"],
    launch: mariadb,
};

/// Makes the tables that the server needs of itself.
const INSTALL: &str = "mariadb-install-db";

fn mariadb(setup: &TaskSetup<'_>) -> TaskLaunch {
    let data = format!("--datadir={}", setup.own("data"));
    let socket = format!("--socket={}", setup.socket.display());
    let pid_file = format!("--pid-file={}", setup.own("pid"));
    let is_durable = setup.settings.get("durable") == "true";
    let commit = if is_durable {
        "--innodb-flush-log-at-trx-commit=1"
    } else {
        "--innodb-flush-log-at-trx-commit=0"
    };
    // None reads the machine's own configuration, which may say anything.
    let mut arguments = vec!["--no-defaults", &data];
    arguments.extend(as_root("--user=root"));
    let mut install = arguments.clone();
    install.extend(["--auth-root-authentication-method=normal", "--skip-test-db"]);
    let install = part(Path::new(INSTALL), &install);
    arguments.extend([
        &socket,
        &pid_file,
        "--skip-networking",
        "--innodb-buffer-pool-size=256M",
        commit,
    ]);
    TaskLaunch { prepare: vec![install], ..setup.served("mariadb", &arguments) }
}

/// The host itself: CPU, loopback, disk and a system call.
pub(super) static HOST: TaskAdapter = TaskAdapter {
    name: "host",
    about: "the host: pi by random points on all cores, loopback, disk, a system call",
    server: &[],
    beside: &[],
    client: Client::Ours,
    get: "included in vervet",
    settings: &[SAMPLES, ROUND_TRIPS, SYNCS, CALLS],
    version: &[],
    launch: host,
};

const SAMPLES: Row = count("samples", "50000000", "random points for pi per core");
const ROUND_TRIPS: Row = count("round_trips", "20000", "round trips of one byte over loopback");
const SYNCS: Row = count("syncs", "200", "writes, each with fsync");
const CALLS: Row = count("calls", "2000000", "system calls");

const fn count(name: &'static str, default: &'static str, about: &'static str) -> Row {
    Row { name, default, kind: Kind::Count(1, 1_000_000_000), about }
}

fn host(setup: &TaskSetup<'_>) -> TaskLaunch {
    let mut client = ["lab", "probe", "--folder"].map(str::to_owned).to_vec();
    client.push(setup.folder.display().to_string());
    for row in HOST.settings {
        client.push(format!("--{}", row.name.replace('_', "-")));
        client.push(setup.settings.get(row.name).to_owned());
    }
    TaskLaunch { client, ..TaskLaunch::default() }
}
