//! An agent: waits for plans, and makes their load, one after another.

use std::io::{self, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use clap::FromArgMatches as _;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use vervet_load::{Control, Prepared, Told};

use super::super::outcome::{Refused, Status};
use super::super::plan;
use super::limits::{
    ALIVE_EVERY, BEGIN_WITHIN, LEAD_MAX, PLAN_BYTES_MAX, PLAN_WITHIN, SEND_WITHIN,
};
use super::lines::{Lines, NoLine, Wait};
use super::messages::{News, Order, Ready, line};
use crate::arguments::{Arguments, Command};
use crate::talk;

/// All that a coordinator says during one run, in bytes: a plan, and few words.
const ORDERS_BYTES_MAX: u64 = 2 * PLAN_BYTES_MAX as u64;
/// How long a coordinator that has nothing to say is listened to at once.
const LISTEN_FOR: Duration = Duration::from_hours(1);

/// The run that is under way, for those who may end it.
#[derive(Clone, Default)]
struct UnderWay {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    control: Option<Control>,
    /// Somebody wants the program to end.
    leaves: bool,
}

/// Waits for plans and makes their load, until the program is ended.
pub(crate) fn serve(address: &str) -> Result<(), Refused> {
    let cannot = |error| Refused::usage(format!("cannot listen at {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    let under_way = UnderWay::default();
    obey_signals(under_way.clone())?;
    talk::say(format_args!("agent at {bound}"));
    for stream in listener.incoming() {
        let answered = stream
            .map_err(NoLine::System)
            .and_then(|stream| answer(stream, &under_way));
        if let Err(why) = answered {
            talk::say(format_args!("connection with a coordinator failed: {why}"));
        }
        if under_way.leaves() {
            break;
        }
    }
    Ok(())
}

/// INT and TERM end the run that is under way, whose coordinator gets what there is, and then the
/// program.
fn obey_signals(under_way: UnderWay) -> Result<(), Refused> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Refused::usage)?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if under_way.leave() == Leaving::Now {
                process::exit(Status::Interrupted as i32);
            }
        }
    });
    Ok(())
}

/// How the program ends when it is asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    Now,
    AfterTheRun,
}

impl UnderWay {
    fn is(&self, control: Option<Control>) {
        self.lock().control = control;
    }

    fn leaves(&self) -> bool {
        self.lock().leaves
    }

    /// The second time, or where no run is made, there is nothing to wait for.
    fn leave(&self) -> Leaving {
        let mut state = self.lock();
        let asked_before = std::mem::replace(&mut state.leaves, true);
        match &state.control {
            Some(control) if !asked_before => {
                control.stop();
                Leaving::AfterTheRun
            }
            _ => Leaving::Now,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes one plan, begins when it is told, and gives the run.
fn answer(mut stream: TcpStream, under_way: &UnderWay) -> Result<(), NoLine> {
    be_patient(&stream).map_err(NoLine::System)?;
    let reading = stream.try_clone().map_err(NoLine::System)?;
    let mut orders = Lines::new(reading, PLAN_BYTES_MAX, ORDERS_BYTES_MAX);
    let plan = orders.next(Wait::whole(PLAN_WITHIN))?;
    let prepared = match prepare(&plan) {
        Ok(prepared) => prepared,
        Err(refused) => {
            let why = refused.lines().to_vec();
            return send(&mut stream, &News::Refused(why));
        }
    };
    let ready = Ready {
        tool: vervet_load::TOOL.to_owned(),
        asked: prepared.asked(),
    };
    send(&mut stream, &News::Ready(Box::new(ready)))?;
    let begin = orders.next(Wait::whole(BEGIN_WITHIN))?;
    let lead = match serde_json::from_slice(&begin) {
        Ok(Order::Begin { within_us }) => Duration::from_micros(within_us).min(LEAD_MAX),
        _ => return Err(NoLine::Ended),
    };
    make(prepared, lead, stream, orders, under_way)
}

/// Nobody on the other side holds the agent: neither one that takes nothing nor one whose machine
/// has gone.
fn be_patient(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(SEND_WITHIN))?;
    let unheard_ms = u32::try_from(SEND_WITHIN.as_millis()).unwrap_or(u32::MAX);
    rustix::net::sockopt::set_tcp_user_timeout(stream, unheard_ms)?;
    Ok(())
}

fn prepare(plan: &[u8]) -> Result<Prepared, Refused> {
    let no_plan = |error: &dyn std::fmt::Display| {
        Refused::usage(format!("invalid plan of a load run: {error}"))
    };
    let order = serde_json::from_slice(plan).map_err(|error| no_plan(&error))?;
    let Order::Plan(arguments) = order else {
        return Err(no_plan(&"the plan comes first"));
    };
    let matches = crate::arguments::command()
        .try_get_matches_from(arguments)
        .map_err(Refused::usage)?;
    let read = Arguments::from_arg_matches(&matches).map_err(Refused::usage)?;
    let Command::Load(arguments) = read.command else {
        return Err(no_plan(&"another command"));
    };
    talk::say(format_args!(
        "a plan: {}",
        arguments.url.as_deref().unwrap_or("targets")
    ));
    vervet_load::prepare(plan::plan(&arguments)?).map_err(Refused::usage)
}

/// Makes the run, and tells how it goes and what it came to. Where nobody listens any more, it
/// ends.
fn make(
    prepared: Prepared,
    lead: Duration,
    mut stream: TcpStream,
    orders: Lines,
    under_way: &UnderWay,
) -> Result<(), NoLine> {
    let running = prepared.begin_within(lead);
    let control = running.control();
    under_way.is(Some(control.clone()));
    let left = listen(orders, control.clone());
    let mut sent = Ok(());
    let mut run = running.finish_telling(ALIVE_EVERY, |told| {
        if sent.is_err() {
            return;
        }
        sent = match told {
            Told::Interval(interval) => {
                send(&mut stream, &News::Interval(Box::new(interval.clone())))
            }
            Told::Time => send(&mut stream, &News::Alive),
        };
        if sent.is_err() {
            control.stop();
        }
    });
    under_way.is(None);
    sent?;
    run.intervals.clear();
    send(&mut stream, &News::Run(Box::new(run)))?;
    // What is still on its way would be lost if we went first.
    let _ = stream.shutdown(Shutdown::Write);
    let _ = left.recv_timeout(SEND_WITHIN);
    let _ = stream.shutdown(Shutdown::Both);
    Ok(())
}

/// Ends the run when the coordinator says so, or has gone. What is returned closes when it has
/// gone.
fn listen(mut orders: Lines, control: Control) -> Receiver<()> {
    let (left_to, left) = mpsc::channel();
    thread::spawn(move || {
        let _left_to = left_to;
        loop {
            match orders.next(Wait::whole(LISTEN_FOR)) {
                Ok(order) => match serde_json::from_slice(&order) {
                    Ok(Order::Stop) => control.stop(),
                    _ => break,
                },
                Err(NoLine::Silent(_)) => {}
                Err(_) => break,
            }
        }
        control.stop();
    });
    left
}

fn send(stream: &mut TcpStream, news: &News) -> Result<(), NoLine> {
    stream.write_all(&line(news)).map_err(NoLine::System)
}
