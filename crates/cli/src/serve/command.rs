//! The start of `vervet serve`.

use std::process::ExitCode;

use super::arguments::ServeArguments;
use super::document;
use crate::config::{Examiner, plan, report};
use crate::default_listen::{DefaultListen, ListenerAddress};
use crate::environment;
use crate::failure::Failure;
use crate::run::{ConfigurationSource, Launch, launch};

/// Invalid flags end the program with this status, as a command line that cannot be parsed does.
const STATUS_USAGE: u8 = 2;

/// Serves until a signal ends the process.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<ExitCode, Failure> {
    let inherited = environment::inherited()?;
    let listen: Vec<ListenerAddress> = if arguments.listen.listen.is_empty() {
        DefaultListen::from_environment(&inherited)?.available()?
    } else {
        let addresses = arguments.listen.listen.iter().cloned();
        addresses.map(ListenerAddress::from).collect()
    };
    let reading = document::read(arguments, &listen)?;
    if reading.value.is_none() {
        report(&reading.diagnostics, &reading.sources);
        return Ok(ExitCode::from(STATUS_USAGE));
    }
    let planned = plan(reading, &arguments.path, &[], Examiner::Starting(None))?;
    let source = ConfigurationSource::Flags {
        path: arguments.path.clone(),
        notes: listen.into_iter().map(|place| place.note).collect(),
    };
    launch(Launch { planned, source, inherited, carrier: arguments.work.carrier, trace: &[] })
}
