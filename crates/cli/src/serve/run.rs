//! The order in which the parts are put together.

use std::process::ExitCode;
use std::sync::Arc;

use vervet_server::access_log::{LogWriter, Logged};
use vervet_server::engine::capacity::raise_files;
use vervet_server::engine::limits::Limits;
use vervet_server::engine::reactor::Overload;
use vervet_server::engine::{Builder, Carrier, Engine, Running};
use vervet_server::{Files, FilesShared};

use super::arguments::{CarrierName, OverloadPolicy, ServeArguments, WorkArguments};
use super::course::ServeCourse;
use super::log::ServeLog;
use super::{announce, handler, listen, log};
use crate::failure::Failure;
use crate::{environment, life, talk};

/// Serves until a signal.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<ExitCode, Failure> {
    life::report_panics();
    let (sender, events) = life::events()?;
    if let Err(errno) = raise_files() {
        talk::say(format_args!(
            "note: cannot raise the limit of open files: {errno}"
        ));
    }
    let limits = limits(&arguments.work)?;
    let files = handler::files(&arguments.path, &arguments.files)?;
    let builder = builder(&arguments.work, &limits)?;
    let (builder, notes) = listen::listen(builder, &arguments.listen, &arguments.sockets)?;
    let log = log::open(&arguments.log, &sender)?;
    let running = start(builder, files, log.as_ref())?;
    announce::listeners(&arguments.path, &running, &notes);
    announce::kernel_advice(arguments.sockets.backlog, limits.connections_max);
    let course = ServeCourse {
        control: running.control(),
        logs: log.map(|log| log.logs),
        drain_ms: u64::from(limits.drain_timeout_ms),
    };
    life::supervise(running, course, (sender, events))
}

fn limits(arguments: &WorkArguments) -> Result<Limits, Failure> {
    let mut limits = Limits::default();
    for setting in &arguments.limit {
        limits.set(setting.row.name, setting.value)?;
    }
    if let Some(time) = arguments.drain_timeout {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        limits.set("drain_timeout_ms", milliseconds)?;
    }
    limits.validate()?;
    Ok(limits)
}

fn builder(arguments: &WorkArguments, limits: &Limits) -> Result<Builder, Failure> {
    let overload = match arguments.overload {
        OverloadPolicy::Reject => Overload::Reject,
        OverloadPolicy::Wait => Overload::Wait,
    };
    let carrier = match arguments.carrier {
        CarrierName::Thread => Carrier::Thread,
        CarrierName::Tokio => Carrier::Tokio,
    };
    let fields = format!("Server: {}\r\n", handler::SERVER).into_bytes();
    Ok(Engine::builder()
        .workers(environment::workers(arguments.workers)?)
        .carrier(carrier)
        .limits(limits.clone())
        .own_answers(fields, overload))
}

fn start(
    builder: Builder,
    files: Arc<FilesShared>,
    log: Option<&ServeLog>,
) -> Result<Running, Failure> {
    let Some(log) = log else {
        return Ok(builder.start(move |_| Files::new(&files))?);
    };
    let (plan, choice) = (Arc::clone(&log.plan), log.choice);
    let service = move |_| Logged::new(Files::new(&files), LogWriter::new(&plan), choice);
    Ok(builder.start(service)?)
}
