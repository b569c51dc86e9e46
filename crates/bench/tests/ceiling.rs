//! The whole way, from the command line to the result: the ceiling under wrk for a second, and a server in turn with it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "in a test an unwrap is an assertion"
)]

use std::net::TcpListener;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use serde_json::Value;
use vervet_testkit::skip;

/// The first of two ports that nobody listens on, below those that the kernel gives to clients: one of these may be held
/// for a minute after its connection has ended.
fn free_ports(mut among: Range<u16>) -> u16 {
    among
        .find(|port| is_free(*port) && is_free(*port + 1))
        .expect("two free ports")
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}

/// The runs of a quick comparison; none where it cannot be made here.
fn runs(only: &str, subjects: &str, ports: Range<u16>) -> Option<Vec<Value>> {
    let generator = Command::new("wrk").arg("-v").output();
    // `cargo test` of the workspace builds it beside the bench.
    let vervet = Path::new(env!("CARGO_BIN_EXE_vervet-bench")).with_file_name("vervet");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    if generator.is_err() || cores < 2 || !vervet.is_file() {
        return None;
    }
    let port = free_ports(ports);
    let work = fs::canonicalize(env!("CARGO_TARGET_TMPDIR"))
        .expect("the build's folder")
        .join(subjects);
    fs::create_dir_all(&work).expect("a folder to write to");
    let output = Command::new(env!("CARGO_BIN_EXE_vervet-bench"))
        .args(["compare", "--quick", "--only", only, "--subjects", subjects])
        .args(["--port", &port.to_string()])
        .arg("--work")
        .arg(&work)
        .arg("--out")
        .arg(&work)
        .arg("--vervet")
        .arg(&vervet)
        .output()
        .expect("the built program");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = fs::read_to_string(work.join("result.json")).expect("a result");
    let result: Value = serde_json::from_str(&text).expect("JSON");
    for port in [port, port + 1] {
        assert!(is_free(port), "the server on {port} outlived its run");
    }
    result["runs"].as_array().cloned()
}

#[test]
fn measures_the_ceiling() {
    let Some(runs) = runs("tiny64,close64", "canned", 20_000..24_000) else {
        skip!("needs wrk, two cores and vervet (cargo build -p vervet)");
    };
    assert_eq!(runs.len(), 2, "{runs:?}");
    for run in &runs {
        assert!(run["requests"].as_u64() > Some(100), "{run}");
        assert!(
            !run["faults"].to_string().contains("socket errors"),
            "{run}"
        );
    }
}

#[test]
fn measures_a_server_in_turn_with_the_ceiling() {
    let Some(runs) = runs("tiny64", "vervet,canned", 25_000..29_000) else {
        skip!("needs wrk, two cores and vervet (cargo build -p vervet)");
    };
    assert_eq!(runs.len(), 2, "{runs:?}");
    for run in &runs {
        // Two windows of half a second. How much they measured says nothing where other tests have the cores.
        let seconds = run["seconds"].as_f64();
        assert!(seconds > Some(0.8) && seconds < Some(1.6), "{run}");
        assert!(run["requests"].as_u64() > Some(100), "{run}");
    }
    assert_ne!(runs[0]["subject"], runs[1]["subject"]);
}
