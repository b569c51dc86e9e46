//! Our own server: files, and pages where the lab file gives an `app`.

use super::setup::as_root;
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "vervet",
    about: "files by Vervet; with an app the page that it is, on every path",
    program: Program::Ours,
    beside: &[],
    get: "build it with cargo build --release",
    serves: Serves::Files,
    settings: &[WORKERS],
    version: &["version"],
    launch,
};

const WORKERS: Row = Row {
    name: "workers",
    default: "1",
    kind: Kind::Count(1, 256),
    about: "threads that serve",
};

fn launch(setup: &Setup<'_>) -> Launch {
    let log = format!(
        "log.main = {{ file = \"{}\", format = \"common\" }}\n",
        setup.own("access.log")
    );
    let action = match setup.app {
        Some(page) => format!(
            "[[site.route]]\npath = \"/*\"\npage = \"{}\"\n",
            page.display()
        ),
        None => format!(
            "[[site.route]]\npath = \"/*\"\nfiles = \"{}\"\n",
            setup.site.display()
        ),
    };
    // As for the rivals: connections live on, and all may come from one address.
    let text = format!(
        "listen = \"127.0.0.1:{port}\"\nworkers = {workers}\n{user}\
         limits = {{ requests_per_connection_max = 0, connections_per_address_max = 0, keep_alive_idle_ms = \"75s\" }}\n\
         {log}[[site]]\n{of_site}{action}",
        port = setup.port,
        workers = setup.settings.get("workers"),
        user = as_root("user = \"root\"\n"),
        log = setup.logged(&log, ""),
        of_site = setup.logged("log = \"main\"\n", ""),
    );
    let file = setup.own("vervet.toml");
    Launch::of(setup.program, ["run", &file]).file("vervet.toml", text)
}
