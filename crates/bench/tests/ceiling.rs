//! The whole way, from the command line to the result: the ceiling under wrk for a second.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use vervet_testkit::skip;

/// The first of two ports that nobody listens on, below those that the kernel gives to clients: one of these may be held
/// for a minute after its connection has ended.
fn free_ports() -> u16 {
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    (20_000..30_000)
        .find(|port| is_free(*port) && is_free(*port + 1))
        .expect("two free ports")
}

#[test]
fn measures_the_ceiling() {
    let generator = Command::new("wrk").arg("-v").output();
    if generator.is_err() || thread::available_parallelism().map_or(1, usize::from) < 2 {
        skip!("needs wrk and two cores");
    }
    // `cargo test` of the workspace builds it beside the bench.
    let vervet = Path::new(env!("CARGO_BIN_EXE_vervet-bench")).with_file_name("vervet");
    if !vervet.is_file() {
        skip!("needs vervet (cargo build -p vervet)");
    }
    let port = free_ports();
    let work = fs::canonicalize(env!("CARGO_TARGET_TMPDIR"))
        .expect("the build's folder")
        .join("canned");
    fs::create_dir_all(&work).expect("a folder to write to");
    let output = Command::new(env!("CARGO_BIN_EXE_vervet-bench"))
        .args([
            "compare",
            "--quick",
            "--only",
            "tiny64,close64",
            "--subjects",
            "canned",
        ])
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
    let result: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let runs = result["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2, "{text}");
    for run in runs {
        assert!(run["requests"].as_u64() > Some(100), "{text}");
        assert!(
            !run["faults"].to_string().contains("socket errors"),
            "{text}"
        );
    }
    assert!(
        TcpListener::bind(("127.0.0.1", port)).is_ok(),
        "the server outlived its run"
    );
}
