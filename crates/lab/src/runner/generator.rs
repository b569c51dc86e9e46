//! Load by the generator of this repository, in this process, on cores of its own.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use vervet_load::destination::{Family, resolve};
use vervet_load::pacer::{Arrival, Pacer};
use vervet_load::request::Peer;
use vervet_load::script::{ContentOfAnswer, Request, Script, Scripts, Step, Turn};
use vervet_load::{Check, Control, Load, Plan, StatusSet};
use vervet_report::{Reuse, Run};

use crate::plan::{PlannedLoad, PlannedWorkload};
use crate::record::LoadShape;
use crate::workload;

/// Interval of checks for an interrupt.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Points of the series of one step, about.
const INTERVALS: u32 = 20;
/// The shortest piece of the series.
const INTERVAL_MIN: Duration = Duration::from_millis(50);

/// The generator of this repository.
#[derive(Clone, Copy, Debug, Default)]
pub struct Generator;

impl Measurer for Generator {
    fn measure(&mut self, order: &Order<'_>) -> Result<Run, MeasureError> {
        let plan = plan_of(order)?;
        let fail = |error: vervet_load::StartError| MeasureError(error.to_string());
        let running = vervet_load::start(plan).map_err(fail)?;
        let control = running.control();
        let (done, is_done) = mpsc::channel::<()>();
        Ok(std::thread::scope(|scope| {
            scope.spawn(move || stop_when(order.interrupted, &control, &is_done));
            let run = running.finish(|_| {});
            drop(done);
            run
        }))
    }
}

/// Stops a run on interrupt.
fn stop_when(interrupted: &AtomicBool, control: &Control, is_done: &mpsc::Receiver<()>) {
    while is_done.recv_timeout(LOOK_EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
        if interrupted.load(Ordering::Relaxed) {
            control.stop();
        }
    }
}

/// A step as the generator has it.
fn plan_of(order: &Order<'_>) -> Result<Plan, MeasureError> {
    let fail = |text: String| MeasureError(text);
    let peer = Peer::Tcp { host: order.address.ip().to_string(), port: order.address.port() };
    let outgoing = resolve(&peer, Family::Any, &[]).map_err(|error| fail(error.to_string()))?;
    let first = outgoing.first().cloned().ok_or_else(|| fail("there is no address".to_owned()))?;
    let load = order.load;
    let mut plan = Plan::new(&order.workload.name, first, Arc::new(Drawn::new(order)));
    plan.checks = vec![check(order)];
    plan.connections = load.connections;
    plan.pipelining = load.pipelining;
    plan.reuse = load.reuse;
    if let LoadShape::Open { rate } = load.shape {
        // Visitors do not know of each other: the seed makes the same chance each time.
        let arrival = Arrival::Poisson { seed: order.seed };
        plan.load = Load::Open { pacer: Arc::new(Pacer::constant(rate)), arrival };
    }
    plan.duration = Some(load.duration);
    plan.warm_up = load.warm_up;
    plan.interval = (load.duration / INTERVALS).max(INTERVAL_MIN);
    plan.response_timeout = load.timeout;
    plan.connect_timeout = load.timeout;
    plan.cores = order.cores.iter().filter_map(|core| usize::try_from(*core).ok()).collect();
    plan.threads = order.cores.len().max(1);
    Ok(plan)
}

/// The checks of each response.
fn check(order: &Order<'_>) -> Check {
    let expected = &order.workload.expected;
    Check {
        status: StatusSet::parse(&expected.status.to_string()).unwrap_or_default(),
        length: expected.length,
        sha256: expected.sha256.as_deref().and_then(hash),
        text: expected.contains.as_ref().map(|text| Arc::from(text.as_bytes())),
    }
}

/// The bytes of 64 hexadecimal digits.
fn hash(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// One of some requests, drawn each time.
#[derive(Debug)]
struct Drawn {
    requests: Arc<[Vec<u8>]>,
    request: Request,
    seed: u64,
    steps: [String; 1],
}

impl Drawn {
    fn new(order: &Order<'_>) -> Self {
        let closing: &[&str] = match order.load.reuse {
            Reuse::Close => &["Connection: close"],
            Reuse::KeepAlive | Reuse::Requests { .. } => &[],
        };
        let request =
            |target: &String| workload::request(order.workload, target, order.address, closing);
        let content = if order.workload.request.method == "HEAD" {
            ContentOfAnswer::Never
        } else {
            ContentOfAnswer::AsFramed
        };
        Self {
            requests: order.targets.iter().map(request).collect(),
            request: Request { check: 0, step: 0, content, due: None },
            seed: order.seed,
            steps: [order.workload.name.clone()],
        }
    }
}

impl Scripts for Drawn {
    fn user(&self, number: u32) -> Box<dyn Script> {
        Box::new(User {
            requests: Arc::clone(&self.requests),
            request: self.request,
            random: fastrand::Rng::with_seed(self.seed ^ (u64::from(number) << 32)),
        })
    }

    fn steps(&self) -> &[String] {
        &self.steps
    }
}

struct User {
    requests: Arc<[Vec<u8>]>,
    request: Request,
    random: fastrand::Rng,
}

impl Script for User {
    fn next(&mut self, _turn: &Turn<'_>, out: &mut Vec<u8>) -> Step {
        let index = match self.requests.len() {
            1 => 0,
            count => self.random.usize(..count),
        };
        out.extend_from_slice(&self.requests[index]);
        Step::Send(self.request)
    }
}

/// Makes the load of one step after another.
pub trait Measurer {
    /// Generates a load until its end and returns the run. A failing target is not an error but
    /// part of the run.
    fn measure(&mut self, order: &Order<'_>) -> Result<Run, MeasureError>;
}

/// The load of one step.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// Address of the subject.
    pub address: SocketAddr,
    /// Request and expected response.
    pub workload: &'a PlannedWorkload,
    /// The request targets, of which one is drawn for each request.
    pub targets: &'a [String],
    /// How much, and for how long.
    pub load: &'a PlannedLoad,
    /// The cores of the generator; none: all.
    pub cores: &'a [u32],
    /// What targets are drawn from.
    pub seed: u64,
    /// Set when the step is interrupted.
    pub interrupted: &'a AtomicBool,
}

/// Why a load could not be applied: the fault of the generator or of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasureError(pub String);

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
