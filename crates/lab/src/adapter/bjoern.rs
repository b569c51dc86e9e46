//! bjoern: WSGI by a server in C, one process.

use super::python::{CALLABLE, module};
use super::{Adapter, Launch, Program, Serves, Setup};

/// The adapter.
pub(super) static ADAPTER: Adapter = Adapter {
    name: "bjoern",
    about: "WSGI by bjoern, one process; it writes no log",
    program: Program::Module("bjoern"),
    beside: &[],
    get: "install the Debian package libev-dev, then run labs/setup, which installs bjoern by pip",
    serves: Serves::App,
    settings: &[CALLABLE],
    version: &["-c", "import importlib.metadata as m; print('bjoern', m.version('bjoern'))"],
    launch,
};

const SCRIPT: &str = "\
import importlib, sys
import bjoern
folder, name, port = sys.argv[1:]
sys.path.insert(0, folder)
module, callable = name.split(':')
application = getattr(importlib.import_module(module), callable)
bjoern.run(application, '127.0.0.1', int(port), listen_backlog=4096)
";

fn launch(setup: &Setup<'_>) -> Launch {
    let (folder, module) = module(setup);
    let script = setup.own("start.py");
    let port = setup.port.to_string();
    Launch::new(setup.program, [script.as_str(), &folder, &module, &port]).file("start.py", SCRIPT)
}
