//! gunicorn: WSGI by processes, threads or greenlets.

use super::python::{CALLABLE, WORKERS, address, module};
use super::{Adapter, Kind, Launch, Program, Row, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "gunicorn",
    about: "WSGI by gunicorn: sync, gthread or gevent",
    program: Program::Module("gunicorn"),
    beside: &["gevent"],
    get: "run labs/setup, which installs gunicorn and gevent by pip",
    serves: Serves::App,
    settings: &[KIND, WORKERS, THREADS, CONNECTIONS, CALLABLE],
    version: &["-m", "gunicorn", "--version"],
    launch,
};

const KIND: Row = Row {
    name: "kind",
    default: "sync",
    kind: Kind::Word(&["sync", "gthread", "gevent"]),
    about: "worker class; sync does not keep connections alive",
};
const THREADS: Row = Row {
    name: "threads",
    default: "8",
    kind: Kind::Count(1, 1000),
    about: "threads of a gthread worker",
};
const CONNECTIONS: Row = Row {
    name: "connections",
    default: "1000",
    kind: Kind::Count(1, 100_000),
    about: "connections of a gevent worker",
};

fn launch(setup: &Setup<'_>) -> Launch {
    let (folder, module) = module(setup);
    let kind = setup.settings.get("kind");
    let address = address(setup);
    let mut arguments = vec!["-m", "gunicorn", "--chdir", &folder, "--bind", &address];
    arguments.extend(["--worker-class", kind, "--workers", setup.settings.get("workers")]);
    arguments.extend(["--backlog", "4096", "--keep-alive", "75", "--log-level", "error"]);
    arguments.extend(["--timeout", "300", "--graceful-timeout", "2"]);
    match kind {
        "gthread" => arguments.extend(["--threads", setup.settings.get("threads")]),
        "gevent" => arguments.extend(["--worker-connections", setup.settings.get("connections")]),
        _ => {}
    }
    let log = setup.own("access.log");
    if !setup.logged("log", "").is_empty() {
        arguments.extend(["--access-logfile", &log]);
    }
    arguments.push(&module);
    Launch::new(setup.program, arguments)
}
