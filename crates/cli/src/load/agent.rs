//! Load from several machines. An agent takes a plan and gives a run: a line of JSON with what was typed, then the report as JSON.
//! Histograms merge without loss, so three agents come to what one run would have.
//!
//! Whoever reaches an agent may have it load anything and read files it can read: it belongs behind a tunnel or on a private network.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use clap::FromArgMatches as _;
use vervet_load::Share;
use vervet_report::{Run, forms};

use super::arguments::LoadArguments;
use super::live::Live;
use super::outcome::Refused;
use super::outputs::Outputs;
use super::{command, plan};
use crate::arguments::{Arguments, Command};
use crate::talk;

/// The longest plan, in bytes.
const PLAN_BYTES_MAX: u64 = 1 << 20;
/// How long a coordinator may take to say its plan.
const PLAN_WITHIN: Duration = Duration::from_secs(10);
/// The longest report of an agent, in bytes.
const REPORT_BYTES_MAX: u64 = 1 << 30;
/// Most agents of one run.
const AGENTS_MAX: usize = 256;

/// Waits for plans and makes their load, one after another, until the program is ended.
pub(crate) fn serve(address: &str) -> Result<(), Refused> {
    let cannot = |error| Refused::usage(format!("cannot listen at {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    talk::say(format_args!("agent at {bound}"));
    for stream in listener.incoming() {
        match stream {
            Ok(stream) => answer(stream),
            Err(error) => talk::say(format_args!("a coordinator did not get through: {error}")),
        }
    }
    Ok(())
}

/// Takes one plan and gives its run, or says why not.
fn answer(mut stream: TcpStream) {
    // One that connects and says nothing would keep the agent from all others.
    let patience = stream.set_read_timeout(Some(PLAN_WITHIN));
    if let Err(error) = patience {
        talk::say(format_args!("a coordinator did not get through: {error}"));
        return;
    }
    let text = match take(&stream) {
        Ok(run) => forms::json(&run),
        Err(refused) => refused.text(),
    };
    // A coordinator that has gone needs no answer.
    let _ = stream.write_all(text.as_bytes());
}

fn take(stream: &TcpStream) -> Result<Run, Refused> {
    let mut line = String::new();
    let mut reader = BufReader::new(stream.take(PLAN_BYTES_MAX));
    reader.read_line(&mut line).map_err(Refused::usage)?;
    let typed: Vec<String> = serde_json::from_str(&line)
        .map_err(|error| Refused::usage(format!("this is no plan: {error}")))?;
    let matches = crate::arguments::command()
        .try_get_matches_from(typed)
        .map_err(Refused::usage)?;
    let read = Arguments::from_arg_matches(&matches).map_err(Refused::usage)?;
    let Command::Load(arguments) = read.command else {
        return Err(Refused::usage("this is no plan of a load run"));
    };
    talk::say(format_args!(
        "a plan: {}",
        arguments.url.as_deref().unwrap_or("targets")
    ));
    command::run(plan::plan(&arguments)?, Live::Quiet, &Outputs::silent())
}

/// Has the agents make the load that was typed, each its part, and merges what they give.
pub(crate) fn run(agents: &[String], arguments: &LoadArguments) -> Result<Run, Refused> {
    if agents.len() > AGENTS_MAX {
        return Err(Refused::usage(format!("at most {AGENTS_MAX} agents")));
    }
    if arguments.load.part.is_some() {
        return Err(Refused::usage("--part is for agents"));
    }
    let typed: Vec<String> = std::env::args().collect();
    let of = u32::try_from(agents.len()).unwrap_or(u32::MAX);
    let asked: Vec<_> = (0..of)
        .zip(agents)
        .map(|(index, agent)| {
            let mut typed = typed.clone();
            typed.push(format!("--part={}", Share { index, of }));
            let agent = agent.clone();
            thread::spawn(move || ask(&agent, &typed))
        })
        .collect();
    let mut whole: Option<Run> = None;
    for (thread, agent) in asked.into_iter().zip(agents) {
        let part = thread.join();
        let part = part.map_err(|_| Refused::target(format!("agent {agent} was lost")))??;
        whole = Some(match whole {
            None => part,
            Some(whole) => whole.merge(&part).map_err(Refused::target)?,
        });
    }
    whole.ok_or_else(|| Refused::usage("no agent"))
}

/// Gives a plan to an agent and waits for its run.
fn ask(agent: &str, typed: &[String]) -> Result<Run, Refused> {
    let cannot = |error| Refused::target(format!("agent {agent}: {error}"));
    let mut stream = TcpStream::connect(agent).map_err(cannot)?;
    let mut line = serde_json::to_vec(typed).map_err(Refused::usage)?;
    line.push(b'\n');
    stream.write_all(&line).map_err(cannot)?;
    let mut text = String::new();
    let mut limited = stream.take(REPORT_BYTES_MAX);
    limited.read_to_string(&mut text).map_err(cannot)?;
    if !text.starts_with('{') {
        return Err(Refused::target(format!(
            "agent {agent}: {}",
            text.trim_end()
        )));
    }
    let read = forms::from_json(&text);
    read.map_err(|error| Refused::target(format!("agent {agent}: {error}")))
}
