//! From the options to the access log.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use vervet_server::access_log::{Color, Condition, Format, LogPlan, LogSet};
use vervet_server::log_sinks::{LogSinks, Target};

use super::arguments::{LogArguments, LogFormat};
use crate::failure::Failure;
use crate::life::Event;

/// The log that all requests get their lines in.
pub(super) struct ServeLog {
    pub(super) logs: LogSinks,
    pub(super) plan: Arc<LogPlan>,
    pub(super) choice: LogSet,
}

/// The log that is asked for; none if none is wanted. What it has to say comes as events.
pub(super) fn open(
    arguments: &LogArguments,
    events: &Sender<Event>,
) -> Result<Option<ServeLog>, Failure> {
    let path = arguments.log_file.as_path();
    let target = if path == Path::new("-") {
        Target::Stdout
    } else {
        Target::file(path)
    };
    let Some(format) = format(arguments.log, &target) else {
        return Ok(None);
    };
    let events = events.clone();
    // Fails only when the program is about to end.
    let logs = LogSinks::new(move |notice| drop(events.send(Event::Log(notice))));
    let sink = logs
        .open(&target)
        .map_err(|error| Failure::LogFile(path.to_owned(), error))?;
    let mut plan = LogPlan::new();
    let log = plan.add_log(format, Condition::default(), sink);
    let choice = plan.log_set(log.as_slice());
    plan.set_refused(choice);
    Ok(Some(ServeLog {
        logs,
        plan: Arc::new(plan),
        choice,
    }))
}

fn format(asked: Option<LogFormat>, target: &Target) -> Option<Format> {
    let unasked = match target {
        Target::Stdout => LogFormat::Pretty,
        _ => LogFormat::Combined,
    };
    Some(match asked.unwrap_or(unasked) {
        LogFormat::None => return None,
        LogFormat::Common => Format::common(),
        LogFormat::Combined => Format::combined(),
        LogFormat::Json => Format::json(),
        LogFormat::Pretty => Format::pretty(color(target)),
    })
}

/// Colours for a terminal whose user has not asked for none (`NO_COLOR`, when not empty).
fn color(target: &Target) -> Color {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if *target == Target::Stdout && std::io::stdout().is_terminal() && !refused {
        Color::On
    } else {
        Color::Off
    }
}
