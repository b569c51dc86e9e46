//! The rules of a lab file with their verdicts.

use super::page::Section;
use super::table::Table;
use crate::record::LabRecord;
use crate::statistics::{Analysis, RuleResult, Verdict};

/// The section of rules; none where the lab file has none.
pub(super) fn rules_section(record: &LabRecord, analysis: &Analysis) -> Option<Section> {
    let results = analysis.rules(record);
    if results.is_empty() {
        return None;
    }
    let mut section = Section::new("Rules");
    let count = |verdict| {
        let same = results.iter().filter(|result| result.verdict == verdict);
        same.count()
    };
    section.text(format!(
        "Of {} rules {} are met, {} are not met and {} are inconclusive. A ratio is the median over \
         the repeats, with its 95 % interval; a rule is inconclusive if its median misses the bound \
         and a part of the interval does not.",
        results.len(),
        count(Verdict::Met),
        count(Verdict::NotMet),
        count(Verdict::Inconclusive)
    ));
    let columns = ["workload", "rule", "#measured", "against", "verdict"];
    let mut table = Table::new("", &columns);
    for result in &results {
        table.row([
            result.rule.workload.clone(),
            result.text(),
            ratio(result),
            result.other.clone(),
            result.verdict.text().to_owned(),
        ]);
    }
    section.table(table);
    Some(section)
}

fn ratio(result: &RuleResult) -> String {
    result.ratio.map_or("–".to_owned(), |ratio| {
        format!(
            "{:.3} × ({:.2} to {:.2})",
            ratio.median, ratio.low, ratio.high
        )
    })
}
