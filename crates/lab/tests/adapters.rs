//! Every adapter whose program is installed starts, answers its workload, and leaves no process behind. Those that are not
//! are named.
use std::path::{Path, PathBuf};

use vervet_lab::adapter::{ADAPTERS, Serves};
use vervet_lab::check_text;
use vervet_lab::fairness::look;
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
    let checked = check_text(
        &labs().join("one.toml"),
        text.as_bytes(),
        &labs(),
        Pace::Full,
    );
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
        tree.extend(
            children
                .split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
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
    assert!(
        stage.found()[0].as_ref().unwrap().version.is_some(),
        "{adapter}"
    );
    let running = stage
        .start(0, 0, 0, &[])
        .unwrap_or_else(|error| panic!("{adapter}: {error}"));
    let tree = tree(&running.pids());
    let target = &targets(&plan, &plan.workloads[0])[0];
    let looked = look(
        &plan.workloads[0],
        target,
        running.address,
        plan.subjects[0].log,
    );
    let looked =
        looked.unwrap_or_else(|error| panic!("{adapter}: {error}; it said: {}", running.said()));
    assert_eq!(looked.wrong, None, "{adapter} {more}");
    running.stop();
    assert!(
        wait_until(PATIENCE, || tree.iter().all(|pid| is_gone(*pid))),
        "{adapter}: {tree:?}"
    );
}

#[test]
fn installed_servers_answer_and_leave_nothing() {
    // Ours is found where it lies beside the test, and only when somebody has built it.
    let others = ADAPTERS.iter().filter(|adapter| adapter.name != "vervet");
    for adapter in others {
        check(adapter.name, adapter.serves, "");
    }
    for kind in ["gthread", "gevent"] {
        check(
            "gunicorn",
            Serves::App,
            &format!("settings = {{ kind = '{kind}' }}"),
        );
    }
    check(
        "granian",
        Serves::App,
        "settings = { interface = 'asgi', callable = 'app' }",
    );
}

#[test]
fn servers_that_write_a_log_do() {
    check("nginx", Serves::Files, "log = 'access'");
    check("lighttpd", Serves::Files, "log = 'access'");
    check("h2o", Serves::Files, "log = 'access'");
    check("apache", Serves::Files, "log = 'access'");
}
