//! The manifests that are shipped: Kubernetes understands every line of them, the configuration
//! that they hold works as a pod mounts it, and what they say fits what the server does.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use vervet_testkit::{Child, RawClient, TempTree, Vervet, free_port, skip};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/kubernetes");

/// Where `scripts/setup` puts it.
const LINTER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/../tools/bin/kubernetes-validate");

fn manifest(name: &str) -> String {
    fs::read_to_string(Path::new(FOLDER).join(name)).unwrap()
}

fn manifests() -> Vec<PathBuf> {
    let folders = [FOLDER.into(), Path::new(FOLDER).join("load")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    let files: Vec<_> = files.into_iter().filter(|path| path.is_file()).collect();
    assert!(files.len() >= 7, "{files:?}");
    files
}

fn lint(files: &[PathBuf]) -> Output {
    let mut command = Command::new(LINTER);
    command.arg("--strict").args(files).output().unwrap()
}

#[test]
fn every_line_is_understood() {
    if !Path::new(LINTER).exists() {
        skip!("needs kubernetes-validate: scripts/setup");
    }
    let tree = TempTree::new();
    let broken = manifest("deployment.yaml").replace("readinessProbe:", "readynessProbe:");
    let output = lint(&[tree.write("broken.yaml", broken)]);
    assert!(!output.status.success(), "a mistake is not found");
    let output = lint(&manifests());
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A file in a `ConfigMap`: the lines after `NAME: |`, which are indented by four spaces.
fn file_of(map: &str, name: &str) -> String {
    let begin = format!("  {name}: |");
    let lines = map.lines().skip_while(|line| **line != begin).skip(1);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with("    "));
    let text: Vec<_> = lines.map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    assert!(!text.is_empty(), "{name} is not there");
    text.join("\n")
}

/// As the kubelet mounts it: the file is in a folder named by a time, and reached over two links.
fn mounted(tree: TempTree, folder: &str, name: &str, text: &str) -> TempTree {
    tree.file(format!("{folder}/..2026_11_21/{name}"), text)
        .symlink(format!("{folder}/..data"), "..2026_11_21")
        .symlink(format!("{folder}/{name}"), format!("..data/{name}"))
}

#[test]
fn the_configuration_works_as_a_pod_mounts_it() {
    let map = manifest("configmap.yaml");
    let tree = mounted(TempTree::new(), "www", "index.html", &file_of(&map, "index.html"));
    let admin = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let www = tree.join("www");
    let text = file_of(&map, "vervet.toml")
        .replace("\":8080\"", "\"127.0.0.1:0\"")
        .replace("\":9180\"", &format!("\"{admin}\""))
        .replace("/srv/www", www.to_str().unwrap());
    let tree = mounted(tree, "etc", "vervet.toml", &text);
    let mut command = Command::new(env!("CARGO_BIN_EXE_vervet"));
    command.arg("run").arg(tree.join("etc/vervet.toml"));
    if rustix::process::geteuid().is_root() {
        command.env("VERVET_USER", "root");
    }
    let server = Vervet::spawn(command);
    let get = |address, path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: 10.0.0.7\r\n\r\n");
        RawClient::connect(address).exchange(request)
    };
    let page = get(server.address, "/");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("Served from a pod."));
    let deployment = manifest("deployment.yaml");
    let asked = values(&deployment, "path:");
    let asked: Vec<_> = asked.iter().filter(|path| path.starts_with("/-/")).collect();
    assert_eq!(asked.len(), 3, "{asked:?}");
    for path in asked {
        assert_eq!(get(admin, path).status, 200, "{path}");
    }
    let scraped = &values(&deployment, "prometheus.io/path:")[0];
    assert_eq!(get(admin, scraped).status, 200, "{scraped}");
}

/// The value of each occurrence of a name.
fn values(manifest: &str, name: &str) -> Vec<String> {
    let lines = manifest.lines().map(str::trim);
    let values = lines.filter_map(|line| line.strip_prefix(name));
    values.map(|value| value.trim().to_owned()).collect()
}

fn number(manifest: &str, name: &str) -> u32 {
    let values = values(manifest, name);
    values[0].parse().unwrap()
}

#[test]
fn the_grace_of_a_pod_is_longer_than_what_happens_in_it() {
    let deployment = manifest("deployment.yaml");
    let grace = number(&deployment, "terminationGracePeriodSeconds:");
    let before = number(&deployment, "seconds:");
    let drain = &values(&manifest("configmap.yaml"), "drain_timeout_ms =")[0];
    let drain: u32 = drain.trim_matches(['"', 's']).parse().unwrap();
    assert!(grace > before + drain, "{grace} s for {before} s and {drain} s");
}

/// What the image is tried with.
#[test]
fn a_pod_has_no_privileges() {
    for name in ["deployment.yaml", "load/job.yaml"] {
        let pods = manifest(name);
        for line in [
            "runAsNonRoot: true",
            "runAsUser: 65532",
            "readOnlyRootFilesystem: true",
            "allowPrivilegeEscalation: false",
            "drop: [ALL]",
        ] {
            let is_there = pods.lines().any(|found| found.trim() == line);
            assert!(is_there, "{name}: {line}");
        }
    }
}

/// The agents of the job, started as its pods start them, make the load of a coordinator.
#[test]
fn the_agents_of_the_job_share_a_load() {
    let program = env!("CARGO_BIN_EXE_vervet");
    let job = manifest("load/job.yaml");
    let arguments: Vec<String> = serde_json::from_str(&values(&job, "args:")[0]).unwrap();
    let port = number(&job, "containerPort:");
    let address = format!("0.0.0.0:{port}");
    assert!(arguments.contains(&address), "{arguments:?}");
    let here = |argument: &String| argument.replace(&address, "127.0.0.1:0");
    let pods = number(&job, "completions:");
    let mut agents: Vec<Child> =
        (0..pods).map(|_| Child::start(program, arguments.iter().map(here))).collect();
    let addresses = agents.iter_mut().map(|agent| {
        let line = agent.wait_for_line(|line| line.contains("agent at "));
        line.rsplit(' ').next().unwrap().to_owned()
    });
    let list: Vec<String> = addresses.collect();
    let mut canned = Child::start(program, ["load", "--canned", "127.0.0.1:0"]);
    let url = format!("http://{}/", canned.wait_for_address());
    let output = Command::new(program)
        .args(["load", &url, "-n", "300", "-c", "3", "--format", "json", "-q"])
        .args(["--agents", &list.join(",")])
        .output()
        .unwrap();
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["agents"], pods);
    assert_eq!(run["achieved"]["done"], 300);
}
