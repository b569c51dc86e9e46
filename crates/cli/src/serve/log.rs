//! From the options to the access log.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::mpsc::Sender;

use vervet_server::access_log::{AccessLog, Color, Format, Target};

use super::arguments::{LogArguments, LogFormat};
use super::signals::Event;
use crate::failure::Failure;

/// The format and the log that is written in it; none if none is wanted. What the log has to say comes as events.
pub(super) fn open(
    arguments: &LogArguments,
    events: &Sender<Event>,
) -> Result<Option<(Format, AccessLog)>, Failure> {
    let path = arguments.log_file.as_path();
    let target = if path == Path::new("-") {
        Target::Stdout
    } else {
        Target::File(path.to_owned())
    };
    let Some(format) = format(arguments.log, &target) else {
        return Ok(None);
    };
    let events = events.clone();
    // Fails only when the program is about to end.
    let tell = move |notice| drop(events.send(Event::Log(notice)));
    let log =
        AccessLog::open(&target, tell).map_err(|error| Failure::LogFile(path.to_owned(), error))?;
    Ok(Some((format, log)))
}

fn format(asked: Option<LogFormat>, target: &Target) -> Option<Format> {
    let unasked = match target {
        Target::Stdout => LogFormat::Pretty,
        Target::File(_) => LogFormat::Combined,
    };
    Some(match asked.unwrap_or(unasked) {
        LogFormat::None => return None,
        LogFormat::Common => Format::Common,
        LogFormat::Combined => Format::Combined,
        LogFormat::Json => Format::Json,
        LogFormat::Pretty => Format::Pretty(color(target)),
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
