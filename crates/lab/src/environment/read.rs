//! What is read of the machine, in the order in which it is shown.

use rustix::process::{Resource, getrlimit};
use rustix::system::uname;

use super::{cgroup, processor, sysctl};
use crate::plan::Plan;
use crate::record::{Environment, Weight};
use crate::subject::cores_here;

/// Reads it. `program` is this program with its version and commit.
pub fn read(plan: &Plan, program: &str) -> Environment {
    let mut environment = Environment::default();
    processor::add(&mut environment);
    kernel(&mut environment, plan);
    sysctl::add(&mut environment);
    limits(&mut environment);
    cgroup::add(&mut environment);
    let cores = |cores: &[u32]| match cores {
        [] => "all".to_owned(),
        cores => list(cores),
    };
    let decides = Weight::Decides;
    environment.add("lab", "cores of this process", list(&cores_here()), decides);
    environment.add(
        "lab",
        "cores of the server",
        cores(&plan.server_cores),
        decides,
    );
    environment.add(
        "lab",
        "cores of the generator",
        cores(&plan.generator_cores),
        decides,
    );
    environment.add("lab", "program", program, decides);
    environment.add("lab", SIGNATURE, plan.signature(), Weight::Informs);
    environment
}

/// The fact by which a lab that goes on knows that it is the same one.
pub(crate) const SIGNATURE: &str = "plan";

fn kernel(environment: &mut Environment, plan: &Plan) {
    let name = uname();
    let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    environment.add("kernel", "release", text(name.release()), Weight::Decides);
    environment.add("kernel", "version", text(name.version()), Weight::Informs);
    environment.add("kernel", "machine", text(name.machine()), Weight::Decides);
    if plan.names_host {
        environment.add(
            "kernel",
            "host name",
            text(name.nodename()),
            Weight::Informs,
        );
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(3).collect();
    environment.add(
        "kernel",
        "load before the lab",
        load.join(" "),
        Weight::Informs,
    );
}

fn limits(environment: &mut Environment) {
    for (name, resource) in [
        ("open files", Resource::Nofile),
        ("processes", Resource::Nproc),
        ("locked memory", Resource::Memlock),
    ] {
        let limit = getrlimit(resource);
        let text =
            |value: Option<u64>| value.map_or("unlimited".to_owned(), |value| value.to_string());
        let value = format!("{} (at most {})", text(limit.current), text(limit.maximum));
        environment.add("limits", name, value, Weight::Decides);
    }
}

fn list(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    texts.join(", ")
}
