//! A section per panel: ranking, charts, sweeps, and the goodput under each load.

use vervet_report::forms::Table;

use super::charts::{estimate_text, pictures};
use super::findings::loads_text;
use super::page::{Block, Section};
use crate::record::LoadPoint;
use crate::statistics::{
    Apdex, CEILING_EXCEEDED, Curve, Estimate, Figure, LoadKind, Panel, Point, RankedSubject,
    Ranking, Standing, Unit,
};

/// The section of a panel; `prefix` makes the names of its charts unique in a page.
pub(super) fn panel_section(panel: &Panel, prefix: &str) -> Section {
    let mut section = Section::new(panel.title());
    if !panel.workload.description.is_empty() {
        section.text(panel.workload.description.clone());
    }
    section.text(verdict(&panel.ranking));
    if let Some(text) = lower_bounds(&panel.ranking) {
        section.text(text);
    }
    if let Some(text) = no_ceiling(panel) {
        section.text(text);
    }
    section.table(ranking(panel));
    section.table(unranked(panel));
    section.blocks.extend(
        pictures(panel, prefix).into_iter().map(|picture| Block::Picture(Box::new(picture))),
    );
    let sweeps = sweeps(panel);
    if !sweeps.is_empty() {
        section.blocks.push(Block::List(sweeps));
    }
    section.blocks.push(Block::Folded(loads(panel)));
    section
}

/// The subjects with the highest goodput, in a sentence that claims nothing unproven.
fn verdict(ranking: &Ranking) -> String {
    let places = &ranking.places;
    let first: Vec<&str> = places
        .iter()
        .filter(|place| place.place == 1)
        .map(|place| place.subject.as_str())
        .collect();
    let caution = caution(places);
    match first.as_slice() {
        [] => "No subject is ranked: see below for the reasons.".to_owned(),
        [only] if places.len() == 1 => format!("{only} is the only ranked subject.{caution}"),
        [only] if may_be_overtaken(ranking) => {
            format!("{only} has the highest goodput of all that can be ranked.{caution}")
        }
        [only] => format!("{only} has the highest goodput.{caution}"),
        several if places.iter().all(RankedSubject::is_proven) => {
            format!("No significant difference: {}.{caution}", several.join(", "))
        }
        several => format!("Too few valid repeats to compare {}.{caution}", several.join(", ")),
    }
}

/// A caution if the least reliable interval covers the median in less than 95 % of cases.
fn caution(places: &[RankedSubject]) -> String {
    let by_coverage = |a: &&RankedSubject, b: &&RankedSubject| {
        a.goodput.coverage().total_cmp(&b.goodput.coverage())
    };
    let Some(goodput) = places.iter().min_by(by_coverage).map(|place| place.goodput) else {
        return String::new();
    };
    let (repeats, percent) = (goodput.repeats, goodput.coverage() * 100.0);
    if !goodput.has_interval() {
        return " There is only one repeat.".to_owned();
    }
    if percent >= 94.5 {
        return String::new();
    }
    if goodput.below + goodput.above == 0 {
        return format!(
            " With {repeats} repeats the interval spans minimum and maximum, and covers the true median in \
             {percent:.0} % of cases."
        );
    }
    format!(
        " With {repeats} repeats the interval covers the true median in at least {percent:.0} % of cases."
    )
}

/// Whether a subject that is not first may be capable of more than was measured.
fn may_be_overtaken(ranking: &Ranking) -> bool {
    let behind = ranking.places.iter().filter(|place| place.place > 1);
    let mut unranked = ranking.unranked.iter();
    behind.clone().any(RankedSubject::is_lower_bound)
        || unranked.any(|entry| !entry.limited.is_empty())
}

/// Subjects for which the generator was the bottleneck, with the loads; `None` if there are none.
fn lower_bounds(ranking: &Ranking) -> Option<String> {
    let places = ranking.places.iter().map(|place| (&place.subject, &place.limited));
    let unranked = ranking.unranked.iter().map(|entry| (&entry.subject, &entry.limited));
    let limited: Vec<String> = places
        .chain(unranked)
        .filter(|(_, loads)| !loads.is_empty())
        .map(|(subject, loads)| format!("{subject} ({})", loads_text(loads)))
        .collect();
    (!limited.is_empty()).then(|| {
        format!(
            "The generator was the bottleneck for {}. These repeats are excluded: a goodput marked ≥ is a lower bound, and \
             so is its rank. The server may be capable of more.",
            limited.join(", ")
        )
    })
}

fn ranking(panel: &Panel) -> Table {
    let columns = [
        "#rank",
        "subject",
        "#goodput (95 % interval)",
        load_name(panel),
        "#of the ceiling",
        "#requests per CPU-second",
        "#CPU per request",
        "#memory",
        "#p50",
        "#p99",
        "#failed",
        "#best step",
        "its Apdex",
    ];
    let mut table = Table::new(caption(&panel.ranking), &columns);
    for place in &panel.ranking.places {
        let Some(curve) = panel.curve(&place.subject) else {
            continue;
        };
        let Some(point) = curve.points.iter().find(|point| point.load == place.load) else {
            continue;
        };
        let figure = |figure: Figure| point.text(figure);
        let [best, apdex] = best(curve);
        let share = share_text(point);
        table.row([
            place_text(place),
            place.subject.clone(),
            goodput_text(place),
            place.load.amount().to_string(),
            share,
            figure(Figure::RequestsPerCpuSecond),
            figure(Figure::CpuPerRequest),
            figure(Figure::MemoryPeak),
            figure(Figure::ResponseP50),
            figure(Figure::ResponseP99),
            figure(Figure::ErrorShare),
            best,
            apdex,
        ]);
    }
    table
}

/// Goodput as a share of the ceiling, or why there is none.
pub(super) fn share_text(point: &Point) -> String {
    let exceeds = point.findings.iter().any(|finding| finding.rule == CEILING_EXCEEDED);
    match point.share_of_ceiling {
        Some(share) => Unit::Share.text(share),
        None if exceeds => "above it".to_owned(),
        None => "–".to_owned(),
    }
}

/// Loads under which the ceiling failed its own audit; `None` if there are none.
fn no_ceiling(panel: &Panel) -> Option<String> {
    let points = panel.ceiling()?.points.iter();
    let failed: Vec<(LoadPoint, String)> =
        points.filter_map(|point| Some((point.load, point.bounds().err()?))).collect();
    let (_, reason) = failed.first()?;
    let loads: Vec<LoadPoint> = failed.iter().map(|(load, _)| *load).collect();
    Some(format!(
        "The ceiling is not an upper bound under {}, and there is no share of it: {reason}.",
        loads_text(&loads)
    ))
}

fn caption(ranking: &Ranking) -> &'static str {
    if ranking.places.iter().all(RankedSubject::is_proven) {
        "By goodput. Subjects without a significant difference share a rank"
    } else {
        "By goodput. Too few valid repeats for ranks"
    }
}

fn place_text(place: &RankedSubject) -> String {
    match (place.is_proven(), place.tied) {
        (false, _) => "?".to_owned(),
        (true, tied) => format!("{}{}", place.place, if tied { "=" } else { "" }),
    }
}

fn goodput_text(place: &RankedSubject) -> String {
    let goodput = estimate_text(Figure::Goodput, &place.goodput);
    if place.is_lower_bound() { format!("≥ {goodput}") } else { goodput }
}

/// The unit of the load.
fn load_name(panel: &Panel) -> &'static str {
    match panel.kind {
        LoadKind::Closed => "#connections",
        LoadKind::Open => "#due per second",
    }
}

/// The best step, and its Apdex.
fn best(curve: &Curve) -> [String; 2] {
    let Some(point) = curve.sweep.best.map(|index| &curve.points[index]) else {
        return ["none".to_owned(), "below 0.85".to_owned()];
    };
    let apdex = point.median(Figure::Apdex).map(Apdex::new);
    let rating =
        apdex.map_or("–".to_owned(), |apdex| format!("{:.2} {}", apdex.score(), apdex.rating()));
    [point.load.amount().to_string(), rating]
}

fn unranked(panel: &Panel) -> Table {
    let mut table = Table::new("Not ranked", &["subject", "reason"]);
    for entry in &panel.ranking.unranked {
        table.row([entry.subject.clone(), entry.reason.clone()]);
    }
    table
}

fn sweeps(panel: &Panel) -> Vec<String> {
    let mut lines = Vec::new();
    for curve in panel.contestants().filter(|curve| curve.points.len() > 1) {
        let knee = curve.sweep.knee.map(|index| curve.points[index].load.shape.to_string());
        if let Some(knee) = knee {
            lines.push(format!(
                "{}: the knee, the lowest load with 95 % of the highest goodput, is at {knee}.",
                curve.subject
            ));
        }
        if let Some(saturation) = &curve.sweep.saturation {
            lines.push(format!("{}: {}.", curve.subject, saturation.meaning));
        }
    }
    lines
}

/// Goodput by load, with ranks under each load.
fn loads(panel: &Panel) -> Table {
    let mut table = Table::new(
        "Ranks under each load, by goodput; subjects without a significant difference share a rank; no rank with too few valid repeats",
        &["load"],
    );
    for curve in panel.contestants() {
        table.numbers(curve.subject.clone());
    }
    for load in panel.loads() {
        let points: Vec<Option<&Point>> = panel
            .contestants()
            .map(|curve| curve.points.iter().find(|point| point.load == load))
            .collect();
        let places = places(&points);
        let cells = points.iter().zip(&places).map(|(point, place)| cell(*point, *place));
        table.row(std::iter::once(load.shape.to_string()).chain(cells));
    }
    table
}

fn cell(point: Option<&Point>, place: Option<usize>) -> String {
    let Some(point) = point else {
        return "–".to_owned();
    };
    let goodput = point.text(Figure::Goodput);
    match (place, point.standing()) {
        (Some(place), Standing::Partly { counted, of }) => {
            format!("{place}. {goodput} ({counted} of {of} repeats)")
        }
        (Some(place), _) => format!("{place}. {goodput}"),
        (None, Standing::TooFew { counted, needed, .. }) => {
            format!("{goodput}, {counted} of {needed} valid repeats")
        }
        (None, Standing::Unranked { .. }) => format!("{goodput}, not ranked"),
        (None, _) => goodput,
    }
}

/// The rank of each point under one load; `None` if it is not ranked, or has no interval.
fn places(points: &[Option<&Point>]) -> Vec<Option<usize>> {
    let estimate = |point: Option<&Point>| {
        point
            .filter(|point| point.is_ranked())?
            .estimate(Figure::Goodput)
            .filter(Estimate::has_interval)
    };
    let estimates: Vec<Option<Estimate>> = points.iter().copied().map(estimate).collect();
    let mut order: Vec<usize> =
        (0..points.len()).filter(|index| estimates[*index].is_some()).collect();
    let median = |index: usize| estimates[index].map_or(0.0, |estimate| estimate.median);
    order.sort_by(|a, b| median(*b).total_cmp(&median(*a)));
    let mut places = vec![None; points.len()];
    let mut leader = 0;
    for (number, index) in order.iter().enumerate() {
        let ties = match (estimates[order[leader]], estimates[*index]) {
            (Some(first), Some(this)) => first.ties_with(&this),
            _ => false,
        };
        if !ties {
            leader = number;
        }
        places[*index] = Some(leader + 1);
    }
    places
}
