//! `vervet load`: one run, from the arguments to the exit status.

use std::net::{IpAddr, TcpStream};
use std::process::ExitCode;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use vervet_load::canned::{Canned, CannedAnswer, CannedConnection, CannedContent};
use vervet_load::{Plan, Progress};
use vervet_report::Run;

use super::arguments::{LoadArguments, RoleArguments};
use super::live::{DRAW_EVERY, ProgressMode};
use super::outcome::{Refused, Status, judge};
use super::outputs::Outputs;
use super::watching::Watching;
use super::{agents, find_max, inputs, plan};
use crate::console;
use crate::failure::Failure;

/// Runs `vervet load`.
pub(crate) fn load(arguments: &LoadArguments) -> Result<ExitCode, Failure> {
    if let Some(address) = &arguments.roles.canned {
        serve_canned(&arguments.roles, address)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(address) = &arguments.roles.agent {
        agents::serve(address)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(file), true) = (&arguments.inputs.har, arguments.inputs.print_scenario) {
        let document = inputs::document(&arguments.inputs, file)?;
        console::print(&document).map_err(Failure::Output)?;
        return Ok(ExitCode::SUCCESS);
    }
    generate(arguments)
}

fn generate(arguments: &LoadArguments) -> Result<ExitCode, Failure> {
    let plan = plan::plan(arguments)?;
    warn_of_strangers(arguments, &plan);
    let outputs = Outputs::new(&arguments.output);
    let live = ProgressMode::new(&arguments.output);
    if let Some(goal) = &arguments.output.find_max {
        return find_max::find(&plan, goal, live, &outputs);
    }
    let watching = match arguments.output.watch.as_slice() {
        [] => None,
        targets => Some(Watching::begin(targets)?),
    };
    let mut run = if arguments.roles.agents.is_empty() {
        run(plan, live, &outputs)?
    } else {
        agents::run(&arguments.roles.agents, arguments, live, &outputs)?
    };
    run.watched = watching.map_or_else(Vec::new, |watching| watching.end(&run));
    let conditions = arguments.output.fail_if.iter();
    run.conditions = conditions.map(|it| it.evaluate(&run)).collect();
    outputs.run(&run)?;
    Ok(judge(&run).into())
}

/// Makes one run, which signals may end early.
pub(crate) fn run(plan: Plan, live: ProgressMode, outputs: &Outputs) -> Result<Run, Refused> {
    let running = vervet_load::start(plan).map_err(Refused::usage)?;
    let control = running.control();
    let interrupts = interrupts(move || control.stop(), live)?;
    let mut shown = live.begin(running.settings());
    let run = running.finish_with_progress(DRAW_EVERY, |progress| match progress {
        Progress::Interval(interval) => {
            shown.interval(interval);
            // A reader that has gone does not end the run.
            let _ = outputs.interval(interval);
        }
        Progress::Time => shown.time(),
    });
    interrupts.close();
    shown.end();
    Ok(run)
}

/// INT and TERM end the run and have it reported; a second one ends the program.
pub(crate) fn interrupts(
    stop: impl Fn() + Send + 'static,
    live: ProgressMode,
) -> Result<signal_hook::iterator::Handle, Refused> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Refused::usage)?;
    let handle = signals.handle();
    std::thread::spawn(move || {
        let mut ended = false;
        for _ in signals.forever() {
            if std::mem::replace(&mut ended, true) {
                live.leave();
                std::process::exit(Status::Interrupted as i32);
            }
            stop();
        }
    });
    Ok(handle)
}

/// Warns if a public address is loaded without an explicit duration.
fn warn_of_strangers(arguments: &LoadArguments, plan: &Plan) {
    let is_bounded = arguments.load.duration.is_some() || arguments.load.requests.is_some();
    let public = plan
        .outgoing
        .iter()
        .filter_map(vervet_server::engine::reactor::Outgoing::peer_address)
        .find(|address| is_public(address.ip()));
    if let (Some(address), false) = (public, is_bounded) {
        console::message(format_args!(
            "note: {address} is a public address: load it only with permission, and limit the run with -d or -n"
        ));
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !(v4.is_loopback() || v4.is_private() || v4.is_link_local()),
        IpAddr::V6(v6) => {
            let is_local =
                (v6.segments()[0] & 0xfe00) == 0xfc00 || (v6.segments()[0] & 0xffc0) == 0xfe80;
            !(v6.is_loopback() || is_local)
        }
    }
}

fn serve_canned(
    roles: &RoleArguments,
    address: &vervet_server::engine::listener::ListenAddress,
) -> Result<(), Refused> {
    let answer = CannedAnswer {
        status: roles.canned_status,
        content: match (&roles.canned_file, roles.canned_bytes) {
            (Some(file), _) => CannedContent::File(file.clone()),
            (None, Some(bytes)) => CannedContent::Bytes(bytes),
            (None, None) => CannedContent::Default,
        },
        connection: if roles.canned_close {
            CannedConnection::Close
        } else {
            CannedConnection::AsRequested
        },
    };
    let canned = Canned::start(address, &answer).map_err(Refused::usage)?;
    match canned.address() {
        Some(address) => console::message(format_args!("canned responses at http://{address}/")),
        None => console::message(format_args!("canned responses at {address}")),
    }
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Refused::usage)?;
    let handle = canned.handle();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            handle.stop();
        }
    });
    canned.wait();
    Ok(())
}

/// Checks once, before a search, whether the target accepts connections.
pub(crate) fn reach(plan: &Plan) -> Result<(), Refused> {
    let Some(address) =
        plan.outgoing.first().and_then(vervet_server::engine::reactor::Outgoing::peer_address)
    else {
        return Ok(());
    };
    let wait = plan.connect_timeout.max(Duration::from_millis(1));
    TcpStream::connect_timeout(&address, wait)
        .map(drop)
        .map_err(|error| Refused::target(format!("cannot reach {address}: {error}")))
}
