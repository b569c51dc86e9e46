//! uvicorn: ASGI on an event loop.

use super::python::{WORKERS, module};
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "uvicorn",
    about: "ASGI by uvicorn",
    program: Program::Module("uvicorn"),
    beside: &[],
    get: "run labs/setup, which installs uvicorn by pip",
    serves: Serves::App,
    settings: &[WORKERS, CALLABLE],
    version: &["-m", "uvicorn", "--version"],
    launch,
};

const CALLABLE: Row = Row {
    name: "callable",
    default: "app",
    kind: Kind::Text,
    about: "name of the application in its file",
};

fn launch(setup: &Setup<'_>) -> Launch {
    let (folder, module) = module(setup);
    let port = setup.port.to_string();
    let mut arguments = vec!["-m", "uvicorn", "--host", "127.0.0.1", "--port", &port];
    arguments.extend(["--workers", setup.settings.get("workers"), "--app-dir", &folder]);
    arguments.extend(["--backlog", "4096", "--timeout-keep-alive", "75", "--lifespan", "off"]);
    arguments.extend(["--no-server-header", "--no-use-colors"]);
    if setup.logged("log", "").is_empty() {
        arguments.extend(["--no-access-log", "--log-level", "error"]);
    }
    arguments.push(&module);
    Launch::new(setup.program, arguments)
}
