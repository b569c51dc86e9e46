//! An agent: accepts the plans of coordinators and runs them, one after another.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use clap::FromArgMatches as _;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use vervet_load::{Control, Prepared, Progress};

use super::super::outcome::{Refused, Status};
use super::super::plan;
use super::coordinator::LEAD_MAX;
use super::messages::{AgentMessage, CoordinatorMessage, LineError, LineReader, Ready, Wait, send};
use super::messages::{PLAN_BYTES_MAX, SEND_TIMEOUT};
use crate::arguments::{Arguments, Command};
use crate::console;

/// How long a connected coordinator may take to send its plan.
const PLAN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an agent that is ready waits for the start: until all others are ready or have failed.
pub(super) const BEGIN_TIMEOUT: Duration = Duration::from_mins(1);
/// How often an agent shows that it is alive, if it has nothing else to send.
pub(super) const ALIVE_EVERY: Duration = Duration::from_millis(500);
/// How long one wait for a message of the coordinator during the run takes; then it is repeated.
const LISTEN_FOR: Duration = Duration::from_hours(1);

/// Accepts plans and runs them until the program is ended.
pub(crate) fn serve(address: &str) -> Result<(), Refused> {
    let cannot = |error| Refused::usage(format!("cannot listen at {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    // While it is set, a signal ends the program at once. During a run it is not, and the first
    // signal sets it, which ends the run and then the program.
    let exits = Arc::new(AtomicBool::new(true));
    for signal in [SIGINT, SIGTERM] {
        let status = Status::Interrupted as i32;
        flag::register_conditional_shutdown(signal, status, Arc::clone(&exits))
            .and_then(|_| flag::register(signal, Arc::clone(&exits)))
            .map_err(Refused::usage)?;
    }
    console::message(format_args!("agent at {bound}"));
    for stream in listener.incoming() {
        let served = match stream {
            Ok(stream) => serve_coordinator(&stream, &exits),
            Err(error) => Err(LineError::System(error)),
        };
        match served {
            Ok(After::Next) => {}
            Ok(After::Exit) => break,
            Err(why) => {
                console::message(format_args!("connection with a coordinator failed: {why}"));
            }
        }
    }
    Ok(())
}

/// What an agent does after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    Next,
    Exit,
}

/// Accepts one plan, runs it and sends the results.
fn serve_coordinator(stream: &TcpStream, exits: &AtomicBool) -> Result<After, LineError> {
    limit_sending(stream).map_err(LineError::System)?;
    let reading = stream.try_clone().map_err(LineError::System)?;
    let mut orders = LineReader::new(reading, PLAN_BYTES_MAX, 2 * PLAN_BYTES_MAX as u64);
    let plan = orders.next(Wait::line(PLAN_TIMEOUT))?;
    let prepared = match prepare(&plan) {
        Ok(prepared) => prepared,
        Err(refused) => {
            send(stream, &AgentMessage::Refused(refused.lines().to_vec()))?;
            return Ok(After::Next);
        }
    };
    let ready = Ready { tool: vervet_load::TOOL.to_owned(), asked: prepared.settings() };
    send(stream, &AgentMessage::Ready(Box::new(ready)))?;
    let begin = orders.next(Wait::line(BEGIN_TIMEOUT))?;
    let lead = match serde_json::from_slice(&begin) {
        Ok(CoordinatorMessage::Begin { within_us }) => Duration::from_micros(within_us),
        _ => return Err(LineError::Closed),
    };
    exits.store(false, Ordering::Relaxed);
    let running = prepared.begin_within(lead.min(LEAD_MAX));
    let control = running.control();
    let closed = listen(orders, control.clone());
    let mut sent = Ok(());
    let mut run = running.finish_with_progress(ALIVE_EVERY, |progress| {
        if sent.is_ok() {
            let message = match progress {
                Progress::Interval(interval) => AgentMessage::Interval(Box::new(interval.clone())),
                Progress::Time => AgentMessage::Alive,
            };
            sent = send(stream, &message);
        }
        if sent.is_err() || exits.load(Ordering::Relaxed) {
            control.stop();
        }
    });
    let after = if exits.swap(true, Ordering::Relaxed) { After::Exit } else { After::Next };
    run.intervals.clear();
    if let Err(why) = sent.and_then(|()| send(stream, &AgentMessage::Run(Box::new(run)))) {
        console::message(format_args!("cannot send the results of a run: {why}"));
        return Ok(after);
    }
    // The coordinator closes first: bytes that it has not received yet would be lost otherwise.
    let _ = stream.shutdown(Shutdown::Write);
    let _ = closed.recv_timeout(SEND_TIMEOUT);
    let _ = stream.shutdown(Shutdown::Both);
    Ok(after)
}

/// Limits how long a coordinator that receives nothing, or whose machine is gone, holds the agent.
fn limit_sending(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(SEND_TIMEOUT))?;
    let timeout_ms = u32::try_from(SEND_TIMEOUT.as_millis()).unwrap_or(u32::MAX);
    rustix::net::sockopt::set_tcp_user_timeout(stream, timeout_ms)?;
    Ok(())
}

fn prepare(plan: &[u8]) -> Result<Prepared, Refused> {
    let invalid = |error: &dyn std::fmt::Display| {
        Refused::usage(format!("invalid plan of a load run: {error}"))
    };
    let message = serde_json::from_slice(plan).map_err(|error| invalid(&error))?;
    let CoordinatorMessage::Plan(arguments) = message else {
        return Err(invalid(&"expected a plan as the first message"));
    };
    let matches =
        crate::arguments::command().try_get_matches_from(arguments).map_err(Refused::usage)?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(Refused::usage)?;
    let Command::Load(arguments) = arguments.command else {
        return Err(invalid(&"expected the command load"));
    };
    let target = arguments.url.as_deref().unwrap_or("targets");
    console::message(format_args!("a plan: {target}"));
    vervet_load::prepare(plan::plan(&arguments)?).map_err(Refused::usage)
}

/// Stops the run when the coordinator orders it or has disconnected. The receiver closes when the
/// coordinator has disconnected.
fn listen(mut orders: LineReader, control: Control) -> Receiver<()> {
    let (open, closed) = mpsc::channel();
    thread::spawn(move || {
        let _open = open;
        loop {
            match orders.next(Wait::line(LISTEN_FOR)) {
                Ok(order) => match serde_json::from_slice(&order) {
                    Ok(CoordinatorMessage::Stop) => control.stop(),
                    _ => break,
                },
                Err(LineError::Silent(_)) => {}
                Err(_) => break,
            }
        }
        control.stop();
    });
    closed
}
