//! Compares the responses of the subjects.

use crate::document::Difference;
use crate::record::{FairnessRow, FairnessVerdict};

use super::examine::ExaminedSubject;

/// The properties, in the order of the table, with the names that a record has for them.
const PROPERTIES: [(Difference, &str); 7] = [
    (Difference::Status, "status"),
    (Difference::Content, "content sha-256"),
    (Difference::Fields, "fields"),
    (Difference::HeadBytes, "field bytes"),
    (Difference::Compression, "compression"),
    (Difference::Logging, "log"),
    (Difference::KeepAlive, "keep-alive"),
];

/// One row for each property of a workload.
pub fn rows(
    workload: &str,
    looked: &[(String, ExaminedSubject)],
    allowed: &[Difference],
) -> Vec<FairnessRow> {
    let row = |(property, name): &(Difference, &str)| {
        let value = |looked: &ExaminedSubject| {
            let found = looked.properties.iter().find(|(one, _)| one == property);
            found.map_or(String::new(), |(_, value)| value.clone())
        };
        let values: Vec<(String, String)> =
            looked.iter().map(|(subject, looked)| (subject.clone(), value(looked))).collect();
        let verdict = if values.windows(2).all(|two| two[0].1 == two[1].1) {
            FairnessVerdict::Equal
        } else if allowed.contains(property) {
            FairnessVerdict::Differs
        } else {
            FairnessVerdict::Refused
        };
        FairnessRow { workload: workload.to_owned(), property: (*name).to_owned(), values, verdict }
    };
    PROPERTIES.iter().map(row).collect()
}

/// The rows for which nothing may be run, each in words: which directive would admit it.
pub fn refusals(rows: &[FairnessRow]) -> Vec<String> {
    let refused = rows.iter().filter(|row| row.verdict == FairnessVerdict::Refused);
    let say = |row: &FairnessRow| {
        let directive = PROPERTIES.iter().find(|(_, name)| *name == row.property);
        let directive = directive.map_or("", |(property, _)| property.as_str());
        let values: Vec<String> =
            row.values.iter().map(|(subject, value)| format!("  {subject}: {value}")).collect();
        format!(
            "the responses of the subjects differ in {} on the workload `{}` (allow = [\"{directive}\"] permits it):\n{}",
            row.property,
            row.workload,
            values.join("\n")
        )
    };
    refused.map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(status: &str) -> ExaminedSubject {
        ExaminedSubject {
            properties: vec![(Difference::Status, status.to_owned())],
            wrong: None,
            content: Vec::new(),
        }
    }

    #[track_caller]
    fn check(statuses: &[&str], allowed: &[Difference], expected: FairnessVerdict) {
        let looked: Vec<_> = statuses.iter().map(|one| (format!("s{one}"), looked(one))).collect();
        let rows = rows("w", &looked, allowed);
        assert_eq!(rows.len(), 7);
        assert_eq!(rows[0].verdict, expected, "{statuses:?}");
        assert!(rows[1..].iter().all(|row| row.verdict == FairnessVerdict::Equal));
        assert_eq!(refusals(&rows).len(), usize::from(expected == FairnessVerdict::Refused));
    }

    #[test]
    fn a_difference_is_refused_unless_it_is_admitted() {
        check(&["200", "404"], &[], FairnessVerdict::Refused);
        check(&["200", "200", "404"], &[Difference::Content], FairnessVerdict::Refused);
        check(&["200", "404"], &[Difference::Status], FairnessVerdict::Differs);
        check(&["200", "200"], &[], FairnessVerdict::Equal);
        check(&["200"], &[], FairnessVerdict::Equal);
        check(&[], &[], FairnessVerdict::Equal);
    }

    #[test]
    fn a_refusal_names_the_way_out() {
        let looked = [("a".to_owned(), looked("200")), ("b".to_owned(), looked("404"))];
        let text = refusals(&rows("file", &looked, &[])).concat();
        assert_eq!(
            text,
            "the responses of the subjects differ in status on the workload `file` (allow = [\"status\"] permits it):\n  a: 200\n  b: 404"
        );
    }
}
