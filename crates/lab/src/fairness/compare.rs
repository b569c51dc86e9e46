//! Compares the responses of the subjects.

use std::fmt;

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

/// Why the gate stopped a lab, and what would permit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Each refused row in words.
    pub differences: Vec<String>,
    /// The line of the lab file that permits all of them.
    pub allow: String,
}

impl Refusal {
    /// Why nothing may be run; `None` if no row is refused. `allowed` is what the lab file permits
    /// already.
    pub fn new(rows: &[FairnessRow], allowed: &[Difference]) -> Option<Self> {
        let refused = rows.iter().filter(|row| row.verdict == FairnessVerdict::Refused);
        let say = |row: &FairnessRow| {
            let values =
                row.values.iter().map(|(subject, value)| format!("\n  {subject}: {value}"));
            let (property, workload) = (&row.property, &row.workload);
            format!("{property} on the workload `{workload}`:{}", values.collect::<String>())
        };
        let differences: Vec<String> = refused.map(say).collect();
        let differs = |(property, name): &&(Difference, &str)| {
            let is_different =
                |row: &FairnessRow| row.property == *name && row.verdict != FairnessVerdict::Equal;
            allowed.contains(property) || rows.iter().any(is_different)
        };
        let names = PROPERTIES.iter().filter(differs);
        let names: Vec<String> =
            names.map(|(property, _)| format!("\"{}\"", property.as_str())).collect();
        let allow = format!("allow = [{}]", names.join(", "));
        (!differences.is_empty()).then_some(Self { differences, allow })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the responses of the subjects differ, so nothing was measured\n")?;
        for difference in &self.differences {
            writeln!(f, "they differ in {difference}")?;
        }
        write!(
            f,
            "if that is intended, set this line at the top of the lab file, above its first section:\n{}",
            self.allow
        )
    }
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
        let refusal = Refusal::new(&rows, allowed);
        assert_eq!(refusal.is_some(), expected == FairnessVerdict::Refused);
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
        let allowed = [Difference::KeepAlive];
        let refusal = Refusal::new(&rows("file", &looked, &allowed), &allowed).unwrap();
        assert_eq!(refusal.differences, ["status on the workload `file`:\n  a: 200\n  b: 404"]);
        // The line replaces the one that is there.
        assert_eq!(refusal.allow, "allow = [\"status\", \"keep-alive\"]");
        assert!(
            refusal.to_string().ends_with("\nallow = [\"status\", \"keep-alive\"]"),
            "{refusal}"
        );
    }
}
