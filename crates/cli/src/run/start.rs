//! The order in which a server is put together: what needs privileges first, then none of them, then threads.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use vervet_server::admin::{Admin, Phase};
use vervet_server::config::Diagnostics;
use vervet_server::engine::capacity::raise_files;
use vervet_server::engine::listener::Inherited;
use vervet_server::engine::{Carrier, Engine, Running};
use vervet_server::error_log::ErrorLog;
use vervet_server::log_sinks::LogSinks;
use vervet_server::plan::Plan;
use vervet_server::server::{Server, Setup, Sockets};
use vervet_server::settings::Document;
use vervet_server::staging::{Paths, Tools, prepare, rehearse};

use super::arguments::RunArguments;
use super::course::{Asked, Hold, RunCourse, SERVING};
use super::facts::ServerFacts;
use super::notify::{Notifier, State};
use super::pid_file::PidFile;
use super::{landlock, privilege};
use crate::config::{FileArguments, planned, refusal, report};
use crate::failure::Failure;
use crate::life::{self, Event};
use crate::unasked::Unasked;
use crate::{environment, talk};

/// What the server is told by signals, and whoever else tells it something.
type Events = (Sender<Event>, Receiver<Event>);

/// Serves until a signal.
pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    life::report_panics();
    let (running, course, events) = start(arguments)?;
    life::supervise(running, course, events)
}

/// Puts a server together. What was read for it ends with this: its texts are as large as what serves.
fn start(arguments: &RunArguments) -> Result<(Running, RunCourse, Events), Failure> {
    let file = &arguments.file;
    let variable = |name: &str| std::env::var(name).ok();
    let mut inherited = Inherited::from_environment(&variable, std::process::id())?;
    let asked = Asked {
        file: file.clone(),
        unasked: Unasked::find(&inherited)?.addresses(),
        allowed: None,
    };
    let (plan, sources) = planned(file, &asked.unasked)?;
    let refused = |found: &Diagnostics| {
        report(found, &sources);
        refusal(&file.file, found, &sources)
    };
    if let Err(errno) = raise_files() {
        talk::say(format_args!(
            "note: cannot raise the limit of open files: {errno}"
        ));
    }
    let sockets = Sockets::bind(&plan, &mut inherited).map_err(|mut found| {
        found.extend_behind(rehearse(&plan));
        refused(&found)
    })?;
    let admin = admin_socket(&plan)?;
    let notifier = Notifier::from_environment(&variable, std::process::id())
        .map_err(|error| Failure::Start(format!("cannot reach NOTIFY_SOCKET: {error}")))?;
    let pid_file = pid_file(plan.document())?;
    let allowed = give_up_privileges(&plan, file)?;
    // From here on there may be threads.
    let (sender, events) = life::events()?;
    let mut tools = tools(plan.document(), &sender).map_err(|found| refused(&found))?;
    tools.trace(&arguments.trace);
    let (stage, warnings) =
        prepare(&plan, &sockets.keys(), &tools).map_err(|found| refused(&found))?;
    report(&warnings, &sources);
    let setup = Setup {
        workers: environment::workers(*plan.document().workers)?,
        carrier: Carrier::Thread,
    };
    let (server, running) = Server::start(plan, stage, (sockets, tools), setup)?;
    let server = Arc::new(server);
    let facts = Arc::new(ServerFacts::new(&server));
    let admin = admin
        .map(|socket| start_admin(socket, &facts))
        .transpose()?;
    announce(&server);
    facts.enter(Phase::Ready);
    let hold = Hold { admin, pid_file };
    let asked = Asked { allowed, ..asked };
    let course = RunCourse::new(server, facts, (notifier, asked), hold);
    course.tell(State::Ready, SERVING);
    Ok((running, course, (sender, events)))
}

fn pid_file(document: &Document) -> Result<Option<PidFile>, Failure> {
    let path = document.pid_file.value().as_ref();
    let file = path.map(|path| PidFile::create(path)).transpose();
    file.map_err(|error| Failure::Start(error.to_string()))
}

/// Becomes who the document says, and sees of the file system what it needs, which is given where the kernel holds it to
/// that. Before any thread is started.
fn give_up_privileges(plan: &Plan, file: &FileArguments) -> Result<Option<Paths>, Failure> {
    let document = plan.document();
    let (user, group) = (
        document.user.value().as_deref(),
        document.group.value().as_deref(),
    );
    let identity =
        privilege::take_on(user, group).map_err(|error| Failure::Start(error.to_string()))?;
    if user.is_some() {
        talk::say(format_args!("running as {identity}"));
    }
    let sandbox = document.sandbox.value().as_ref();
    if sandbox.is_some_and(|sandbox| *sandbox.landlock) {
        let mut paths = plan.paths();
        let folder = file.file.parent().filter(|folder| *folder != "");
        paths.read.push(folder.unwrap_or(".".as_ref()).to_owned());
        // What the server is asked about itself.
        paths.read.push("/proc".into());
        let level = landlock::restrict(&paths.read, &paths.write);
        let level = level.map_err(|error| Failure::Start(error.to_string()))?;
        talk::say(format_args!("{level}"));
        let is_held = matches!(level, landlock::Level::Full | landlock::Level::Partial(_));
        return Ok(is_held.then_some(paths));
    }
    Ok(None)
}

fn tools(document: &Document, sender: &Sender<Event>) -> Result<Tools, Diagnostics> {
    let sender = sender.clone();
    // Fails only when the program is about to end.
    let logs = LogSinks::new(move |notice| drop(sender.send(Event::Log(notice))));
    let settings = &document.error_log;
    let sink = settings.open(&logs, None);
    let sink = sink.map_err(|problem| Diagnostics::from_iter([*problem]))?;
    let error_log = ErrorLog::new(&sink, *settings.level);
    error_log.apply(settings, &sink);
    Ok(Tools::new(logs, error_log))
}

/// The socket of the admin service, bound while there are privileges.
fn admin_socket(plan: &Plan) -> Result<Option<AdminSocket>, Failure> {
    let Some(settings) = plan.document().admin.value() else {
        return Ok(None);
    };
    // Said by the check already where it cannot be.
    let (address, options) = settings
        .listen()
        .map_err(|problem| Failure::Start(problem.message.clone()))?;
    Ok(Some(AdminSocket {
        builder: Engine::builder().listen_with(&address, &options)?,
        is_exposed: *settings.exposed,
    }))
}

struct AdminSocket {
    builder: vervet_server::engine::Builder,
    is_exposed: bool,
}

fn start_admin(socket: AdminSocket, facts: &Arc<ServerFacts>) -> Result<Running, Failure> {
    let facts: Arc<ServerFacts> = Arc::clone(facts);
    let admin = if socket.is_exposed {
        Admin::exposed(facts)
    } else {
        Admin::new(facts)
    };
    Ok(socket.builder.start(move |_| admin.clone())?)
}

fn announce(server: &Server) {
    for (name, endpoint) in server.listeners() {
        let url = match endpoint.local_address() {
            Some(address) => format!("http://{address}/"),
            None => endpoint.to_string(),
        };
        if endpoint.address().to_string() == name {
            talk::say(format_args!("serving at {url}"));
        } else {
            talk::say(format_args!("serving at {url} ({})", name.escape_debug()));
        }
    }
}
