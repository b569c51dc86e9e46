//! What the lab concludes, for programs: places, points with their medians and intervals, sweeps,
//! findings. The record itself, with every histogram, is another file.

use serde_json::{Map, Value, json};

use crate::record::{LabRecord, Outcome};
use crate::statistics::{Analysis, Curve, Estimate, Figure, Panel, Point, RuleResult, TaskGroup};

/// The version of this form. A field that is added does not raise it.
const VERSION: u32 = 1;

/// The conclusions as JSON.
pub fn analysis_json(record: &LabRecord, analysis: &Analysis) -> Value {
    json!({
        "version": VERSION,
        "title": record.head.title,
        "program": record.head.program,
        "began_unix_ms": record.head.began_unix_ms,
        "ended_unix_ms": record.ended_unix_ms,
        "panels": analysis.panels.iter().map(panel).collect::<Vec<Value>>(),
        "rules": analysis.rules(record).iter().map(rule).collect::<Vec<Value>>(),
        "groups": analysis.groups.iter().map(group).collect::<Vec<Value>>(),
    })
}

fn rule(result: &RuleResult) -> Value {
    json!({
        "workload": result.rule.workload,
        "subject": result.rule.subject,
        "rule": result.text(),
        "against": result.other,
        "ratio": result.ratio.as_ref().map(estimate),
        "verdict": result.verdict.text(),
    })
}

fn group(group: &TaskGroup) -> Value {
    let tasks = group.tasks.iter().map(|task| {
        let phases = task.phases.iter().map(|phase| {
            json!({
                "phase": phase.name,
                "operations": phase.operations,
                "seconds": estimate(&phase.seconds),
                "share": phase.share.as_ref().map(estimate),
                "operations_per_second": estimate(&phase.per_second()),
            })
        });
        let failures: Vec<String> = task.failures.iter().filter_map(Outcome::failure).collect();
        json!({
            "task": task.name,
            "place": task.place,
            "repeats": task.measured + task.failures.len(),
            "counted": task.measured,
            "outcomes": failures,
            "phases": phases.collect::<Vec<Value>>(),
            "whole_seconds": task.total.as_ref().map(estimate),
        })
    });
    json!({ "group": group.name, "tasks": tasks.collect::<Vec<Value>>() })
}

fn panel(panel: &Panel) -> Value {
    let places = panel.ranking.places.iter().map(|place| {
        json!({
            "place": place.place, "tied": place.tied, "proven": place.is_proven(),
            "lower_bound": place.is_lower_bound(), "limited_under": place.limited,
            "subject": place.subject, "load": place.load, "goodput": estimate(&place.goodput),
        })
    });
    let unranked = panel.ranking.unranked.iter();
    let unranked = unranked.map(|entry| {
        json!({
            "subject": entry.subject, "reason": entry.reason, "limited_under": entry.limited,
        })
    });
    json!({
        "title": panel.title(),
        "workload": panel.workload.name,
        "apdex_seconds": panel.workload.apdex_seconds,
        "places": places.collect::<Vec<Value>>(),
        "unranked": unranked.collect::<Vec<Value>>(),
        "curves": panel.curves.iter().map(curve).collect::<Vec<Value>>(),
    })
}

fn curve(curve: &Curve) -> Value {
    let load = |index: Option<usize>| index.map(|index| json!(curve.points[index].load));
    let saturation = curve.sweep.saturation.as_ref().map(|saturation| {
        json!({
            "from": curve.points[saturation.from].load,
            "capacity": saturation.capacity,
            "meaning": saturation.meaning,
        })
    });
    json!({
        "subject": curve.subject,
        "role": curve.role,
        "peak": load(curve.sweep.peak),
        "knee": load(curve.sweep.knee),
        "best": load(curve.sweep.best),
        "saturation": saturation,
        "points": curve.points.iter().map(point).collect::<Vec<Value>>(),
    })
}

fn point(point: &Point) -> Value {
    let mut figures = Map::new();
    for figure in Figure::ALL {
        if let Some(found) = point.estimate(figure) {
            figures.insert(figure.name().to_owned(), estimate(&found));
        }
    }
    let outcomes: Vec<String> =
        point.repeats.iter().filter_map(|taken| taken.outcome.failure()).collect();
    json!({
        "load": point.load,
        "repeats": point.repeats.len(),
        "counted": point.counted().count(),
        "not_ranked": point.standing().reason(),
        "outcomes": outcomes,
        "share_of_ceiling": point.share_of_ceiling,
        "findings": point.all_findings(),
        "figures": figures,
    })
}

/// The median of repeats and its confidence interval.
pub(crate) fn estimate(estimate: &Estimate) -> Value {
    json!({
        "median": estimate.median,
        "interval": estimate.has_interval().then_some([estimate.low, estimate.high]),
        "least": estimate.least,
        "greatest": estimate.greatest,
        "repeats": estimate.repeats,
    })
}
