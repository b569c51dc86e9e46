//! Lab files: wrong ones, each with the exact text of its findings in `tests/wrong`, and what right
//! ones come to. `VERVET_REGENERATE=1` writes the findings.
use std::path::Path;
use std::time::Duration;

use vervet_config::Style;
use vervet_lab::document::Lab;
use vervet_lab::plan::{CEILING, Pace, Plan};
use vervet_lab::record::LoadShape;
use vervet_lab::{Checked, check_text};
use vervet_testkit::check_corpus;

/// The fewest files, so that none is lost unnoticed.
const FILES_MIN: usize = 30;

#[test]
fn findings_are_exact() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong");
    let count = check_corpus(&folder, "toml", |file| {
        let bytes = std::fs::read(file).unwrap();
        let name = Path::new(file.file_name().unwrap());
        let checked = check_text(name, &bytes, Path::new("."), Pace::Full);
        assert!(!checked.diagnostics.is_empty(), "{} is taken", file.display());
        checked.to_text(Style::Plain)
    });
    assert!(count >= FILES_MIN, "{count}");
}

#[test]
fn declarations_have_no_faults() {
    assert_eq!(vervet_config::faults::<Lab>(), [""; 0]);
}

const SMALL: &str = "
title = 'small'
repeats = 3
seed = 7
[subject.one]
adapter = 'vervet'
[subject.two]
command = ['two']
[subject.three]
address = '127.0.0.1:8080'
workloads = ['file']
[tree.big]
size = '200KB'
files = 5000
[workload.file]
path = '/big/{file}'
tree = 'big'
loads = ['closed']
[workload.page]
path = '/page'
subjects = ['two', 'one']
expect = { text = 'abc' }
loads = ['open']
[load.closed]
connections = ['10..40+10', 1]
duration = '4s'
[load.open]
rate = ['1k', '5k']
keep_alive = false
[quick]
duration = '100ms'
steps = 2
files = 100
";

fn plan(text: &str, pace: Pace) -> Plan {
    let Checked { plan, diagnostics, sources } =
        check_text(Path::new("small.toml"), text.as_bytes(), Path::new("/x"), pace);
    plan.unwrap_or_else(|| {
        panic!("{}", vervet_config::render_text(&diagnostics, &sources, Style::Plain))
    })
}

/// Each step in order: repeat, workload, load and subject.
fn steps(plan: &Plan) -> Vec<(u32, String, LoadShape, String)> {
    let of = |step| {
        (plan.workload(step).name.clone(), plan.load(step).shape, plan.subject(step).name.clone())
    };
    let steps = plan.steps.iter().map(|step| {
        let (workload, shape, subject) = of(step);
        (step.repeat, workload, shape, subject)
    });
    steps.collect()
}

#[test]
fn every_step_is_there_once_and_repeats_come_one_after_another() {
    let plan = plan(SMALL, Pace::Full);
    let steps = steps(&plan);
    // Of a repeat: five closed values by three subjects and the ceiling, two rates by two and the
    // ceiling.
    assert_eq!(steps.len(), 3 * (5 * 4 + 2 * 3));
    for (index, step) in steps.iter().enumerate() {
        assert!(!steps[..index].contains(step), "{step:?}");
    }
    assert!(steps.is_sorted_by_key(|step| step.0));
    assert!(plan.steps.iter().enumerate().all(|(index, step)| step.order as usize == index));
}

#[test]
fn subjects_change_their_places_within_a_step() {
    let mut plan = plan(SMALL, Pace::Full);
    let firsts = |plan: &Plan| -> Vec<String> {
        let rows = steps(plan);
        let rows = rows.chunks(4).take(5).map(|four| four[0].3.clone());
        rows.collect()
    };
    let first = firsts(&plan);
    assert!(first.iter().any(|name| *name != first[0]), "{first:?}");
    // Each step has all its subjects before the next begins.
    for four in steps(&plan).chunks(4).take(5) {
        assert!(four.iter().all(|step| step.2 == four[0].2), "{four:?}");
    }
    plan.keep_only(&["two".to_owned()]).unwrap();
    assert!(steps(&plan).iter().all(|step| step.3 == "two" || step.3 == CEILING));
    assert_eq!(plan.keep_only(&["four".to_owned()]), Err("four".to_owned()));
}

#[test]
fn the_same_seed_gives_the_same_order_and_another_one_another() {
    let one = steps(&plan(SMALL, Pace::Full));
    assert_eq!(one, steps(&plan(SMALL, Pace::Full)));
    let other = SMALL.replace("seed = 7", "seed = 8");
    assert_ne!(one, steps(&plan(&other, Pace::Full)));
}

#[test]
fn quick_shortens_everything() {
    let plan = plan(SMALL, Pace::Quick);
    assert_eq!((plan.repeats, plan.trees[0].files), (2, 100));
    let loads = &plan.workloads[0].loads;
    let shapes: Vec<_> = loads.iter().map(|load| load.shape).collect();
    let closed = |concurrency| LoadShape::Closed { concurrency };
    assert_eq!(shapes, [closed(1), closed(40)]);
    assert!(loads.iter().all(|load| load.duration == Duration::from_millis(100)));
    assert!(plan.estimate() < Duration::from_secs(30));
}

#[test]
fn what_must_come_back_follows_from_texts_and_trees() {
    let plan = plan(SMALL, Pace::Full);
    let [file, page] = [&plan.workloads[0].expected, &plan.workloads[1].expected];
    assert_eq!((file.length, file.sha256.as_deref()), (Some(200_000), None));
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!((page.length, page.sha256.as_deref()), (Some(3), Some(hash)));
    assert_eq!(plan.workloads[1].loads[0].connections, 1000);
}

#[test]
fn the_definition_of_apdex_names_the_t_of_a_workload_that_names_none() {
    let t = plan(SMALL, Pace::Full).workloads[0].apdex;
    let definition = format!("T is set by the workload, {} ms by default", t.as_millis());
    assert!(include_str!("data/report.md").contains(&definition));
}
