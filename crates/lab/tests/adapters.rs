//! Every adapter whose program is installed starts, answers its workload, and leaves no process
//! running. Those that are not are named.
use std::path::{Path, PathBuf};

use vervet_lab::adapter::{ADAPTERS, Serves};
use vervet_lab::check_text;
use vervet_lab::fairness::examine;
use vervet_lab::plan::{Pace, Plan};
use vervet_lab::runner::Stage;
use vervet_lab::workload::targets;
use vervet_testkit::{PATIENCE, skipped, wait_until};

fn labs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../labs")
}

/// The application that an adapter serves in this test.
fn app(adapter: &str) -> &'static str {
    match adapter {
        "apache-php" | "nginx-phpfpm" => "apps/php",
        "tornado" => "apps/hello_tornado.py",
        _ => "apps/greeting.py",
    }
}

/// A lab of one subject.
fn plan(adapter: &str, serves: Serves, more: &str) -> Plan {
    let what = match serves {
        Serves::Files => "path = '/hello/{file}'\ntree = 'hello'".to_owned(),
        Serves::App => "path = '/?name=World'".to_owned(),
    };
    let app = match serves {
        Serves::Files => String::new(),
        Serves::App => format!("app = '{}'", app(adapter)),
    };
    let text = format!(
        "title = 'one'\nceiling = false\ncores = {{ server = [], generator = [] }}\n\
         [subject.one]\nadapter = '{adapter}'\n{app}\n{more}\n[workload.hello]\n{what}\n\
         expect = {{ text = \"Hello, World\\n\" }}\n[tree.hello]\ncontent = \"Hello, World\\n\"\n\
         [load.some]\nkeep_alive = false\n"
    );
    let checked = check_text(&labs().join("one.toml"), text.as_bytes(), &labs(), Pace::Full);
    let findings = checked.to_text(vervet_config::Style::Plain);
    checked.plan.unwrap_or_else(|| panic!("{findings}"))
}

/// All processes below some, which are gone when this is asked again.
fn tree(pids: &[u32]) -> Vec<u32> {
    let mut tree = pids.to_vec();
    let mut next = 0;
    while next < tree.len() {
        let children = format!("/proc/{0}/task/{0}/children", tree[next]);
        let children = std::fs::read_to_string(children).unwrap_or_default();
        tree.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        next += 1;
    }
    tree
}

fn is_gone(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.is_empty() || status.contains("State:\tZ")
}

/// Starts a subject, looks at what it answers, ends it; says when it is not installed.
fn check(adapter: &str, serves: Serves, more: &str) {
    let plan = plan(adapter, serves, more);
    let stage = Stage::set(&plan, &[]).unwrap();
    if let Err(missing) = &stage.found()[0] {
        return skipped(&format!("{adapter} {more}: {}", missing.0));
    }
    assert!(stage.found()[0].as_ref().unwrap().version.is_some(), "{adapter}");
    let running = stage.start(0, 0, 0, &[]).unwrap_or_else(|error| panic!("{adapter}: {error}"));
    let tree = tree(&running.pids());
    let target = &targets(&plan, &plan.workloads[0])[0];
    let looked = examine(&plan.workloads[0], target, running.address, plan.subjects[0].log);
    let looked =
        looked.unwrap_or_else(|error| panic!("{adapter}: {error}; output: {}", running.said()));
    assert_eq!(looked.wrong, None, "{adapter} {more}");
    running.stop();
    assert!(wait_until(PATIENCE, || tree.iter().all(|pid| is_gone(*pid))), "{adapter}: {tree:?}");
}

/// Checks all adapters that serve this. Ours is left out: its program lies next to that of the test
/// only if somebody has built it.
fn check_all(is_of: impl Fn(&str) -> bool) {
    for adapter in ADAPTERS.iter().filter(|adapter| is_of(adapter.name)) {
        check(adapter.name, adapter.serves, "");
    }
}

const PHP: [&str; 2] = ["apache-php", "nginx-phpfpm"];

fn serves_files(name: &str) -> bool {
    let mut adapters = ADAPTERS.iter();
    name != "vervet"
        && adapters.any(|adapter| adapter.name == name && adapter.serves == Serves::Files)
}

#[test]
fn installed_file_servers_answer_and_leave_nothing() {
    check_all(serves_files);
}

#[test]
fn installed_php_servers_answer_and_leave_nothing() {
    check_all(|name| PHP.contains(&name));
}

#[test]
fn installed_python_servers_answer_and_leave_nothing() {
    check_all(|name| !serves_files(name) && name != "vervet" && !PHP.contains(&name));
}

#[test]
fn installed_python_servers_answer_with_other_settings() {
    for kind in ["gthread", "gevent"] {
        let settings = format!("settings = {{ kind = '{kind}' }}");
        check("gunicorn", Serves::App, &settings);
    }
    let settings = "settings = { interface = 'asgi', callable = 'app' }";
    check("granian", Serves::App, settings);
}

#[test]
fn servers_that_write_a_log_do() {
    check("nginx", Serves::Files, "log = 'access'");
    check("lighttpd", Serves::Files, "log = 'access'");
    check("h2o", Serves::Files, "log = 'access'");
    check("apache", Serves::Files, "log = 'access'");
}
