//! granian: WSGI or ASGI by a server in Rust.

use super::python::{CALLABLE, WORKERS, module};
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "granian",
    about: "WSGI or ASGI by granian",
    program: Program::Module("granian"),
    beside: &[],
    get: "run labs/setup, which installs granian by pip",
    serves: Serves::App,
    settings: &[INTERFACE, WORKERS, THREADS, CALLABLE],
    version: &["-m", "granian", "--version"],
    launch,
};

const INTERFACE: Row = Row {
    name: "interface",
    default: "wsgi",
    kind: Kind::Word(&["wsgi", "asgi"]),
    about: "interface of the application",
};
const THREADS: Row = Row {
    name: "threads",
    default: "1",
    kind: Kind::Count(1, 1000),
    about: "threads that run a WSGI application",
};

fn launch(setup: &Setup<'_>) -> Launch {
    let (folder, module) = module(setup);
    let interface = setup.settings.get("interface");
    let port = setup.port.to_string();
    let mut arguments = vec!["-m", "granian", "--host", "127.0.0.1", "--port", &port];
    arguments.extend(["--interface", interface, "--workers", setup.settings.get("workers")]);
    arguments.extend(["--backlog", "4096", "--http", "1", "--no-ws", "--log-level", "error"]);
    arguments.extend(["--working-dir", &folder, "--loop", "asyncio"]);
    if interface == "wsgi" {
        arguments.extend(["--blocking-threads", setup.settings.get("threads")]);
    }
    arguments.push(setup.logged("--access-log", "--no-access-log"));
    arguments.push(&module);
    Launch::new(setup.program, arguments)
}
