//! Tornado: the application is a script with a server of its own, started with the port as its
//! argument.

use super::{Adapter, Launch, Program, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "tornado",
    about: "a script that uses Tornado; its argument is the port",
    program: Program::Module("tornado"),
    beside: &[],
    get: "run labs/setup, which installs tornado by pip",
    serves: Serves::App,
    settings: &[],
    version: &["-c", "import tornado; print('Tornado', tornado.version)"],
    launch,
};

fn launch(setup: &Setup<'_>) -> Launch {
    let app = setup.app().display().to_string();
    let port = setup.port.to_string();
    let log = setup.logged("access", "none");
    Launch::new(setup.program, [app.as_str(), &port, log])
}
