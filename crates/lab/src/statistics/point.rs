//! One subject under one load, over all repeats: valid repeats and their estimates.

use vervet_report::{Finding, Verdict};

use super::estimate::{Estimate, SPREAD_MAX};
use super::figure::Figure;
use super::figures::Figures;
use super::rules::is_of_generator;
use crate::record::{LoadPoint, Outcome};

/// Minimum number of valid repeats for a rank, or all if fewer were requested: the spread of one or
/// two valid repeats is unknown.
pub const RANKED_REPEATS_MIN: usize = 3;

/// Reported for a point without any figure.
const NOTHING: &str = "nothing was measured";
/// Rules that fail where the ceiling is what it has to be: the generator at its limit, and below
/// the rate.
const RULES_AT_LIMIT: [&str; 2] = ["generator_cpu", "rate_asked"];

/// One subject under one load.
#[derive(Debug, Clone)]
pub struct Point {
    /// The load that was applied.
    pub load: LoadPoint,
    /// Number of requested repeats.
    pub asked: usize,
    /// The repeats, in their order.
    pub repeats: Vec<Repeat>,
    /// Goodput as a share of the ceiling; `None` if the ceiling was not measured, or is none.
    pub share_of_ceiling: Option<f64>,
    /// What was found of the repeats together.
    pub findings: Vec<Finding>,
}

/// One repeat of a point.
#[derive(Debug, Clone)]
pub struct Repeat {
    /// Its place in the order in which the lab ran.
    pub order: u32,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// Whether the step was completed, or why not.
    pub outcome: Outcome,
    /// The figures; `None` if no request was sent.
    pub figures: Option<Figures>,
    /// What was found of it; what passed is left out.
    pub findings: Vec<Finding>,
}

/// Whether a point has a place in a ranking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// All repeats are valid.
    Ranked,
    /// Some repeats do not count, and the others do.
    Partly {
        /// The number of valid repeats.
        counted: usize,
        /// The number of all repeats.
        of: usize,
    },
    /// Fewer valid repeats than needed: the figures are shown, but not ranked.
    TooFew {
        /// The number of valid repeats.
        counted: usize,
        /// How many are needed.
        needed: usize,
        /// Why the first of the others is invalid; empty if they were not run.
        because: String,
    },
    /// It has no place.
    Unranked {
        /// Why it is not ranked.
        reason: String,
    },
}

impl Standing {
    /// Whether it has a place.
    pub fn is_ranked(&self) -> bool {
        matches!(self, Self::Ranked | Self::Partly { .. })
    }

    /// Why the point is not ranked; `None` if it is.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Ranked | Self::Partly { .. } => None,
            Self::TooFew { counted, needed, because } => {
                let because = match because.as_str() {
                    "" => String::new(),
                    because => format!("; {because}"),
                };
                Some(format!(
                    "too few valid repeats: {counted} of {needed} needed for a rank{because}"
                ))
            }
            Self::Unranked { reason } => Some(reason.clone()),
        }
    }
}

impl Repeat {
    /// Whether the repeat is valid: the load was generated, and no rule failed.
    pub fn counts(&self) -> bool {
        let failed = |finding: &Finding| finding.verdict == Verdict::Failed;
        self.outcome == Outcome::Measured
            && self.figures.is_some()
            && !self.findings.iter().any(failed)
    }

    /// Whether the CPU time per request is valid. If the generator was the bottleneck, rate and
    /// times are not, but CPU time per request is.
    pub fn is_usable(&self) -> bool {
        let against =
            |finding: &Finding| finding.verdict == Verdict::Failed && !is_of_generator(finding);
        self.outcome == Outcome::Measured
            && self.figures.is_some()
            && !self.findings.iter().any(against)
    }

    /// Why it bounds no other, as the repeat of a ceiling; `None` if it does.
    fn fault_of_ceiling(&self) -> Option<String> {
        let at_limit = |finding: &&Finding| RULES_AT_LIMIT.contains(&finding.rule.as_str());
        let mut failed = self.findings.iter().filter(|it| it.verdict == Verdict::Failed);
        let failed = failed.find(|finding| !at_limit(finding));
        let audit = || failed.map(|finding| format!("{} ({})", finding.rule, finding.measured));
        self.outcome.failure().or_else(audit)
    }

    /// Whether it does not count because the generator was the limit.
    pub fn is_of_generator(&self) -> bool {
        self.outcome == Outcome::Measured && self.findings.iter().any(is_of_generator)
    }
}

impl Point {
    /// The repeats that count.
    pub fn counted(&self) -> impl Iterator<Item = &Figures> {
        let counted = self.repeats.iter().filter(|taken| taken.counts());
        counted.filter_map(|taken| taken.figures.as_ref())
    }

    /// The repeats that are shown: those that count, or where none does, all that sent something.
    pub fn shown(&self) -> Vec<&Figures> {
        self.shown_where(Repeat::counts)
    }

    fn shown_where(&self, counts: impl Fn(&Repeat) -> bool) -> Vec<&Figures> {
        let counted = self.repeats.iter().filter(|taken| counts(taken));
        let counted: Vec<&Figures> = counted.filter_map(|taken| taken.figures.as_ref()).collect();
        if counted.is_empty() {
            return self.repeats.iter().filter_map(|taken| taken.figures.as_ref()).collect();
        }
        counted
    }

    /// A figure in each of the repeats that are shown. What a request costs in CPU time is
    /// shown of the repeats too in which the generator was the limit ([`Repeat::is_usable`]).
    pub fn values(&self, figure: Figure) -> Vec<f64> {
        let shown = match figure {
            Figure::CpuPerRequest | Figure::RequestsPerCpuSecond => {
                self.shown_where(Repeat::is_usable)
            }
            _ => self.shown(),
        };
        shown.into_iter().filter_map(|figures| figure.value(figures)).collect()
    }

    /// The estimate of a figure from the shown repeats.
    pub fn estimate(&self, figure: Figure) -> Option<Estimate> {
        Estimate::from_repeats(&self.values(figure))
    }

    /// The median of a figure over the shown repeats.
    pub fn median(&self, figure: Figure) -> Option<f64> {
        super::estimate::median(&self.values(figure))
    }

    /// The median of a figure with its unit; a dash if there is none.
    pub fn text(&self, figure: Figure) -> String {
        let value = self.median(figure);
        value.map_or("–".to_owned(), |value| figure.unit().text(value))
    }

    /// Whether the point is ranked. A fault of the subject in one repeat disqualifies it; one of
    /// the generator or the machine excludes that repeat only, and the others are ranked if there
    /// are enough ([`RANKED_REPEATS_MIN`]).
    pub fn standing(&self) -> Standing {
        if let Some(reason) = self.repeats.iter().find_map(|taken| taken.outcome.failure()) {
            return Standing::Unranked { reason };
        }
        let of = self.repeats.len();
        let needed = self.asked.min(RANKED_REPEATS_MIN);
        match self.counted().count() {
            0 => Standing::Unranked {
                reason: self.first_failure().unwrap_or_else(|| NOTHING.to_owned()),
            },
            counted if counted < needed => Standing::TooFew {
                counted,
                needed,
                because: self.first_failure().unwrap_or_default(),
            },
            counted if counted < of => Standing::Partly { counted, of },
            _ => Standing::Ranked,
        }
    }

    /// Whether it has a place in a ranking.
    pub fn is_ranked(&self) -> bool {
        self.standing().is_ranked()
    }

    /// Whether at least one repeat counts, and in none the subject did wrong.
    pub fn has_figures(&self) -> bool {
        !matches!(self.standing(), Standing::Unranked { .. })
    }

    /// Goodput of a ceiling in the repeats that bound others, or why they are too few.
    pub(crate) fn bounds(&self) -> Result<Vec<f64>, String> {
        let sound = self.repeats.iter().filter(|taken| taken.fault_of_ceiling().is_none());
        let figures = sound.filter_map(|taken| taken.figures.as_ref());
        let values: Vec<f64> = figures.map(|figures| figures.goodput).collect();
        if values.len() >= self.asked.clamp(1, RANKED_REPEATS_MIN) {
            return Ok(values);
        }
        let fault = self.repeats.iter().find_map(Repeat::fault_of_ceiling);
        Err(fault.unwrap_or_else(|| "too few repeats".to_owned()))
    }

    /// Whether a repeat does not count because the generator was the limit: those that do are the
    /// slower ones.
    pub fn is_of_generator(&self) -> bool {
        let faultless = |taken: &Repeat| taken.outcome == Outcome::Measured;
        self.repeats.iter().all(faultless) && self.repeats.iter().any(Repeat::is_of_generator)
    }

    /// Everything found of it: of its repeats, and of them together; the same rule once, the worst
    /// of it.
    pub fn all_findings(&self) -> Vec<&Finding> {
        let each = self.repeats.iter().flat_map(|taken| &taken.findings);
        let mut worst: Vec<&Finding> = Vec::new();
        for finding in each.chain(&self.findings) {
            match worst.iter_mut().find(|known| known.rule == finding.rule) {
                Some(known) if known.verdict < finding.verdict => *known = finding,
                Some(_) => {}
                None => worst.push(finding),
            }
        }
        worst
    }

    /// Adds the finding on the spread of the repeats.
    pub(super) fn judge(&mut self) {
        let Some(rate) = self.estimate(Figure::Goodput) else {
            return;
        };
        if rate.spread() > SPREAD_MAX {
            let apart = match rate.spread() {
                spread if spread.is_finite() => format!("{:.1} %", spread * 100.0),
                _ => Figure::Goodput.unit().text(rate.greatest - rate.least),
            };
            self.findings.push(Finding {
                rule: "spread".to_owned(),
                verdict: Verdict::Warning,
                measured: format!(
                    "{apart} between the lowest and the highest of {} repeats",
                    rate.repeats
                ),
                bound: format!("at most {:.0} % of the median", SPREAD_MAX * 100.0),
                meaning: "the repeats differ: a single one of them proves nothing".to_owned(),
                advice: "run nothing else on the machine, pin the cores, and use more repeats"
                    .to_owned(),
            });
        }
    }

    fn first_failure(&self) -> Option<String> {
        let mut findings = self.repeats.iter().flat_map(|taken| &taken.findings);
        let failed = findings.find(|finding| finding.verdict == Verdict::Failed);
        failed.map(|finding| format!("audit: {} ({})", finding.rule, finding.measured))
    }
}
