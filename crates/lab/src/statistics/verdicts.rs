//! The rules of a lab file and whether they are met.
//!
//! Figures are divided per repeat, because runs of one repeat meet the same conditions: on a shared
//! machine, runs of the same program minutes apart differ by a third, more than most rules require.

use vervet_report::units;

use super::analysis::{Analysis, Curve, Panel};
use super::estimate::{Estimate, median};
use super::figure::Figure;
use super::number::number;
use super::point::{Point, Repeat};
use crate::plan::CEILING;
use crate::record::{Against, Bound, LabRecord, Outcome, Role, Rule, TaskStep};

/// A rule and its result.
#[derive(Debug, Clone)]
pub struct RuleResult {
    /// The rule of the lab file.
    pub rule: Rule,
    /// The subject that the figure was compared with; empty for another figure.
    pub other: String,
    /// The ratio of the figures over all repeats that have both; `None` if none has.
    pub ratio: Option<Estimate>,
    /// Whether the rule is met.
    pub verdict: Verdict,
}

/// Whether a rule is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The median of the ratios meets it.
    Met,
    /// The median does not meet it, and a part of its interval does.
    Inconclusive,
    /// The whole interval does not meet it.
    NotMet,
    /// No repeat has both figures.
    NotMeasured,
}

impl Verdict {
    /// The word in reports.
    pub fn text(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Inconclusive => "inconclusive",
            Self::NotMet => "not met",
            Self::NotMeasured => "not measured",
        }
    }
}

impl RuleResult {
    /// The rule in words.
    pub fn text(&self) -> String {
        let figure = Figure::named(&self.rule.figure);
        let figure = figure.map_or(self.rule.figure.as_str(), |figure| figure.label());
        let (bound, factor) = match self.rule.bound {
            Bound::AtLeast(factor) => ("at least", factor),
            Bound::AtMost(factor) => ("at most", factor),
        };
        let other = match &self.rule.against {
            Against::Subjects(names) if names.len() > 1 => "the best rival".to_owned(),
            Against::Subjects(names) => names.concat(),
            Against::Workload(name) => format!("its own figure under {name}"),
            Against::Bytes(bytes) => units::bytes(number(*bytes)),
        };
        let subject = &self.rule.subject;
        format!("{figure} of {subject}: {bound} {factor} × {other}")
    }
}

impl Analysis {
    /// The rules of the lab file, in their order.
    pub fn rules(&self, record: &LabRecord) -> Vec<RuleResult> {
        let rules = record.head.rules.iter();
        rules.map(|rule| self.judge(record, rule)).collect()
    }

    fn judge(&self, record: &LabRecord, rule: &Rule) -> RuleResult {
        let values = |workload: &str, subject: &str| {
            if record.is_of_tasks() {
                return task_values(record, subject, workload, &rule.figure);
            }
            let figure = Figure::named(&rule.figure);
            figure.map_or(Vec::new(), |figure| self.usable_values(workload, subject, figure))
        };
        let ours = values(&rule.workload, &rule.subject);
        let mut other = String::new();
        let theirs = match &rule.against {
            Against::Subjects(names) => {
                let best = if record.is_of_tasks() {
                    let rate = |name: &String| best_of(&values(&rule.workload, name), rule.bound);
                    greatest(names, rate)
                } else {
                    greatest(names, |name| self.efficiency(&rule.workload, name))
                };
                other = best.unwrap_or_default();
                values(&rule.workload, &other)
            }
            Against::Workload(workload) => values(workload, &rule.subject),
            Against::Bytes(bytes) => {
                let bytes = number(*bytes);
                ours.iter().map(|(repeat, _)| (*repeat, bytes)).collect()
            }
        };
        let ratio = |(repeat, ours): &(u32, f64)| {
            let (_, theirs) = theirs.iter().find(|(same, _)| same == repeat)?;
            Some(ours / theirs).filter(|ratio| ratio.is_finite())
        };
        let ratios: Vec<f64> = ours.iter().filter_map(ratio).collect();
        let ratio = Estimate::from_repeats(&ratios);
        RuleResult { rule: rule.clone(), other, ratio, verdict: verdict(rule, ratio) }
    }

    /// Requests per CPU-second of a subject that did nothing wrong.
    fn efficiency(&self, workload: &str, subject: &str) -> Option<f64> {
        let is_faulty = |taken: &Repeat| taken.outcome != Outcome::Measured;
        if self.point(workload, subject)?.repeats.iter().any(is_faulty) {
            return None;
        }
        let values = self.usable_values(workload, subject, Figure::RequestsPerCpuSecond);
        median(&values.iter().map(|(_, value)| *value).collect::<Vec<f64>>())
    }

    /// A figure in each repeat that a rule may use.
    fn usable_values(&self, workload: &str, subject: &str, figure: Figure) -> Vec<(u32, f64)> {
        let point = self.point(workload, subject).into_iter();
        let usable = point.flat_map(|point| &point.repeats).filter(|taken| taken.is_usable());
        let value = |taken: &Repeat| Some((taken.repeat, figure.value(taken.figures.as_ref()?)?));
        usable.filter_map(value).collect()
    }

    /// The greatest load of a subject under a workload.
    fn point(&self, workload: &str, subject: &str) -> Option<&Point> {
        let mut panels = self.panels_of(workload);
        panels.find_map(|panel| curve(panel, subject)?.points.last())
    }

    fn panels_of(&self, workload: &str) -> impl Iterator<Item = &Panel> {
        let panels = self.panels.iter();
        panels.filter(move |panel| panel.workload.name == workload)
    }
}

/// The subject with the greatest value.
fn greatest(names: &[String], value: impl Fn(&String) -> Option<f64>) -> Option<String> {
    let rated = names.iter().filter_map(|name| Some((name, value(name)?)));
    let best = rated.max_by(|(_, one), (_, other)| one.total_cmp(other));
    best.map(|(name, _)| name.clone())
}

/// How good repeats are: their median, negative where less is better.
fn best_of(values: &[(u32, f64)], bound: Bound) -> Option<f64> {
    let values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let middle = median(&values)?;
    match bound {
        Bound::AtLeast(_) => Some(middle),
        Bound::AtMost(_) => Some(-middle),
    }
}

/// What a phase of a task took, repeat by repeat: in seconds, or operations a second.
fn task_values(record: &LabRecord, task: &str, phase: &str, figure: &str) -> Vec<(u32, f64)> {
    let steps = record.tasks.iter();
    let measured = steps.filter(|step| step.task == task && step.outcome == Outcome::Measured);
    let value = |step: &TaskStep| {
        let phase = step.phases.iter().find(|known| known.name == phase)?;
        let seconds = number(phase.time_ns) / 1e9;
        let rate = number(phase.operations) / seconds;
        let value = if figure == "seconds" { seconds } else { rate };
        Some((step.repeat, value))
    };
    measured.filter_map(value).collect()
}

fn curve<'a>(panel: &'a Panel, subject: &str) -> Option<&'a Curve> {
    let is_ceiling = |role: Role| subject == CEILING && role == Role::Ceiling;
    let mut curves = panel.curves.iter();
    curves.find(|curve| curve.subject == subject || is_ceiling(curve.role))
}

fn verdict(rule: &Rule, ratio: Option<Estimate>) -> Verdict {
    let Some(ratio) = ratio else {
        return Verdict::NotMeasured;
    };
    let best = match rule.bound {
        Bound::AtLeast(_) => ratio.high,
        Bound::AtMost(_) => ratio.low,
    };
    if rule.bound.holds(ratio.median) {
        Verdict::Met
    } else if rule.bound.holds(best) {
        Verdict::Inconclusive
    } else {
        Verdict::NotMet
    }
}
