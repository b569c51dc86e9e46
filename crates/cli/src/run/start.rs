//! The order in which a server is put together: first what needs privileges, then privileges are
//! dropped, then threads are started.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use vervet_server::admin::{Admin, Phase};
use vervet_server::config::Diagnostics;
use vervet_server::engine::capacity::{Kernel, RESERVED_FILES, advice, raise_files};
use vervet_server::engine::limits::Limits;
use vervet_server::engine::listener::Inherited;
use vervet_server::engine::{Carrier, Engine, Running};
use vervet_server::error_log::{ErrorLog, LimitWatch};
use vervet_server::log_sinks::LogSinks;
use vervet_server::plan::Plan;
use vervet_server::server::{Server, Setup, Sockets};
use vervet_server::settings::Document;
use vervet_server::staging::{Account, Paths, Tools, prepare, rehearse};
use vervet_server::web::TraceRule;

use super::crash::report_panics;
use super::facts::ServerFacts;
use super::lifecycle::{ConfigurationSource, Lifecycle, SERVING};
use super::notify::{Notifier, State};
use super::pid_file::PidFile;
use super::rehearsal::{account_of, check_process, folder_of, rehearse_start};
use super::signals::{Event, Events, events};
use super::supervise::supervise;
use super::{landlock, privilege};
use crate::config::{Planned, line, refusal, report};
use crate::failure::Failure;
use crate::{console, environment};

/// A configuration that is to be served, and how.
pub(crate) struct Launch<'a> {
    pub(crate) planned: Planned,
    pub(crate) source: ConfigurationSource,
    /// Sockets that the parent process left open.
    pub(crate) inherited: Inherited,
    /// What runs the event loops.
    pub(crate) carrier: Carrier,
    /// Which requests are traced.
    pub(crate) trace: &'a [TraceRule],
}

/// Serves until a signal ends the process.
pub(crate) fn launch(launch: Launch<'_>) -> Result<ExitCode, Failure> {
    report_panics();
    let (running, lifecycle, events) = start(launch)?;
    supervise(running, lifecycle, events)
}

/// Starts a server. What was read for it is freed at the end: its texts are as large as what
/// serves.
fn start(launch: Launch<'_>) -> Result<(Running, Lifecycle, Events), Failure> {
    let Launch { planned, source, mut inherited, carrier, trace } = launch;
    let Planned { plan, sources, warnings } = planned;
    let path = source.path().to_owned();
    let refused = |found: &Diagnostics| {
        report(found, &sources);
        refusal(&path, found, &sources)
    };
    report(&warnings, &sources);
    let rehearsed = || rehearse_start(&plan, source.file());
    if check_process(plan.document()).has_errors() {
        return Err(refused(&rehearsed()));
    }
    if let Err(errno) = raise_files() {
        console::message(format_args!("note: cannot raise the limit of open files: {errno}"));
    }
    let sockets = Sockets::bind(&plan, &mut inherited).map_err(|mut found| {
        found.extend_with_later(rehearsed());
        refused(&found)
    })?;
    let admin = admin_socket(&plan)?;
    let variable = |name: &str| std::env::var(name).ok();
    let notifier = Notifier::from_environment(&variable, std::process::id())
        .map_err(|error| Failure::Other(format!("cannot reach NOTIFY_SOCKET: {error}")))?;
    let pid_file = pid_file(plan.document())?;
    let (account, allowed) = drop_privileges(&plan, source.file())?;
    // From here on there may be threads.
    let events = events()?;
    let explained = |found: &Diagnostics| plan.denials(&account).explain(found);
    let mut tools = tools(plan.document(), &events.sender).map_err(|mut found| {
        found.extend_with_later(rehearse(&plan));
        refused(&explained(&found))
    })?;
    tools.trace(trace);
    tools.has_admin = admin.is_some();
    let (stage, later) =
        prepare(&plan, &sockets.keys(), &tools).map_err(|found| refused(&explained(&found)))?;
    report(&later, &sources);
    let warnings = [&warnings, &later].map(|found| found.iter().map(|one| line(one, &sources)));
    let warnings: Vec<String> = warnings.into_iter().flatten().collect();
    let setup = Setup { workers: environment::workers(*plan.document().workers)?, carrier };
    let advice = kernel_advice(&plan, setup.workers);
    let (server, running) = Server::start(plan, stage, sockets, tools, setup)?;
    let server = Arc::new(server);
    let facts = Arc::new(ServerFacts::new(&server));
    let admin = admin.map(|socket| start_admin(socket, &facts)).transpose()?;
    facts.enter(Phase::Ready);
    announce(&server, &source);
    for sentence in advice {
        console::message(format_args!("note: {sentence}"));
    }
    let lifecycle = Lifecycle {
        server,
        facts,
        notifier,
        source,
        account,
        allowed,
        limits: LimitWatch::new(),
        admin,
        pid_file,
    };
    lifecycle.started(&warnings);
    lifecycle.notify(State::Ready, SERVING);
    Ok((running, lifecycle, events))
}

fn pid_file(document: &Document) -> Result<Option<PidFile>, Failure> {
    let path = document.pid_file.value().as_ref();
    let file = path.map(|path| PidFile::create(path)).transpose();
    file.map_err(|error| Failure::Other(error.to_string()))
}

/// Changes to the user of the document, and restricts the file system to what the server needs.
/// Returns the account, and the paths if the kernel enforces that. To be called before any thread
/// is started.
fn drop_privileges(plan: &Plan, file: Option<&Path>) -> Result<(Account, Option<Paths>), Failure> {
    let document = plan.document();
    let (user, group) = (document.user.value().as_deref(), document.group.value().as_deref());
    let identity =
        privilege::take_on(user, group).map_err(|error| Failure::Other(error.to_string()))?;
    if user.is_some() {
        console::message(format_args!("running as {identity}"));
    }
    let account = account_of(document, &identity);
    let sandbox = document.sandbox.value().as_ref();
    if sandbox.is_some_and(|sandbox| *sandbox.landlock) {
        let mut paths = plan.paths();
        paths.read.extend(file.map(|file| folder_of(file).to_owned()));
        // What the server is asked about itself.
        paths.read.push("/proc".into());
        let level = landlock::restrict(&paths.read, &paths.write);
        let level = level.map_err(|error| Failure::Other(error.to_string()))?;
        console::message(format_args!("{level}"));
        let is_held = matches!(level, landlock::Level::Full | landlock::Level::Partial(_));
        return Ok((account, is_held.then_some(paths)));
    }
    Ok((account, None))
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

/// Connections of the admin service at the same time. They are within what is reserved from the
/// connections of visitors, who cannot keep a probe out.
const ADMIN_CONNECTIONS_MAX: u32 = 16;
const _: () = assert!(ADMIN_CONNECTIONS_MAX as u64 <= RESERVED_FILES / 4);

/// The socket of the admin service, bound while there are privileges.
fn admin_socket(plan: &Plan) -> Result<Option<AdminSocket>, Failure> {
    let Some(settings) = plan.document().admin.value() else {
        return Ok(None);
    };
    // Said by the check already where it cannot be.
    let (address, options) =
        settings.listen().map_err(|problem| Failure::Other(problem.message.clone()))?;
    Ok(Some(AdminSocket {
        builder: Engine::builder()
            .limits(Limits { connections_max: ADMIN_CONNECTIONS_MAX, ..Limits::default() })
            .listen_with(&address, &options)?,
        is_exposed: *settings.exposed,
    }))
}

struct AdminSocket {
    builder: vervet_server::engine::Builder,
    is_exposed: bool,
}

fn start_admin(socket: AdminSocket, facts: &Arc<ServerFacts>) -> Result<Running, Failure> {
    let facts: Arc<ServerFacts> = Arc::clone(facts);
    let admin = if socket.is_exposed { Admin::exposed(facts) } else { Admin::new(facts) };
    Ok(socket.builder.start(move |_| admin.clone())?)
}

/// Prints the address of each listener, with its name if it has one.
fn announce(server: &Server, source: &ConfigurationSource) {
    for (index, (name, endpoint)) in server.listeners().into_iter().enumerate() {
        let url = match endpoint.local_address() {
            Some(address) => format!("http://{address}/"),
            None => endpoint.to_string(),
        };
        let (path, note) = match source {
            ConfigurationSource::Flags { path, notes } => {
                // A name may hold escape sequences of terminals.
                let path = path.to_string_lossy().escape_debug().to_string() + " ";
                (path, notes.get(index).cloned().flatten())
            }
            ConfigurationSource::File { .. } => {
                let is_named = endpoint.address().to_string() != name;
                let name = is_named.then(|| name.escape_debug().to_string());
                (String::new(), name)
            }
        };
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        console::message(format_args!("serving {path}at {url}{note}"));
    }
}

/// A sentence for each setting of the kernel that is too small for the plan.
fn kernel_advice(plan: &Plan, workers: usize) -> Vec<String> {
    let backlogs = plan.listeners.iter().map(|listener| listener.options.backlog);
    let backlog = backlogs.max().unwrap_or_default();
    advice(&Kernel::read(), backlog, plan.limits.connections_max, workers)
}
