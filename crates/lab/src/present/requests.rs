//! Requests and their responses by load: the tables of tests, pages and requests,
//! and the slowest.

use vervet_report::forms::Table;
use vervet_report::units;

use super::page::{Block, Section};
use crate::statistics::{
    Analysis, Apdex, Curve, Figure, Figures, Panel, Point, ScenarioStep, Unit,
};

/// How many of the slowest requests are shown for each subject.
const SLOWEST_SHOWN: usize = 5;

const TIMES: [Figure; 7] = [
    Figure::ResponseMin,
    Figure::ResponseMean,
    Figure::ResponseMax,
    Figure::ResponseP10,
    Figure::ResponseP50,
    Figure::ResponseP90,
    Figure::ResponseP95,
];

/// The section of tests and pages: a row for each subject and load.
pub(super) fn pages_section(analysis: &Analysis) -> Section {
    let mut section = Section::new("Tests and pages");
    section.text(
        "A test is one run of a user through the workload, a page the requests of one run. Medians over the repeats.",
    );
    for panel in &analysis.panels {
        section.blocks.push(Block::Heading(panel.title()));
        section.blocks.push(Block::Folded(tests(panel)));
        section.blocks.push(Block::Folded(pages(panel)));
    }
    section
}

fn tests(panel: &Panel) -> Table {
    let columns = ["subject", "load", "#tests per second", "#total", "#success", "#error"];
    let mut table = Table::new("Tests", &columns);
    for (curve, point) in each_point(panel) {
        let shown = point.shown();
        let success: u64 = shown.iter().map(|figures| passes(figures)).sum();
        let failed: u64 = shown.iter().map(|figures| figures.errors.total()).sum();
        let per_pass = |figures: &Figures| figures.parts.len().max(1);
        let rate = point.median(Figure::Goodput).zip(shown.first());
        let rate = rate
            .map(|(rate, figures)| rate / f64::from(u32::try_from(per_pass(figures)).unwrap_or(1)));
        table.row([
            curve.subject.clone(),
            point.load.shape.to_string(),
            rate.map_or("–".to_owned(), |rate| Unit::PerSecond.text(rate)),
            units::count(success.saturating_add(failed)),
            units::count(success),
            point.text(Figure::ErrorShare),
        ]);
    }
    table
}

/// Complete runs of the workload: successful responses of the last step, or all if there is a
/// single request.
fn passes(figures: &Figures) -> u64 {
    figures.parts.last().map_or(figures.done, |part| part.done)
}

fn pages(panel: &Panel) -> Table {
    let mut table = Table::new(
        "Pages",
        &[
            "subject",
            "load",
            "#Apdex",
            "rating",
            "#pages per second",
            "#maximum per second",
            "#total",
            "#success",
            "#error",
        ],
    );
    for figure in TIMES {
        table.numbers(figure.label().trim_start_matches("response time, "));
    }
    for (curve, point) in each_point(panel) {
        let shown = point.shown();
        let apdex = point.median(Figure::Apdex).map(Apdex::new);
        let done: u64 = shown.iter().map(|figures| figures.done).sum();
        let failed: u64 = shown.iter().map(|figures| figures.errors.total()).sum();
        let moments = shown.iter().flat_map(|figures| &figures.series);
        let most = moments.map(|moment| moment.rate).reduce(f64::max);
        let mut row = vec![
            curve.subject.clone(),
            point.load.shape.to_string(),
            apdex.map_or("–".to_owned(), |apdex| format!("{:.2}", apdex.score())),
            apdex.map_or("–".to_owned(), |apdex| apdex.rating().to_string()),
            point.text(Figure::Goodput),
            most.map_or("–".to_owned(), |most| Unit::PerSecond.text(most)),
            units::count(done.saturating_add(failed)),
            units::count(done),
            point.text(Figure::ErrorShare),
        ];
        row.extend(TIMES.map(|figure| point.text(figure)));
        table.row(row);
    }
    table
}

/// The section of requests: the steps of scenarios, and the slowest requests of each subject at its
/// best step.
pub(super) fn requests_section(analysis: &Analysis) -> Section {
    let mut section = Section::new("Requests");
    for panel in &analysis.panels {
        let parts = parts(panel);
        let (by_mean, slowest) = (slowest_parts(panel), slowest(panel));
        if parts.is_empty() && slowest.is_empty() {
            continue;
        }
        section.blocks.push(Block::Heading(panel.title()));
        if !parts.is_empty() {
            section.blocks.push(Block::Folded(parts));
        }
        section.table(by_mean);
        section.table(slowest);
    }
    if section.blocks.is_empty() {
        section.text("No workload has several requests, and no run recorded its slowest ones.");
    }
    section
}

const PART_COLUMNS: [&str; 13] = [
    "subject",
    "load",
    "request",
    "#Apdex",
    "rating",
    "#total",
    "#error",
    "#shortest",
    "#mean",
    "#longest",
    "#median",
    "#p90",
    "#p95",
];

fn parts(panel: &Panel) -> Table {
    let mut table =
        Table::new("Requests of the workload, in the first valid repeat", &PART_COLUMNS);
    for (curve, point) in each_point(panel) {
        let shown = point.shown();
        for part in shown.first().into_iter().flat_map(|figures| &figures.parts) {
            table.row(part_row(curve, point, part));
        }
    }
    table
}

/// The five slowest requests of each subject by mean time, at its best step.
fn slowest_parts(panel: &Panel) -> Table {
    let mut table = Table::new("Slowest requests by mean time, at the best step", &PART_COLUMNS);
    for curve in panel.contestants() {
        let Some(point) = best_point(curve) else {
            continue;
        };
        let shown = point.shown();
        let mut parts: Vec<&ScenarioStep> =
            shown.first().into_iter().flat_map(|figures| &figures.parts).collect();
        let mean = |part: &ScenarioStep| part.response.map_or(0.0, |times| times.mean_ms);
        parts.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        for part in parts.into_iter().take(SLOWEST_SHOWN) {
            table.row(part_row(curve, point, part));
        }
    }
    table
}

fn part_row(curve: &Curve, point: &Point, part: &ScenarioStep) -> Vec<String> {
    let all = part.done.saturating_add(part.failed);
    let share = crate::statistics::share(part.failed, all);
    let mut row = vec![
        curve.subject.clone(),
        point.load.shape.to_string(),
        part.name.clone(),
        part.apdex.map_or("–".to_owned(), |apdex| format!("{:.2}", apdex.score())),
        part.apdex.map_or("–".to_owned(), |apdex| apdex.rating().to_string()),
        units::count(all),
        Unit::Share.text(share),
    ];
    let times = part.response.map(|times| {
        [times.min_ms, times.mean_ms, times.max_ms, times.p50_ms, times.p90_ms, times.p95_ms]
    });
    let cells = times.map(|times| times.map(|time| Unit::Milliseconds.text(time)));
    row.extend(cells.unwrap_or_else(|| std::array::from_fn(|_| "–".to_owned())));
    row
}

/// The slowest single requests of each subject, at its best step.
fn slowest(panel: &Panel) -> Table {
    let columns =
        ["subject", "load", "#response time", "#service time", "#due at", "#status", "request"];
    let mut table =
        Table::new("The five slowest requests of each subject, at its best step", &columns);
    for curve in panel.contestants() {
        let Some(point) = best_point(curve) else {
            continue;
        };
        let mut requests: Vec<_> =
            point.shown().into_iter().flat_map(|figures| &figures.slowest).collect();
        requests.sort_by(|a, b| b.cmp(a));
        for request in requests.into_iter().take(SLOWEST_SHOWN) {
            let time =
                |time_ns: u64| Unit::Milliseconds.text(crate::statistics::milliseconds(time_ns));
            table.row([
                curve.subject.clone(),
                point.load.shape.to_string(),
                time(request.response_ns),
                time(request.service_ns),
                format!("{} ms", units::count(request.due_ms)),
                request.status.to_string(),
                request.request.clone(),
            ]);
        }
    }
    table
}

/// The best step; where none is good enough, the one with the highest goodput.
fn best_point(curve: &Curve) -> Option<&Point> {
    let index = curve.sweep.best.or(curve.sweep.peak)?;
    curve.points.get(index)
}

/// The section of hosts: what the servers spent, load by load.
pub(super) fn hosts_section(analysis: &Analysis) -> Section {
    let mut section = Section::new("Resource use of the servers");
    section
        .text("Of the whole process tree, from the first to the last request of the measurement.");
    for panel in &analysis.panels {
        let columns = [
            "subject",
            "load",
            "#user time",
            "#system time",
            "#cores busy",
            "#CPU per request",
            "#requests per CPU-second",
            "#peak memory",
            "#mean memory",
        ];
        let mut table = Table::new(panel.title(), &columns);
        for (curve, point) in each_point(panel) {
            let shown = point.shown();
            let Some(spent) = shown.iter().find_map(|figures| figures.server) else {
                continue;
            };
            table.row([
                curve.subject.clone(),
                point.load.shape.to_string(),
                format!("{:.2} s", spent.cpu_user_seconds),
                format!("{:.2} s", spent.cpu_system_seconds),
                point.text(Figure::CoresBusy),
                point.text(Figure::CpuPerRequest),
                point.text(Figure::RequestsPerCpuSecond),
                point.text(Figure::MemoryPeak),
                point.text(Figure::MemoryMean),
            ]);
        }
        if !table.is_empty() {
            section.blocks.push(Block::Folded(table));
        }
    }
    section
}

fn each_point(panel: &Panel) -> impl Iterator<Item = (&Curve, &Point)> {
    let curves = panel.contestants();
    curves.flat_map(|curve| curve.points.iter().map(move |point| (curve, point)))
}
