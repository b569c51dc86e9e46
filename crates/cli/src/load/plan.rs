//! From what was typed to a plan: files are read and names looked up here.

use std::sync::Arc;
use std::time::Duration;

use vervet_load::destination::{Family, resolve};
use vervet_load::pacer::{Arrival, Pacer, StagesError};
use vervet_load::request::Peer;
use vervet_load::{Check, Load, Plan};
use vervet_report::Reuse;

use super::arguments::{ArrivalKind, LoadArguments, Switch};
use super::inputs::{input, read_text};
use super::outcome::Refused;

/// Default number of users in closed load.
const CONNECTIONS_CLOSED: u32 = 10;
/// Default maximum number of connections in open load.
const CONNECTIONS_OPEN: u32 = 64;
/// The largest file of stages.
const STAGES_BYTES_MAX: usize = 1 << 20;
/// Default duration of a run.
const DURATION: Duration = Duration::from_secs(10);

/// The plan of a run.
pub(crate) fn plan(arguments: &LoadArguments) -> Result<Plan, Refused> {
    let shape = &arguments.load;
    let connections = &arguments.connections;
    let mut fields = Vec::new();
    if closes(arguments) {
        fields.push(("Connection".to_owned(), "close".to_owned()));
    }
    let input = input(arguments, fields)?;
    let requests = shape.requests.or(input.requests);
    let peer = match &connections.unix {
        Some(path) => Peer::Unix(path.clone()),
        None => input.url.peer.clone(),
    };
    let family = match (connections.ipv4, connections.ipv6) {
        (true, _) => Family::V4,
        (_, true) => Family::V6,
        _ => Family::Any,
    };
    let outgoing = resolve(&peer, family, &connections.source).map_err(Refused::usage)?;
    let duration = match (shape.duration, requests) {
        (None, None) => Some(DURATION),
        (duration, _) => duration,
    };
    let load = load(arguments, duration.unwrap_or(DURATION))?;
    let Some(first) = outgoing.first() else {
        return Err(Refused::usage("the target has no address"));
    };
    let mut plan = Plan::new(input.name, first.clone(), input.scripts);
    plan.outgoing = outgoing;
    plan.checks = vec![check(arguments)];
    plan.connections = shape.connections.unwrap_or(match load {
        Load::Closed if waits_for_time(arguments) => CONNECTIONS_OPEN,
        Load::Closed => CONNECTIONS_CLOSED,
        Load::Open { .. } => CONNECTIONS_OPEN,
    });
    plan.load = load;
    plan.reuse = match (closes(arguments), connections.requests_per_connection) {
        (true, _) => Reuse::Close,
        (false, Some(requests)) => Reuse::Requests { requests },
        (false, None) => Reuse::KeepAlive,
    };
    plan.pipelining = connections.pipeline;
    plan.connect_rate = connections.connect_rate;
    plan.duration = duration;
    plan.requests = requests;
    plan.warm_up = shape.warm_up;
    plan.interval = arguments.output.interval;
    plan.connect_timeout = connections.connect_timeout;
    plan.response_timeout = connections.timeout;
    plan.cores = shape.cores.clone().map_or_else(Vec::new, |cores| cores.0);
    plan.threads = shape.threads.unwrap_or(plan.cores.len().max(1));
    plan.part = shape.part.unwrap_or_default();
    plan.verify().map_err(Refused::usage)?;
    Ok(plan)
}

/// Whether requests wait for their time, although no rate is set: those of a log, and those of the
/// rates that a search tries.
fn waits_for_time(arguments: &LoadArguments) -> bool {
    arguments.inputs.replay.is_some() || arguments.output.find_max.is_some()
}

fn closes(arguments: &LoadArguments) -> bool {
    arguments.connections.close || arguments.connections.keep_alive == Switch::Off
}

fn load(arguments: &LoadArguments, duration: Duration) -> Result<Load, Refused> {
    let shape = &arguments.load;
    let pacer = match (shape.rate, shape.ramp, shape.steps, &shape.stages) {
        (Some(rate), ..) => Pacer::constant(rate),
        (_, Some((from, to)), ..) => Pacer::ramp(from, to, duration),
        (_, _, Some((from, to, by)), _) => {
            let number = ((to - from) / by).floor().max(0.0) + 1.0;
            let each = Duration::try_from_secs_f64(duration.as_secs_f64() / number);
            let each = each.map_err(Refused::usage)?;
            Pacer::steps(from, by, to, each).map_err(Refused::usage)?
        }
        (_, _, _, Some(file)) => {
            let stages = read_text(file, STAGES_BYTES_MAX)?.parse();
            stages.map_err(|error: StagesError| {
                Refused::usage(format!("{}: {error}", file.display()))
            })?
        }
        _ => return Ok(Load::Closed),
    };
    let arrival = match shape.arrival {
        ArrivalKind::Even => Arrival::Even,
        ArrivalKind::Poisson => Arrival::Poisson { seed: shape.seed },
    };
    Ok(Load::Open { pacer: Arc::new(pacer), arrival })
}

fn check(arguments: &LoadArguments) -> Check {
    let asked = &arguments.check;
    Check {
        status: asked.status.clone().unwrap_or_default(),
        length: asked.length,
        sha256: asked.hash,
        text: asked.text.as_ref().map(|text| Arc::from(text.as_bytes())),
    }
}
