//! `MariaDB`, with a table of `InnoDB`.

use std::path::Path;

use super::setup::{DURABLE, INDEX, as_root, part};
use super::{Client, TaskAdapter, TaskLaunch, TaskSetup};

/// The adapter.
pub(super) static ADAPTER: TaskAdapter = TaskAdapter {
    name: "mariadb",
    about: "puts and gets on MariaDB, a table of InnoDB",
    server: &["mariadbd"],
    beside: &[INSTALL],
    client: Client::Stores,
    get: "install the Debian package mariadb-server",
    settings: &[DURABLE, INDEX],
    version: &["--version"],
    launch,
};

/// Makes the tables that the server needs of itself.
const INSTALL: &str = "mariadb-install-db";

fn launch(setup: &TaskSetup<'_>) -> TaskLaunch {
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
    TaskLaunch {
        prepare: vec![install],
        ..setup.served("mariadb", &arguments)
    }
}
